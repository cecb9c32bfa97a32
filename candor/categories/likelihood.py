"""The largest multinomial likelihood of shares between 0 and 1, free or with one number fixed, for many fixed numbers at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candor.designs.design import Design, FloatArray
from candor.likelihood.maximum import GAP, IMPOSSIBLE, NEARLY_ALL, RIDGE, SHRINKAGE, Maximum

ITERATIONS = 120
NOTHING = 1e-8
"""A step that promises so little ends the search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """All possible parameters: the shares matrix @ φ + offset for all φ with limits @ φ ≤ ends.

    Parameters
    ----------
    matrix : ndarray, shape (J, D)
        One row for each (arm, subsample, category).
    offset : ndarray, shape (J,)
    limits : ndarray, shape (M, D)
    ends : ndarray, shape (M,)
    inside : ndarray, shape (D,)
        Some φ strictly between all limits.
    honest : int
        The coordinate x; those before it are Π_ac, of every arm and every category but the first, those after it Q_c, if it is unknown.
    """

    matrix: FloatArray
    offset: FloatArray
    limits: FloatArray
    ends: FloatArray
    inside: FloatArray
    honest: int


def possible_shares(design: Design) -> Shares:
    """All parameters that are possible under a design: 0 ≤ Π_ac, Σ_c Π_ac = x, 0 ≤ Q_c, Σ_c Q_c = 1 − x."""
    (arms, subsamples), categories, stated = design.shape, len(design.categories), design.cheater_shares
    others = categories - 1
    one = np.vstack([-np.ones(others), np.eye(others)])
    prevalences = np.kron(np.eye(arms), (design.truth[:, None, None] * one).reshape(-1, others))
    # x comes with t_s on the first category, of which the others are taken away, and with the forced answers.
    honest = design.forced_answers.copy()
    honest[:, 0] += design.truth
    if stated is None:
        offset, cheaters = np.eye(categories)[0], np.tile(one, (arms * subsamples, 1))
        honest[:, 0] -= 1
    else:
        offset, cheaters = stated, np.zeros((arms * subsamples * categories, 0))
        honest -= stated
    matrix = np.hstack([prevalences, np.tile(honest.reshape(-1, 1), (arms, 1)), cheaters])
    rates, at = cheaters.shape[1], arms * others
    unit = np.eye(matrix.shape[1])
    sums = np.kron(np.eye(arms), np.ones((1, others)))
    limits = [-unit[:at], np.hstack([sums, -np.ones((arms, 1)), np.zeros((arms, rates))])]
    ends = [np.zeros(at + arms)]
    limits += [-unit[at + 1 :], np.concatenate([np.zeros(at), np.ones(1 + rates)])[None]]
    ends += [np.zeros(rates), np.ones(1)]
    inside = np.concatenate([np.full(at, 0.5 / categories), [0.5], np.full(rates, 0.5 / categories)])
    return Shares(
        matrix=matrix,
        offset=np.tile(offset, arms * subsamples),
        limits=np.vstack(limits),
        ends=np.concatenate(ends),
        inside=inside,
        honest=at,
    )


def log_likelihood(counts: FloatArray, shares: FloatArray) -> FloatArray:
    """Σ n·ln μ over the last axis.

    Examples
    --------
    >>> round(float(log_likelihood(np.array([1.0, 1.0]), np.array([0.5, 0.5]))), 4)
    -1.3863
    """
    return np.asarray((counts * np.log(np.maximum(shares, IMPOSSIBLE))).sum(axis=-1), dtype=float)


def highest(counts: FloatArray, shares: Shares, *, fixed: FloatArray | None = None, start: FloatArray | None = None) -> Maximum:
    """The largest log-likelihood between the limits, for each of B directions in which the coordinates may not move from their start.

    Parameters
    ----------
    counts : ndarray of float, shape (J,)
    shares : Shares
    fixed : ndarray, shape (B, D), optional
        fixed·φ stays what it is at the start. Default: nothing is fixed, and B = 1.
    start : ndarray, shape (B, D), optional
        Strictly between the limits.

    Notes
    -----
    The primal-dual method of `candor.likelihood.maximum` with one equation more: every step solves Newton's equations for the derivative of
    the Lagrangian, fixed·step = 0, and slack·multiplier = a number that shrinks.

    References
    ----------
    Boyd, S. & Vandenberghe, L. (2004). Convex Optimization. Cambridge University Press, section 11.7.

    Examples
    --------
    Half of all people say yes, in every arm and subsample: that is possible, and no shares are more likely.

    >>> from candor.designs.design import Design
    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> found = highest(np.full(8, 50.0), possible_shares(design))
    >>> round(float(found.log_likelihood[0]) / 400, 6) == round(float(np.log(0.5)), 6)
    True
    """
    rows, limits, dimensions = shares.matrix, shares.limits, shares.matrix.shape[1]
    number, people = len(limits), counts.sum()
    normals = np.zeros((1, 0, dimensions)) if fixed is None else fixed[:, None]
    phi = np.array(shares.inside[None] if start is None else start, dtype=float)
    slack = shares.ends - phi @ limits.T
    force = 0.1 * people / number / slack
    products = (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
    limit_products = (limits[:, :, None] * limits[:, None, :]).reshape(number, -1)
    found, settled, moving = phi.copy(), np.zeros(len(phi), dtype=bool), np.arange(len(phi))
    diagonal = np.arange(dimensions)
    for _ in range(ITERATIONS):
        mu = np.maximum(phi @ rows.T + shares.offset, IMPOSSIBLE)
        gap = (slack * force).sum(axis=-1)
        target = SHRINKAGE * np.maximum(gap, GAP)[:, None] / number
        curvature = ((counts / mu**2) @ products + (force / slack) @ limit_products).reshape(-1, dimensions, dimensions)
        curvature[:, diagonal, diagonal] *= 1 + RIDGE
        score = (counts / mu) @ rows
        system = np.zeros((len(phi), dimensions + normals.shape[1], dimensions + normals.shape[1]))
        system[:, :dimensions, :dimensions] = curvature
        system[:, dimensions:, :dimensions], system[:, :dimensions, dimensions:] = normals, normals.transpose(0, 2, 1)
        right = np.zeros((*system.shape[:2], 1))
        right[:, :dimensions, 0] = score - (target / slack) @ limits
        step = np.linalg.solve(system, right)[:, :dimensions, 0]
        change = -(step @ limits.T)
        lifted = (target - force * change) / slack - force
        reach = np.maximum((-(step @ rows.T) / mu).max(axis=-1), (-change / slack).max(axis=-1))
        length = NEARLY_ALL / np.maximum(reach, NEARLY_ALL)
        climbed = NEARLY_ALL / np.maximum((-lifted / force).max(axis=-1), NEARLY_ALL)
        phi = phi + length[:, None] * step
        slack = slack + length[:, None] * change
        force = force + climbed[:, None] * lifted
        done = (gap < GAP) & (np.abs((score * step).sum(axis=-1)) < NOTHING)
        found[moving] = phi
        settled[moving] = done
        if done.any():
            keep = ~done
            moving, phi, slack, force = moving[keep], phi[keep], slack[keep], force[keep]
            normals = normals if fixed is None else normals[keep]
            if len(moving) == 0:
                break
    return Maximum(log_likelihood=log_likelihood(counts, found @ rows.T + shares.offset), coordinates=found, settled=settled)
