"""Sums of a ledger: what was spent, what is left, and whether a price fits. All in whole units."""

from dataclasses import dataclass, replace
from math import isqrt

from django.db.models import Count, Exists, OuterRef, Q, Sum

from analysis.ledger.units import UNITS, Units, left_in_words
from analysis.models import Budget, Charge, ChargeStep, Reached
from candor.privacy.conversion import epsilon_of_rho


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A budget and what was spent of it.

    A price fits if afterwards Σρ is within the budget's ρ, or every charge is pure and Σε is within the budget's ε. Either way everything
    that was released is (ε, δ)-private together, however the questions were chosen: where Σρ ends within its bound, a filter that stops
    there gives e^ε and δ; everywhere else the likelihood ratio of each outcome is at most e^Σε; and the two parts of any event add up.
    """

    rho: int
    epsilon: int
    delta: float
    spent: Units

    def after(self, price: Units) -> "Account":
        return replace(self, spent=self.spent + price)

    def fits(self, price: Units) -> bool:
        after = self.spent + price
        return price == Units() or after.rho <= self.rho or (after.epsilon is not None and after.epsilon <= self.epsilon)

    @property
    def rho_left(self) -> int:
        """Units of ρ that fit still."""
        return max(self.rho - self.spent.rho, 0)

    @property
    def left(self) -> Units:
        """The ρ, or the pure ε, that fits still in one question."""
        return self.share(1)

    @property
    def pure_left(self) -> int:
        return self.left.epsilon or 0

    def share(self, questions: int) -> Units:
        """The ρ, or the pure ε, that each of so many questions can have: by Σε while all is pure, or by the ρ = ε²/2 that it amounts to."""
        by_sum = 0 if self.spent.epsilon is None else max(self.epsilon - self.spent.epsilon, 0)
        rho = self.rho_left // questions
        return Units(rho=rho, epsilon=max(by_sum // questions, isqrt(2 * rho * UNITS)))

    @property
    def rho_in_words(self) -> str:
        return left_in_words(self.rho_left)

    @property
    def pure_in_words(self) -> str:
        return left_in_words(self.pure_left)

    @property
    def epsilon_spent(self) -> float:
        """ε of what was spent, at the budget's δ: by ρ, or by Σε where all is pure and that is smaller."""
        loss = self.spent.loss
        found = [loss.pure_epsilon] if loss.pure_epsilon is not None else []
        if self.delta:
            found.append(epsilon_of_rho(loss.rho, self.delta))
        return min(found)

    @property
    def share_spent(self) -> float:
        """The share of the budget that is gone, by the bound under which more is left."""
        by_rho = self.spent.rho / self.rho if self.rho else 1.0
        by_sum = self.spent.epsilon / self.epsilon if self.epsilon and self.spent.epsilon is not None else 1.0
        return min(by_rho, by_sum, 1.0)


def spent(budget: Budget) -> Units:
    """The sum of all charges that were not returned. A charge counts from the moment when it is reserved."""
    returned = ChargeStep.objects.filter(charge=OuterRef("pk"), reached=Reached.RETURNED)
    found = Charge.objects.filter(~Exists(returned), budget=budget).aggregate(
        rho=Sum("rho_units", default=0), epsilon=Sum("epsilon_units", default=0), impure=Count("pk", filter=Q(epsilon_units=None))
    )
    return Units(rho=found["rho"], epsilon=None if found["impure"] else found["epsilon"])


def account_of(budget: Budget) -> Account:
    return Account(rho=budget.rho_units, epsilon=budget.epsilon_units, delta=budget.delta, spent=spent(budget))
