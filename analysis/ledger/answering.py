"""How a worker answers a question: the exact numbers, then the charge is drawn for good, then noise, then the answer.

Noise is drawn at most once for a charge. A worker that dies before the charge is drawn leaves nothing, and the next one begins anew. After
that the charge is spent. Once the release is stored, the next worker writes the answer from it.
"""

import logging
import traceback
from datetime import timedelta
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from analysis.ledger.errors import NOT_REMEMBERED, NOT_THERE, STOPPED, LedgerError, NoAnswerError, QuestionError
from analysis.ledger.questions import KINDS, Question, read_question
from analysis.ledger.remembered import forget_known, make_whole, remember
from analysis.ledger.selectors import frozen_for
from analysis.ledger.units import Units
from analysis.models import Asking, Budget, Charge, ChargeStep, Reached, Snapshot, SnapshotStatus
from analysis.sources.selectors import CHANGED, schema_of_snapshot, table_of
from analysis.sources.tables import Table
from candor.errors import MethodError
from jobs.queues import Queue
from jobs.registry import QUICK, job, routine

logger = logging.getLogger(__name__)

LATER = timedelta(seconds=15)
"""The delay before a question of a kind that this version does not know is offered to other workers."""


class OverchargedError(AssertionError):
    """A bug: noise that costs more than the price that was reserved for it."""


class BrokenQuestionError(AssertionError):
    """A bug in a kind of question, told by its type and its place: its own words may be those of a row."""


@job(kind="question", model=Asking, expects=(LedgerError, QuestionError, MethodError), priority=QUICK)
def answer(asking: Asking) -> None:
    """Answer a question whose price is reserved. During an upgrade, a kind that only a newer version knows is left to its workers."""
    if asking.charge.kind not in KINDS:
        asking.wait(after=LATER, attempts=0)
        return
    question, charge = read_question(asking.charge.document), asking.charge
    released = asking.released if asking.released is not None else _release(asking, question)
    schema = schema_of_snapshot(charge.budget.source, charge.snapshot)
    found = question.explain(released, schema, charge.n)
    with transaction.atomic():
        if charge.is_free and not _holds_rows(charge):
            raise NoAnswerError(CHANGED)
        answered = {} if charge.is_free else found  # the steps of a charge stay; an exact answer goes with the rows
        ChargeStep.objects.create(charge=charge, place=2, reached=Reached.ANSWERED, answer=answered, reached_on=timezone.localdate())
        asking.finish(released=found if charge.is_free else None)


@routine(kind="remembered_charges", every=timedelta(hours=1), queue=Queue.FIRST)
def keep_ledgers_whole() -> None:
    """Charge, freeze and lower again what a restored back-up does not know; forget what every back-up knows."""
    for budget in Budget.objects.select_related("source__study", "source__data_set").order_by("pk"):
        try:
            make_whole(budget.source)
        except LedgerError as error:
            logger.error("Ledger of %s: %s", budget.source, error)
        forget_known(budget.source)


def _release(asking: Asking, question: Question) -> object:
    charge = asking.charge
    make_whole(charge.budget.source)
    if charge.steps.exists():
        raise NoAnswerError(STOPPED)
    table = table_of(charge.budget.source, charge.snapshot)
    if table is None:
        raise NoAnswerError(NOT_THERE)
    exact = _exact(question, table)
    _draw(asking)
    released, loss = question.release(exact)
    cost, price = Units.of(loss), Units(rho=charge.rho_units, epsilon=charge.epsilon_units)
    if cost.rho > price.rho or (price.epsilon is not None and (cost.epsilon is None or cost.epsilon > price.epsilon)):
        raise OverchargedError(f"expected a loss of at most {price.loss}, found {loss} for {charge.sha256}")
    if not charge.is_free:
        asking.write(released=released)
    return released


def _exact(question: Question, table: Table) -> object:
    """The exact statistic. Where it fails the charge is returned, and people who ask read why."""
    try:
        return question.exact(table)
    except (LedgerError, QuestionError, MethodError):
        raise
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        raise BrokenQuestionError(f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}") from None


@transaction.atomic
def _draw(asking: Asking) -> None:
    """From here on the charge is spent. The rows must still be those of the charge, this worker's claim must stand, and nobody may have
    frozen the budget since its price was reserved.
    """
    charge = asking.charge
    budget = Budget.objects.select_for_update(of=("self",)).get(pk=charge.budget_id)
    if why := frozen_for(budget, Units(rho=charge.rho_units, epsilon=charge.epsilon_units)):
        raise NoAnswerError(why)
    asking.write()
    if not _holds_rows(charge):
        raise NoAnswerError(NOT_THERE)
    ChargeStep.objects.create(charge=charge, place=1, reached=Reached.DRAWN, reached_on=timezone.localdate())
    try:
        remember(charge)
    except OSError as error:
        raise NoAnswerError(NOT_REMEMBERED % {"reason": error.strerror}) from error


def _holds_rows(charge: Charge) -> bool:
    """Whether the rows of the charge are there still. Nobody takes them away until the transaction ends."""
    there = Snapshot.objects.filter(source=charge.budget.source_id, number=charge.snapshot, status=SnapshotStatus.READY)
    return bool(there.select_for_update(of=("self",)).values_list("pk", flat=True))
