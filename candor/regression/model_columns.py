"""The columns of a regression on the sensitive trait: the intercept, arms, covariates and their products, with their units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from candor.adjustment.covariates import model_matrix
from candor.designs.design import Design
from candor.errors import DataError

FloatArray = npt.NDArray[np.float64]
INTERCEPT = "intercept"
ARM = "arm"
SMALLEST, LARGEST = 1e-100, 1e100
"""Coefficients for each unit of a covariate with a standard deviation beyond these would be 0 or infinite."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelColumns:
    """One column for each coefficient.

    Attributes
    ----------
    values : ndarray of shape (n, p)
        Column 0 is the intercept; columns of numbers have mean 0 and standard deviation 1.
    labels : tuple of str
        What each column says.
    units : ndarray of shape (p,)
        The standard deviations: a coefficient divided by its unit is one for each unit of the covariate.
    notes : tuple of str
    """

    values: FloatArray
    labels: tuple[str, ...]
    units: FloatArray
    notes: tuple[str, ...]


def model_columns(
    arm: npt.NDArray[np.intp],
    covariates: Mapping[str, Sequence[object] | npt.NDArray[np.generic]],
    *,
    terms: Sequence[tuple[str, ...]],
    design: Design,
) -> ModelColumns:
    """Build the columns of all terms from people without missing covariates.

    Raises
    ------
    DataError
        When columns say the same, so that their coefficients could not be told apart, or a unit is too small or too large for them.
    """
    matrix = model_matrix(covariates, participants=len(arm))
    blocks: dict[str, tuple[FloatArray, list[str], list[float]]] = {}
    indexes = list(design.treatment_indexes)
    blocks[ARM] = (
        (arm[:, None] == np.array(indexes, dtype=np.intp)).astype(float),
        [f"arm: {design.arms[index]}" for index in indexes],
        [1.0] * len(indexes),
    )
    for term in matrix.terms:
        blocks[term.name] = (
            matrix.values[:, term.columns],
            list(term.labels),
            [_unit(covariates[term.name]) if label == term.name else 1.0 for label in term.labels],
        )
    columns, labels, units = [np.ones((len(arm), 1))], [INTERCEPT], [1.0]
    for names in terms:
        if any(name not in blocks for name in names):
            continue  # the notes say that everybody has the same value
        values, said, scales = blocks[names[0]]
        for name in names[1:]:
            more, also, further = blocks[name]
            values = (values[:, :, None] * more[:, None, :]).reshape(len(arm), -1)
            said = [f"{one} × {other}" for one in said for other in also]
            scales = [one * other for one in scales for other in further]
        columns.append(values)
        labels += said
        units += scales
    found = np.hstack(columns)
    if (rank := np.linalg.matrix_rank(found)) < found.shape[1]:
        raise DataError(
            f"the {found.shape[1]} columns of the regression say only {rank} different things: leave out a covariate that follows from "
            f"others (columns: {', '.join(labels)})"
        )
    if beyond := [label for label, unit in zip(labels, units, strict=True) if not SMALLEST < unit < LARGEST]:
        raise DataError(
            f"covariate {beyond[0]!r}: expected a standard deviation between {SMALLEST:g} and {LARGEST:g}; write it in another unit"
        )
    return ModelColumns(values=found, labels=tuple(labels), units=np.array(units), notes=matrix.notes)


def _unit(values: Sequence[object] | npt.NDArray[np.generic]) -> float:
    """The standard deviation by which `model_matrix` divides numbers."""
    with np.errstate(over="ignore", invalid="ignore"):  # no number then, which is refused
        return float(np.asarray(values, dtype=float).std())
