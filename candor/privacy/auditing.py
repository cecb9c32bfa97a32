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

    def epsilon(likely: Scores, rare: Scores) -> Scores:
        told = likely > delta
        return np.where(told, np.log(np.where(told, likely - delta, 1) / rare), 0.0)

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

    def rho(likely: Scores, rare: Scores) -> Scores:
        found, told = np.zeros_like(likely), likely > rare
        one, other = likely[told, None], rare[told, None]
        yes, no = (ORDERS * np.log(here) + (1 - ORDERS) * np.log(there) for here, there in ((one, other), (1 - one, 1 - other)))
        found[told] = (np.logaddexp(yes, no) / (ORDERS - 1) / ORDERS).max(axis=1)
        return found

    return _bound_by_an_event(scores_0, scores_1, rho, confidence=confidence)


def _bound_by_an_event(scores_0: Scores, scores_1: Scores, bound: Callable[[Scores, Scores], Scores], *, confidence: float) -> float:
    """A bound that grows with a lower bound of the chance of an event in one world, and falls with an upper bound of it in the other."""
    choosing, measuring = zip(*(np.split(scores, [math.ceil(CHOOSING * len(scores))]) for scores in (scores_0, scores_1)), strict=True)
    thresholds = np.unique(np.quantile(np.concatenate(choosing), np.linspace(0, 1, THRESHOLDS), method="nearest"))
    runs = [len(scores) for scores in measuring]
    sides = [(likely, at_least) for likely in (0, 1) for at_least in (False, True)]
    tried = np.concatenate([bound(*_chances(choosing, *side, thresholds, confidence, runs=runs)) for side in sides])
    side, threshold = divmod(int(tried.argmax()), len(thresholds))
    return float(bound(*_chances(measuring, *sides[side], thresholds[[threshold]], confidence, runs=runs))[0])


def _chances(
    worlds: Sequence[Scores], likely: int, at_least: bool, thresholds: Scores, confidence: float, *, runs: Sequence[int]
) -> tuple[Scores, Scores]:
    """How often "the score is at least (at most) this" happens at least in the likely world, and at most in the other one, for each
    threshold, if so many runs show the shares that these scores show."""
    hits = []
    for scores, count in zip(worlds, runs, strict=True):
        ordered = np.sort(scores)
        found = len(scores) - np.searchsorted(ordered, thresholds, "left") if at_least else np.searchsorted(ordered, thresholds, "right")
        hits.append(found / len(scores) * count)
    error, often, rarely, rare = (1 - confidence) / 2, hits[likely], hits[1 - likely], runs[1 - likely]
    some, some_not = often > 0, rarely < rare
    low, high = np.zeros(len(thresholds)), np.ones(len(thresholds))
    low[some] = beta.ppf(error, often[some], runs[likely] - often[some] + 1)
    high[some_not] = beta.ppf(1 - error, rarely[some_not] + 1, rare - rarely[some_not])
    return low, high
