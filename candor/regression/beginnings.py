"""Where to begin a search for the highest of several tops: many random places, each of which climbs a little."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from candor.regression.likelihood import FARTHEST, LONGEST, Data, Fit

FloatArray = npt.NDArray[np.float64]
PLACES, AT_ONCE = 128, 32_000
"""Random places, each with its mirror; fewer where they, times the rows, would be more than the second."""
ROUNDS = 30
BEST = 5
SPREADS = (1.0, 3.0, 10.0)
"""Standard deviations of random log odds: the last makes steps."""
APART = 1e-2
"""Heights that are nearer are of one top."""


def likely_beginnings(data: Data, *, yes_rate: float | None, held: tuple[int, float]) -> list[Fit]:
    """The highest of many random places after some rounds of EM [1]_, with one log odds held.

    At most five, from the highest down, each with its height before the last round.

    Notes
    -----
    A round says how probably each answer is an honest one, and takes x and C from that; the log odds make one step of Newton's
    in the logistic regression of honest, true answers. Each place has the mirror that the opposite question has, so that both begin alike.

    References
    ----------
    .. [1] Dempster, A. P., Laird, N. M. & Rubin, D. B. (1977). Maximum likelihood from incomplete data via the EM algorithm. Journal of
       the Royal Statistical Society B 39, 1–38.
    """
    z, y, t = data.columns, data.reported, data.truth
    forced = np.where(y == 1, data.forced_yes, 1 - t - data.forced_yes)
    half, width = max(min(PLACES, AT_ONCE // len(y)), 8), z.shape[1]
    rng = np.random.default_rng(0)
    beta = rng.normal(size=(half, width)) * rng.choice(SPREADS, half)[:, None]
    x, q = rng.uniform(0.05, 1, half), rng.random(half)
    beta, x, q = np.vstack([beta, -beta]), np.tile(x, 2), np.append(q, 1 - q)
    beta[:, held[0]] = held[1]
    c = (1 - x) * (q if yes_rate is None else yes_rate)
    free = np.delete(z, held[0], axis=1)
    squares = (free[:, :, None] * free[:, None, :]).reshape(len(y), -1)
    others, heights = np.arange(width) != held[0], np.zeros(len(x))
    for _ in range(ROUNDS):
        prevalence = expit(beta @ z.T)
        true = x[:, None] * t * np.where(y == 1, prevalence, 1 - prevalence)
        cheats = np.where(y == 1, c[:, None], (1 - x - c)[:, None])
        likelihood = np.maximum(true + x[:, None] * forced + cheats, 1e-300)
        heights = np.log(likelihood) @ data.people
        weight = data.people * true / likelihood
        curvature = ((weight * prevalence * (1 - prevalence)) @ squares).reshape(len(x), free.shape[1], free.shape[1])
        curvature += (1e-3 * np.trace(curvature, axis1=1, axis2=2) / max(free.shape[1], 1) + 1e-8)[:, None, None] * np.eye(free.shape[1])
        step = np.linalg.solve(curvature, ((weight * (y - prevalence)) @ free)[..., None])[..., 0]
        step *= np.minimum(1, LONGEST / np.maximum(np.abs(step).max(axis=1, initial=0.0), LONGEST))[:, None]
        beta[:, others] = np.clip(beta[:, others] + step, 1 - FARTHEST, FARTHEST - 1)
        cheats *= data.people / likelihood
        x = 1 - cheats.sum(axis=1) / data.people.sum()
        c = cheats @ y / data.people.sum() if yes_rate is None else (1 - x) * yes_rate
    found: list[Fit] = []
    for place in np.argsort(-heights):
        if all(abs(heights[place] - one.log_likelihood) > APART for one in found):
            found.append(Fit(beta=beta[place].copy(), x=float(x[place]), c=float(c[place]), log_likelihood=float(heights[place])))
        if len(found) == BEST:
            break
    return found
