"""The computations over a study's answers. Every step may be repeated after a crash without harm."""

import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial

import numpy as np
from django.db import transaction
from django.db.models import Max, OuterRef, Subquery
from django.utils import timezone
from numpy.typing import NDArray

from analysis.answers.datasets import People, assigned_counts, cell_counts, people_of
from analysis.answers.direct_results import direct_results
from analysis.answers.subgroups import subgroups_of
from analysis.models import Chunk, Run, RunKind, RunStatus
from analysis.news.announcing import announce
from analysis.runs.low_priority import at_low_priority
from analysis.runs.planned_tests import families_found, margins_found
from analysis.seeds import SEED_KEY
from analysis.stored_results import Balance, NotYet, QuestionEstimate, Results, document_of, read_results
from candor.errors import MethodError
from candor.software import METHOD_VERSION
from jobs.queues import Queue
from jobs.registry import FIRST, HEAVY, LAST, job, routine
from jobs.tasks import send
from surveys.batches.selectors import batch_is_complete, nobody_comes_any_more, withdrawals_renew_results
from surveys.batches.services import count_next_batch
from surveys.definition import StudyDefinition
from surveys.models import RUNNING, Study
from surveys.protocols import protocol_at_launch, protocol_in_force
from webhooks.models import Event
from webhooks.services import emit

DEBOUNCE = {RunKind.FIRST_RESULTS: timedelta(seconds=0.1), RunKind.FULL_RESULTS: timedelta(seconds=0.5)}
PEOPLE_A_SECOND = 5000
"""Full results wait a second for each so many people, so that those of a large study do not begin again without end."""
LANES = max(1, min(4, (os.cpu_count() or 1) - 1))
"""How many workers that take first results, too, may compute one study's bootstrap at once: all but one, which stays free."""


def queue_run(study_id: int, *, kind: RunKind = RunKind.FIRST_RESULTS, after: timedelta | None = None) -> Run | None:
    """Ask for a computation that will see everything committed until it starts. None: a waiting one will do."""
    if Run.objects.filter(study_id=study_id, kind=kind, status=RunStatus.QUEUED).exists():
        return None
    if _needs_what_is_deleted(study_id, kind):
        return None  # results that were computed from it stay as they are
    asked = Run(study_id=study_id, kind=kind, due_at=timezone.now() + (_gathering(study_id, kind) if after is None else after))
    # Without an error, whose rollback would make psycopg forget the prepared statements of this connection.
    Run.objects.bulk_create([asked], ignore_conflicts=True)
    return Run.objects.filter(study_id=study_id, kind=kind, status=RunStatus.QUEUED, due_at=asked.due_at).first()


def _needs_what_is_deleted(study_id: int, kind: RunKind) -> bool:
    """Whether the data that this computation reads are deleted: background answers, or the sections of people. First results of sections
    are computed nevertheless where there are none, to say so.
    """
    study = Study.objects.filter(pk=study_id, forgotten_on__isnull=False).defer("definition").first()
    if study is None or kind == RunKind.FULL_RESULTS:
        return study is not None
    there = Run.objects.filter(study=study, kind=kind, status=RunStatus.DONE)
    return protocol_in_force(study).definition.in_sections and there.exists()


def _gathering(study_id: int, kind: RunKind) -> timedelta:
    """How long requests are gathered into one."""
    if kind == RunKind.FIRST_RESULTS:
        return DEBOUNCE[kind]
    people = Run.objects.filter(study=study_id, kind=kind).aggregate(Max("n"))["n__max"] or 0
    return max(DEBOUNCE[kind], timedelta(seconds=people / PEOPLE_A_SECOND))


@job(kind=RunKind.FIRST_RESULTS, model=Run, where={"kind": RunKind.FIRST_RESULTS}, priority=FIRST)
def compute_first_results(run: Run) -> None:
    """Let the batch into the numbers if it is complete, and compute. People wait for this work: it goes before everything else."""
    count_next_batch(run.study, note=partial(_note_batch, run.study_id))
    store(run, first_results(run.study, protocol_in_force(run.study).definition))


def _note_batch(study_id: int) -> None:
    emit(study_id, Event.BATCH_COUNTED)
    if (full := queue_run(study_id, kind=RunKind.FULL_RESULTS)) is not None:
        transaction.on_commit(partial(send, full))


@job(kind=RunKind.FULL_RESULTS, model=Run, where={"kind": RunKind.FULL_RESULTS}, queue=Queue.BOOTSTRAP, priority=HEAVY)
def compute_full_results(run: Run) -> None:
    """Begin, and leave the bootstrap in chunks to all workers; once they are done, combine them."""
    from analysis.runs import resampling  # SciPy, which web processes can do without

    if run.data is not None and was_begun_by_other_methods(run):
        begin_again(run)
    elif run.data is None:
        begin_full_results(run, protocol_in_force(run.study).definition)
    elif run.chunks.filter(due_at__isnull=False).exists():
        run.spread()
    else:
        store(run, resampling.merged(run))


@job(kind="bootstrap_chunk", model=Chunk, queue=Queue.BOOTSTRAP, priority=LAST, part_of="run", lanes=LANES)
def compute_chunk(chunk: Chunk) -> None:
    from analysis.runs import resampling  # SciPy, which web processes can do without

    if was_begun_by_other_methods(chunk.run):
        begin_again(chunk.run)
        return
    chunk.finish(effects=resampling.effects_of(chunk))


def was_begun_by_other_methods(run: Run) -> bool:
    """Whether the server was upgraded, or set back, while the run was under way: chunks of two versions do not belong together."""
    return run.method_version != METHOD_VERSION


@transaction.atomic
def begin_again(run: Run) -> None:
    """End a run in whose middle the server was upgraded, with its chunks, and ask for another one."""
    ended = Run.end(Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING), status=RunStatus.SUPERSEDED, results=None)
    if ended and (new := queue_run(run.study_id, kind=RunKind(run.kind))) is not None:
        transaction.on_commit(partial(send, new))


@routine(kind="outdated_results", every=timedelta(minutes=1), queue=Queue.FIRST)
def recompute_outdated() -> None:
    """Queue a run for each study and kind whose newest run was done by an older version; not again for one that failed or was stopped.

    Results of a newer version are left alone: a worker that is being replaced would compute them again for ever.
    """
    newest = Run.objects.filter(study=OuterRef("study"), kind=OuterRef("kind")).order_by("-pk").values("pk")[:1]
    done = Run.objects.filter(status=RunStatus.DONE, pk=Subquery(newest)).exclude(method_version=METHOD_VERSION)
    for study_id, kind, version in done.values_list("study_id", "kind", "method_version"):
        if int(version or 0) < int(METHOD_VERSION) and (run := queue_run(study_id, kind=RunKind(kind))) is not None:
            send(run)


@routine(kind="complete_batches", every=timedelta(minutes=1), queue=Queue.FIRST)
def count_complete_batches() -> None:
    """Have batches counted of which nobody took notice, because a message was lost."""
    for study in Study.objects.filter(status__in=RUNNING):
        if batch_is_complete(study) and (run := queue_run(study.pk)) is not None:
            send(run)


def first_results(study: Study, definition: StudyDefinition) -> Results:
    """Per question the cheater proportion and the effects with their intervals."""
    from analysis.runs.sequence_plans import SequencePlan
    from candor.estimators.effects import estimate_outcome  # SciPy, which web processes can do without
    from candor.estimators.missing_answers import missing_answers
    from candor.sequences.looks import sequential_estimate

    design, plan, assigned = definition.design(), SequencePlan.of(study), assigned_counts(study, definition)
    counted = cell_counts(study, definition)
    if definition.in_sections:
        people = people_of(study, definition)
        return _results(study, definition, section_results(study, definition, people), counts=counted, people=people)
    outcomes: dict[str, QuestionEstimate | NotYet] = {}
    for question, counts in counted.items():
        try:
            outcomes[question] = QuestionEstimate.of(
                estimate_outcome(counts, design=design),
                sequence=sequential_estimate(counts, design=design, planned_n=plan.planned_n, questions=plan.sharing(question)),
                missing=missing_answers(counts, assigned - counts.sum(axis=-1), design=design),
            )
        except MethodError as error:
            outcomes[question] = NotYet(n=int(counts.sum()), not_yet=str(error))
    return _results(study, definition, outcomes, counts=counted)


def begin_full_results(run: Run, definition: StudyDefinition) -> None:
    """Keep a copy of what all chunks resample while more answers come in, and list the chunks."""
    from analysis.runs import resampling  # SciPy, which web processes can do without
    from analysis.runs.full_results import Outcomes, Resampled, balance_of, study_analysis
    from analysis.runs.sequence_plans import SequencePlan
    from candor.resampling.seeds import seed_of

    people = people_of(run.study, definition)
    outcomes: Outcomes
    resampled: Resampled
    if definition.in_sections:
        outcomes, resampled = section_results(run.study, definition, people), {}
    else:
        outcomes, resampled = at_low_priority(study_analysis, people, definition, plan=SequencePlan.of(run.study))
    chunks, data = resampling.chunks_of(run, resampled), resampling.stored(resampled)
    # Means of background answers are exact. Under a privacy budget nobody sees them, but of bots in a rehearsal; nor does anybody once
    # somebody withdrew after the end: an arm may then lack one person who had not finished, whose answers two means would give.
    no_budget = definition.privacy_budget is None or run.study.rehearsal_of_id is not None
    may_balance = no_budget and not withdrawals_renew_results(run.study)
    balance = balance_of(people, definition, shown=balance_shown_before(run)) if may_balance else None
    arms, subsamples = definition.design().shape
    counts = {one.name: people.counts(one.name, arms=arms, subsamples=subsamples) for one in definition.yes_no_questions}
    results = replace(
        _results(run.study, definition, outcomes, counts=counts, people=people, balance=balance),
        subgroups=subgroups_of(run.study, people, definition),
    )
    with transaction.atomic():
        if not _ended_in_vain(run):
            run.spread(
                n=results.n,
                results=document_of(results),
                data=data,
                seed=seed_of(counts.values(), key=SEED_KEY),
                method_version=METHOD_VERSION,
            )
            Chunk.objects.bulk_create(chunks)


def section_results(study: Study, definition: StudyDefinition, people: People) -> dict[str, QuestionEstimate | NotYet]:
    """The results of a study whose sections were assigned as a whole."""
    from analysis.runs.section_results import section_outcomes  # SciPy, which web processes can do without
    from analysis.runs.sequence_plans import SequencePlan

    return section_outcomes(people, definition, plan=SequencePlan.of(study), has_ended=nobody_comes_any_more(study))


def _results(
    study: Study,
    definition: StudyDefinition,
    outcomes: Mapping[str, QuestionEstimate | NotYet],
    *,
    counts: Mapping[str, NDArray[np.int64]],
    people: People | None = None,
    balance: Balance | None = None,
) -> Results:
    from analysis.runs.category_results import CategoryAnswers, category_outcomes  # SciPy, which web processes can do without
    from analysis.runs.sequence_plans import SequencePlan

    plan, answered = SequencePlan.of(study), max((outcome.n for outcome in outcomes.values()), default=0)
    has_ended = nobody_comes_any_more(study)
    said = CategoryAnswers.counted(study, definition) if people is None else CategoryAnswers.of(people, definition)
    categories = category_outcomes(said, definition, answered=answered, planned=plan.planned_n, has_ended=has_ended)
    return Results(
        n=max([answered, *(outcome.n for outcome in categories.values())]),
        design=definition.design().to_document(),
        outcomes=plan.with_directions(outcomes),
        balance=balance,
        direct_group=direct_results(study, definition) if definition.direct_group else None,
        margins=margins_found(counts, outcomes, definition),
        families=families_found(outcomes, definition),
        categories=categories,
    )


def balance_shown_before(run: Run) -> Balance | None:
    """The balance of the last computation that anybody may have seen."""
    before = Run.objects.filter(study_id=run.study_id, kind=run.kind, pk__lt=run.pk, results__isnull=False).order_by("-pk")
    results = read_results(before.values_list("results", flat=True).first())
    return None if results is None else results.balance


@transaction.atomic
def store(run: Run, results: Results) -> None:
    """Store the results of a run, unless it was taken away or stopped in the meantime."""
    if _ended_in_vain(run):
        return
    run.finish(n=results.n, results=document_of(results), method_version=METHOD_VERSION)
    thin_history(run)
    tell(run)


def _ended_in_vain(run: Run) -> bool:
    """Whether the run ends without a trace, because somebody in it withdraws, or the background answers that it uses are deleted. It waits
    for withdrawals, and for a deletion to begin, that have not committed yet.
    """
    study = Study.objects.select_for_update(no_key=True).get(pk=run.study_id)
    background_is_gone = run.kind == RunKind.FULL_RESULTS and study.forgotten_on is not None
    if not (study.numbers_withheld or background_is_gone):
        return False
    Run.end(run.mine(), status=RunStatus.SUPERSEDED, results=None)
    return True


def end_unfinished(study_id: int, *, kind: RunKind, status: RunStatus) -> bool:
    """Stop the waiting or running computation; its worker will notice. False: there was none."""
    unfinished = Run.objects.filter(study_id=study_id, kind=kind, status__in=(RunStatus.QUEUED, RunStatus.RUNNING))
    return Run.end(unfinished, status=status) > 0


def tell(run: Run) -> None:
    """Tell the outbox that there are new results and, for quick ones, whether the planned number is reached."""
    emit(run.study_id, Event.RESULTS_UPDATED)
    if not withdrawals_renew_results(run.study):  # open pages ask for themselves
        announce(run.study_id)
    if run.kind != RunKind.FIRST_RESULTS or run.study.protocol_id is None:
        return
    if (run.n or 0) >= protocol_at_launch(run.study).definition.planned_with_die:
        emit(run.study_id, Event.N_REACHED)


def thin_history(run: Run) -> None:
    """Thin out the history to one result for each percent more people; keep all while there are fewer than a hundred.

    The first one with the planned number of people stays for good: it is the one whose fixed-n numbers are shown.
    """
    planned = protocol_at_launch(run.study).definition.planned_with_die
    done = Run.objects.filter(study_id=run.study_id, kind=run.kind, status=RunStatus.DONE, pk__lt=run.pk)
    last = [(pk, n or 0) for pk, n in done.order_by("-pk").values_list("pk", "n")[:2]]
    if len(last) == 2:
        (between, n_between), (_before, n_before) = last
        reaches_plan = n_before < planned <= n_between
        if not reaches_plan and n_before <= n_between <= (run.n or 0) < n_before + n_before // 100:
            Run.objects.filter(pk=between).delete()
