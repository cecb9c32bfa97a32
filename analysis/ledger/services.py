"""Spending a budget, freezing it, and making it smaller. Each takes the budget's lock first and reads the stored state again under it."""

from collections.abc import Mapping
from functools import partial

from django.db import transaction
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from accounts.models import User
from analysis import actions
from analysis.ledger.accounts import account_of
from analysis.ledger.errors import LedgerError
from analysis.ledger.questions import read_question
from analysis.ledger.remembered import make_whole, remember_limits
from analysis.ledger.selectors import Asked, asked_with, can_be_finished, refusal, same_question, table_now
from analysis.ledger.units import Units, rounded_down
from analysis.models import Asking, Budget, Charge, Source
from analysis.sources.seats import seat_at
from audit.services import record
from candor.privacy.conversion import rho_within
from jobs.tasks import send
from surveys.privacy.words import loss_in_words

LONGEST_REASON = 2000


def open_budget(source: Source, *, epsilon: float, delta: float) -> Budget:
    """The budget of a new source, as it was approved."""
    budget = Budget(source=source, epsilon=epsilon, delta=delta, **_units(epsilon, delta))
    budget.full_clean()
    budget.save()
    return budget


def ask(source: Source, document: Mapping[str, object], *, actor: User) -> Asked:
    """Reserve the price of a question and have a worker answer it. The same question again gives the earlier charge and costs nothing.

    Raises QuestionError and LedgerError; nothing is spent then.
    """
    make_whole(source)
    return _ask(source, document, actor=actor)


@transaction.atomic
def _ask(source: Source, document: Mapping[str, object], *, actor: User) -> Asked:
    budget = _locked(source)
    _require_seat(source, actor)
    question = read_question(document)
    if (earlier := same_question(budget, question)) is not None:
        if not earlier.waits and can_be_finished(earlier.charge):  # its noise is there: write the answer
            _have_it_answered(earlier.charge.asking)
        return earlier
    number, schema, n = table_now(source)
    price = Units.of(question.price(schema, n))
    account = account_of(budget)
    if why := refusal(budget, account, price):
        raise LedgerError(why)
    charge = Charge.objects.create(
        budget=budget,
        number=Charge.objects.filter(budget=budget).count() + 1,
        kind=question.kind,
        document=question.document,
        sha256=question.sha256,
        rho_units=price.rho,
        epsilon_units=price.epsilon,
        snapshot=number,
        n=n,
        asked_by=actor,
        asked_on=timezone.localdate(),
    )
    asking = Asking.objects.create(charge=charge, due_at=timezone.now())
    transaction.on_commit(partial(send, asking))
    record(
        actor=actor,
        action=actions.QUESTION_ASKED,
        subject=source.whole,
        details={"number": charge.number, "question": charge.sha256, "rho": price.loss.rho, "pure_epsilon": price.loss.pure_epsilon},
    )
    _require_seat(source, actor)  # the end of the log is held by now: whoever is removed after this is so in the log, too
    asked = asked_with(budget, charge.number)
    assert asked is not None
    return asked


@transaction.atomic
def freeze(source: Source, *, reason: str, actor: User) -> None:
    """Let nothing more be spent. Answers that are there stay."""
    budget = _to_change(source)
    if budget.frozen_on is not None:
        raise LedgerError(_("This budget is frozen already."))
    if not (reason := reason.strip()[:LONGEST_REASON]):
        raise LedgerError(_("Expected a reason in words, found none."))
    budget.frozen_on, budget.frozen_by, budget.frozen_because = timezone.localdate(), actor, reason
    record(actor=actor, action=actions.BUDGET_FROZEN, subject=source.whole, details={"reason": reason})
    _change(budget)


@transaction.atomic
def unfreeze(source: Source, *, actor: User, changes: int | None = None) -> None:
    """Let the budget be spent again. Nobody decides so about their own questions, also if they have left the study since.

    `changes` is the budget's number of changes that the officer has read: what was frozen anew meanwhile stays frozen.
    """
    budget = _to_change(source)
    if changes not in (None, budget.changes):
        raise LedgerError(_("The budget was changed meanwhile. Look at it again."))
    if budget.frozen_on is None:
        raise LedgerError(_("This budget is not frozen."))
    if budget.charges.filter(asked_by=actor).exists():
        raise LedgerError(_("You asked questions under this budget. Another IRB officer lets it be spent again."))
    budget.frozen_on, budget.frozen_by, budget.frozen_because = None, None, ""
    record(actor=actor, action=actions.BUDGET_UNFROZEN, subject=source.whole)
    _change(budget)


@transaction.atomic
def lower(source: Source, *, epsilon: float, delta: float, actor: User) -> None:
    """Make the budget smaller, but never smaller than what is spent."""
    budget = _to_change(source)
    if not (0 < epsilon <= budget.epsilon and 0 <= delta <= budget.delta):
        raise LedgerError(
            _("Expected a budget of at most ε = %(epsilon)s and δ = %(delta)s, found ε = %(asked)s and δ = %(asked_delta)s.")
            % {
                name: number_format(f"{value:g}")
                for name, value in (("epsilon", budget.epsilon), ("delta", budget.delta), ("asked", epsilon), ("asked_delta", delta))
            }
        )
    before = account_of(budget)
    units = _units(epsilon, delta)
    over_rho = before.spent.rho > units["rho_units"]
    over_sum = before.spent.epsilon is None or before.spent.epsilon > units["epsilon_units"]
    if over_rho and over_sum:
        raise LedgerError(
            _("Expected a budget of at least what is spent, ε = %(spent)s; found ε = %(asked)s.")
            % {"spent": loss_in_words(before.epsilon_spent), "asked": loss_in_words(epsilon)}
        )
    changed = {"epsilon": [budget.epsilon, epsilon], "delta": [budget.delta, delta]}
    budget.epsilon, budget.delta, budget.epsilon_units, budget.rho_units = epsilon, delta, units["epsilon_units"], units["rho_units"]
    record(actor=actor, action=actions.BUDGET_LOWERED, subject=source.whole, details=changed)
    _change(budget)


def _locked(source: Source) -> Budget:
    """The budget, locked until the transaction ends: all who spend it stand in line here."""
    budget = (
        Budget.objects.select_for_update(of=("self",)).select_related("source__study", "source__data_set").filter(source=source).first()
    )
    if budget is None:
        raise LedgerError(_("No privacy budget was approved here, so no question can be asked."))
    return budget


def _require_seat(source: Source, actor: User) -> None:
    """Read again: they may have lost it while they waited."""
    if not seat_at(Source.objects.select_related("study", "data_set").get(pk=source.pk), actor).may_ask:
        raise LedgerError(_("You may not ask about these data any more."))


def _to_change(source: Source) -> Budget:
    """The budget, locked, as officers left it, even if the database comes from an earlier back-up."""
    make_whole(source)
    return _locked(source)


def _change(budget: Budget) -> None:
    """Keep a change, and remember it beside the database: at the end of the transaction, so that what is remembered is made."""
    budget.changes += 1
    budget.save()
    try:
        remember_limits(budget)
    except OSError as error:
        raise LedgerError(
            _("This could not be remembered beside the database (%(reason)s), so nothing was changed.") % {"reason": error.strerror}
        ) from error


def _have_it_answered(asking: Asking) -> None:
    """Put work that ended without an answer back into the queue."""
    waiting = Asking.objects.filter(pk=asking.pk, due_at=None)
    if waiting.update(**Asking.WAITING, due_at=timezone.now(), attempts=0, error=""):
        asking.refresh_from_db()
        transaction.on_commit(partial(send, asking))


def _units(epsilon: float, delta: float) -> dict[str, int]:
    """The budget in whole units, rounded down."""
    return {"epsilon_units": rounded_down(epsilon), "rho_units": rounded_down(rho_within(epsilon, delta))}
