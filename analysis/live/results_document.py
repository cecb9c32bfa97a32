"""Results and numbers of people as plain values for one reader: the content of the live page, for programs, with the same blinding."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Annotated

from pydantic import Field

from accounts.models import User
from analysis.live.blinding import called_categories, lettered
from analysis.live.matrix import MatrixRow, matrix_rows
from analysis.live.page import LiveView, live_view
from analysis.live.progress import Group, progress_of
from analysis.models import Run, RunKind
from analysis.selectors import Work, state_of_work
from analysis.stored_results import Balance, DirectGroup, MarkedEffect, MarkedSequence, NotYet, QuestionEstimate, Results, Subgroups
from candor.categories.results import CategoryOutcome
from candor.equivalence.margins import MarginTest
from candor.estimators.missing_answers import MissingAnswers
from candor.estimators.multiplicity import FamilyTest
from candor.results import AssignmentInference, CheaterProportion, Prevalence, SpecificationTest
from surveys.batches.selectors import BatchProgress, batch_progress, shown_counts
from surveys.counts import Counts
from surveys.models import Study
from surveys.protocols import versions_that_recruited

LANGUAGE = "en"  # of labels, which the documents do not hold: arms have the names of the study file, or letters


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    question: str
    n: int
    not_yet: Annotated[str | None, Field(description="Why nothing can be said yet; then `sequence` is null or has no numbers.")] = None
    epsilon: float | None = None
    identified: bool | None = None
    assumption: str | None = None
    sequence: Annotated[MarkedSequence | None, Field(description="True at every look, however often you ask.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedOutcome:
    question: str
    n: int
    not_yet: Annotated[str | None, Field(description="Why there are no estimates; then everything else is null or empty.")] = None
    cheater_proportion: CheaterProportion | None = None
    effects: tuple[MarkedEffect, ...] = ()
    prevalence: tuple[Prevalence, ...] = ()
    specification_test: SpecificationTest | None = None
    notes: tuple[str, ...] = ()
    missing: Annotated[
        MissingAnswers | None, Field(description="Null where everybody answered; without contrasts for blinded readers.")
    ] = None
    assignment: Annotated[AssignmentInference | None, Field(description="Null unless sections were assigned as a whole.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstResults:
    run: int
    n: int | None
    method_version: str
    finished_on: date | None
    outcomes: tuple[Outcome, ...]
    direct_group: Annotated[DirectGroup | None, Field(description="People who were asked without a die; null in a study without them.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class FullResults(FirstResults):
    balance: Balance | None
    subgroups: Annotated[Subgroups | None, Field(description="Effects by planned subgroup, once, after the end; null without a plan.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedResults:
    run: int
    kind: str
    n: int | None
    planned: Annotated[int, Field(description="The planned number of people who answer with the die.")]
    reached_the_plan: Annotated[
        bool, Field(description="False: the study was ended before, so these hold only if no result was the reason.")
    ]
    method_version: str
    finished_on: date | None
    seed: Annotated[int | None, Field(description="The bootstrap's seed; the same data and seed give the same numbers.")]
    outcomes: tuple[PlannedOutcome, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionMargins:
    question: str
    tests: Annotated[tuple[MarginTest, ...], Field(description="One for each treatment arm.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTestsFound:
    n: int
    margins: tuple[QuestionMargins, ...]
    families: tuple[FamilyTest, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionWithCategories:
    question: str
    privatised_background: Annotated[
        bool,
        Field(description="It is about people, whom no arm changes: shares are those of all arms together, and the tests are of balance."),
    ]
    n: int
    not_yet: Annotated[str | None, Field(description="Why nothing can be said yet; then `planned_analysis` is null.")]
    planned_analysis: Annotated[
        CategoryOutcome | None,
        Field(description="For one look, as that of yes/no questions. No numbers that hold at every look are known for these questions."),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkByKind:
    first_results: Work
    full_results: Work


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsDocument:
    study: str
    status: str
    blinded: Annotated[bool, Field(description="Arms are letters, and nothing tells which of them is the control.")]
    arms: tuple[str, ...]
    control: str | None
    protocol_versions: Annotated[
        tuple[int, ...],
        Field(
            description="Those to which people could agree since the launch. Numbers are of everybody together: no amendment changes "
            "anything on which answers depend."
        ),
    ]
    background_deleted_on: Annotated[
        date | None,
        Field(description="Since this day operational data are deleted: what uses background answers was computed before."),
    ]
    batch: Annotated[BatchProgress, Field(description="Where the study stands between two batches of people.")]
    matrix: Annotated[
        tuple[MatrixRow, ...], Field(description="The table with which the results page begins; empty before there are results.")
    ]
    first_results: Annotated[FirstResults | None, Field(description="A second after the last person of a batch.")]
    full_results: Annotated[FullResults | None, Field(description="Every method; they follow.")]
    planned_analysis: Annotated[
        PlannedResults | None,
        Field(
            description="Intervals and p-values for one look: of the first batch with the planned number of people, or, in a study that "
            "ended before, of its end. Null until then. They stay as they are."
        ),
    ]
    planned_tests: Annotated[
        PlannedTestsFound | None,
        Field(
            description="The tests that the protocol names, of the planned analysis. Null until then, for blinded readers, and where none "
            "are named."
        ),
    ]
    categories: Annotated[
        tuple[QuestionWithCategories, ...],
        Field(description="The questions whose answers are named categories; yes/no questions stand above."),
    ]
    work: WorkByKind


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyCounts:
    study: str
    batch: Annotated[
        BatchProgress,
        Field(description="Where the study stands between two batches of people. Numbers move with whole batches or in tens."),
    ]
    totals: Annotated[Counts | None, Field(description="In whole batches, or tens; null while they are withheld.")]
    groups: Annotated[tuple[Group, ...] | None, Field(description="Null for those who may not see results.")]
    planned: int | None
    days_left: Annotated[int | None, Field(description="Until the planned number at the rate of the last week.")]


def results_document(study: Study, *, reader: User, ask_blinded: bool) -> ResultsDocument:
    """The newest first and full results, where there are any, and the computation under way."""
    live = live_view(study, reader=reader, language=LANGUAGE, ask_blinded=ask_blinded)
    names = live.names if live else None
    return ResultsDocument(
        study=study.slug,
        status=study.status,
        blinded=bool(names and names.blinded),
        arms=tuple(names.files.values()) if names else (),
        control=None if names is None or names.blinded else names.control,
        protocol_versions=tuple(sorted(versions_that_recruited(study))),
        background_deleted_on=study.forgotten_on,
        batch=live.batch if live else batch_progress(study),
        matrix=tuple(row.called(live.names) for row in matrix_rows(live)) if live else (),
        first_results=_described(live.first, live.first_results, live) if live else None,
        full_results=_described(live.full, live.full_results, live) if live else None,
        planned_tests=_planned_tests(live) if live else None,
        planned_analysis=_planned(live) if live else None,
        categories=tuple(_with_categories(live)) if live else (),
        work=WorkByKind(first_results=state_of_work(study, RunKind.FIRST_RESULTS), full_results=state_of_work(study, RunKind.FULL_RESULTS)),
    )


def counts_document(study: Study, *, reader: User, with_groups: bool, ask_blinded: bool) -> StudyCounts:
    """How many people are where; by subsample and arm for those who may see results."""
    live = live_view(study, reader=reader, language=LANGUAGE, ask_blinded=ask_blinded) if with_groups else None
    progress = progress_of(study, live.definition, names=live.names.groups_in_files) if live else None
    groups = progress.flow.groups if progress else ()
    return StudyCounts(
        study=study.slug,
        batch=batch_progress(study),
        totals=progress.counts if progress else shown_counts(study),
        groups=groups if with_groups else None,
        planned=progress.planned if progress else None,
        days_left=progress.days_left if progress else None,
    )


def _with_categories(live: LiveView) -> Iterator[QuestionWithCategories]:
    for shown in live.categories:
        found = None if shown.numbers is None else called_categories(shown.numbers, live.names)
        not_yet = " ".join(shown.sentences) if found is None else None
        yield QuestionWithCategories(
            question=shown.name, privatised_background=shown.is_background, n=shown.n, not_yet=not_yet, planned_analysis=found
        )


def _planned_tests(live: LiveView) -> PlannedTestsFound | None:
    if live.planned_tests is None:
        return None
    found = live.planned_tests.results
    margins = tuple(QuestionMargins(question=name, tests=found.margins[name]) for name in live.questions_in(found.margins))
    return PlannedTestsFound(n=found.n, margins=margins, families=found.families)


def _described(run: Run | None, results: Results | None, live: LiveView) -> FullResults | None:
    """A run and what it found; nothing was found where an older version stored what this one cannot read."""
    if run is None:
        return None
    found = None if results is None else lettered(results, live.names)
    return FullResults(
        run=run.pk,
        n=run.n,
        method_version=run.method_version,
        finished_on=run.finished_on,
        outcomes=tuple(_outcome(name, found.outcomes[name]) for name in live.questions_in(found.outcomes)) if found else (),
        direct_group=found.direct_group if found else None,
        balance=found.balance if found else None,
        subgroups=found.subgroups if found else None,
    )


def _outcome(question: str, outcome: QuestionEstimate | NotYet) -> Outcome:
    if isinstance(outcome, NotYet):
        return Outcome(question=question, n=outcome.n, not_yet=outcome.not_yet)
    return Outcome(
        question=question,
        n=outcome.n,
        not_yet=outcome.sequence.waits_for,
        epsilon=outcome.epsilon,
        identified=outcome.identified,
        assumption=outcome.assumption,
        sequence=outcome.sequence,
    )


def _planned(live: LiveView) -> PlannedResults | None:
    planned = live.planned
    if planned is None or planned.run is None or planned.results is None:
        return None
    run, found = planned.run, lettered(planned.results, live.names)
    return PlannedResults(
        run=run.pk,
        kind=run.kind,
        n=run.n,
        planned=planned.planned,
        reached_the_plan=planned.reached_the_plan,
        method_version=run.method_version,
        finished_on=run.finished_on,
        seed=run.seed,
        outcomes=tuple(_planned_outcome(name, found.outcomes[name]) for name in live.questions_in(found.outcomes)),
    )


def _planned_outcome(question: str, outcome: QuestionEstimate | NotYet) -> PlannedOutcome:
    if isinstance(outcome, NotYet):
        return PlannedOutcome(question=question, n=outcome.n, not_yet=outcome.not_yet)
    return PlannedOutcome(
        question=question,
        n=outcome.n,
        cheater_proportion=outcome.cheater_proportion,
        effects=outcome.effects,
        prevalence=outcome.prevalence,
        specification_test=outcome.specification_test,
        notes=outcome.notes,
        missing=outcome.missing,
        assignment=outcome.assignment,
    )
