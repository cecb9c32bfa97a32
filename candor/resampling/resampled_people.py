"""Resample people with covariates: one draw of people for all of their answers, working models as they were fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from candor.adjustment.adjusted_study import AdjustedStudy, IntArray
from candor.adjustment.doubly_robust import (
    DOUBLY_ROBUST,
    AdjustedCells,
    AdjustedEstimates,
    adjusted_cells,
    doubly_robust_estimates,
    efficient_estimates,
)
from candor.adjustment.held_out import AugmentedMeans, augmented_means
from candor.designs.design import FloatArray
from candor.errors import MethodError, NotIdentifiedError
from candor.estimators.difference_in_means import unconstrained_honest_proportion
from candor.estimators.joint_estimates import NOBODY_IS_HONEST
from candor.resampling.bootstrap import name_of
from candor.resampling.drawn_people import draw_people
from candor.resampling.summaries import acceleration
from candor.results import EFFICIENT_WITH_COVARIATES

_PEOPLE_AT_ONCE = 2**17  # a block of weights that stays in the processor's cache while it is drawn
_WEIGHTS_AT_ONCE = 2**22  # 32 MB, for as many resamples as may be: the groups of people are read from memory once for each such block
_PEOPLE_PER_BINOMIAL_DRAW = 10  # who are drawn in the time of one
_ALIKE = 10  # decimals


class ResampledPeople:
    """The bootstrap of `doubly_robust` and `efficient_with_covariates` for several questions that the same people answered.

    Parameters
    ----------
    studies : mapping of str to AdjustedStudy
        By question. The design of all of them identifies the effect.
    answered : mapping of str to ndarray of int, shape (n_question,), optional
        By question, who answered it: the position of each participant of its study among all people. Default: all people answered all
        questions, in the same order.

    Raises
    ------
    NotIdentifiedError
        The design does not identify the effect under its cheater model, so there is nothing to resample.
    MethodError
        Without `answered`, when the studies have different numbers of participants.

    Notes
    -----
    A resample is one multinomial draw of people, the same for all questions, so the replicates of two questions may be compared one by one.
    The working models stay as they were fitted to all people. The augmented mean is insensitive to them to first order [1]_, so what they
    would add is of order 1/n of a variance. ``benchmarks/fixed_working_models.py`` measures the standard error in parts of that with
    refits: .97 to 1.03 from 500 people on; with 200 people .97 to 1.01 for ``doubly_robust``, .90 to .95 for the other. With fixed models
    the means are ratios of sums over people. To one question many people contribute the same numbers, a *pattern*: how often each pattern
    is drawn is a sparse product, and the sums are a small dense one. Where many people have one pattern in every question, these are drawn
    in place of people (`candor.resampling.drawn_people`). The order of people does not matter.

    References
    ----------
    .. [1] Chernozhukov, Chetverikov, Demirer, Duflo, Hansen, Newey and Robins (2018), "Double/debiased machine learning for treatment and
       structural parameters", Econometrics Journal 21(1).
    """

    replicates_per_chunk = 1000

    def __init__(self, studies: Mapping[str, AdjustedStudy], *, answered: Mapping[str, IntArray] | None = None) -> None:
        for study in studies.values():
            if not study.design.identification.effect:
                raise NotIdentifiedError(f"there is no effect estimate to resample: {study.design.identification.assumption}")
        sizes = {len(study.reported) for study in studies.values()}
        if answered is None and len(sizes) > 1:
            raise MethodError(f"questions that different numbers of people answered ({sorted(sizes)}) need to say who answered which")
        rows = {question: np.arange(max(sizes)) for question in studies} if answered is None else answered
        self.people = 1 + max(int(positions.max()) for positions in rows.values())
        self._questions = {question: _Question.of(study) for question, study in studies.items()}
        patterns = {name: question.patterns(rows[name], people=self.people) for name, question in self._questions.items()}
        in_all = np.zeros(self.people, dtype=np.intp)
        for name, question in self._questions.items():
            in_all = np.unique(in_all * len(question.terms) + patterns[name], return_inverse=True)[1]
        _, first, frequencies = np.unique(in_all, return_index=True, return_counts=True)
        self._shares = frequencies / self.people if _PEOPLE_PER_BINOMIAL_DRAW * len(first) < self.people else None
        drawn = np.argsort(in_all, kind="stable") if self._shares is None else first
        ends = np.cumsum([0, *(len(question.terms) for question in self._questions.values())])
        self._columns = {name: slice(*ends[at : at + 2]) for at, name in enumerate(self._questions)}
        columns = np.stack([patterns[name][drawn] + self._columns[name].start for name in self._questions], axis=1)
        self._members = sparse.csr_array(
            (np.ones(columns.size), columns.reshape(-1), np.arange(0, columns.size + 1, columns.shape[1])), shape=(len(drawn), ends[-1])
        )

    @property
    def estimates(self) -> Mapping[str, FloatArray]:
        """Δ̂/x̂ of the data before the boundary rule by question and method (`name_of`), each of shape (K − 1,)."""
        return {
            name_of(found.method, question): found.joint.raw_effect for question, one in self._questions.items() for found in one.estimates
        }

    @property
    def accelerations(self) -> Mapping[str, FloatArray]:
        """Acceleration of every contrast by question and method (`name_of`), each of shape (K − 1,)."""
        return {
            name_of(found.method, question): acceleration(found.influence, np.ones(len(found.influence)))
            for question, one in self._questions.items()
            for found in one.estimates
        }

    def replicate_effects(self, replicates: int, rng: np.random.Generator) -> dict[str, FloatArray]:
        """Draw resamples and return Δ̂/x̂ by question and method (`name_of`), each of shape (replicates, K − 1); NaN where x̂ is not above 0
        or a group is empty.
        """
        rows, patterns = self._members.shape
        few = min(replicates, max(1, _PEOPLE_AT_ONCE // rows))
        drawn = np.empty((few * max(1, min(replicates, _WEIGHTS_AT_ONCE // max(rows, patterns)) // few), rows))
        sums = {name: np.empty((replicates, question.terms.shape[1])) for name, question in self._questions.items()}
        for first in range(0, replicates, len(drawn)):
            block = drawn[: replicates - first]
            for at in range(0, len(block), few):
                self._draw(block[at : at + few], rng)
            times = block @ self._members
            for name, question in self._questions.items():
                sums[name][first : first + len(block)] = times[:, self._columns[name]] @ question.terms
        return {
            name_of(method, name): effects
            for name, question in self._questions.items()
            for method, effects in question.effects(sums[name]).items()
        }

    def _draw(self, drawn: FloatArray, rng: np.random.Generator) -> None:
        """Write how often every row is drawn, patterns or people, whichever is less work; shape (replicates, rows)."""
        if self._shares is None:
            draw_people(drawn, rng)
        else:
            drawn[:] = rng.multinomial(self.people, self._shares, size=len(drawn))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Question:
    """One question: what every participant adds to the sums from which a resample is estimated.

    ``terms`` has shape (patterns, d), in the order of its numbers: in turn for every arm and every cell the prediction of its working
    model, then the residual of its own members, then one indicator for each cell and answer. ``pattern`` of shape (n,) is the row of every
    participant, ``absent`` that of people who did not answer, all zeros.
    """

    study: AdjustedStudy
    terms: FloatArray
    pattern: IntArray
    absent: int
    cells: AdjustedCells

    @classmethod
    def of(cls, study: AdjustedStudy) -> _Question:
        arms, cells = study.design.shape[0], int(np.prod(study.design.shape))
        kind = 2 * study.cell + study.reported.astype(np.intp)
        of_arms = augmented_means(study.reported, study.arm, study.matrix.values, study.arm_models)
        of_cells = augmented_means(study.reported, study.cell, study.matrix.values, study.cell_models)
        added = np.column_stack([kind, of_arms.predictions, of_arms.residuals, of_cells.predictions, of_cells.residuals])
        _, first, pattern = np.unique(np.round(added, _ALIKE), axis=0, return_index=True, return_inverse=True)
        terms = np.hstack(
            [
                _terms(of_arms, first, group=study.arm, groups=arms),
                _terms(of_cells, first, group=study.cell, groups=cells),
                (kind[first, None] == np.arange(2 * cells)).astype(float),
            ]
        )
        terms = np.vstack([np.zeros(terms.shape[1]), terms])
        _, first, place = np.unique(np.round(terms, _ALIKE), axis=0, return_index=True, return_inverse=True)
        place = place.reshape(-1)
        return cls(study=study, terms=terms[first], pattern=place[1:][pattern.reshape(-1)], absent=place[0], cells=adjusted_cells(study))

    def patterns(self, positions: IntArray, *, people: int) -> IntArray:
        """The row of `terms` of all people, shape (people,); `positions` of shape (n,) says where the participants are among them."""
        found = np.full(people, self.absent)
        found[positions] = self.pattern
        return found

    @cached_property
    def estimates(self) -> tuple[AdjustedEstimates, AdjustedEstimates]:
        return doubly_robust_estimates(self.study), efficient_estimates(self.study, self.cells)

    def effects(self, sums: FloatArray) -> dict[str, FloatArray]:
        """Δ̂/x̂ by method from the sums of `terms` over resamples, shape (replicates, d)."""
        arms, subsamples = self.study.design.shape
        first, second = 2 * arms, 2 * arms + 2 * arms * subsamples
        counts = sums[:, second:].reshape(-1, arms, subsamples, 2)
        sizes = counts.sum(axis=-1)
        return {
            DOUBLY_ROBUST: self._doubly_robust(_means(sums[:, :first], sizes.sum(axis=-1)), counts),
            EFFICIENT_WITH_COVARIATES: self._efficient(_means(sums[:, first:second], sizes.reshape(len(sums), -1))),
        }

    def _doubly_robust(self, means: FloatArray, counts: FloatArray) -> FloatArray:
        """Δ̂/x̂ from augmented means of the arms, shape (replicates, K), and counts, shape (replicates, K, S, 2)."""
        design = self.study.design
        honest = unconstrained_honest_proportion(counts, design)
        truth = counts.sum(axis=(1, 3)) @ design.truth / counts.sum(axis=(1, 2, 3))
        differences = means[:, list(design.treatment_indexes)] - means[:, [design.control_index]]
        return np.asarray(differences / (np.where(honest > NOBODY_IS_HONEST, honest, np.nan) * truth)[:, None])

    def _efficient(self, means: FloatArray) -> FloatArray:
        """Δ̂/x̂ from augmented means of the cells, shape (replicates, K·S)."""
        fit = self.cells.fit
        coefficients = (means - fit.model.offset) @ self.cells.operator.T
        return replace(fit, coefficients=coefficients).joint_estimates().raw_effect


def _terms(found: AugmentedMeans, rows: IntArray, *, group: IntArray, groups: int) -> FloatArray:
    """Predictions of every model, then the residual in the column of the own group; of some participants, shape (rows, 2·groups)."""
    return np.hstack([found.predictions[rows], (group[rows, None] == np.arange(groups)) * found.residuals[rows, None]])


def _means(sums: FloatArray, sizes: FloatArray) -> FloatArray:
    """Augmented means, Σ μ/n + Σ_g (y − μ)/n_g, from sums of `_terms` and sizes of the groups; NaN where a group is empty."""
    groups = sizes.shape[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        residual = np.where(sizes > 0.0, sums[:, groups:] / sizes, np.nan)
        return np.asarray(sums[:, :groups] / sizes.sum(axis=1, keepdims=True) + residual)
