"""Binomial maximum likelihood with the identity link, for many tables of counts at once, without a Python loop over them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

ITERATIONS = 100
HALVINGS = 30
TOLERANCE = 1e-9
NEARLY_ALL = 0.95
SMALL_STEP = 0.2
"""A share of the way to 0 or 1: a Newton step that moves no mean farther gains nearly what it promises, so it need not be checked."""
LAST_STEP = 1e-5
"""A step this small leaves an error of its square."""
RIDGE = 1e-15
"""So much more on the diagonal. Where ten million people answer alike, some directions hold less than rounding, and there is no inverse."""


def gram(weights: FloatArray, matrix: FloatArray) -> FloatArray:
    """matrixᵀ · diag(weights) · matrix for weights of shape (B, cells), as one product of matrices, with a ridge; shape (B, P, P)."""
    parameters = matrix.shape[1]
    products = (matrix[:, :, None] * matrix[:, None, :]).reshape(len(matrix), -1)
    return (weights @ products).reshape(-1, parameters, parameters) * (1 + RIDGE * np.eye(parameters))


def most_likely(
    no: FloatArray, yes: FloatArray, *, matrix: FloatArray, offset: FloatArray | float, inside: FloatArray
) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Where the log-likelihoods Σ yes·ln μ + no·ln(1 − μ) with μ = offset + matrix @ coefficients are largest.

    Parameters
    ----------
    no, yes : ndarray of float, shape (B, cells)
        All above 0, so that every maximum lies inside.
    matrix : ndarray, shape (cells, P)
        Of full column rank.
    offset : float or ndarray, shape (cells,)
    inside : ndarray, shape (P,)
        Coefficients with 0 < μ < 1 in all cells.

    Returns
    -------
    coefficients : ndarray, shape (B, P)
    converged : ndarray of bool, shape (B,)

    Notes
    -----
    The log-likelihood is concave, since μ is linear in the coefficients. Newton's steps, cut to stay inside 0 < μ < 1 and halved while they
    gain too little, climb it from anywhere. Many tables are mostly alike (resamples, trials of one setting), so they begin at the maximum
    of their mean table, and one step of scoring with its weights from there.

    Examples
    --------
    Two cells with one mean: 3 of 4 and 5 of 12 say yes, so 8 of 16.

    >>> found, converged = most_likely(np.array([[1.0, 7.0]]), np.array([[3.0, 5.0]]), matrix=np.ones((2, 1)), offset=0.0,
    ...     inside=np.array([0.3]))
    >>> found.round(9).tolist(), converged.tolist()
    ([[0.5]], [True])
    """
    coefficients = np.tile(inside, (len(no), 1))
    if len(no) > 1:
        coefficients = _near_the_mean_table(no, yes, matrix=matrix, offset=offset, inside=inside)
    moving = np.arange(len(no))
    for _ in range(ITERATIONS):
        y, z = yes[moving], no[moving]
        mu = coefficients[moving] @ matrix.T + offset
        share, other = y / mu, z / (1 - mu)
        score = (share - other) @ matrix
        change = np.linalg.solve(gram(share / mu + other / (1 - mu), matrix), score[..., None])[..., 0]
        shift = change @ matrix.T
        way = np.maximum(-shift / mu, shift / (1 - mu)).max(axis=-1)
        if way.max() > SMALL_STEP:
            change *= _length(y, z, mu, shift, way=way, slope=(score * change).sum(axis=-1))[:, None]
        coefficients[moving] += change
        moving = moving[(np.abs(change).max(axis=-1) > TOLERANCE) & (np.abs(shift / np.minimum(mu, 1 - mu)).max(axis=-1) > LAST_STEP)]
        if len(moving) == 0:
            break
    converged = np.ones(len(no), dtype=bool)
    converged[moving] = False
    return coefficients, converged


def _near_the_mean_table(
    no: FloatArray, yes: FloatArray, *, matrix: FloatArray, offset: FloatArray | float, inside: FloatArray
) -> FloatArray:
    """Coefficients from which every table's search begins, shape (B, P)."""
    mean_no, mean_yes = no.mean(axis=0, keepdims=True), yes.mean(axis=0, keepdims=True)
    centre, _ = most_likely(mean_no, mean_yes, matrix=matrix, offset=offset, inside=inside)
    middle = centre[0] @ matrix.T + offset
    weighted = matrix * ((mean_no + mean_yes)[0] / (middle * (1 - middle)))[:, None]
    near = centre + (yes / (no + yes) - middle) @ np.linalg.solve(matrix.T @ weighted, weighted.T).T
    mu = near @ matrix.T + offset
    return np.where(((mu > 0.5 * middle) & (1 - mu > 0.5 * (1 - middle))).all(axis=-1, keepdims=True), near, centre)


def _length(y: FloatArray, z: FloatArray, mu: FloatArray, shift: FloatArray, *, way: FloatArray, slope: FloatArray) -> FloatArray:
    """How far to go along a Newton step, shape (B,): inside of 0 < μ < 1, and with at least a tenth of the gain that the slope promises."""
    length = NEARLY_ALL / way.clip(NEARLY_ALL)
    height = (y * np.log(mu) + z * np.log(1 - mu)).sum(axis=-1)
    for _ in range(HALVINGS):
        new = mu + length[:, None] * shift
        gained = (y * np.log(new) + z * np.log(1 - new)).sum(axis=-1) - height
        short = gained < 0.1 * length * slope - 1e-12 * np.abs(height)
        if not np.any(short):
            break
        length = np.where(short, length / 2, length)
    return np.asarray(length)
