"""A student's own feedback from released difficulties. Students' pages compute the same in the browser; nothing of it is stored or sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from candor.errors import DataError
from candor.rasch.answers import BoolArray, FloatArray

ABILITIES = np.linspace(-8.0, 8.0, 641)
"""Where the posterior of an ability is known, in standard deviations from the mean of the class: steps of .025."""
LOGISTIC_VARIANCE = 16 * np.sqrt(3) / (15 * np.pi)
"""c in E σ(x + Z) ≈ σ(x/√(1 + c²·Var Z)), the normal approximation of a logistic curve; its error is below .01."""
LEVEL = 0.95
FARTHEST = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """One student's ability in logits above the mean difficulty.

    ``value``, ``standard_deviation`` and the 95 % interval from ``low`` to ``high`` are the posterior's. ``warm`` is Warm's estimate, which
    knows nothing of the class.
    """

    value: float
    standard_deviation: float
    low: float
    high: float
    warm: float


def chances_right(ability: float, difficulties: FloatArray, deviations: FloatArray | float = 0.0) -> FloatArray:
    """The chance to solve each item at one ability, shape (m,), when difficulties are known up to these standard deviations.

    Notes
    -----
    The mean of σ(β − δ) over δ ~ N(δ̃, SD²), by σ((β − δ̃)/√(1 + c²SD²)) with c = 16√3/(15π) [1]_.

    References
    ----------
    .. [1] Johnson, N. L., Kotz, S. and Balakrishnan, N. (1995). Continuous univariate distributions 2, chapter 23.

    Examples
    --------
    >>> chances_right(0.0, np.array([0.0, np.log(3)])).round(6).tolist()
    [0.5, 0.25]
    """
    spread = np.sqrt(1 + (LOGISTIC_VARIANCE * np.asarray(deviations)) ** 2)
    return np.asarray(expit((ability - difficulties) / spread))


def score_distribution(chances: FloatArray) -> FloatArray:
    """The chance of each number of right answers, shape (m + 1,): the Poisson-binomial distribution.

    Examples
    --------
    >>> score_distribution(np.array([0.5, 0.25])).tolist()
    [0.375, 0.5, 0.125]
    """
    found = np.ones(1)
    for chance in chances:
        found = np.append(found * (1 - chance), 0.0) + np.append(0.0, found * chance)
    return found


def ability(
    right: Sequence[bool | None],
    *,
    difficulties: Sequence[float],
    deviations: Sequence[float],
    class_mean: float = 0.0,
    class_sd: float = 1.0,
) -> Ability:
    """Estimate one student's ability from their answers and the released difficulties.

    Parameters
    ----------
    right : sequence of bool or None, length m
        Whether each answer is right; None where the item was not answered and does not count.
    difficulties, deviations : sequences of float, length m
        As released.
    class_mean, class_sd : float
        Mean and standard deviation of the class's abilities, as released.

    Raises
    ------
    DataError
        When the lengths differ, no answer counts, or a standard deviation is negative.

    Notes
    -----
    The posterior under N(class_mean, class_sd²) and the Rasch model, each item's chance averaged over what the release leaves open of its
    difficulty: finite at every score, also at 0 and m. Its mean is the value. Warm's estimate [1]_ solves Σ(x − P) + J/(2I) = 0 with I =
    ΣP(1 − P) and J = ΣP(1 − P)(1 − 2P).

    References
    ----------
    .. [1] Warm, T. A. (1989). Weighted likelihood estimation of ability in item response theory. Psychometrika 54, 427–450.

    Examples
    --------
    One item solved and one not, both of mean difficulty: the middle of the class.

    >>> found = ability([True, False], difficulties=[0.0, 0.0], deviations=[0.0, 0.0])
    >>> abs(round(found.value, 9)), abs(round(found.warm, 9)), round(found.standard_deviation, 2)
    (0.0, 0.0, 0.84)
    """
    if not len(right) == len(difficulties) == len(deviations):
        raise DataError(f"expected an answer for each difficulty, found {len(right)}, {len(difficulties)} and {len(deviations)}")
    counted = np.array([answer is not None for answer in right])
    if not counted.any():
        raise DataError("expected at least one answer, found none")
    hard, unsure = np.array(difficulties, dtype=np.float64)[counted], np.array(deviations, dtype=np.float64)[counted]
    if not (class_sd > 0 and np.all(unsure >= 0) and np.all(np.isfinite(hard)) and np.all(np.isfinite(unsure)) and np.isfinite(class_mean)):
        raise DataError(f"expected finite difficulties, deviations of at least 0 and a class SD above 0, found {deviations} and {class_sd}")
    solved = np.array([bool(answer) for answer in right])[counted]

    abilities = class_mean + class_sd * ABILITIES
    logits = (abilities[:, None] - hard) / np.sqrt(1 + (LOGISTIC_VARIANCE * unsure) ** 2)
    log_posterior = -np.logaddexp(0.0, np.where(solved, -logits, logits)).sum(axis=1) - ABILITIES**2 / 2
    posterior = np.exp(log_posterior - log_posterior.max())
    posterior /= posterior.sum()
    value = float(posterior @ abilities)
    sides = np.interp([(1 - LEVEL) / 2, (1 + LEVEL) / 2], np.cumsum(posterior) - posterior / 2, abilities)
    return Ability(
        value=value,
        standard_deviation=float(np.sqrt(posterior @ (abilities - value) ** 2)),
        low=float(sides[0]),
        high=float(sides[1]),
        warm=_warm(solved, hard),
    )


def _warm(solved: BoolArray, difficulties: FloatArray) -> float:
    """Warm's weighted likelihood estimate."""

    def weighted_score(at: float) -> float:
        right = expit(at - difficulties)
        information = right * (1 - right)
        return float(solved.sum() - right.sum() + (information * (1 - 2 * right)).sum() / (2 * information.sum()))

    return float(brentq(weighted_score, difficulties.min() - FARTHEST, difficulties.max() + FARTHEST))


def at_least(chances: FloatArray, score: int) -> float:
    """The chance of so many right answers or more.

    Examples
    --------
    >>> at_least(np.array([0.5, 0.25]), 1)
    0.625
    """
    return float(score_distribution(chances)[max(score, 0) :].sum())
