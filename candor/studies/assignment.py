"""Columns that say how people were assigned: in clusters, within strata, or both; and the estimates of questions with categories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from candor.categories.results import CategoryOutcome
from candor.category_questions import NO_OUTCOME_NAMED, CategoryEstimates, estimate_questions
from candor.clusters.clustered_categories import estimate_categories_assigned_together
from candor.clusters.clustered_effects import estimate_assigned_together
from candor.clusters.people import AssignedTogether, assigned_together
from candor.designs.design import Design
from candor.errors import DataError, MethodError
from candor.figures.assignment_table import HOW, assignment_table
from candor.figures.tables import Table
from candor.resampling.seeds import seed_of
from candor.results import AssignmentInference, OutcomeEstimate
from candor.studies.answers import AnswerColumns, CollectedAnswers
from candor.studies.stated_ratio import RATIO_ALARM, stated_ratio
from candor.studies.written_values import MISSING

NO_CLUSTERS = (
    "the design assigned whole clusters: name the column that says who was in which (--cluster, cluster=). In a data package it is "
    "'cluster'. Where a package has none, its clusters are too small to be told, and no standard error, interval or test can be computed"
)


@contextmanager
def named(column: str) -> Iterator[None]:
    """Name the column in what is said about its answers."""
    try:
        yield
    except MethodError as error:
        raise DataError(f"column {column!r}: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignedBy:
    """The column of the clusters, if people were assigned in clusters, and those of the strata."""

    cluster: str | None = None
    strata: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return (*([] if self.cluster is None else [self.cluster]), *self.strata)

    def __bool__(self) -> bool:
        return bool(self.columns)

    def require_clusters_of(self, design: Design) -> None:
        """Raise a DataError where people would be taken for independent whom the design assigned by whole clusters."""
        if design.in_clusters and self.cluster is None:
            raise DataError(NO_CLUSTERS)

    def estimate(
        self, answers: CollectedAnswers, *, design: Design, level: float, seed: int
    ) -> tuple[dict[str, OutcomeEstimate], dict[str, AssignmentInference]]:
        """Estimate every outcome; both results by its name.

        Raises
        ------
        DataError
            When the assignment cannot have been as the columns say.
        """
        outcomes, inference = {}, {}
        for name, people in self._people(answers, design=design):
            outcomes[name], inference[name] = estimate_assigned_together(people, rng=np.random.default_rng(seed), level=level)
        return outcomes, inference

    def estimate_categories(self, answers: CollectedAnswers, *, design: Design, level: float, seed: int) -> dict[str, CategoryOutcome]:
        """`estimate` for a design that names categories; the assignment is part of each result."""
        found = {}
        for name, people in self._people(answers, design=design):
            with named(name):
                found[name] = estimate_categories_assigned_together(people, rng=np.random.default_rng(seed), level=level)
        return found

    def columns_besides(self, covariates: Sequence[str], subgroups: Sequence[str]) -> tuple[str, ...]:
        """The columns to be read besides arm, subsample, outcomes and those of subgroups.

        Raises
        ------
        MethodError
            When covariates or subgroups are named together with clusters or strata.
        """
        for what, names in (("covariates", covariates), ("subgroups", subgroups)):
            if names and self:
                raise MethodError(f"{what} cannot be used together with clusters or strata: name the column as a stratum, or leave it out")
        return (*covariates, *self.columns)

    def _people(self, answers: CollectedAnswers, *, design: Design) -> Iterator[tuple[str, AssignedTogether]]:
        """Everybody who answered, by outcome."""
        if not isinstance(answers, AnswerColumns):
            raise DataError("clusters and strata need one row for each person")
        if design.is_survey:
            raise DataError("a survey assigns nobody to arms: clusters and strata are for experiments")
        for name, reported in answers.reported.items():
            there = np.flatnonzero(reported != MISSING)
            columns = [np.asarray(answers.covariates[column], dtype=object)[there] for column in self.columns]
            yield (
                name,
                assigned_together(
                    reported[there],
                    answers.arm[there],
                    answers.subsample[there],
                    design=design,
                    cluster=None if self.cluster is None else list(columns[0]),
                    strata=columns if self.cluster is None else columns[1:],
                ),
            )

    def without_columns(self, answers: CollectedAnswers) -> CollectedAnswers:
        """The answers without these columns, which are no covariates."""
        if not (self and isinstance(answers, AnswerColumns)):
            return answers
        return replace(answers, covariates={name: values for name, values in answers.covariates.items() if name not in self.columns})


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentResults:
    """The inference for every outcome; empty where people were assigned one by one without strata."""

    by_outcome: Mapping[str, AssignmentInference] = field(default_factory=dict)
    contrasts: tuple[str, ...] = ()

    def of_outcome(self, name: str) -> dict[str, object]:
        """The part of the JSON document about one outcome."""
        return {"assignment": asdict(self.by_outcome[name])} if name in self.by_outcome else {}

    def tables(self) -> list[tuple[str, Table, tuple[str, ...]]]:
        """One table with its title."""
        found = assignment_table(self.by_outcome, contrasts=self.contrasts)
        return [(HOW, found, ())] if self.by_outcome else []


def category_estimates(
    answers: CollectedAnswers,
    *,
    design: Design,
    level: float,
    families: Mapping[str, Sequence[str]],
    assigned: AssignedBy,
    seed: int | None = None,
    **not_computed: object,
) -> CategoryEstimates:
    """The estimates of all questions of a design that names categories; also with covariates, where the answers have them.

    Raises
    ------
    MethodError
        When something is asked for that is computed for yes/no questions only: the keywords, where they are not empty.
    """
    refuse_for_categories(design, **not_computed)
    assigned.require_clusters_of(design)
    rows, answers = answers, assigned.without_columns(answers)
    questions: dict[str, NDArray[np.generic]] = {name: answers.to(name, design=design).counts for name in answers.missing}
    choice = answers.choice
    about = [] if choice.named else [NO_OUTCOME_NAMED.format(names=", ".join(choice.outcomes)), *choice.about_the_others()]
    first, *_ = questions
    ratio = stated_ratio(np.add(questions[first].sum(axis=-1), answers.missing[first]), design=design)
    about += [RATIO_ALARM.format(ratio=ratio)] if ratio is not None and ratio.alarm else []
    together = None
    if assigned:
        drawn = seed_of(counts.astype(np.int64) for counts in questions.values()) if seed is None else seed
        together = assigned.estimate_categories(rows, design=design, level=level, seed=drawn)
    found = estimate_questions(
        questions, missing=answers.missing, design=design, level=level, families=families, about=tuple(about), outcomes=together
    )
    if not (isinstance(answers, AnswerColumns) and answers.covariates):
        return found
    adjusted = {name: answers.adjusted_categories(name, design=design, level=level) for name in found.outcomes}
    return replace(found, outcomes={name: replace(one, with_covariates=adjusted[name]) for name, one in found.outcomes.items()})


def refuse_for_categories(design: Design, **asked: object) -> None:
    """Refuse what is computed for yes/no questions only."""
    if extra := [name.replace("_", " ") for name, value in asked.items() if value or (value == 0.0 and value is not False)]:
        names = ", ".join(design.categories)
        raise MethodError(
            f"{extra[0]}: computed for yes/no questions only; the design has the categories {names}: see Design.of_one_answer"
        )
