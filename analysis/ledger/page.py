"""The ledger as its page and its document show it."""

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from analysis.ledger.accounts import Account, account_of
from analysis.ledger.errors import QuestionError
from analysis.ledger.mechanisms import GAUSSIAN, LAPLACE, Share, shares
from analysis.ledger.questions import read_question
from analysis.ledger.selectors import Asked, asked_before, price_in_words, why_none
from analysis.ledger.units import UNITS, left_in_words
from analysis.models import Budget, Snapshot, Source
from analysis.sources.selectors import newest_snapshot, schema_of_snapshot
from candor.privacy.losses import Loss

USUAL_QUESTIONS = 10
MOST_QUESTIONS = 100_000
MECHANISMS = {LAPLACE: gettext_lazy("Laplace noise"), GAUSSIAN: gettext_lazy("Gaussian noise")}
STATES = {
    "reserved": gettext_lazy("Reserved"),
    "drawn": gettext_lazy("Spent, not answered"),
    "answered": pgettext_lazy("a charge", "Answered"),
    "returned": gettext_lazy("Returned"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One charge as a line of the ledger."""

    asked: Asked
    sentence: str
    cost: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The noise that an equal share of what is left buys, for each of the announced counts."""

    mechanism: str
    noise_sd: float
    cost: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    budget: Budget
    account: Account
    snapshot: Snapshot | None
    obstacle: str
    """Why nothing can be asked now."""
    lines: list[Line]
    questions: int
    offers: list[Offer]
    """The cheaper mechanism first; empty where nothing is left."""

    @property
    def spent(self) -> Loss:
        return self.account.spent.loss

    @property
    def rho(self) -> float:
        return self.account.rho / UNITS

    @property
    def rho_in_words(self) -> str:
        """The whole budget, in the digits in which its pages write the rest: an untouched budget is one number."""
        return left_in_words(self.account.rho)

    @property
    def percent(self) -> float:
        return 100 * self.account.share_spent


def ledger_of(source: Source, *, questions: int = USUAL_QUESTIONS) -> Ledger:
    """Everything that was charged, what is left, and what it buys for so many counts more."""
    budget = source.budget
    account = account_of(budget)
    buys = shares(account, questions=questions)
    return Ledger(
        budget=budget,
        account=account,
        snapshot=newest_snapshot(source),
        obstacle=why_none(source),
        lines=[_line(source, asked) for asked in asked_before(budget)],
        questions=questions,
        offers=[_offer(share) for share in buys if share.noise_sd < float("inf")],
    )


def cost_in_words(loss: Loss) -> str:
    if loss == Loss(0.0, 0.0):
        return _("free")
    return price_in_words(loss)


def _line(source: Source, asked: Asked) -> Line:
    try:
        sentence = read_question(asked.charge.document).sentence(schema_of_snapshot(source, asked.charge.snapshot))
    except QuestionError:  # of a kind that this version of Candor does not know
        sentence = asked.charge.kind
    return Line(asked=asked, sentence=sentence, cost=cost_in_words(asked.loss), state=str(STATES[asked.state]))


def _offer(share: Share) -> Offer:
    return Offer(mechanism=str(MECHANISMS[share.mechanism]), noise_sd=share.noise_sd, cost=cost_in_words(share.loss))
