"""The answers of a study, as counts or one entry per participant, and all results computed from the answers to one question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from candor.adjustment.adjusted_categories import adjusted_categories
from candor.adjustment.adjusted_study import AdjustedStudy, adjusted_study
from candor.adjustment.doubly_robust import effects_with_covariates
from candor.categories.results import AdjustedCategories
from candor.designs.design import Design
from candor.estimators.effects import estimate_outcome
from candor.resampling.bootstrap import Progress, bootstrap, with_bootstrap
from candor.resampling.resampled_counts import ResampledCounts
from candor.resampling.resampled_people import ResampledPeople
from candor.results import OutcomeEstimate
from candor.studies.columns import ColumnChoice
from candor.studies.written_values import MISSING


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """The answers to one sensitive question.

    Attributes
    ----------
    design : Design
    counts : array_like of int, shape (K, S, 2)
        People by arm, subsample and reported answer (no, yes); of a design with C categories (K, S, C).
    adjusted : AdjustedStudy, optional
        The same people with their covariates.
    people : ndarray of int, shape (n,), optional
        Their positions among all people, also those who answered other questions only.
    """

    design: Design
    counts: NDArray[np.generic]
    adjusted: AdjustedStudy | None = None
    people: NDArray[np.intp] | None = None

    def estimate(self, *, level: float = 0.95) -> OutcomeEstimate:
        """All methods, those with covariates last, without a bootstrap."""
        outcome = estimate_outcome(self.counts, design=self.design, level=level)
        adjusted = () if self.adjusted is None else effects_with_covariates(self.adjusted, level=level)
        return replace(outcome, effects=(*outcome.effects, *adjusted))

    def resample(
        self,
        outcome: OutcomeEstimate,
        *,
        replicates: int,
        seed: int,
        level: float = 0.95,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> OutcomeEstimate:
        """Add the bootstrap of the methods without covariates to the results of `estimate`, on the cores of this machine."""
        effects = outcome.effects
        if self.design.identification.effect and any(effect.value is not None for effect in effects):
            study = ResampledCounts(self.counts, design=self.design)
            run = bootstrap(study, replicates=replicates, seed=seed, workers=workers, progress=progress)
            effects = with_bootstrap(effects, run, study=study, level=level)
        return replace(outcome, effects=effects)


class CollectedAnswers(Protocol):
    """The answers to all questions, however they were collected."""

    @property
    def missing(self) -> Mapping[str, NDArray[np.int64]]:
        """By outcome, of shape (arms, subsamples): rows without an answer; the outcomes are its keys, in order."""

    @property
    def choice(self) -> ColumnChoice:
        """The outcomes, and how they were chosen."""

    def to(self, outcome: str, *, design: Design) -> Answers:
        """The answers to one question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCounts:
    """Answers without covariates.

    Attributes
    ----------
    counts : dict of str to ndarray of int, shape (arms, subsamples, answers)
        By outcome: answers in every cell, "no" and "yes" or the design's categories.
    missing : dict of str to ndarray of int, shape (arms, subsamples)
        By outcome: rows without an answer.
    choice : ColumnChoice
    """

    counts: Mapping[str, NDArray[np.int64]]
    missing: Mapping[str, NDArray[np.int64]]
    choice: ColumnChoice

    def to(self, outcome: str, *, design: Design) -> Answers:
        """The answers to one question."""
        return Answers(design=design, counts=self.counts[outcome])


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerColumns:
    """Answers with covariates, one entry per participant.

    Attributes
    ----------
    arm, subsample : ndarray of int, shape (n,)
        Positions in the design.
    reported : dict of str to ndarray of int, shape (n,)
        By outcome: 0, 1, …, the position of the answer, or −1 when missing.
    covariates : dict of str to sequence, length n
        As they were collected; None, NaN and empty texts are missing.
    choice : ColumnChoice
    shape : tuple of int
        Numbers of arms and subsamples.
    groups : dict of str to sequence of str, length n
        Columns that make subgroups, as texts; empty when missing.
    """

    arm: NDArray[np.intp]
    subsample: NDArray[np.intp]
    reported: Mapping[str, NDArray[np.intp]]
    covariates: Mapping[str, Sequence[object] | NDArray[np.generic]]
    choice: ColumnChoice
    shape: tuple[int, int]
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def missing(self) -> dict[str, NDArray[np.int64]]:
        """By outcome, of shape (arms, subsamples): rows without an answer."""
        cells = self.arm * self.shape[1] + self.subsample
        return {
            name: np.bincount(cells[reported == MISSING], minlength=self.shape[0] * self.shape[1]).reshape(self.shape)
            for name, reported in self.reported.items()
        }

    def to(self, outcome: str, *, design: Design) -> Answers:
        """The answers to one question: everybody who answered it counts, whatever covariates are missing."""
        there = np.flatnonzero(self.reported[outcome] != MISSING)
        arm, subsample, reported = self.arm[there], self.subsample[there], self.reported[outcome][there]
        if not (self.covariates and design.is_yes_no):
            shape = (*design.shape, len(design.categories))
            cell = (arm * shape[1] + subsample) * shape[2] + reported
            return Answers(design=design, counts=np.bincount(cell, minlength=np.prod(shape)).reshape(shape))
        covariates = {name: np.asarray(values, dtype=object)[there] for name, values in self.covariates.items()}
        study = adjusted_study(reported, arm, subsample, covariates, design=design)
        return Answers(design=design, counts=study.counts, adjusted=study, people=there)

    def adjusted_categories(self, outcome: str, *, design: Design, level: float) -> AdjustedCategories:
        """The effects on each answer of a design that names categories, with the covariates."""
        there = np.flatnonzero(self.reported[outcome] != MISSING)
        covariates = {name: np.asarray(values, dtype=object)[there] for name, values in self.covariates.items()}
        people = self.reported[outcome][there], self.arm[there], self.subsample[there]
        return adjusted_categories(*people, covariates, design=design, level=level)


def resampled_people(answers: Mapping[str, Answers]) -> ResampledPeople | None:
    """One draw of people for all questions with covariates; None where there is nothing to resample."""
    studies = {name: one.adjusted for name, one in answers.items() if one.adjusted is not None and one.design.identification.effect}
    if not studies:
        return None
    return ResampledPeople.of(studies, answered={name: people for name in studies if (people := answers[name].people) is not None} or None)
