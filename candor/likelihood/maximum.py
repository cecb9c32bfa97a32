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

Chosen = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeansWithin:
    """Cell means matrix @ φ + offset, for all φ with limits @ φ ≤ ends.

    Parameters
    ----------
    matrix : ndarray, shape (..., cells, D)
    offset : ndarray, shape (..., cells)
    limits : ndarray, shape (..., M, D)
    ends : ndarray, shape (..., M)
    inside : ndarray, shape (..., D)
        Some φ strictly between all limits.
    """

    matrix: FloatArray
    offset: FloatArray
    limits: FloatArray
    ends: FloatArray
    inside: FloatArray

    def chosen(self, going: Chosen) -> MeansWithin:
        """Those that are marked in an array (...), one after the other."""

        def those(part: FloatArray, own: int) -> FloatArray:
            return np.broadcast_to(part, (*going.shape, *part.shape[part.ndim - own :]))[going]

        return MeansWithin(
            matrix=those(self.matrix, 2),
            offset=those(self.offset, 1),
            limits=those(self.limits, 2),
            ends=those(self.ends, 1),
            inside=those(self.inside, 1),
        )


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
    limits = np.broadcast_to(means.limits, (*batch, *means.limits.shape[-2:])).reshape(-1, *means.limits.shape[-2:])
    ends = np.broadcast_to(means.ends, (*batch, means.ends.shape[-1])).reshape(-1, means.ends.shape[-1])
    inside = np.broadcast_to(means.inside, (*batch, dimensions)).reshape(-1, dimensions)
    coordinates, settled = _climb(
        np.concatenate([tables[..., YES], tables[..., NO]], axis=-1),
        np.concatenate([matrices, -matrices, -limits], axis=-2),
        np.concatenate([offsets, 1 - offsets, ends], axis=-1),
        inside,
    )
    found = log_likelihood_of_means(tables, np.einsum("bcd,bd->bc", matrices, coordinates) + offsets)
    return Maximum(log_likelihood=found.reshape(batch), coordinates=coordinates.reshape(*batch, dimensions), settled=settled.reshape(batch))


def _climb(people: FloatArray, rows: FloatArray, base: FloatArray, inside: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Where Σ people·ln(room) is largest while room = rows @ φ + base ≥ 0: φ (B, D), and whether each search settled.

    The room (B, R) of people (B, N), N < R, is the probability of what they answered; after these comes the slack of every limit.
    """
    answers, count = people.shape[-1], rows.shape[-2] - people.shape[-1]
    found, moving = inside.copy(), np.arange(len(people))
    φ, room = inside.copy(), np.maximum((rows @ inside[..., None])[..., 0] + base, IMPOSSIBLE)
    multiplier = 0.1 * people.sum(axis=-1)[:, None] / count / room[:, answers:]
    columns = rows.transpose(0, 2, 1)
    # Some directions change no mean and are held by the limits alone, which is less than rounding when many people answered.
    ridge = 1 + RIDGE * np.eye(rows.shape[-1])
    for _ in range(ITERATIONS):
        slack = room[:, answers:]
        gap = np.einsum("bm,bm->b", slack, multiplier)
        target = (SHRINKAGE / count) * gap[:, None]
        pull = people / room[:, :answers]
        # How rows draw now, and how they would on the central path.
        forces = np.empty((*room.shape, 2))
        forces[:, :answers] = pull[..., None]
        forces[:, answers:, 0], forces[:, answers:, 1] = multiplier, target / slack
        slopes = columns @ forces
        curvature = (columns * (forces[..., 0] / room)[:, None, :]) @ rows
        curvature *= ridge
        step = np.linalg.solve(curvature, slopes[..., 1:])
        change = (rows @ step)[..., 0]
        lifted = (target - multiplier * change[:, answers:]) / slack - multiplier
        length = NEARLY_ALL / np.maximum((change / -room).max(axis=-1), NEARLY_ALL)[:, None]
        climbed = NEARLY_ALL / np.maximum((lifted / -multiplier).max(axis=-1), NEARLY_ALL)[:, None]
        φ += length * step[..., 0]
        room = np.maximum(room + length * change, IMPOSSIBLE)
        multiplier += climbed * lifted
        done = (gap < GAP) & (np.abs(slopes[..., 0]).max(axis=-1) < SLOPE)
        if done.any():
            found[moving] = φ
            keep = ~done
            moving = moving[keep]
            if len(moving) == 0:
                break
            φ, room, multiplier, people, rows, columns = (one[keep] for one in (φ, room, multiplier, people, rows, columns))
    else:
        found[moving] = φ
    settled = np.ones(len(found), dtype=bool)
    settled[moving] = False
    return found, settled
