"""The computations over a study's answers. Every step may be repeated after a crash without harm."""

import os
import secrets
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from analysis.answers.datasets import cell_counts, people_of
from analysis.answers.direct_results import direct_results
from analysis.models import Chunk, Run, RunKind, RunStatus
from analysis.runs.low_priority import at_low_priority
from candor.errors import MethodError
from jobs.registry import FIRST, HEAVY, LAST, job
from surveys.definition import StudyDefinition
from surveys.models import Study
from surveys.protocols import frozen_protocol, protocol_in_force
from webhooks.models import Event
from webhooks.services import emit

METHOD_VERSION = "1"
DEBOUNCE = {RunKind.FIRST_RESULTS: timedelta(seconds=0.5), RunKind.FULL_RESULTS: timedelta(seconds=10)}
LARGEST_SEED = 2**31
LANES = max(1, min(4, (os.cpu_count() or 1) - 1))
"""How many workers may compute one study's bootstrap at once: all but one, which stays free for first results."""


def queue_run(study_id: int, *, kind: RunKind = RunKind.FIRST_RESULTS, after: timedelta | None = None) -> Run | None:
    """Ask for a computation that will see everything committed until it starts. None: a waiting one will do."""
    if Run.objects.filter(study_id=study_id, kind=kind, status=RunStatus.QUEUED).exists():
        return None
    if kind == RunKind.FULL_RESULTS and Study.objects.filter(pk=study_id, forgotten_on__isnull=False).exists():
        return None  # the background answers are deleted; results computed from them stay as they are
    due_at = timezone.now() + (DEBOUNCE[kind] if after is None else after)
    seed = secrets.randbelow(LARGEST_SEED) if kind == RunKind.FULL_RESULTS else None
    try:
        with transaction.atomic():
            return Run.objects.create(study_id=study_id, kind=kind, due_at=due_at, seed=seed)
    except IntegrityError:
        return None


@job(kind=RunKind.FIRST_RESULTS, model=Run, where={"kind": RunKind.FIRST_RESULTS}, priority=FIRST)
def compute_first_results(run: Run) -> None:
    """People wait for this work: it goes before everything else."""
    store(run, first_results(run.study, protocol_in_force(run.study).definition))


@job(kind=RunKind.FULL_RESULTS, model=Run, where={"kind": RunKind.FULL_RESULTS}, priority=HEAVY)
def compute_full_results(run: Run) -> None:
    """Begin, and leave the bootstrap in chunks to all workers; once they are done, combine them."""
    from analysis.runs import resampling  # SciPy, which web processes can do without

    if run.data is None:
        begin_full_results(run, protocol_in_force(run.study).definition)
    elif run.chunks.filter(due_at__isnull=False).exists():
        run.spread()
    else:
        store(run, resampling.merged(run))


@job(kind="bootstrap_chunk", model=Chunk, priority=LAST, part_of="run", lanes=LANES)
def compute_chunk(chunk: Chunk) -> None:
    from analysis.runs import resampling  # SciPy, which web processes can do without

    chunk.finish(effects=resampling.effects_of(chunk))


def first_results(study: Study, definition: StudyDefinition) -> dict[str, Any]:
    """Per question the cheater proportion and the effects with their intervals, as JSON values."""
    from candor.estimators.effects import estimate_outcome  # SciPy, which web processes can do without
    from candor.estimators.sequential import anytime_effects

    design, planned = definition.design(), definition.planned_with_die
    outcomes: dict[str, Any] = {}
    n = 0
    for question, counts in cell_counts(study, definition).items():
        n = max(n, int(counts.sum()))
        try:
            outcomes[question] = asdict(estimate_outcome(counts, design=design))
            outcomes[question]["anytime"] = [asdict(one) for one in anytime_effects(counts, design=design, planned_n=planned)]
        except MethodError as error:
            outcomes[question] = {"n": int(counts.sum()), "not_yet": str(error)}
    results = {"n": n, "design": design.to_document(), "outcomes": outcomes}
    return results | ({"direct_group": direct_results(study, definition)} if definition.direct_group else {})


def begin_full_results(run: Run, definition: StudyDefinition) -> None:
    """Keep a copy of the data, which all chunks use while more answers come in, and list the chunks."""
    from analysis.runs.full_results import balance_of, outcome_results, question_analyses

    people = people_of(run.study, definition)
    outcomes, chunks, now = {}, [], timezone.now()
    for question, analysis in question_analyses(people, definition).items():
        outcomes[question] = at_low_priority(outcome_results, analysis)
        if "not_yet" not in outcomes[question]:
            chunks += [Chunk(run=run, question=question, family=family, index=index, due_at=now) for family, index in analysis.chunks()]
    n = max((outcome["n"] for outcome in outcomes.values()), default=0)
    balance = balance_of(people, definition, shown=balance_shown_before(run))
    results = {"n": n, "design": definition.design().to_document(), "outcomes": outcomes, "balance": balance}
    if definition.direct_group:
        results["direct_group"] = direct_results(run.study, definition)
    with transaction.atomic():
        run.spread(n=n, results=results, data=people.to_bytes())
        Chunk.objects.bulk_create(chunks)


def balance_shown_before(run: Run) -> dict[str, Any] | None:
    """The balance of the last computation that anybody may have seen."""
    before = Run.objects.filter(study_id=run.study_id, kind=run.kind, pk__lt=run.pk, results__isnull=False).order_by("-pk")
    results = before.values_list("results", flat=True).first() or {}
    return results.get("balance")


@transaction.atomic
def store(run: Run, results: dict[str, Any]) -> None:
    """Store the results of a run, unless it was taken away or stopped in the meantime."""
    run.finish(n=results["n"], results=results, method_version=METHOD_VERSION)
    thin_history(run)
    tell(run)


def end_unfinished(study_id: int, *, kind: RunKind, status: RunStatus) -> bool:
    """Stop the waiting or running computation; its worker will notice. False: there was none."""
    unfinished = Run.objects.filter(study_id=study_id, kind=kind, status__in=(RunStatus.QUEUED, RunStatus.RUNNING))
    return Run.end(unfinished, status=status) > 0


def tell(run: Run) -> None:
    """Tell the outbox that there are new results and, for quick ones, whether the planned number is reached."""
    emit(run.study_id, Event.RESULTS_UPDATED)
    if run.kind == RunKind.FIRST_RESULTS and run.study.protocol_id is not None:
        planned = frozen_protocol(run.study.protocol_id).definition.allocation.planned_participants
        if (run.n or 0) >= planned:
            emit(run.study_id, Event.N_REACHED)


def thin_history(run: Run) -> None:
    """Thin out the history to one result for each percent more people; keep all while there are fewer than a hundred."""
    done = Run.objects.filter(study_id=run.study_id, kind=run.kind, status=RunStatus.DONE, pk__lt=run.pk)
    last = [(pk, n or 0) for pk, n in done.order_by("-pk").values_list("pk", "n")[:2]]
    if len(last) == 2:
        (between, n_between), (_before, n_before) = last
        if n_before <= n_between <= (run.n or 0) < n_before + n_before // 100:
            Run.objects.filter(pk=between).delete()
