"""The life of a run: queued, claimed by one worker, computed, done. Every step may be repeated after a crash without harm."""

import logging
import secrets
from collections.abc import Mapping
from datetime import timedelta
from functools import partial

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from analysis.answers.datasets import cell_counts, people_of
from analysis.answers.direct_results import direct_results
from analysis.heartbeats import SILENCE, beating
from analysis.models import Chunk, ChunkStatus, Run, RunKind, RunStatus
from analysis.runs.low_priority import at_low_priority
from analysis.stored_results import METHOD_VERSION, Balance, NotYet, QuestionEstimate, Results, document_of, read_results
from candor.errors import MethodError
from surveys.definition import StudyDefinition
from surveys.models import Study
from surveys.protocols import frozen_protocol, protocol_in_force
from webhooks.models import Event
from webhooks.services import emit

DEBOUNCE = {RunKind.FIRST_RESULTS: timedelta(seconds=0.5), RunKind.FULL_RESULTS: timedelta(seconds=10)}
WAIT_FOR_NEXT_CHUNK = timedelta(seconds=60)
"""How long begun full results may wait until the queue comes to their next chunk."""
NO_SIGN = timedelta(seconds=10)
MOST_ATTEMPTS = 5
LARGEST_SEED = 2**31

logger = logging.getLogger(__name__)


def queue_run(study_id: int, *, kind: RunKind = RunKind.FIRST_RESULTS, after: timedelta | None = None) -> Run | None:
    """Ask for a computation that will see everything committed until it starts. None: one is waiting already, and will do."""
    if Run.objects.filter(study_id=study_id, kind=kind, status=RunStatus.QUEUED).exists():
        return None
    if kind == RunKind.FULL_RESULTS and Study.objects.filter(pk=study_id, forgotten_on__isnull=False).exists():
        return None  # the background answers are deleted; what was computed from them stays as it is
    due_at = timezone.now() + (DEBOUNCE[kind] if after is None else after)
    seed = secrets.randbelow(LARGEST_SEED) if kind == RunKind.FULL_RESULTS else None
    try:
        with transaction.atomic():
            return Run.objects.create(study_id=study_id, kind=kind, due_at=due_at, seed=seed)
    except IntegrityError:
        return None


def claim(run_id: int) -> Run | None:
    """Take a queued run for this worker. None: it was taken before, or another run of the study is still under way."""
    try:
        with transaction.atomic():
            run = Run.objects.select_related("study").select_for_update(of=("self",)).filter(pk=run_id, status=RunStatus.QUEUED).first()
            if run is None:
                return None
            run.status, run.due_at, run.attempts = RunStatus.RUNNING, timezone.now(), run.attempts + 1
            run.save(update_fields=("status", "due_at", "attempts"))
            run.chunks.filter(status=ChunkStatus.COMPUTING).update(status=ChunkStatus.WAITING)
            return run
    except IntegrityError:
        return None


def execute(run: Run) -> None:
    """Compute and store. An expected error becomes part of the result; a bug fails the run and is raised.

    Full results are only begun: their bootstrap is left in chunks to all workers (`analysis.runs.resampling`).
    """
    try:
        definition = protocol_in_force(run.study).definition
        with beating(partial(heard_of, run.pk)):
            if run.kind == RunKind.FULL_RESULTS:
                begin_full_results(run, definition)
                return
            found = first_results(run.study, definition)
        run.n, run.results = found.n, document_of(found)
    except Exception as error:
        finish(run, RunStatus.FAILED, error=f"{type(error).__name__}: {error}")
        raise
    finish(run, RunStatus.DONE)


def first_results(study: Study, definition: StudyDefinition) -> Results:
    """Per question the cheater proportion and the effects with their intervals."""
    from candor.estimators.effects import estimate_outcome  # SciPy, which web processes can do without
    from candor.estimators.sequential import anytime_effects

    design, planned = definition.design(), definition.planned_with_die
    outcomes: dict[str, QuestionEstimate | NotYet] = {}
    for question, counts in cell_counts(study, definition).items():
        try:
            outcomes[question] = QuestionEstimate.of(
                estimate_outcome(counts, design=design), anytime=anytime_effects(counts, design=design, planned_n=planned)
            )
        except MethodError as error:
            outcomes[question] = NotYet(n=int(counts.sum()), not_yet=str(error))
    return _results(study, definition, outcomes)


def begin_full_results(run: Run, definition: StudyDefinition) -> None:
    """Keep a copy of the data, which all chunks look at while more answers come in, and write down which chunks there are."""
    from analysis.runs.full_results import balance_of, outcome_results, question_analyses

    if run.data is not None:  # begun by a worker that fell silent since
        return
    people = people_of(run.study, definition)
    outcomes, chunks = {}, []
    for question, analysis in question_analyses(people, definition).items():
        outcomes[question] = at_low_priority(outcome_results, analysis)
        if isinstance(outcomes[question], QuestionEstimate):
            chunks += [Chunk(run=run, question=question, family=family, index=index) for family, index in analysis.chunks()]
    results = _results(run.study, definition, outcomes, balance=balance_of(people, definition, shown=balance_shown_before(run)))
    with transaction.atomic():
        begun = Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING, attempts=run.attempts).update(
            n=results.n, results=document_of(results), data=people.to_bytes(), due_at=timezone.now()
        )
        if begun:
            Chunk.objects.bulk_create(chunks)


def _results(
    study: Study, definition: StudyDefinition, outcomes: Mapping[str, QuestionEstimate | NotYet], *, balance: Balance | None = None
) -> Results:
    return Results(
        n=max((outcome.n for outcome in outcomes.values()), default=0),
        design=definition.design().to_document(),
        outcomes=outcomes,
        balance=balance,
        direct_group=direct_results(study, definition) if definition.direct_group else None,
    )


def balance_shown_before(run: Run) -> Balance | None:
    """That of the last computation that anybody may have seen."""
    before = Run.objects.filter(study_id=run.study_id, kind=run.kind, pk__lt=run.pk, results__isnull=False).order_by("-pk")
    results = read_results(before.values_list("results", flat=True).first())
    return None if results is None else results.balance


def heard_of(run_id: int) -> None:
    """Its worker is alive."""
    Run.objects.filter(pk=run_id, status=RunStatus.RUNNING).update(due_at=timezone.now())


def take_over(*, silence: timedelta | None = None) -> None:
    """Take runs away from workers of whom nothing was heard for this long; by default begun full results wait longer than others."""
    now = timezone.now()
    computing, begun = (SILENCE, WAIT_FOR_NEXT_CHUNK) if silence is None else (silence, silence)
    silent = Q(data__isnull=True, due_at__lte=now - computing) | Q(data__isnull=False, due_at__lte=now - begun)
    for run in Run.objects.filter(silent, status=RunStatus.RUNNING).only("kind", "due_at", "attempts"):
        left = Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING, due_at=run.due_at)
        try:
            with transaction.atomic():
                if run.attempts < MOST_ATTEMPTS:
                    left.update(status=RunStatus.QUEUED, due_at=now)
                else:
                    end(left, RunStatus.FAILED, error=f"Given up after {run.attempts} workers fell silent.")
        except IntegrityError:  # a newer request waits already and will see everything
            end(Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING), RunStatus.SUPERSEDED)
        logger.warning("A run of kind %s was left by its worker and has been taken over", run.kind)


def without_a_sign() -> list[int]:
    """Begun full results of which nothing was heard for some seconds: whoever computed them may be gone, and their messages too."""
    begun = Run.objects.filter(status=RunStatus.RUNNING, data__isnull=False, due_at__lt=timezone.now() - NO_SIGN)
    return list(begun.values_list("pk", flat=True))


def recover() -> list[tuple[int, float]]:
    """Take over what was left, and name all runs that wait, with the seconds until they are due: the broker may have lost them."""
    take_over()
    now = timezone.now()
    waiting = Run.objects.filter(status=RunStatus.QUEUED).order_by("pk").values_list("pk", "due_at")
    return [(pk, max((due_at - now).total_seconds(), 0.0)) for pk, due_at in waiting if due_at is not None]


def end_unfinished(study_id: int, *, kind: RunKind, status: RunStatus) -> bool:
    """Stop what waits or is under way; its worker will notice. False: there was nothing."""
    return end(Run.objects.filter(study_id=study_id, kind=kind, status__in=(RunStatus.QUEUED, RunStatus.RUNNING)), status)


def finish(run: Run, status: RunStatus, *, error: str = "") -> None:
    """Store the results of a run, unless it was taken away or stopped in the meantime."""
    mine = Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING, attempts=run.attempts)
    with transaction.atomic():
        if end(mine, status, n=run.n, results=run.results, error=error[:2000], method_version=METHOD_VERSION) and status == RunStatus.DONE:
            thin_history(run)
            tell(run)


def tell(run: Run) -> None:
    """Write to the outbox that there are new results and, by the quick ones, whether the planned number is reached."""
    emit(run.study_id, Event.RESULTS_UPDATED)
    if run.kind == RunKind.FIRST_RESULTS and run.study.protocol_id is not None:
        planned = frozen_protocol(run.study.protocol_id).definition.allocation.planned_participants
        if (run.n or 0) >= planned:
            emit(run.study_id, Event.N_REACHED)


@transaction.atomic
def end(runs: QuerySet[Run], status: RunStatus, **values: object) -> bool:
    """The clock time, the copy of the data and the chunks go; only the day stays."""
    ended = list(runs.select_for_update(of=("self",)).values_list("pk", flat=True))
    Chunk.objects.filter(run__in=ended).delete()
    Run.objects.filter(pk__in=ended).update(status=status, due_at=None, data=None, finished_on=timezone.localdate(), **values)
    return bool(ended)


def thin_history(run: Run) -> None:
    """Keep of the history one result for each percent more people; all, while there are fewer than a hundred."""
    done = Run.objects.filter(study_id=run.study_id, kind=run.kind, status=RunStatus.DONE, pk__lt=run.pk)
    last = [(pk, n or 0) for pk, n in done.order_by("-pk").values_list("pk", "n")[:2]]
    if len(last) == 2:
        (between, n_between), (_before, n_before) = last
        if n_before <= n_between <= (run.n or 0) < n_before + n_before // 100:
            Run.objects.filter(pk=between).delete()
