"""What a privacy budget buys, and what it means to a student. Plain arithmetic: web processes do not load OpenDP, which charges later."""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, inf, log, log1p, sqrt

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from surveys.definition import PrivacyBudget, StudyDefinition
from surveys.privacy.words import certainty

COUNTS = (1, 10, 40, 100)
"""Numbers of counts for which the precision is told."""
HALVINGS = 60
NORMAL_95 = 1.96
LAPLACE_95 = log(20)
"""Half-widths of 95 % intervals, in standard deviations and in scales of the noise."""
USUAL_EPSILON = 1.0
USUAL_RARITY = 1_000_000


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
    return [Bought(counts=counts, error=half_width(budget, counts=counts), people=people) for counts in COUNTS]


def half_width(budget: PrivacyBudget, *, counts: int) -> int:
    """Half of a 95 % interval of each count, with the noise that is cheaper for so many: Laplace's for few, Gauss's for many."""
    laplace = LAPLACE_95 * counts / budget.epsilon
    gauss = NORMAL_95 * sqrt(counts / (2 * rho_within(budget.epsilon, budget.delta)))
    return ceil(min(laplace, gauss))


@lru_cache(maxsize=1024)
def rho_within(epsilon: float, delta: float) -> float:
    """The largest ρ of zero-concentrated privacy that is (ε, δ)-private, by Canonne, Kamath and Steinke (2020), proposition 7."""
    low, high = 0.0, epsilon
    for _step in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _delta_of(middle, epsilon) <= delta else (low, middle)
    return low


def _delta_of(rho: float, epsilon: float) -> float:
    """inf over α > 1 of exp((α − 1)(αρ − ε)) / (α − 1) · (1 − 1/α)^α; its logarithm is convex in α."""
    if rho <= 0:
        return 0.0
    low, high = 1.0, (epsilon + 1) / (2 * rho) + 2
    for _step in range(HALVINGS):
        middle = (low + high) / 2
        rising = middle > 1 and (2 * middle - 1) * rho - epsilon + log1p(-1 / middle) > 0
        low, high = (low, middle) if rising else (middle, high)
    alpha = (low + high) / 2
    logarithm = (alpha - 1) * (alpha * rho - epsilon) - log(alpha - 1) + alpha * log1p(-1 / alpha) if alpha > 1 else inf
    return exp(min(logarithm, 0.0))


def budget_in_words(budget: PrivacyBudget) -> tuple[str, ...]:
    """What the budget means to a student, for officers and students alike."""
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
        _("By bad luck it can be more, with a chance of at most 1 in %(rarity)s.") % {"rarity": rarity(budget)},
    )


def bought_in_words(definition: StudyDefinition) -> list[str]:
    """One line for each number of counts."""
    if definition.privacy_budget is None:
        return []
    return [in_words(one) for one in bought_by(definition.privacy_budget, people=definition.allocation.planned_participants)]


def in_words(one: Bought) -> str:
    words = {"error": number_format(one.error, force_grouping=True), "people": number_format(one.people, force_grouping=True)}
    if one.counts == 1:
        return _("A single count to ± %(error)s of %(people)s people") % words
    return _("About %(counts)s counts, each to ± %(error)s of %(people)s people") % (words | {"counts": one.counts})


def rarity(budget: PrivacyBudget) -> str:
    """1/δ, as people write it."""
    return number_format(f"{1 / budget.delta:.0f}", force_grouping=True)


def usual_rarity(planned: int) -> int:
    """A first proposal of 1/δ: a power of ten, a hundred times the planned people at least."""
    found = USUAL_RARITY
    while found < 100 * planned:
        found *= 10
    return found
