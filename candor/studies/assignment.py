"""Columns that say how people were assigned: in clusters, within strata, or both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from candor.clusters.clustered_effects import estimate_assigned_together
from candor.clusters.inference import AssignmentInference
from candor.clusters.people import assigned_together
from candor.designs.design import Design
from candor.errors import DataError
from candor.figures.tables import Table, p_value
from candor.results import OutcomeEstimate
from candor.studies.answers import AnswerColumns, CollectedAnswers
from candor.studies.written_values import MISSING


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

    def estimate(
        self, answers: CollectedAnswers, *, design: Design, level: float, seed: int
    ) -> tuple[dict[str, OutcomeEstimate], dict[str, AssignmentInference]]:
        """Estimate every outcome; both results by its name.

        Raises
        ------
        DataError
            When the assignment cannot have been as the columns say.
        """
        if not isinstance(answers, AnswerColumns):
            raise DataError("clusters and strata need one row for each person")
        if design.is_survey:
            raise DataError("a survey assigns nobody to arms: clusters and strata are for experiments")
        outcomes, inference = {}, {}
        for name, reported in answers.reported.items():
            there = np.flatnonzero(reported != MISSING)
            columns = [np.asarray(answers.covariates[column], dtype=object)[there] for column in self.columns]
            people = assigned_together(
                reported[there],
                answers.arm[there],
                answers.subsample[there],
                design=design,
                cluster=None if self.cluster is None else list(columns[0]),
                strata=columns if self.cluster is None else columns[1:],
            )
            outcomes[name], inference[name] = estimate_assigned_together(people, rng=np.random.default_rng(seed), level=level)
        return outcomes, inference

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
        if not self.by_outcome:
            return []
        rows = [
            [
                f"{name}: {contrast}",
                str(one.clusters),
                str(one.strata),
                "—" if one.intraclass_correlation is None else f"{one.intraclass_correlation:.3f}",
                f"{effect:.2f}",
                f"{freedom:.1f}",
                p_value(drawn),
            ]
            for name, one in self.by_outcome.items()
            for contrast, effect, freedom, drawn in zip(
                self.contrasts, one.design_effect, one.degrees_of_freedom, one.randomisation_p_values, strict=True
            )
        ]
        header = ("contrast", "clusters", "strata", "intraclass correlation", "design effect", "df", "randomisation p")
        return [("How people were assigned", Table(header, rows), ())]
