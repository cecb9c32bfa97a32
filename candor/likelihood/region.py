"""One likelihood region for all parameters of a question: the intervals of effects, honest share and prevalences are its shadows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Protocol, TypedDict

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import chdtrc, chdtri

from candor.designs.design import Design, FloatArray
from candor.likelihood.maximum import Chosen, Maximum, maximise
from candor.likelihood.polytope import ROUNDED, Polytope
from candor.results import Interval, ModelTest

ROUNDS = 80
BISECTIONS = 30
TOLERANCE = 1e-10
NEAR = 2.0
FEW_ARMS = 2
"""With so many arms, shares of yes at their ends shorten no interval of a yes/no question by much (``benchmarks/coverage.py``)."""
NOBODY = 1e-5
"""An honest share this small is zero, blurred by the search."""
SMALLEST = np.finfo(float).tiny

Ends = tuple[float, float]


class LinearFit(Protocol):
    """A fit without limits: coefficients (..., P) with their covariance (..., P, P)."""

    @property
    def coefficients(self) -> FloatArray:
        """By parameter."""

    @property
    def covariance(self) -> FloatArray:
        """By pair of parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BestParameters:
    """The parameters with the largest likelihood; ``effects`` and ``prevalences`` are NaN where nobody is honest."""

    honest_proportion: float
    effects: tuple[float, ...]
    prevalences: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelihoodRegion:
    """All parameters of a question that the answers do not contradict, seen from each side.

    Parameters
    ----------
    best : BestParameters
        One maximum; where the design leaves the parameters open, a middle one of all maxima.
    honest_proportion : (low, high)
        Of x, within [0, 1].
    effects : tuple of (low, high)
        Of τ for every contrast, within [−1, 1].
    prevalences : tuple of (low, high)
        Of p_a for every arm, within [0, 1].
    open_honest_proportion, open_effects, open_prevalences
        What the design leaves open even without chance: x, τ and p_a over all parameters with the largest likelihood. One point each
        where they are identified.
    model_test : ModelTest
        Whether any parameters between 0 and 1 explain the answers. If not, the region is not to be used.
    """

    best: BestParameters
    honest_proportion: Ends
    effects: tuple[Ends, ...]
    prevalences: tuple[Ends, ...]
    open_honest_proportion: Ends
    open_effects: tuple[Ends, ...]
    open_prevalences: tuple[Ends, ...]
    model_test: ModelTest


def quantile(level: float) -> float:
    """The root of the χ² quantile with 1 degree of freedom.

    Examples
    --------
    >>> round(quantile(0.95), 4)
    1.96
    """
    return float(np.sqrt(chdtri(1, 1 - level)))


def quantile_at_an_end(level: float) -> float:
    """The same where another share may be at 0 or 1 and change with the parameter.

    Notes
    -----
    Then the likelihood ratio is no χ² with 1 degree of freedom any more. When one other share is at its end and its estimate is almost
    proportional to that of the parameter, it is at worst a mixture, ¾ of χ² with 1 and ¼ with 2 degrees of freedom [1]_.

    References
    ----------
    .. [1] Self, S. G. & Liang, K.-Y. (1987). Asymptotic properties of maximum likelihood estimators and likelihood ratio tests under
       nonstandard conditions. Journal of the American Statistical Association 82, 605–610.

    Examples
    --------
    >>> round(quantile_at_an_end(0.95), 3)
    2.136
    """
    return float(np.sqrt(brentq(lambda ratio: 0.75 * chdtrc(1, ratio) + 0.25 * chdtrc(2, ratio) - (1 - level), 0, 1000, xtol=1e-13)))


def many_at_ends(shares: FloatArray, fit: LinearFit, design: Design) -> npt.NDArray[np.bool_]:
    """Whether two shares or more may be 0, or two effects −1 or 1: more than the quantiles of the region are for.

    Parameters
    ----------
    shares : ndarray, shape (K, C, P)
        Rows that give the shares of all answers in all arms, times x, from the coefficients.
    fit : LinearFit
        Without limits, of one data set or of many.
    design : Design
        A yes/no question in one or two arms has too few ends.

    Returns
    -------
    ndarray of bool, shape (...)

    Notes
    -----
    `quantile_at_an_end` is for one other share at its end. When the true shares of r answers are 0, the likelihood ratio of x, of the
    share of all other answers, or of an effect on them, is a mixture of χ² with up to r + 1 degrees of freedom [1]_: with six answers of
    which five are never true the shadows cover about one half. A share may be 0 where its estimate is less than two standard errors. So
    may what x leaves beside a difference of two arms. It tells the same where a design leaves the shares open, which may then seem larger.

    References
    ----------
    .. [1] Self, S. G. & Liang, K.-Y. (1987). Asymptotic properties of maximum likelihood estimators and likelihood ratio tests under
       nonstandard conditions. Journal of the American Statistical Association 82, 605–610.
    """
    if len(design.categories) == 2 and len(design.arms) <= FEW_ARMS:
        return np.zeros(fit.coefficients.shape[:-1], dtype=bool)
    x = shares[0].sum(axis=0)
    rows = np.concatenate([*shares, *(x - one + other for one, other in permutations(shares, 2))])
    errors = np.sqrt(np.einsum("mp,...pq,mq->...m", rows, fit.covariance, rows))
    return np.asarray(np.count_nonzero(fit.coefficients @ rows.T < NEAR * errors, axis=-1) > 1)


def also_without_limits(ends: Ends, without: Interval, *, lowest: float = 0.0) -> Ends:
    """The ends of an interval, and of what the linear model without limits leaves: Wald's of x, Fieller's of a prevalence or an effect.

    Estimates without limits are normal where the likelihood ratio is not, see `many_at_ends`.

    Examples
    --------
    >>> also_without_limits((0.2, 0.9), Interval(kind="wald", low=0.1, high=0.8, level=0.95))
    (0.1, 0.9)
    """
    if without.kind == "empty":
        return ends
    if without.low is None or without.high is None:
        return lowest, 1.0
    return min(ends[0], without.low), max(ends[1], without.high)


def quantile_for_effects(polytope: Polytope, *, level: float) -> float:
    """That for τ: an end may matter where the cheaters' rates are among what is estimated, or may differ."""
    estimated = polytope.design.cheater_model.yes_rate is None and polytope.design.identification.cheater_yes_rate
    return quantile_at_an_end(level) if estimated or polytope.kappa > 0 else quantile(level)


def likelihood_region(counts: FloatArray, design: Design, *, level: float = 0.95, kappa: float = 0.0) -> LikelihoodRegion:
    """The likelihood region of one question.

    Parameters
    ----------
    counts : ndarray of float, shape (K, S, 2)
        People by arm, subsample and reported answer (no, yes); not checked.
    design : Design
        Identified or not. Its cheater model decides whether q is free or stated.
    level : float
        Nominal coverage of every shadow of the region by itself.
    kappa : float
        By how much the cheaters' yes rates of two arms may differ, in [0, 1]; see `Polytope`.

    Returns
    -------
    LikelihoodRegion

    Raises
    ------
    MethodError
        When κ is impossible.

    Notes
    -----
    The parameters fill a polytope in which the log-likelihood ℓ is concave (see `Polytope`), so the region {ℓ ≥ ℓ_max − c²/2} is
    convex, and its shadow on τ, a ratio of two linear functions, is one interval: all τ at which the likelihood ratio
    2(ℓ_max − max ℓ given τ) is at most c². It is never empty, and never wider than what is possible; all of [−1, 1] belongs to it exactly
    when x = 0 does. c is the root of a χ² quantile [1]_; `quantile_at_an_end` is a little larger, and used for x, and for τ where
    `quantile_for_effects` says so: with the smaller one they covered .921 and .932 in the worst settings of ``benchmarks/coverage.py``.

    References
    ----------
    .. [1] Wilks, S. S. (1938). The large-sample distribution of the likelihood ratio for testing composite hypotheses. Annals of
       Mathematical Statistics 9, 60–62.

    Examples
    --------
    Half of the answers are yes in every cell, as if nobody looked at the die: nobody may be honest, so every effect is possible.

    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> region = likelihood_region(np.full((2, 2, 2), 50.0), design)
    >>> region.effects, region.honest_proportion[0]
    (((-1.0, 1.0),), 0.0)
    """
    return _region(np.ascontiguousarray(counts, dtype=float).tobytes(), design, level, kappa)


@lru_cache(maxsize=256)
def _region(counts: bytes, design: Design, level: float, kappa: float) -> LikelihoodRegion:
    """That of the counts in these bytes. It is kept: results, their history, a package and its check are computed from the same counts."""
    table = np.frombuffer(counts).reshape(-1, 2)
    polytope = Polytope(design=design, kappa=kappa)
    free = maximise(table, polytope.free())
    statistic, p_value, df = model_test(table, polytope, free)
    largest, best = float(free.log_likelihood), _parameters(free.coordinates, design)

    def excess(values: FloatArray, going: Chosen) -> FloatArray:
        ratio = 2 * (largest - maximise(table, polytope.at_each(values).chosen(going)).log_likelihood)
        return np.asarray(np.sqrt(np.maximum(ratio, 0)) - critical[np.nonzero(going)[0]])

    contrasts, arms = len(design.treatments), len(design.arms)
    each = [1, contrasts, arms]
    critical = np.repeat([quantile_at_an_end(level), quantile_for_effects(polytope, level=level), quantile(level)], each)
    start = np.array([best.honest_proportion, *best.effects, *best.prevalences])
    honest, *others = crossings(excess, start=start, lowest=np.repeat([0.0, -1.0, 0.0], each), critical=critical)
    return LikelihoodRegion(
        best=best,
        honest_proportion=honest,
        effects=tuple(others[:contrasts]),
        prevalences=tuple(others[contrasts:]),
        **_left_open(free.coordinates, polytope),
        model_test=ModelTest(statistic=float(statistic), df=df, p_value=float(p_value)),
    )


def explaining_kappa(counts: FloatArray, design: Design, *, contrast: int = 0, level: float = 0.95) -> float | None:
    """The smallest κ at which the region holds no effect of one contrast; 0 when it does so already, None when it never does.

    Examples
    --------
    Where the arms do not differ, nothing has to be explained:

    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> explaining_kappa(np.full((2, 2, 2), 50.0), design)
    0.0
    """
    table = counts.reshape(-1, 2)

    def excess(kappa: float) -> float:
        polytope = Polytope(design=design, kappa=kappa)
        ratio = 2 * (maximise(table, polytope.free()).log_likelihood - maximise(table, polytope.at_effect(contrast, 0.0)).log_likelihood)
        return float(np.sqrt(np.maximum(ratio, 0)) - quantile_for_effects(polytope, level=level))

    if excess(0.0) <= 0:
        return 0.0
    if excess(1.0) > 0:
        return None
    return float(brentq(excess, 0.0, 1.0, xtol=1e-9))


def _parameters(coordinates: FloatArray, design: Design) -> BestParameters:
    """x, τ and p of coordinates (P_0 … P_{K−1}, x, …)."""
    arms = len(design.arms)
    honest = float(_to_the_end(coordinates[arms]))
    prevalences = _to_the_end(coordinates[:arms] / honest) if honest > 0 else np.full(arms, np.nan)
    effects = prevalences[list(design.treatment_indexes)] - prevalences[design.control_index]
    return BestParameters(honest_proportion=honest, effects=tuple(effects.tolist()), prevalences=tuple(prevalences.tolist()))


def _to_the_end(shares: npt.ArrayLike) -> FloatArray:
    """Shares in [0, 1]; the search comes close to an end, and never quite there."""
    found = np.asarray(shares, dtype=float)
    return np.where(found < NOBODY, 0.0, np.where(found > 1 - NOBODY, 1.0, found))


def crossings(
    excess: Callable[[FloatArray, Chosen], FloatArray], *, start: FloatArray, lowest: FloatArray, critical: FloatArray
) -> list[Ends]:
    """Where each excess, −critical (N,) at the start, passes zero on both sides; `lowest` or 1 where it does not.

    Notes
    -----
    `excess` is told all values (N, 2) and which searches still go, and answers for these alone, in their order.

    False position in Anderson & Björck's version, for all at once. The root of the likelihood ratio is nearly linear, so five steps
    are usual; halving takes over where it is not.
    """
    far = np.stack([lowest, np.ones_like(lowest)], axis=-1)
    above = excess(far, np.ones(far.shape, dtype=bool)).reshape(far.shape)
    near, below = np.tile(start[:, None], 2), np.tile(-critical[:, None], 2)
    # Where nobody may be honest, every effect is possible, and there is no start.
    going = (above > 0) & ~np.isnan(near)
    end = far.copy()
    for attempt in range(ROUNDS):
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = near - below * (near - far) / (below - above) if attempt < BISECTIONS else (near + far) / 2
        middle = np.where(going, middle, far)
        end = np.where(going, middle, end)
        going &= np.abs(middle - near) > TOLERANCE
        if not going.any():
            break
        found = below.copy()
        found[going] = excess(middle, going)
        crossed = found * below < 0
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = 1 - found / below
        above = np.where(crossed, below, above * np.where(factor > 0, factor, 0.5))
        far = np.where(crossed, near, far)
        near, below = middle, found
        going &= found != 0
    return [(low, high) for low, high in end.tolist()]


class _LeftOpen(TypedDict):
    open_honest_proportion: tuple[float, float]
    open_effects: tuple[tuple[float, float], ...]
    open_prevalences: tuple[tuple[float, float], ...]


def _left_open(coordinates: FloatArray, polytope: Polytope) -> _LeftOpen:
    """x, τ and p over all parameters that give the same means as these.

    Notes
    -----
    Where the design leaves something open, the parameters with equal means form a segment: its direction is the null space of the matrix,
    and its ends are where it meets the first limit. Δ is the same everywhere on it, so τ = Δ/x has its extremes at its ends.
    """
    free, design = polytope.free(), polytope.design
    arms = len(design.arms)
    _, sizes, directions = np.linalg.svd(free.matrix)
    null = directions[np.count_nonzero(sizes > sizes[0] * ROUNDED) :]
    ends = [coordinates]
    for direction in null:
        slack, change = np.maximum(free.ends - free.limits @ coordinates, 0), free.limits @ direction
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = slack / change
        ends += [coordinates + reach[change > ROUNDED].min() * direction, coordinates + reach[change < -ROUNDED].max() * direction]
    honest = _to_the_end([one[arms] for one in ends])
    if honest.min() == 0:
        effects, prevalences = tuple((-1.0, 1.0) for _ in design.treatments), tuple((0.0, 1.0) for _ in design.arms)
    else:
        shares = _to_the_end(np.array([one[:arms] for one in ends]) / honest[:, None])
        differences = shares[:, list(design.treatment_indexes)] - shares[:, [design.control_index]]
        effects, prevalences = (tuple((float(one.min()), float(one.max())) for one in columns.T) for columns in (differences, shares))
    return {
        "open_honest_proportion": (float(honest.min()), float(honest.max())),
        "open_effects": effects,
        "open_prevalences": prevalences,
    }


def model_test(table: FloatArray, polytope: Polytope, free: Maximum) -> tuple[FloatArray, FloatArray, int]:
    """Compares the best parameters with the best of the same linear model without limits: statistic and p-value (...), degrees of freedom.

    Notes
    -----
    At the worst place of the polytope the statistic is a mixture of χ² with up to r degrees of freedom, r the rank of the model; its tail
    is at most the mean of those with r − 1 and r [1]_. So the p-value is never too small, but may be too large.

    References
    ----------
    .. [1] Perlman, M. D. (1969). One-sided testing problems in multivariate analysis. Annals of Mathematical Statistics 40, 549–567.
    """
    unlimited = polytope.without_limits()
    df = unlimited.matrix.shape[-1]
    statistic = np.maximum(2 * (maximise(table, unlimited).log_likelihood - free.log_likelihood), 0)
    return statistic, tail_of_limits(statistic, df), df


def tail_of_limits(statistic: float | FloatArray, df: int) -> FloatArray:
    """The p-value of `model_test`. χ² with 0 degrees of freedom has nothing above 0, which SciPy does not know at 0 itself.

    Examples
    --------
    >>> [round(float(tail_of_limits(statistic, 1)), 3) for statistic in (0.0, 2.0)]
    [0.5, 0.079]
    """
    return np.asarray((chdtrc(df - 1, np.maximum(statistic, SMALLEST)) + chdtrc(df, statistic)) / 2)
