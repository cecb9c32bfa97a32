"""Resample people with covariates: one draw of people for all of their answers, working models as they were fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from candor.adjustment.adjusted_study import AdjustedStudy
from candor.adjustment.covariates import FloatArray, IntArray
from candor.adjustment.doubly_robust import DOUBLY_ROBUST, adjusted_cells, doubly_robust_estimates, efficient_estimates
from candor.adjustment.held_out import AugmentedMeans
from candor.designs.design import Design
from candor.errors import MethodError, NotIdentifiedError
from candor.estimators.cell_means import cell_model
from candor.estimators.difference_in_means import unconstrained_honest_proportion
from candor.estimators.joint_estimates import NOBODY_IS_HONEST
from candor.resampling.bootstrap import name_of
from candor.resampling.drawn_people import draw_people
from candor.resampling.summaries import acceleration
from candor.results import EFFICIENT_WITH_COVARIATES

METHODS = (DOUBLY_ROBUST, EFFICIENT_WITH_COVARIATES)
NOT_ANSWERED = -1
_PEOPLE_AT_ONCE = 2**17  # a block of weights that stays in the processor's cache while it is drawn
_WEIGHTS_AT_ONCE = 2**22  # 32 MB, for as many resamples as may be: the patterns of people are read from memory once for each such block
_PEOPLE_PER_BINOMIAL_DRAW = 10  # who are drawn in the time of one
_ALIKE = 10  # decimals


@dataclass(frozen=True, kw_only=True, eq=False)
class ResampledPeople:
    """The bootstrap of `doubly_robust` and `efficient_with_covariates` for several questions that the same people answered.

    Attributes
    ----------
    people : int
    questions : mapping of str to ResampledQuestion
    rows : ndarray of int, shape (rows, questions)
        What is drawn: the pattern in every question.
    shares : ndarray of float, shape (rows,), optional
        The share of the people who have these patterns. None: every row is one person.

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

    people: int
    questions: Mapping[str, ResampledQuestion]
    rows: NDArray[np.int32]
    shares: FloatArray | None

    replicates_per_chunk = 500

    @classmethod
    def of(cls, studies: Mapping[str, AdjustedStudy], *, answered: Mapping[str, IntArray] | None = None) -> Self:
        """Find the patterns of all people.

        Parameters
        ----------
        studies : mapping of str to AdjustedStudy
            By question. The design of all of them identifies the effect.
        answered : mapping of str to ndarray of int, shape (n_question,), optional
            By question, who answered it: the position of each participant of its study among all people. Those who answered none are not
            drawn. Default: all people answered all questions, in the same order.

        Raises
        ------
        NotIdentifiedError
            The design does not identify the effect under its cheater model, so there is nothing to resample.
        MethodError
            Without `answered`, when the studies have different numbers of participants; rows that stand for several participants.
        """
        for study in studies.values():
            if not study.design.identification.effect:
                raise NotIdentifiedError(f"there is no effect estimate to resample: {study.design.identification.assumption}")
            if (study.matrix.frequencies > 1).any():
                raise MethodError("rows that stand for several people need to say in which row everybody is: see `with_patterns`")
        sizes = {len(study.reported) for study in studies.values()}
        if answered is None and len(sizes) > 1:
            raise MethodError(f"questions that different numbers of people answered ({sorted(sizes)}) need to say who answered which")
        positions = {question: np.arange(max(sizes)) for question in studies} if answered is None else answered
        found = {}
        for name, study in studies.items():
            row = np.full(1 + max(int(one.max()) for one in positions.values()), NOT_ANSWERED)
            row[positions[name]] = np.arange(len(study.reported))
            found[name] = ResampledQuestion.of(study, row)
        return cls.with_patterns(found)

    @classmethod
    def with_patterns(cls, found: Mapping[str, tuple[ResampledQuestion, NDArray[np.int32]]]) -> Self:
        """Put questions of the same people together: by name what `ResampledQuestion.of` says, so that no two studies are held at once.
        Those who answered none of them are not drawn.
        """
        questions = {name: question for name, (question, _pattern) in found.items()}
        answered = np.any([np.count_nonzero(question.terms, axis=1)[pattern] for question, pattern in found.values()], axis=0)
        patterns = np.column_stack([pattern[answered] for _question, pattern in found.values()])
        people, in_all = len(patterns), np.zeros(len(patterns), dtype=np.intp)
        for place, question in enumerate(questions.values()):
            in_all = np.unique(in_all * len(question.terms) + patterns[:, place], return_inverse=True)[1]
        _, first, frequencies = np.unique(in_all, return_index=True, return_counts=True)
        if _PEOPLE_PER_BINOMIAL_DRAW * len(first) < people:
            return cls(people=people, questions=questions, rows=patterns[first], shares=frequencies / people)
        return cls(people=people, questions=questions, rows=patterns[np.argsort(in_all, kind="stable")], shares=None)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything but the designs as arrays, to be stored or sent.

        No covariate is among them, but predictions tell something of those that the working models use: guard them as the answers.
        """
        parts = {f"{place}/{part}": values for place, one in enumerate(self.questions.values()) for part, values in one.arrays().items()}
        shares = {} if self.shares is None else {"shares": self.shares}
        return {"people": np.array(self.people), "questions": np.array(list(self.questions)), "rows": self.rows, **shares, **parts}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]], *, designs: Mapping[str, Design]) -> Self:
        """The same from `arrays`, with the design of each question."""
        return cls(
            people=int(arrays["people"]),
            questions={
                name: ResampledQuestion(design=designs[name], **{part: arrays[f"{place}/{part}"].astype(float) for part in _ARRAYS})
                for place, name in enumerate(arrays["questions"].tolist())
            },
            rows=arrays["rows"].astype(np.int32),
            shares=arrays["shares"].astype(float) if "shares" in arrays else None,
        )

    @property
    def estimates(self) -> Mapping[str, FloatArray]:
        """Δ̂/x̂ of the data before the boundary rule by question and method (`name_of`), each of shape (K − 1,)."""
        return {name_of(method, name): one.estimates[at] for name, one in self.questions.items() for at, method in enumerate(METHODS)}

    @property
    def accelerations(self) -> Mapping[str, FloatArray]:
        """Acceleration of every contrast by question and method (`name_of`), each of shape (K − 1,)."""
        return {name_of(method, name): one.accelerations[at] for name, one in self.questions.items() for at, method in enumerate(METHODS)}

    def replicate_effects(self, replicates: int, rng: np.random.Generator) -> dict[str, FloatArray]:
        """Draw resamples and return Δ̂/x̂ by question and method (`name_of`), each of shape (replicates, K − 1); NaN where x̂ is not above 0
        or a group is empty.
        """
        members, columns = self._members
        rows, patterns = members.shape
        few = min(replicates, max(1, _PEOPLE_AT_ONCE // rows))
        drawn = np.empty((few * max(1, min(replicates, _WEIGHTS_AT_ONCE // max(rows, patterns)) // few), rows))
        sums = {name: np.empty((replicates, question.terms.shape[1])) for name, question in self.questions.items()}
        for first in range(0, replicates, len(drawn)):
            block = drawn[: replicates - first]
            for at in range(0, len(block), few):
                self._draw(block[at : at + few], rng)
            times = block @ members
            for name, question in self.questions.items():
                sums[name][first : first + len(block)] = times[:, columns[name]] @ question.terms
        return {
            name_of(method, name): effects
            for name, question in self.questions.items()
            for method, effects in zip(METHODS, question.effects(sums[name]), strict=True)
        }

    @cached_property
    def _members(self) -> tuple[sparse.csr_array, dict[str, slice]]:
        """A 1 for every row in the column of its pattern in each question, shape (rows, patterns), and the columns of each question."""
        ends = np.cumsum([0, *(len(question.terms) for question in self.questions.values())])
        starts = np.arange(0, self.rows.size + 1, len(self.questions))
        members = sparse.csr_array((np.ones(self.rows.size), (self.rows + ends[:-1]).reshape(-1), starts), shape=(len(self.rows), ends[-1]))
        return members, {name: slice(*ends[at : at + 2]) for at, name in enumerate(self.questions)}

    def _draw(self, drawn: FloatArray, rng: np.random.Generator) -> None:
        """Write how often every row is drawn, patterns or people, whichever is less work; shape (replicates, rows)."""
        if self.shares is None:
            draw_people(drawn, rng)
        else:
            drawn[:] = rng.multinomial(self.people, self.shares, size=len(drawn))


@dataclass(frozen=True, kw_only=True, eq=False)
class ResampledQuestion:
    """One question: what every pattern adds to the sums from which a resample is estimated.

    Attributes
    ----------
    design : Design
    terms : ndarray of float, shape (patterns, d)
        In the order of its numbers: in turn for every arm and every cell the prediction of its working model, then the residual of its own
        members, then one indicator for each cell and answer. One row is that of people who did not answer, all zeros.
    operator : ndarray of float, shape (P, K·S)
        See `candor.adjustment.doubly_robust.AdjustedCells`.
    estimates, accelerations : ndarray of float, shape (2, K − 1)
        Of the data, by each of `METHODS`.
    """

    design: Design
    terms: FloatArray
    operator: FloatArray
    estimates: FloatArray
    accelerations: FloatArray

    @classmethod
    def of(cls, study: AdjustedStudy, row: IntArray) -> tuple[Self, NDArray[np.int32]]:
        """The patterns of the participants, and everybody's pattern, shape (people,), from everybody's row in the study, or
        `NOT_ANSWERED`.
        """
        cells = int(np.prod(study.design.shape))
        kind = 2 * study.cell + study.reported.astype(np.intp)
        of_arms, of_cells = study.arm_means, study.cell_means
        first, pattern = _alike([kind, of_arms.predictions, of_arms.residuals, of_cells.predictions, of_cells.residuals])
        terms = np.hstack([_terms(of_arms, first), _terms(of_cells, first), kind[first, None] == np.arange(2 * cells)])
        terms = np.vstack([np.zeros(terms.shape[1]), terms])
        first, (absent, *present) = _alike([terms])
        fitted = adjusted_cells(study)
        both = doubly_robust_estimates(study), efficient_estimates(study, fitted)
        question = cls(
            design=study.design,
            terms=terms[first],
            operator=fitted.operator,
            estimates=np.array([one.joint.raw_effect for one in both]),
            accelerations=np.array([acceleration(one.influence, study.matrix.frequencies) for one in both]),
        )
        return question, np.append(np.array(present)[pattern], absent)[row]  # the last for `NOT_ANSWERED`

    def arrays(self) -> dict[str, FloatArray]:
        """Everything but the design."""
        return {part: getattr(self, part) for part in _ARRAYS}

    def effects(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Δ̂/x̂ by each of `METHODS` from the sums of `terms` over resamples, shape (replicates, d)."""
        arms, subsamples = self.design.shape
        first, second = 2 * arms, 2 * arms + 2 * arms * subsamples
        counts = sums[:, second:].reshape(-1, arms, subsamples, 2)
        sizes = counts.sum(axis=-1)
        doubly_robust = self._doubly_robust(_means(sums[:, :first], sizes.sum(axis=-1)), counts)
        return doubly_robust, self._efficient(_means(sums[:, first:second], sizes.reshape(len(sums), -1)))

    def _doubly_robust(self, means: FloatArray, counts: FloatArray) -> FloatArray:
        """Δ̂/x̂ from augmented means of the arms, shape (replicates, K), and counts, shape (replicates, K, S, 2)."""
        design = self.design
        with np.errstate(invalid="ignore"):  # a resample in which nobody answered
            truth = counts.sum(axis=(1, 3)) @ design.truth / counts.sum(axis=(1, 2, 3))
        differences = means[:, list(design.treatment_indexes)] - means[:, [design.control_index]]
        return np.asarray(differences / (_positive(unconstrained_honest_proportion(counts, design)) * truth)[:, None])

    def _efficient(self, means: FloatArray) -> FloatArray:
        """Δ̂/x̂ from augmented means of the cells, shape (replicates, K·S)."""
        model = cell_model(self.design)
        coefficients = (means - model.offset) @ self.operator.T
        return np.asarray(coefficients @ model.contrasts.T / _positive(coefficients[:, model.honest])[:, None])


_ARRAYS = ("terms", "operator", "estimates", "accelerations")


def _positive(honest: FloatArray) -> FloatArray:
    """x̂ where it is above 0, otherwise NaN."""
    return np.where(honest > NOBODY_IS_HONEST, honest, np.nan)


def _alike(columns: Sequence[NDArray[np.generic]]) -> tuple[IntArray, NDArray[np.int32]]:
    """The first of all rows that are alike in these columns, and for each row the position of its first one."""
    rows = np.column_stack(columns)
    _, first, inverse = np.unique(np.round(rows, _ALIKE, out=rows), axis=0, return_index=True, return_inverse=True)
    return first, inverse.reshape(-1).astype(np.int32)


def _terms(found: AugmentedMeans, rows: IntArray) -> FloatArray:
    """Predictions of every model, then the residual in the column of the own group; of some participants, shape (rows, 2·groups)."""
    predictions = found.predictions[rows]
    own = found.group[rows, None] == np.arange(predictions.shape[1])
    return np.hstack([predictions, own * found.residuals[rows, None]])


def _means(sums: FloatArray, sizes: FloatArray) -> FloatArray:
    """Augmented means, Σ μ/n + Σ_g (y − μ)/n_g, from sums of `_terms` and sizes of the groups; NaN where a group is empty."""
    groups = sizes.shape[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        residual = np.where(sizes > 0.0, sums[:, groups:] / sizes, np.nan)
        return np.asarray(sums[:, :groups] / sizes.sum(axis=1, keepdims=True) + residual)
