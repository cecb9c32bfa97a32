"""Measuring privacy from outside: how well can somebody who sees the output tell two neighbouring data sets apart?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from candor.privacy.losses import Loss

CONFIDENCE = 0.999
# Events "the score is above (below) t", at so many quantiles of the scores.
THRESHOLDS = 200
# An (ε, δ) claim is attacked at each of these.
DELTAS = (1e-3, 1e-2, 0.1)

Scores = NDArray[np.float64]
Draw = Callable[[int, int], Scores]


@dataclass(frozen=True)
class Audit:
    """An attack on a claim.

    Parameters
    ----------
    claim : Loss
        What the release says that it costs.
    draw : callable
        ``draw(world, runs)`` releases so many times from data set 0 or 1 of a neighbouring pair, as the public would see it, and gives one
        score per release: large where world 1 is likely. The best score is the log likelihood ratio; any score makes the bound true.
    """

    claim: Loss
    draw: Draw

    def epsilon_at_least(self, runs: int, *, confidence: float = CONFIDENCE) -> dict[float, float]:
        """For each δ, a lower bound of ε with this confidence, 99.9 % unless it is given, from so many releases in each world.

        Half of the releases choose the best event, the other half measure it: Clopper–Pearson bounds of its two probabilities, and
        ε ≥ ln((p₁ − δ)/p₀). A pure claim is attacked with δ = 0 alone.
        """
        worlds = [np.asarray(self.draw(world, runs), dtype=np.float64) for world in (0, 1)]
        deltas = (0.0,) if self.claim.pure_epsilon is not None else DELTAS
        return {delta: epsilon_at_least(*worlds, delta=delta, confidence=confidence) for delta in deltas}

    def excess(self, runs: int, *, confidence: float = CONFIDENCE) -> float:
        """How far the lower bound lies above the claim, at the worst δ: above 0 refutes the claim."""
        return max(bound - self.claim.epsilon(delta) for delta, bound in self.epsilon_at_least(runs, confidence=confidence).items())


def epsilon_at_least(scores_0: Scores, scores_1: Scores, *, delta: float = 0.0, confidence: float = CONFIDENCE) -> float:
    """A lower bound of ε from scores in two neighbouring worlds.

    Parameters
    ----------
    scores_0, scores_1 : float arrays
        One score per release, in release order (independent draws).
    delta : float
        δ of (ε, δ).
    confidence : float
        Of the bound; each of the two probabilities gets half of what is left.

    Notes
    -----
    ε ≥ ln((P₁(E) − δ)/P₀(E)) for every event E (Jagielski, Ullman and Oprea 2020). E is chosen on the first half of the releases.
    """
    halves = [np.array_split(scores, 2) for scores in (scores_0, scores_1)]
    thresholds = np.unique(np.quantile(np.concatenate([half[0] for half in halves]), np.linspace(0, 1, THRESHOLDS), method="nearest"))
    events = [(likely, sign, threshold) for likely in (0, 1) for sign in (-1, 1) for threshold in thresholds]
    best = max(events, key=lambda event: _bound(halves, 0, event, delta, confidence))
    return _bound(halves, 1, best, delta, confidence)


def _bound(halves: list[list[Scores]], half: int, event: tuple[int, int, float], delta: float, confidence: float) -> float:
    """The bound by "the score is at least (at most) this", which is likelier in the world that is named first."""
    likely, sign, threshold = event
    hits, runs = zip(*((int((sign * world[half] >= sign * threshold).sum()), len(world[half])) for world in halves), strict=True)
    error = (1 - confidence) / 2
    low = float(beta.ppf(error, hits[likely], runs[likely] - hits[likely] + 1)) if hits[likely] else 0.0
    rare = 1 - likely
    high = float(beta.ppf(1 - error, hits[rare] + 1, runs[rare] - hits[rare])) if hits[rare] < runs[rare] else 1.0
    return math.log((low - delta) / high) if low > delta else 0.0
