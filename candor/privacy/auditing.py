"""Measuring privacy from outside: how well can somebody who sees the output tell two neighbouring data sets apart?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from candor.privacy.losses import Loss

CONFIDENCE = 0.999
# Events "the score is above (below) t", at so many quantiles of the scores.
THRESHOLDS = 200
# This part of the releases chooses the event; all others measure it.
CHOOSING = 0.25
# A claim of ρ is shown as its (ε, δ) at each of these.
DELTAS = (1e-3, 1e-2, 0.1)
# A claim of ρ is attacked at each of these orders of Rényi's divergence.
ORDERS = 1 + np.exp(np.linspace(-6, 4, 60))

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
        """For each δ, a lower bound of the ε of every true claim, with this confidence, 99.9 % unless it is given, from so many releases in
        each world.

        A pure claim is attacked with δ = 0 alone. A claim of ρ is attacked as such (`rho_at_least`): the bound is the ε, at each δ, of the
        smallest ρ that can be true. That refutes more than the two probabilities of an event at this δ, which allow larger losses of
        others than Gaussian noise.
        """
        worlds = [np.asarray(self.draw(world, runs), dtype=np.float64) for world in (0, 1)]
        if self.claim.pure_epsilon is not None:
            return {0.0: epsilon_at_least(*worlds, confidence=confidence)}
        least = Loss.zcdp(rho_at_least(*worlds, confidence=confidence))
        return {delta: least.epsilon(delta) for delta in DELTAS}

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
    ε ≥ ln((P₁(E) − δ)/P₀(E)) for every event E (Jagielski, Ullman and Oprea 2020), with Clopper–Pearson bounds of both. E is chosen on the
    first quarter of the releases, as the one that would give the best bound if the others showed the same shares.
    """

    def epsilon(likely: float, rare: float) -> float:
        return math.log((likely - delta) / rare) if likely > delta else 0.0

    return _bound_by_an_event(scores_0, scores_1, epsilon, confidence=confidence)


def rho_at_least(scores_0: Scores, scores_1: Scores, *, confidence: float = CONFIDENCE) -> float:
    """A lower bound of the ρ of zCDP from scores in two neighbouring worlds; parameters as for `epsilon_at_least`.

    Notes
    -----
    ρ ≥ D_α(P₁(E), P₀(E))/α for every event E and every order α > 1, since no processing, and so no event, has a larger Rényi divergence
    D_α than the release (Bun and Steinke 2016, lemma 2.2). D_α of two coins grows as their chances part.

    Examples
    --------
    >>> sure, never = np.ones(4000), np.zeros(4000)
    >>> round(rho_at_least(never, sure), 1), rho_at_least(sure, sure)
    (5.9, 0.0)
    """

    def rho(likely: float, rare: float) -> float:
        if likely <= rare:
            return 0.0
        yes, no = (ORDERS * np.log(one) + (1 - ORDERS) * np.log(other) for one, other in ((likely, rare), (1 - likely, 1 - rare)))
        return float((np.logaddexp(yes, no) / (ORDERS - 1) / ORDERS).max())

    return _bound_by_an_event(scores_0, scores_1, rho, confidence=confidence)


def _bound_by_an_event(scores_0: Scores, scores_1: Scores, bound: Callable[[float, float], float], *, confidence: float) -> float:
    """A bound that grows with a lower bound of the chance of an event in one world, and falls with an upper bound of it in the other."""
    choosing, measuring = zip(*(np.split(scores, [math.ceil(CHOOSING * len(scores))]) for scores in (scores_0, scores_1)), strict=True)
    thresholds = np.unique(np.quantile(np.concatenate(choosing), np.linspace(0, 1, THRESHOLDS), method="nearest"))
    events = [(likely, sign, threshold) for likely in (0, 1) for sign in (-1, 1) for threshold in thresholds]
    runs = [len(scores) for scores in measuring]
    best = max(events, key=lambda event: bound(*_chances(choosing, event, confidence, runs=runs)))
    return bound(*_chances(measuring, best, confidence, runs=runs))


def _chances(worlds: Sequence[Scores], event: tuple[int, int, float], confidence: float, *, runs: Sequence[int]) -> tuple[float, float]:
    """How often "the score is at least (at most) this" happens at least in the world that is named first, and at most in the other one,
    if so many runs show the shares that these scores show."""
    likely, sign, threshold = event
    hits = [float((sign * scores >= sign * threshold).mean()) * count for scores, count in zip(worlds, runs, strict=True)]
    error, rare = (1 - confidence) / 2, 1 - likely
    low = float(beta.ppf(error, hits[likely], runs[likely] - hits[likely] + 1)) if hits[likely] else 0.0
    high = float(beta.ppf(1 - error, hits[rare] + 1, runs[rare] - hits[rare])) if hits[rare] < runs[rare] else 1.0
    return low, high
