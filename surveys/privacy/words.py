"""The privacy number in words and in the reader's language."""

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from candor.designs import privacy_words


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
    """A privacy loss in five digits at most, rounded upwards: 1.5, 1.3863, 0.0625."""
    return number_format(privacy_words.loss(loss))
