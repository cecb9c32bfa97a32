"""Warnings about settings that are permitted, to be read before anybody is recruited."""

from fractions import Fraction

from candor.designs import assumptions
from candor.designs.identification import Identification
from candor.sentences import Sentence
from candor.sentences import sentence as _


def not_determined(identification: Identification, *, how_many: bool, of: str = "") -> Sentence:
    """The die cannot tell the size of an effect, or `how_many` give an answer; `of` names a question with named answers."""
    because = assumptions.found_again(identification.assumption) or identification.assumption
    if how_many and of:
        return _(
            "With this die how many truly give each answer to %(question)s cannot be determined. %(assumption)s",
            question=of,
            assumption=because,
        )
    if how_many:
        return _("With this die how many truly say yes cannot be determined. %(assumption)s", assumption=because)
    if of:
        return _(
            "With this die the size of the effect on %(question)s cannot be determined. %(assumption)s", question=of, assumption=because
        )
    return _("With this die the size of the effect cannot be determined. %(assumption)s", assumption=because)


def not_protected(share: Fraction) -> Sentence:
    """A share of people is asked without a die."""
    return _(
        "%(percent)s %% of the people are drawn to be asked directly, without a die, if they agree. "
        "Their answers are stored as they are: nothing protects them.",
        percent=round(share * 100),
    )
