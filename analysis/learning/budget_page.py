"""The builder's page of the privacy budget: typing it shows at once what it buys and what it means to a student."""

from typing import ClassVar

from django.utils.translation import gettext as _

from surveys.builder.frame import LookingPage
from surveys.drafting.edits import Edit, Keys
from surveys.drafting.forms import DraftForm, Typed, typed_value
from surveys.privacy.budgets import LARGEST_RARITY, USUAL_EPSILON, bought_by, budget_in_words, in_words, usual_rarity
from surveys.questions.plans import LARGEST_BUDGET, PEOPLE_PER_FAILURE, PrivacyBudget

SMALLEST_EPSILON = 0.01
SAME = 1e-12
"""Relative difference of two rarities that nobody typed."""


class BudgetPage(LookingPage):
    part = "budget"
    template_name: ClassVar[str] = "analysis/learning/budget.html"

    def edit(self) -> Edit:
        return Keys(("privacy_budget",))

    @property
    def planned(self) -> int:
        return self.definition.allocation.planned_participants

    def typed(self) -> Typed:
        budget = self.definition.privacy_budget
        if budget is None:
            return {"epsilon": typed_value(USUAL_EPSILON), "rarity": typed_value(usual_rarity(self.planned))}
        return {"wanted": "on", "epsilon": typed_value(budget.epsilon), "rarity": typed_value(1 / budget.delta)}

    def read(self, form: DraftForm) -> object:
        if not form.checked("wanted"):
            return {}
        epsilon = form.number(
            "epsilon",
            what=_("The budget ε"),
            minimum=SMALLEST_EPSILON,
            maximum=LARGEST_BUDGET,
            missing=_("Write how large the budget is."),
        )
        least = PEOPLE_PER_FAILURE * self.planned + 1
        rarity = form.number(
            "rarity", what=_("This number"), minimum=least, maximum=LARGEST_RARITY, missing=_("Write in how many cases one may fail.")
        )
        if epsilon is None or rarity is None:
            return {}
        return {"privacy_budget": {"epsilon": epsilon, "delta": self._delta(rarity)}}

    def context_of(self, form: DraftForm) -> dict[str, object]:
        trial = DraftForm(form.typed, languages=form.languages)
        found = self.read(trial)
        context: dict[str, object] = {"planned": self.planned, "has_quiz": bool(self.definition.quiz), "problem": ""}
        if trial.errors or not isinstance(found, dict) or not found:
            return context | {"problem": next(iter(trial.errors.values()), "")}
        budget = PrivacyBudget.model_validate(found["privacy_budget"])
        bought = [in_words(one) for one in bought_by(budget, people=self.planned)]
        return context | {"bought": bought, "meaning": budget_in_words(budget)}

    def _delta(self, rarity: float) -> float:
        """1 in so many; the stored δ where nobody typed another."""
        stored = self.definition.privacy_budget
        if stored is not None and abs(stored.delta * rarity - 1) < SAME:
            return stored.delta
        return 1 / rarity
