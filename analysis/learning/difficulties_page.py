"""The page of the difficulties: what a release would cost and how exact it would be, and what was released."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.formats import number_format
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.learning.difficulties import LONGEST_REASON, NOT_GIVEN, PURE, Difficulties, Mechanism, require_a_quiz
from analysis.ledger.accounts import Account, account_of
from analysis.ledger.errors import LedgerError
from analysis.ledger.page import cost_in_words
from analysis.ledger.selectors import Asked, Preview, budget_of, newest_first, refusal, same_question, table_now
from analysis.ledger.units import UNITS, Units
from analysis.models import Budget, Source
from candor.errors import DataError
from candor.packages.analytics import PublishedDifficulties
from candor.privacy.conversion import epsilon_of_rho
from candor.written_numbers import typed_number
from surveys.errors import SurveyError
from surveys.privacy.words import certainty

GAUSSIAN: Mechanism = "totals_and_scores"
MECHANISMS = {
    GAUSSIAN: gettext_lazy("how many solved each question, and how many have each score, with Gauss’s noise"),
    PURE: gettext_lazy("how many solved each question, and how many have each score, with noise of pure ε"),
    NOT_GIVEN: gettext_lazy("how many solved and how many answered each question, with Gauss’s noise"),
}
OMITTED = (
    ("wrong", gettext_lazy("It counts as wrong: more exact, and usual for a test")),
    ("not_given", gettext_lazy("It counts as not given: for a quiz in which people skip questions")),
)
USUAL_SHARE = 50
SO_LITTLE = gettext_lazy("Expected a larger share: so little of this budget is nothing.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A release that can be bought. `is_noise`: it would tell nothing, and takes a reason."""

    preview: Preview
    question: Difficulties
    error: float
    is_noise: bool

    @property
    def error_in_words(self) -> str:
        return number_format(f"{self.error:.2f}")

    @property
    def mechanism(self) -> str:
        return str(MECHANISMS[self.question.mechanism])

    @property
    def budget_is_used_up(self) -> bool:
        """Whether no other share would fit either."""
        return not (self.preview.account.rho_left or self.preview.account.pure_left)


class OfferForm:
    """The choices as somebody typed them, the errors by field, and what they would buy."""

    def __init__(self, source: Source, sent: QueryDict) -> None:
        self.source = source
        self.values = {
            "share": sent.get("share", str(USUAL_SHARE)).strip(),
            "omitted": sent.get("omitted", OMITTED[0][0]),
            "reason": " ".join(sent.get("reason", "").split()),
        }
        self.errors: dict[str, str] = {}
        share = typed_number(self.values["share"])
        if share is None or not 0 < share <= 100:
            self.errors["share"] = _("Write how many percent of the budget, from above 0 to 100, not “%(found)s”.") % {
                "found": self.values["share"][:40]
            }
        if self.values["omitted"] not in dict(OMITTED):
            self.errors["omitted"] = _("Choose one of these.")
        if len(self.values["reason"]) > LONGEST_REASON:
            self.errors["reason"] = _("Write at most %(most)s letters.") % {"most": LONGEST_REASON}
        self.share = float(share or 0) / 100

    @property
    def omitted_options(self) -> object:
        return OMITTED

    @cached_property
    def problem(self) -> str:
        """Why nothing can be released at all; empty if something can."""
        try:
            _number, schema, n = table_now(self.source)
            require_a_quiz(schema, n)
        except SurveyError as error:
            return str(error)
        return ""

    @cached_property
    def offer(self) -> Offer | None:
        """The release that these choices buy; None where something typed is wrong."""
        if self.errors or self.problem:
            return None
        return best_offer(self.source, share=self.share, omitted=self.values["omitted"], reason=self.values["reason"])


def best_offer(source: Source, *, share: float, omitted: str, reason: str) -> Offer:
    """The most exact release that a share of the budget buys. Raises QuestionError and LedgerError where nothing can be released at all."""
    offers = list(_offers(source, share=share, omitted=omitted, reason=reason))
    possible = [one for one in offers if not one.preview.obstacle]
    return min(possible or offers, key=lambda one: one.error)


def _offers(source: Source, *, share: float, omitted: str, reason: str) -> Iterator[Offer]:
    from candor.rasch.before_spending import LARGEST_ERROR

    budget = budget_of(source)
    account = account_of(budget)
    _number, schema, n = table_now(source)
    rho, epsilon = (int(share * whole) / UNITS for whole in (budget.rho_units, budget.epsilon_units))
    prices: dict[Mechanism, dict[str, float]] = {GAUSSIAN: {"rho": rho}, PURE: {"epsilon": epsilon}}
    if omitted == "not_given":
        prices = {NOT_GIVEN: {"rho": rho}}
    for mechanism, price in prices.items():
        if min(price.values()) <= 0:
            raise LedgerError(str(SO_LITTLE))
        question = Difficulties(mechanism=mechanism, reason=reason, **price)
        try:
            error = question.predicted_error(schema, n)
        except DataError:  # the noise would be too large to draw
            raise LedgerError(str(SO_LITTLE)) from None
        earlier, cost = same_question(budget, question), Units.of(question.loss)
        obstacle = "" if earlier else refusal(budget, account, cost)
        preview = Preview(question=question, price=cost, account=account, earlier=earlier, obstacle=obstacle)
        yield Offer(preview=preview, question=question, error=error, is_noise=error > LARGEST_ERROR)


@dataclass(frozen=True, kw_only=True)
class Released:
    """One release of difficulties, and what became of it."""

    asked: Asked

    @property
    def percent_of_budget(self) -> float:
        """Its price, out of the budget."""
        budget = self.asked.charge.budget
        return 100 * Account(rho=budget.rho_units, epsilon=budget.epsilon_units, delta=budget.delta, spent=self.asked.price).share_spent

    @property
    def found(self) -> PublishedDifficulties | None:
        answer: PublishedDifficulties | None = self.asked.answer
        return answer

    @property
    def percent(self) -> str:
        return number_format(f"{self.percent_of_budget:.3g}")

    @property
    def sure(self) -> str:
        """The most that somebody can conclude who thought 50 : 50; by ρ but for the δ of the budget."""
        loss, delta = self.asked.loss, self.asked.charge.budget.delta
        found = [loss.pure_epsilon] if loss.pure_epsilon is not None else []
        return certainty(min([*found, *([epsilon_of_rho(loss.rho, delta)] if delta else [])]))

    @property
    def mechanism(self) -> str:
        return str(MECHANISMS[self.asked.charge.document["mechanism"]])

    @property
    def cost(self) -> str:
        return cost_in_words(self.asked.loss)


def releases_of(source: Source) -> list[Released]:
    """All releases of difficulties, the newest first; those that cost nothing because they were returned are left out."""
    return [Released(asked=one) for one in newest_first(source, "difficulties") if one.spends]


def newest_difficulties(source: Source | None) -> PublishedDifficulties | None:
    """The newest released difficulties of a source; None where there are none."""
    if source is None or not Budget.objects.filter(source=source).exists():
        return None
    return next((one.found for one in releases_of(source) if one.found), None)
