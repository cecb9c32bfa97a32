"""The largest binomial log-likelihood of cell means that are linear in parameters between linear limits, for many tables at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from candor.designs.design import FloatArray

NO, YES = 0, 1
ITERATIONS = 80
GAP = 1e-10
"""A log-likelihood this close to the largest one is the largest one."""

SLOPE = 1e-4
"""The largest derivative that is left to rounding; no coordinate can move by more than 1."""

NEARLY_ALL = 0.99
RIDGE = 1e-12
IMPOSSIBLE = 1e-100
"""Takes the place of a probability of 0, so that what contradicts it costs much but not infinitely much."""
SHRINKAGE = 0.06
"""By how much a step brings every limit's product of slack and multiplier nearer to zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeansWithin:
    """Cell means matrix @ φ + offset, for all φ with limits @ φ ≤ ends.

    Parameters
    ----------
    matrix : ndarray, shape (..., cells, D)
    offset : ndarray, shape (..., cells)
    limits : ndarray, shape (M, D)
    ends : ndarray, shape (M,)
    inside : ndarray, shape (D,)
        Some φ strictly between all limits.
    """

    matrix: FloatArray
    offset: FloatArray
    limits: FloatArray
    ends: FloatArray
    inside: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Maximum:
    """Where the log-likelihoods are largest: their values (...), the coordinates φ (..., D), and whether each search settled (...)."""

    log_likelihood: FloatArray
    coordinates: FloatArray
    settled: npt.NDArray[np.bool_]


def log_likelihood_of_means(counts: FloatArray, means: FloatArray) -> FloatArray:
    """Σ yes·ln m + no·ln(1 − m) over the last axis of counts (..., cells, 2) and means (..., cells).

    Examples
    --------
    >>> round(float(log_likelihood_of_means(np.array([[1.0, 1.0]]), np.array([0.5]))), 4)
    -1.3863
    """
    yes, no = np.maximum(means, IMPOSSIBLE), np.maximum(1 - means, IMPOSSIBLE)
    return np.asarray((counts[..., YES] * np.log(yes) + counts[..., NO] * np.log(no)).sum(axis=-1), dtype=float)


def maximise(counts: FloatArray, means: MeansWithin) -> Maximum:
    """The largest log-likelihood between the limits.

    Parameters
    ----------
    counts : ndarray of float, shape (..., cells, 2)
        Leading axes broadcast with those of ``means``.
    means : MeansWithin

    Notes
    -----
    The log-likelihood is concave, since the means are linear. A primal-dual interior-point method follows the central path: every step
    solves Newton's equations for the derivative of the Lagrangian and for slack·multiplier = a number that shrinks; it goes 99 % of the way
    to the nearest limit at most [1]_. The sum of slack·multiplier bounds what the log-likelihood still can gain.

    References
    ----------
    .. [1] Boyd, S. & Vandenberghe, L. (2004). Convex Optimization. Cambridge University Press, section 11.7.

    Examples
    --------
    Three of four say yes, but the mean may be .5 at most: 4·ln(.5).

    >>> half = MeansWithin(matrix=np.ones((1, 1)), offset=np.zeros(1), limits=np.array([[1.0], [-1.0]]), ends=np.array([0.5, 0.0]),
    ...                    inside=np.array([0.25]))
    >>> round(float(maximise(np.array([[1.0, 3.0]]), half).log_likelihood), 6)
    -2.772589
    """
    batch = np.broadcast_shapes(counts.shape[:-2], means.matrix.shape[:-2])
    cells, dimensions = means.matrix.shape[-2:]
    tables = np.broadcast_to(counts, (*batch, cells, 2)).reshape(-1, cells, 2)
    matrices = np.broadcast_to(means.matrix, (*batch, cells, dimensions)).reshape(-1, cells, dimensions)
    offsets = np.broadcast_to(means.offset, (*batch, cells)).reshape(-1, cells)
    coordinates, settled = _climb(tables, matrices, offsets, means)
    found = log_likelihood_of_means(tables, np.einsum("bcd,bd->bc", matrices, coordinates) + offsets)
    return Maximum(log_likelihood=found.reshape(batch), coordinates=coordinates.reshape(*batch, dimensions), settled=settled.reshape(batch))


def _climb(tables: FloatArray, matrices: FloatArray, offsets: FloatArray, means: MeansWithin) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Where the log-likelihoods of tables (B, cells, 2) are largest: φ (B, D), and whether each search settled."""
    found = np.tile(means.inside, (len(tables), 1))
    moving = np.arange(len(tables))
    limits, count = means.limits, len(means.ends)
    φ, slack = found.copy(), np.tile(means.ends - limits @ means.inside, (len(tables), 1))
    yes, no, matrix, offset = tables[..., YES], tables[..., NO], matrices, offsets
    multiplier = 0.1 * tables.sum(axis=(1, 2))[:, None] / count / slack
    transposed, towards = matrix.transpose(0, 2, 1), -limits.T
    # Some directions change no mean and are held by the limits alone, which is less than rounding when many people answered.
    ridge = 1 + RIDGE * np.eye(limits.shape[1])
    for _ in range(ITERATIONS):
        mean = np.maximum((matrix @ φ[..., None])[..., 0] + offset, IMPOSSIBLE)
        rest = np.maximum(1 - mean, IMPOSSIBLE)
        up, down = yes / mean, no / rest
        gap = (slack * multiplier).sum(axis=-1)
        target = (SHRINKAGE / count) * gap[:, None]
        ratio = multiplier / slack
        curvature = transposed @ ((up / mean + down / rest)[..., None] * matrix) - (towards * ratio[:, None, :]) @ limits
        curvature *= ridge
        score = (transposed @ (up - down)[..., None])[..., 0]
        step = np.linalg.solve(curvature, (score - (target / slack) @ limits)[..., None])[..., 0]
        change = step @ towards
        lifted = (target - multiplier * change) / slack - multiplier
        shift = (matrix @ step[..., None])[..., 0]
        reach = np.concatenate([-shift / mean, shift / rest, -change / slack], axis=-1).max(axis=-1)
        length = NEARLY_ALL / np.maximum(reach, NEARLY_ALL)
        climbed = NEARLY_ALL / np.maximum((-lifted / multiplier).max(axis=-1), NEARLY_ALL)
        residual = np.abs(score - multiplier @ limits).max(axis=-1)
        φ = φ + length[:, None] * step
        slack = slack + length[:, None] * change
        multiplier = multiplier + climbed[:, None] * lifted
        done = (gap < GAP) & (residual < SLOPE)
        if done.any():
            found[moving] = φ
            keep = ~done
            moving = moving[keep]
            if len(moving) == 0:
                break
            φ, slack, multiplier, yes, no, matrix, offset, transposed = (
                one[keep] for one in (φ, slack, multiplier, yes, no, matrix, offset, transposed)
            )
    else:
        found[moving] = φ
    settled = np.ones(len(tables), dtype=bool)
    settled[moving] = False
    return found, settled
