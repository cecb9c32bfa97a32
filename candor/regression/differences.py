"""The top of the likelihood of differences of prevalence: the reported means are linear in xβ, x and C, so that there is one top."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from candor.errors import MethodError
from candor.likelihood.maximum import MeansWithin, maximise
from candor.regression.likelihood import NOT_SETTLED, Data, Fit, Possible

INWARD = 0.02
"""A search begins so far from the edges of what x and C can be."""
ROOM = 1e-3
"""A beginning that is nearer to a mean of 0 or 1 than this is replaced by the one that is farthest from all."""
AT_AN_EDGE = 1e-7
"""A share this close to 0 or 1 is there: a search never quite gets to an edge."""


def highest_of_differences(data: Data, possible: Possible, *, start: Fit, held: tuple[int, float] | None = None) -> Fit:
    """The top over all possible (x, C) where the prevalence is zβ itself; one coefficient may be held.

    Raises
    ------
    MethodError
        When no means between 0 and 1 are left, nobody is honest at the top, or the search does not settle.

    Notes
    -----
    With Π = xβ the means t·zΠ + f1·x + C are linear, and (x, C) lies between its corners, so that the log-likelihood is concave within
    linear limits. The top may lie where some mean is 0 or 1. A held βⱼ = v is Πⱼ = v·x. The log-likelihood is −∞ where no means fit.
    """
    corner, *others = np.array(possible.corners)
    sides = np.array(others).reshape(-1, 2) - corner
    columns = data.columns * data.truth[:, None]
    of_shares = np.column_stack([data.forced_yes, np.ones(len(columns))])
    free = np.arange(columns.shape[1])
    beta = start.beta.copy()
    if held is not None:
        index, beta[index] = held
        of_shares[:, 0] += columns[:, index] * beta[index]
        free = np.delete(free, index)
    matrix, offset = np.hstack([columns[:, free], of_shares @ sides.T]), of_shares @ corner
    weights = np.hstack([np.zeros((len(sides), len(free))), np.eye(len(sides))])
    limits = np.vstack([matrix, -matrix, -weights, weights.sum(axis=0)])
    ends = np.concatenate([1 - offset, offset, np.zeros(len(sides)), [1.0]])
    share = np.linalg.lstsq(sides.T, np.array([start.x, start.c]) - corner)[0] * (1 - INWARD) + INWARD / (1 + len(sides))
    inside = np.concatenate([beta[free] * (corner + share @ sides)[0], share])
    if (ends - limits @ inside).min() < ROOM:
        room = np.column_stack([limits, np.ones(len(ends))])
        found = linprog(-np.eye(room.shape[1])[-1], A_ub=room, b_ub=ends, bounds=[*[(None, None)] * len(inside), (None, 1.0)])
        if found.x is None or found.x[-1] < AT_AN_EDGE:
            return Fit(beta=beta, x=start.x, c=start.c, log_likelihood=-np.inf)
        inside = found.x[:-1]
    counts = np.column_stack([data.people * (1 - data.reported), data.people * data.reported])
    # The likelihood keeps the probability of what somebody answered above 0 by itself.
    needed = np.concatenate([data.reported == 1, data.reported == 0, np.ones(len(ends) - 2 * len(offset), dtype=bool)])
    top = maximise(counts, MeansWithin(matrix=matrix, offset=offset, limits=limits[needed], ends=ends[needed], inside=inside))
    if not top.settled:
        raise MethodError(NOT_SETTLED)
    x, c = corner + top.coordinates[len(free) :] @ sides
    if x <= AT_AN_EDGE and held is None:
        raise MethodError("no share of honest people above 0 fits the answers: an assumption of the model fails")
    beta[free] = top.coordinates[: len(free)] / x
    x, c = _to_the_edge(x), _to_the_edge(c)
    return Fit(beta=beta, x=x, c=min(c, 1 - x), log_likelihood=float(top.log_likelihood))


def _to_the_edge(share: float) -> float:
    return 0.0 if share < AT_AN_EDGE else 1.0 if share > 1 - AT_AN_EDGE else float(share)
