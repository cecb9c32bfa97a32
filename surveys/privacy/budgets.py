"""The worth of a privacy budget, and its meaning for a student. Plain arithmetic: web processes do not load OpenDP, which charges later."""

from dataclasses import dataclass
from math import ceil, floor, log, sqrt

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from candor.privacy.conversion import rho_within
from surveys.definition import StudyDefinition
from surveys.privacy.words import certainty
from surveys.questions.plans import PrivacyBudget

COUNTS = (1, 10, 40, 100)
"""Numbers of counts for which the precision is told."""
NORMAL_95 = 1.96
LAPLACE_95 = log(20)
"""Half-widths of 95 % intervals, in standard deviations and in scales of the noise."""
USUAL_EPSILON = 1.0
USUAL_RARITY, LARGEST_RARITY = 1_000_000, 10**14
"""1/δ as it is proposed, and the largest that is typed or told."""
ROUNDING = 1e-15
"""A δ that was written as 1/N stays it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bought:
    """So many counts of people, each right to ± `error` in 95 of 100 cases."""

    counts: int
    error: int
    people: int

    @property
    def is_useless(self) -> bool:
        """Whether the error is larger than what is counted, half of all people."""
        return 2 * self.error > self.people


def bought_by(budget: PrivacyBudget, *, people: int) -> list[Bought]:
    """The precision of counts over `people`, if the whole budget is spent on so many of them."""
    rho = rho_within(budget.epsilon, budget.delta)
    return [Bought(counts=counts, error=half_width(counts, epsilon=budget.epsilon, rho=rho), people=people) for counts in COUNTS]


def half_width(counts: int, *, epsilon: float, rho: float) -> int:
    """Half of a 95 % interval of each count, with the noise that is cheaper for so many: Laplace's for few, Gauss's for many."""
    laplace = LAPLACE_95 * counts / epsilon
    gauss = NORMAL_95 * sqrt(counts / (2 * rho))
    return ceil(min(laplace, gauss))


def budget_in_words(budget: PrivacyBudget) -> tuple[str, ...]:
    """The meaning of the budget for a student, for officers and students alike."""
    return (
        _(
            "Answers to questions about everybody are blurred by chance before anybody sees them. All of them together, from whomever, "
            "may cost one student no more than this budget."
        ),
        _(
            "Somebody who thought 50 : 50 about something that a student told is at most %(sure)s sure after all these answers, whatever "
            "else they know."
        )
        % {"sure": certainty(budget.epsilon)},
        _("By bad luck it can be more, with a chance of at most 1 in %(rarity)s.") % {"rarity": in_how_many(budget.delta)},
    )


def bought_in_words(definition: StudyDefinition) -> list[str]:
    """One line for each number of counts."""
    if definition.privacy_budget is None:
        return []
    return [in_words(one) for one in bought_by(definition.privacy_budget, people=definition.allocation.planned_participants)]


def in_words(one: Bought) -> str:
    words = {"error": number_format(one.error, force_grouping=True), "people": number_format(one.people, force_grouping=True)}
    if one.counts == 1:
        line = _("A single count to ± %(error)s of %(people)s people") % words
    else:
        line = _("About %(counts)s counts, each to ± %(error)s of %(people)s people") % (words | {"counts": one.counts})
    return f"{line} {_('(too coarse to be of use)')}" if one.is_useless else line


def in_how_many(delta: float) -> str:
    """1/δ, as people write it. It is rounded downwards, so that no failure is told rarer than it may be."""
    return number_format(floor(min((1 + ROUNDING) / delta, LARGEST_RARITY)), force_grouping=True)


def usual_rarity(planned: int) -> int:
    """A first proposal of 1/δ: a power of ten, a hundred times the planned people at least."""
    found = USUAL_RARITY
    while found < 100 * planned:
        found *= 10
    return found
