"""The sufficient statistic without covariates: how many people answered no and yes in every arm and subsample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from candor.designs.design import Design, FloatArray
from candor.errors import DataError, TooFewResponsesError

NO, YES = 0, 1


def checked_counts(counts: npt.ArrayLike, *, design: Design) -> FloatArray:
    """One count table, checked against the design.

    Parameters
    ----------
    counts : array_like of int, shape (K, S, 2)
        ``[a, s, 0]`` people who answered no in arm a and subsample s, ``[a, s, 1]`` who answered yes.

    Raises
    ------
    DataError
        Wrong shape, negative, fractional or not finite.
    TooFewResponsesError
        When nobody answered in some arm, subsample or cell: then their answers cannot be compared.

    Examples
    --------
    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> checked_counts([[[1, 2], [3, 4]], [[5, 6], [0, 0]]], design=design)
    Traceback (most recent call last):
    candor.errors.TooFewResponsesError: too few answers in arm 'b', subsample '2': needed at least 1, found 0
    """
    table = _whole_numbers(counts, (*design.shape, 2), last="2", called="(no, yes)")
    cells = table.sum(axis=-1)
    for axis, kind, names in ((1, "arm", design.arms), (0, "subsample", design.subsample_names)):
        for name, answers in zip(names, cells.sum(axis=axis), strict=True):
            if answers == 0:
                raise TooFewResponsesError(needed=1, found=0, of=f"{kind} {name!r}")
    _require_cells(cells, design)
    return table


def checked_category_counts(counts: npt.ArrayLike, *, design: Design) -> FloatArray:
    """One table of counts, checked against the design.

    Parameters
    ----------
    counts : array_like of int, shape (K, S, C)
        People by arm, subsample and answer, in the design's order.

    Raises
    ------
    DataError
        Wrong shape, negative, fractional or not finite.
    TooFewResponsesError
        When nobody answered in some arm and subsample.

    Examples
    --------
    >>> from candor.designs.design import Design
    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> checked_category_counts([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], design=design).shape
    (2, 2, 2)
    """
    table = _whole_numbers(counts, (*design.shape, len(design.categories)), last="categories", called="categories")
    _require_cells(table.sum(axis=-1), design)
    return table


def _whole_numbers(counts: npt.ArrayLike, expected: tuple[int, ...], *, last: str, called: str) -> FloatArray:
    try:
        table = np.asarray(counts, dtype=float)
    except (TypeError, ValueError):
        raise DataError(f"the counts must be whole numbers in a table of arms × subsamples × {called}") from None
    if table.shape != expected:
        raise DataError(f"the counts must have shape (arms, subsamples, {last}) = {expected}, not {table.shape}")
    wrong = ~np.isfinite(table) | (table < 0) | (table != np.round(table))
    if wrong.any():
        raise DataError(f"counts must be whole numbers of at least 0, found {table[wrong][0]:g}")
    return table


def _require_cells(cells: FloatArray, design: Design) -> None:
    for (arm, subsample), answers in np.ndenumerate(cells):
        if answers == 0:
            where = f"arm {design.arms[arm]!r}, subsample {design.subsample_names[subsample]!r}"
            raise TooFewResponsesError(needed=1, found=0, of=where)


@dataclass(frozen=True, slots=True, kw_only=True)
class Margins:
    """Sizes and yes shares of cells, arms and subsamples for a batch of count tables; NaN where nobody answered.

    ``cells`` and ``cell_means`` have shape (..., K, S), ``arm_*`` (..., K), ``subsample_*`` (..., S), ``n`` (...).
    """

    n: FloatArray
    cells: FloatArray
    cell_means: FloatArray
    arm_sizes: FloatArray
    arm_means: FloatArray
    subsample_sizes: FloatArray
    subsample_means: FloatArray


def margins_of(counts: FloatArray) -> Margins:
    """Margins of count tables of shape (..., K, S, 2).

    Examples
    --------
    >>> margins = margins_of(np.array([[[1.0, 1.0], [1.0, 3.0]], [[2.0, 0.0], [0.0, 2.0]]]))
    >>> margins.arm_means.tolist(), margins.subsample_means.tolist()
    ([0.6666666666666666, 0.5], [0.25, 0.8333333333333334])
    """
    cells, yes = counts.sum(axis=-1), counts[..., YES]
    arm_sizes, subsample_sizes = cells.sum(axis=-1), cells.sum(axis=-2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Margins(
            n=arm_sizes.sum(axis=-1),
            cells=cells,
            cell_means=yes / cells,
            arm_sizes=arm_sizes,
            arm_means=yes.sum(axis=-1) / arm_sizes,
            subsample_sizes=subsample_sizes,
            subsample_means=yes.sum(axis=-2) / subsample_sizes,
        )
