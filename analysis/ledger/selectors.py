"""Reading the ledger: what a question would cost, and what became of those that were asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, QuerySet
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from analysis.ledger.accounts import Account, account_of
from analysis.ledger.errors import FROZEN, LedgerError, reason_in_words
from analysis.ledger.questions import Question, read_question
from analysis.ledger.units import Units
from analysis.models import AskingStatus, Budget, Charge, ChargeStep, Reached, Snapshot, SnapshotStatus, Source
from analysis.sources.selectors import newest_snapshot, obstacle, schema_of_snapshot
from analysis.sources.tables import Schema
from candor.privacy.losses import Loss
from surveys.batches.rules import LEAST
from surveys.batches.selectors import counted_people
from surveys.models import Participant
from surveys.privacy.words import loss_in_words
from surveys.questions.plans import PEOPLE_PER_FAILURE

FEWEST = 20
"""Fewer participants than this are not asked about: noise that protects them leaves nothing to learn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One charge and what became of it. `state` is reserved, drawn, answered or returned."""

    charge: Charge
    state: str
    answer: Any
    reason: str
    """Why it was returned, or why there is no answer."""
    waits: bool
    """Whether a worker is at it, or will be."""
    price: Units

    @property
    def loss(self) -> Loss:
        return self.price.loss

    @property
    def spends(self) -> bool:
        return self.state != Reached.RETURNED


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A question before it is asked. `earlier`: the same one was asked before; asking again costs nothing."""

    question: Question
    price: Units
    account: Account
    earlier: Asked | None
    obstacle: str

    @property
    def loss(self) -> Loss:
        return self.price.loss

    @property
    def asked_before(self) -> bool:
        return self.earlier is not None

    @property
    def cost(self) -> str:
        """The price in words."""
        return price_in_words(self.loss)

    @property
    def after(self) -> Account | None:
        """The account after this question; None unless this is the first that is not pure, which ends Σε."""
        ends = not self.earlier and not self.obstacle and self.account.spent.epsilon is not None and self.price.epsilon is None
        return self.account.after(self.price) if ends else None


def budget_of(source: Source) -> Budget:
    """Raises LedgerError for a source without a budget."""
    budget = Budget.objects.select_related("source__study", "source__data_set").filter(source=source).first()
    if budget is None:
        raise LedgerError(_("No privacy budget was approved here, so no question can be asked."))
    return budget


def preview(source: Source, document: Mapping[str, object]) -> Preview:
    """The price of the question, and the rest of the budget. Raises QuestionError, and LedgerError where there is no table."""
    budget, question = budget_of(source), read_question(document)
    earlier, account = same_question(budget, question), account_of(budget)
    if earlier is not None:
        return Preview(question=question, price=earlier.price, account=account, earlier=earlier, obstacle="")
    price = Units.of(question.price(*table_now(source)[1:]))
    return Preview(question=question, price=price, account=account, earlier=None, obstacle=refusal(budget, account, price))


def table_now(source: Source) -> tuple[int, Schema, int]:
    """Number, schema and n of the snapshot that questions are asked about now. Raises LedgerError, with the reason why there is none."""
    if why := why_none(source):
        raise LedgerError(why)
    snapshot = newest_snapshot(source)
    assert snapshot is not None
    assert snapshot.n is not None
    return snapshot.number, schema_of_snapshot(source, snapshot.number), snapshot.n


def why_none(source: Source) -> str:
    """Why no question is answered now: there is no table, or it has too few people; empty if questions are."""
    if why := obstacle(source):
        return why
    snapshot = newest_snapshot(source)
    assert snapshot is not None
    assert snapshot.n is not None
    return too_small(budget_of(source), snapshot.n) or too_few_answered(source)


def too_small(budget: Budget, n: int) -> str:
    """Why so few participants cannot be asked about, or so many not at this δ; empty if they can."""
    if n < FEWEST:
        too_few = _("Expected at least %(fewest)s students to ask about, found %(found)s.") % {"fewest": FEWEST, "found": n}
        return f"{too_few} {_('Bots do not count as people.')}" if _people_and_bots(budget.source) else too_few
    if budget.delta * PEOPLE_PER_FAILURE * n >= 1:
        return _("Expected a δ below 1 in %(people)s, ten times the students; the budget has δ = %(delta)s.") % {
            "people": number_format(PEOPLE_PER_FAILURE * n, force_grouping=True),
            "delta": number_format(f"{budget.delta:g}"),
        }
    return ""


def too_few_answered(source: Source) -> str:
    """Why a study is not asked about that has no results; empty if it has. People who finish without an answer are in the table, too."""
    if source.study is None or counted_people(source.study).answered >= LEAST:
        return ""
    return _(
        "The study ended with fewer than ten people who answered with the die. Results of so few would be about persons, so there are none."
    )


def _people_and_bots(source: Source) -> bool:
    """Whether both came: only people are asked about then."""
    came = Participant.objects.filter(study=source.study_id) if source.study_id else Participant.objects.none()
    return came.filter(is_bot=True).exists() and came.filter(is_bot=False).exists()


def refusal(budget: Budget, account: Account, price: Units) -> str:
    """Why the ledger does not let this be spent, with what is left; empty if it does."""
    if why := frozen_for(budget, price):
        return why
    if account.fits(price):
        return ""
    return _("The question costs %(cost)s. The rest is ρ = %(rho)s, or ε = %(epsilon)s for one question with pure ε.") % {
        "cost": price_in_words(price.loss),
        "rho": account.rho_in_words,
        "epsilon": account.pure_in_words,
    }


def frozen_for(budget: Budget, price: Units) -> str:
    """Why nothing that costs this is released now; empty if nobody froze the budget."""
    if budget.frozen_on is None or price == Units():
        return ""
    return _(FROZEN) % {"reason": budget.frozen_because}


def price_in_words(loss: Loss) -> str:
    name, amount = ("ρ", loss.rho) if loss.pure_epsilon is None else ("ε", loss.pure_epsilon)
    return f"{name} = {loss_in_words(amount)}"


def same_question(budget: Budget, question: Question) -> Asked | None:
    """The newest charge for the same question that has an answer, or can still have one."""
    for charge in _charges(budget).filter(sha256=question.sha256).order_by("-number"):
        asked = asked_of(charge)
        if asked.answer is not None or asked.waits or can_be_finished(charge):
            return asked
    return None


def can_be_finished(charge: Charge) -> bool:
    """Whether the noise is there, and only the answer has to be written from it."""
    return charge.asking.released is not None and charge.asking.status != AskingStatus.DONE


def asked_of(charge: Charge) -> Asked:
    steps = list(charge.steps.all())
    state = steps[-1].reached if steps else "reserved"
    answer, reason = (steps[-1].answer if steps else None), steps[-1].reason if state == Reached.RETURNED else charge.asking.error
    if charge.is_free and state == Reached.ANSWERED:
        # Versions before this one kept exact answers among the steps.
        answer = None if vars(charge)["replaced"] else charge.asking.released or answer
        reason = str(SnapshotStatus.REPLACED.label) if answer is None else reason
    return Asked(
        charge=charge,
        state=state,
        answer=answer,
        reason=reason_in_words(reason),
        waits=charge.asking.due_at is not None,
        price=Units(rho=charge.rho_units, epsilon=charge.epsilon_units),
    )


def asked_before(budget: Budget) -> list[Asked]:
    """Everything that was ever asked, in the order of the ledger."""
    return [asked_of(charge) for charge in _charges(budget)]


def newest_first(source: Source, *kinds: str) -> list[Asked]:
    """All questions of these kinds, the newest first."""
    return [asked for asked in reversed(asked_before(budget_of(source))) if asked.charge.kind in kinds]


def asked_with(budget: Budget, number: int) -> Asked | None:
    """The question with this number in the ledger."""
    charge = _charges(budget).filter(number=number).first()
    return asked_of(charge) if charge else None


def _charges(budget: Budget) -> QuerySet[Charge]:
    steps = Prefetch("steps", ChargeStep.objects.order_by("place"))
    rows = Snapshot.objects.filter(source=budget.source_id, number=OuterRef("snapshot"), status=SnapshotStatus.REPLACED)
    charges = budget.charges.annotate(replaced=Exists(rows)).select_related("asking", "asked_by")
    return charges.prefetch_related(steps).order_by("number")
