"""Difficulties from noisy counts: marginal maximum likelihood that knows how much noise the counts carry.

Everything here is computed from numbers that are already public, so it costs no privacy, and anybody can compute it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from scipy.special import expit

from candor.errors import DataError
from candor.rasch.answers import FloatArray, check_size
from candor.rasch.score_tree import score_chances, score_slopes

ABILITIES = np.linspace(-6.0, 6.0, 41)
"""Where the density of abilities is known: steps of .3 logits, finer than a quiz can tell abilities apart."""
FARTHEST, STEP, STEPS_PER_ERROR = 7.0, 0.04, 2.0
"""The posterior of a difficulty is known from −7 to 7 logits, in steps of .04, or of half the smallest standard error in a large class."""
SPREAD = 0.35
"""Prior standard deviation of c in ln f(x) = −x²/2 + c·x²: abilities with a standard deviation between .77 and 1.8, within one of these."""
BUMPS = 0.8
"""Prior standard deviation of the smooth deviation of the log-density from a normal one: twice as many or half as many people at an ability
are ordinary."""
BUMP_WIDTH = 1.2
"""Distance, in logits, over which this deviation changes: two classes in one course show, single scores do not."""
JITTER = 1e-6
"""Added to the diagonal of the prior's covariance, which is otherwise singular to the computer."""
PRIOR_ITEMS, PRIOR_VARIANCE = 2.0, 1.0
"""The variance of the difficulties is estimated as if two more items of variance 1 had been seen: with few items it would collapse to 0."""
ROUNDS = 8
"""Turns of items and abilities. Later ones move a difficulty by less than a third of its standard deviation, towards the noise in the
scores."""
FIRST_UPDATES, UPDATES, LAST_UPDATES = 12, 5, 6
"""Updates of mean and variance of the difficulties in the first, in each, and after the last turn."""
DENSITY_STEPS, LONGEST_STEP = 3, 1.5
"""Steps of the density in each turn, and the farthest that one moves its logarithm."""
LEAST_CHANCE = 1e-6
"""A chance of a score below this is counted as this in the variance of its count."""

_NORMAL = -(ABILITIES**2) / 2
_APART = ABILITIES[:, None] - ABILITIES
_PRECISION = np.linalg.inv(
    SPREAD**2 * np.outer(ABILITIES**2, ABILITIES**2)
    + BUMPS**2 * np.exp(-(_APART**2) / (2 * BUMP_WIDTH**2))
    + JITTER * np.eye(len(ABILITIES))
)


class NoisyCounts(TypedDict):
    """`NoisyStatistics` as plain values."""

    n: int
    totals: Sequence[int]
    totals_variance: float
    answered: Sequence[int] | None
    score_counts: Sequence[int] | None
    score_variance: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyStatistics:
    """All that was released: counts with noise, and the variance of the noise, which is public.

    Attributes
    ----------
    n : int
        Number of people.
    totals : tuple of int
        How many solved each item, with noise of variance ``totals_variance``.
    answered : tuple of int or None
        How many answered each item, with noise of the same variance; None when omitted answers count as wrong.
    score_counts : tuple of int or None
        How many have each score from 0 to m, with noise of variance ``score_variance``; None when scores were not counted.
    """

    n: int
    totals: tuple[int, ...]
    totals_variance: float
    answered: tuple[int, ...] | None = None
    score_counts: tuple[int, ...] | None = None
    score_variance: float | None = None

    @classmethod
    def from_document(cls, document: NoisyCounts) -> NoisyStatistics:
        """From what `asdict` and JSON made of one."""
        answered, scores = document["answered"], document["score_counts"]
        return cls(
            n=document["n"],
            totals=tuple(document["totals"]),
            totals_variance=document["totals_variance"],
            answered=None if answered is None else tuple(answered),
            score_counts=None if scores is None else tuple(scores),
            score_variance=document["score_variance"],
        )

    def __post_init__(self) -> None:
        m = len(self.totals)
        check_size(self.n, m)
        if self.answered is not None and len(self.answered) != m:
            raise DataError(f"expected {m} noisy counts of given answers, found {len(self.answered)}")
        if self.score_counts is not None and len(self.score_counts) != m + 1:
            raise DataError(f"expected {m + 1} noisy counts of scores, found {len(self.score_counts)}")
        variances = [self.totals_variance, *([self.score_variance] if self.score_counts is not None else [])]
        if not all(variance is not None and 0 < variance < np.inf for variance in variances):
            raise DataError(f"expected variances of the noise above 0, found {variances}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AbilityDensity:
    """How abilities are spread, relative to the mean difficulty: shares at `values`, which sum to 1. Without score counts, assumed."""

    values: tuple[float, ...]
    shares: tuple[float, ...]
    mean: float
    standard_deviation: float
    assumed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseAwareEstimate:
    """Difficulties with sum 0 and their posterior standard deviations, which include sampling and noise; and the density of abilities."""

    difficulties: tuple[float, ...]
    standard_deviations: tuple[float, ...]
    abilities: AbilityDensity


def estimate_from_noisy_statistics(statistics: NoisyStatistics) -> NoiseAwareEstimate:
    """Estimate difficulties from noisy counts.

    Notes
    -----
    Empirical Bayes, by turns. (1) The density f of abilities on a grid has logarithm −x²/2 + η(x), with a smooth Gaussian process η; it is
    fitted to the noisy counts of scores, h_r ~ N(n·f_r, n·f_r + σ_h²), where f_r is the chance of score r. (2) Each difficulty has a
    posterior on a grid, from s_i ~ N(n·P_i, n·P_i(1 − P_i) + σ_s²), where P_i(δ) is the share of right answers under f, and from a normal
    prior, whose mean and variance are estimated by EM. With counts of given answers a_i, s_i − P_i·a_i has mean 0 and variance
    a_i·P_i(1 − P_i) + σ_s²(1 + P_i²). The assumptions are the Rasch model and, for omitted answers that do not count, that leaving out
    does not depend on ability. Without counts of scores the abilities are assumed to be standard normal.

    References
    ----------
    .. [1] Bock, R. D. and Aitkin, M. (1981). Marginal maximum likelihood estimation of item parameters. Psychometrika 46, 443–459.

    The error of the density moves all difficulties, and theirs moves the density in the next turn. With dδ = G·dη and dη = K·dδ, by
    implicit differentiation, the covariance after T turns is R(V + GCGᵀ)Rᵀ, R = Σ_{k ≤ T} (GK)ᵏ, where V has the variances of step (2) and
    C is the inverse information of step (1): the delta method. The difficulties are given with sum 0, d_i − d̄, with its variances.

    Examples
    --------
    All items were solved as often, so none is harder.

    >>> found = estimate_from_noisy_statistics(NoisyStatistics(n=100, totals=(50, 50, 50), totals_variance=4.0))
    >>> [abs(round(difficulty, 6)) for difficulty in found.difficulties]
    [0.0, 0.0, 0.0]
    """
    items = _Items(statistics)
    deviation = np.zeros(len(ABILITIES))
    if statistics.score_counts is not None:
        for turn in range(ROUNDS):
            mean, _ = items.update(_shares(deviation), FIRST_UPDATES if turn == 0 else UPDATES)
            deviation = _fitted_deviation(deviation, score_chances(mean, ABILITIES).T, statistics)
    shares = _shares(deviation)
    mean, deviations = items.update(shares, LAST_UPDATES if statistics.score_counts is not None else FIRST_UPDATES + UPDATES)
    covariance = np.diag(deviations**2)
    if statistics.score_counts is not None:
        covariance = _through_density(covariance, mean=mean, prior_variance=items.variance, deviation=deviation, statistics=statistics)
    centre, to_centre = mean.mean(), np.eye(len(mean)) - 1 / len(mean)
    variances = np.diag(to_centre @ covariance @ to_centre)
    average = float(shares @ ABILITIES)
    return NoiseAwareEstimate(
        difficulties=tuple((mean - centre).tolist()),
        standard_deviations=tuple(np.sqrt(variances).tolist()),
        abilities=AbilityDensity(
            values=tuple((ABILITIES - centre).tolist()),
            shares=tuple(shares.tolist()),
            mean=average - float(centre),
            standard_deviation=float(np.sqrt(shares @ (ABILITIES - average) ** 2)),
            assumed=statistics.score_counts is None,
        ),
    )


class _Items:
    """The posteriors of the difficulties under a density of abilities, and the prior that they share."""

    def __init__(self, statistics: NoisyStatistics) -> None:
        self.mean, self.variance = 0.0, PRIOR_VARIANCE
        self.right = np.array(statistics.totals, dtype=np.float64)[:, None]
        self.right_variance = statistics.totals_variance
        everybody = (statistics.n,) * len(self.right)
        self.answered = np.clip(np.array(statistics.answered or everybody, dtype=np.float64), 1, statistics.n)[:, None]
        self.answered_variance = 0.0 if statistics.answered is None else self.right_variance
        # P' is at most 1/4, where P(1 − P) is.
        smallest_error = np.sqrt(statistics.n / 4 + self.right_variance) / (statistics.n / 4)
        steps = int(np.ceil(FARTHEST / min(STEP, smallest_error / STEPS_PER_ERROR)))
        self.grid = np.linspace(-FARTHEST, FARTHEST, 2 * steps + 1)
        self.chances = expit(ABILITIES - self.grid[:, None])

    def update(self, shares: FloatArray, updates: int) -> tuple[FloatArray, FloatArray]:
        """Posterior means and standard deviations, shape (m,), after some updates of the prior."""
        chance = self.chances @ shares
        variance = self.answered * chance * (1 - chance) + self.right_variance + self.answered_variance * chance**2
        log_likelihood = -((self.right - self.answered * chance) ** 2) / (2 * variance) - np.log(variance) / 2
        m = len(self.right)
        for _ in range(updates):
            log_posterior = log_likelihood - (self.grid - self.mean) ** 2 / (2 * self.variance)
            posterior = np.exp(log_posterior - log_posterior.max(axis=1, keepdims=True))
            posterior /= posterior.sum(axis=1, keepdims=True)
            means = posterior @ self.grid
            variances = ((self.grid - means[:, None]) ** 2 * posterior).sum(axis=1)
            self.mean = float(means.mean())
            spread = float(((means - self.mean) ** 2 + variances).sum())
            self.variance = (spread + PRIOR_ITEMS * PRIOR_VARIANCE) / (m + PRIOR_ITEMS)
        return means, np.sqrt(variances)


def _shares(deviation: FloatArray) -> FloatArray:
    """Share of people at each ability."""
    logarithm = _NORMAL + deviation
    shares = np.exp(logarithm - logarithm.max())
    return np.asarray(shares / shares.sum())


def _fitted_deviation(deviation: FloatArray, chances: FloatArray, statistics: NoisyStatistics) -> FloatArray:
    """Some Gauss–Newton steps of the log-density towards the noisy counts of scores; `chances` has shape (m + 1, abilities)."""
    noisy = np.array(statistics.score_counts, dtype=np.float64)
    for _ in range(DENSITY_STEPS):
        expected, weighted, information = _scores_told(deviation, chances, statistics)
        step = np.linalg.solve(information, weighted @ (noisy - expected) - _PRECISION @ deviation)
        deviation = deviation + step * min(1.0, LONGEST_STEP / float(np.abs(step).max()))
    return deviation


def _scores_told(deviation: FloatArray, chances: FloatArray, statistics: NoisyStatistics) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Expected counts of scores, their slopes in the log-density divided by their variances, and the information about it."""
    n, noise = statistics.n, statistics.score_variance
    if noise is None:
        raise DataError("counts of scores without the variance of their noise")
    shares = _shares(deviation)
    expected = chances @ shares
    slopes = n * (chances * shares - np.outer(expected, shares))
    weighted = (slopes / (n * np.maximum(expected, LEAST_CHANCE) + noise)[:, None]).T
    return n * expected, weighted, weighted @ slopes + _PRECISION


def _through_density(
    own: FloatArray, *, mean: FloatArray, prior_variance: float, deviation: FloatArray, statistics: NoisyStatistics
) -> FloatArray:
    """The covariance of the difficulties with the errors of the density; `own` is that under the density as it is."""
    shares = _shares(deviation)
    _, weighted, information = _scores_told(deviation, score_chances(mean, ABILITIES).T, statistics)
    right = expit(ABILITIES - mean[:, None])
    followed = 1 - np.diag(own) / prior_variance  # the prior holds a difficulty back
    by_density = (followed / ((right * (1 - right)) @ shares))[:, None] * (right - (right @ shares)[:, None]) * shares
    by_items = -np.linalg.solve(information, weighted @ (statistics.n * np.tensordot(shares, score_slopes(mean, ABILITIES), axes=1)))
    once = own + by_density @ np.linalg.solve(information, by_density.T)
    turns = np.eye(len(mean))
    for _ in range(ROUNDS):
        turns = np.eye(len(mean)) + by_density @ by_items @ turns
    return np.asarray(turns @ once @ turns.T)
