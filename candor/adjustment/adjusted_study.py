"""One sensitive question of a trial, with the participants' covariates and the fitted working models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from candor.adjustment.covariates import FloatArray, IntArray, ModelMatrix, model_matrix, notes_about_balance
from candor.adjustment.held_out import AugmentedMeans, augmented_means
from candor.adjustment.working_models import WorkingModel, choose_working_model
from candor.designs.design import Design
from candor.errors import DataError
from candor.estimators.counts import checked_counts


@dataclass(frozen=True, kw_only=True, eq=False)
class AdjustedStudy:
    """Answers, assignment, covariates and the working models chosen from them, in n rows that may stand for several participants each.

    Attributes
    ----------
    design : Design
    reported : ndarray of shape (n,)
        Ỹ, 0 or 1.
    arm, subsample : ndarray of int, shape (n,)
        Positions in ``design.arms`` and ``design.subsample_names``.
    matrix : ModelMatrix
        The covariates and, as its last term, the subsample; also how many participants each row stands for.
    counts : ndarray of shape (K, S, 2)
        Participants by arm, subsample and reported answer.
    arm_models : tuple of WorkingModel
        One for each of the K arms.
    cell_models : tuple of WorkingModel
        One for each of the K·S cells, in the order (arm, subsample).
    """

    design: Design
    reported: FloatArray
    arm: IntArray
    subsample: IntArray
    matrix: ModelMatrix
    counts: FloatArray
    arm_models: tuple[WorkingModel, ...]
    cell_models: tuple[WorkingModel, ...]

    @property
    def cell(self) -> IntArray:
        """Position of every participant's cell, in the order (arm, subsample); shape (n,)."""
        return self.arm * self.design.shape[1] + self.subsample

    @cached_property
    def arm_means(self) -> AugmentedMeans:
        """The parts of the augmented mean of every arm."""
        return augmented_means(self.reported, self.arm, self.matrix, self.arm_models)

    @cached_property
    def cell_means(self) -> AugmentedMeans:
        """The parts of the augmented mean of every cell, in the order (arm, subsample)."""
        return augmented_means(self.reported, self.cell, self.matrix, self.cell_models)


def adjusted_study(
    reported: npt.ArrayLike,
    arm: npt.ArrayLike,
    subsample: npt.ArrayLike,
    covariates: Mapping[str, npt.ArrayLike | Sequence[object]],
    *,
    design: Design,
    frequencies: IntArray | None = None,
) -> AdjustedStudy:
    """Check the data of one question and choose a working model for every arm and for every cell.

    Parameters
    ----------
    reported : array_like of shape (n,)
        Ỹ, 0 or 1, without missing values: who did not answer this question is left out by the caller, and counted.
    arm, subsample : array_like of int, shape (n,)
        Positions in ``design.arms`` and ``design.subsample_names``.
    covariates : mapping of str to array_like of shape (n,)
        See `candor.adjustment.covariates.model_matrix`; measured before the assignment.
    design : Design
    frequencies : ndarray of int, shape (n,), optional
        How many participants are alike in all of this and given once; the results are those of all participants. Default: nobody is.

    Returns
    -------
    AdjustedStudy

    Raises
    ------
    DataError
        Answers other than 0 and 1, positions outside of the design, frequencies other than whole numbers from 1 on, or arrays of different
        lengths.
    TooFewResponsesError
        An empty cell.

    References
    ----------
    Akaike, H. (1974). A new look at the statistical model identification. IEEE Transactions on Automatic Control 19, 716–723.

    Examples
    --------
    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> arm, subsample, reported = zip(*[(a, s, y) for a in (0, 1) for s in (0, 1) for y in (0, 1) for _ in range(10)])
    >>> study = adjusted_study(reported, arm, subsample, {"age": [20, 21, 22, 23] * 20}, design=design)
    >>> study.counts.tolist(), len(study.arm_models), len(study.cell_models)
    ([[[10.0, 10.0], [10.0, 10.0]], [[10.0, 10.0], [10.0, 10.0]]], 2, 4)
    """
    answers = np.asarray(reported, dtype=float)
    if answers.ndim != 1 or not np.isin(answers, (0.0, 1.0)).all():
        raise DataError("reported answers must be one row of zeros and ones, without missing values")
    if frequencies is not None and (frequencies.shape != answers.shape or frequencies.dtype.kind not in "iu" or (frequencies < 1).any()):
        raise DataError(f"expected a whole number of at least one participant for each of {len(answers)} rows, found {frequencies}")
    arms = positions_in(arm, what="arm", names=design.arms, n=len(answers))
    subsamples = positions_in(subsample, what="subsample", names=design.subsample_names, n=len(answers))
    width = design.shape[1]
    kind = (arms * width + subsamples) * 2 + answers.astype(np.intp)
    table = np.bincount(kind, weights=frequencies, minlength=2 * width * design.shape[0])
    counts = checked_counts(table.reshape(*design.shape, 2), design=design)
    matrix = model_matrix(covariates, participants=len(answers), frequencies=frequencies)
    matrix = replace(matrix, notes=(*matrix.notes, *notes_about_balance(matrix, arms * width + subsamples)))
    matrix = matrix.with_category("subsample", subsamples)  # under one name: each of them is as large as the data
    cells = [(a, s) for a in range(design.shape[0]) for s in range(width)]
    return AdjustedStudy(
        design=design,
        reported=answers,
        arm=arms,
        subsample=subsamples,
        matrix=matrix,
        counts=counts,
        arm_models=tuple(choose_working_model(matrix, answers, arms == a, group=f"arm {name!r}") for a, name in enumerate(design.arms)),
        cell_models=tuple(
            choose_working_model(
                matrix, answers, (arms == a) & (subsamples == s), group=f"arm {design.arms[a]!r}, subsample {design.subsample_names[s]!r}"
            )
            for a, s in cells
        ),
    )


def positions_in(values: npt.ArrayLike, *, what: str, names: Sequence[str], n: int | None = None) -> IntArray:
    """Positions among these names, checked; shape (n,).

    Raises
    ------
    DataError
        Not one for each of n answers, or none of the names.

    Examples
    --------
    >>> positions_in([0, 1, 1], what="arm", names=("a", "b"), n=3).tolist()
    [0, 1, 1]
    """
    positions = np.asarray(values)
    if positions.ndim != 1 or (n is not None and len(positions) != n):
        raise DataError(f"expected one {what} for each of {n or 'all'} answers, found an array of shape {positions.shape}")
    if len(positions) and (positions.dtype.kind not in "iub" or positions.min() < 0 or positions.max() >= len(names)):
        raise DataError(f"every {what} must be a position from 0 to {len(names) - 1} ({', '.join(names)})")
    return positions.astype(np.intp)
