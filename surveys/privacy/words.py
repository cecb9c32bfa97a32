"""The privacy number in words and in the reader's language."""

from decimal import ROUND_CEILING, Context

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from candor.designs import privacy_words

FIVE_DIGITS = Context(prec=5, rounding=ROUND_CEILING)


def certainty(epsilon: float) -> str:
    """How sure a person can be afterwards who thought 50 : 50 before."""
    return f"{number_format(privacy_words.certainty(epsilon))} %"


def privacy_in_words(epsilon: float, *, questions: int, total: float | None = None) -> tuple[str, str]:
    """The privacy number: for one answer with the loss `epsilon`, and for the answers to all questions together, which lose `total`, or as
    much each.
    """
    one = _(privacy_words.AFTER_ONE) % {"sure": certainty(epsilon)}
    if questions == 1:
        return one, _(privacy_words.ONLY_ONE)
    return one, _(privacy_words.AFTER_ALL) % {"questions": questions, "sure": certainty(questions * epsilon if total is None else total)}


def loss_in_words(loss: float) -> str:
    """A privacy loss in five digits at most, none of which says nothing: 1.5, 1.3863, 0.0625. It is never told smaller than it is."""
    told = FIVE_DIGITS.create_decimal(f"{loss:.12g}")  # less digits than a sum of floats has right
    return number_format(f"{told.normalize():f}") if told.is_finite() else "∞"
