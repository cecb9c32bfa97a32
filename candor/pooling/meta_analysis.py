"""Fixed and random effects over several studies' estimates, and how much the studies differ."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import chdtrc, chdtri

from candor.errors import DataError
from candor.estimators.intervals import cut_to, normal_quantile, student_quantile, two_sided_p_value, wald_interval
from candor.results import Interval

FloatArray = npt.NDArray[np.float64]
LARGEST = 1.0
"""No effect lies beyond −1 and 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledValue:
    """One number for all studies: ``kind`` of its interval is ``"wald"``, ``"hartung_knapp"`` or ``"likelihood"``."""

    value: float
    standard_error: float | None
    interval: Interval
    p_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heterogeneity:
    """How much the studies differ beyond chance.

    ``q`` is Cochran's, χ² with ``df`` degrees of freedom when all studies have one effect. ``i_squared`` is the share of the variation that
    is not chance. ``tau_squared`` is DerSimonian and Laird's variance between studies, ``tau_squared_interval`` its interval by Q profiles
    (the end None: no end was found).
    """

    q: float
    df: int
    p_value: float
    i_squared: float
    tau_squared: float
    tau_squared_interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaAnalysis:
    """Several estimates as one, in the order of the studies where there is one number for each.

    ``prediction`` is where the effect of a further study of this kind would lie; it needs three studies.
    """

    fixed: PooledValue
    random: PooledValue
    heterogeneity: Heterogeneity
    prediction: Interval | None
    fixed_weights: tuple[float, ...]
    random_weights: tuple[float, ...]


def meta_analysis(values: npt.ArrayLike, standard_errors: npt.ArrayLike, *, level: float = 0.95) -> MetaAnalysis:
    """Pool estimates by fixed and by random effects.

    Parameters
    ----------
    values, standard_errors : array_like of shape (k,)
        One estimate of each of k ≥ 2 studies, differences of two shares, and their standard errors.
    level : float
        Nominal coverage of all intervals, strictly between 0 and 1.

    Returns
    -------
    MetaAnalysis
        All intervals are cut to [−1, 1].

    Raises
    ------
    DataError
        With fewer than two studies, or a standard error that is not above 0.

    Notes
    -----
    With w_i = 1/s_i² and μ̂_F = Σw_i y_i / Σw_i, Q = Σw_i(y_i − μ̂_F)² and τ̂² = max(0, (Q − (k − 1)) / (Σw_i − Σw_i²/Σw_i)). Random
    effects weigh by w*_i = 1/(s_i² + τ̂²). Their standard error is Hartung and Knapp's, √(h/Σw*_i) with h = Σw*_i(y_i − μ̂_R)²/(k − 1),
    where h is at least 1, so that studies that agree by chance do not make the interval shorter than the usual one; the multiplier is
    that of t with k − 1 degrees of freedom. The prediction interval is μ̂_R ± t_{k−2}·√(τ̂² + SE²). The interval of τ² are the values
    at which the generalised Q, with weights 1/(s_i² + τ²), lies between the quantiles of χ² with k − 1 degrees of freedom.

    References
    ----------
    DerSimonian, R. & Laird, N. (1986). Meta-analysis in clinical trials. Controlled Clinical Trials 7, 177–188.
    Knapp, G. & Hartung, J. (2003). Improved tests for a random effects meta-regression with a single covariate. Statistics in Medicine 22,
    2693–2710.
    Viechtbauer, W. (2007). Confidence intervals for the amount of heterogeneity in meta-analysis. Statistics in Medicine 26, 37–52.
    Partlett, C. & Riley, R. D. (2017). Random effects meta-analysis: coverage performance of 95 % confidence and prediction intervals
    following REML estimation. Statistics in Medicine 36, 301–317.

    Examples
    --------
    Two studies with standard error .1 that find 0 and .4: w = 100, Q = 100·(.2² + .2²) = 8, τ̂² = (8 − 1)/(200 − 100) = .07.

    >>> found = meta_analysis([0.0, 0.4], [0.1, 0.1])
    >>> round(found.fixed.value, 6), round(found.heterogeneity.q, 6), round(found.heterogeneity.tau_squared, 6)
    (0.2, 8.0, 0.07)
    """
    y, s = _checked(values, standard_errors)
    z, df = normal_quantile(level), len(y) - 1
    weights = 1 / s**2
    fixed = float(weights @ y / weights.sum())
    q = float(weights @ (y - fixed) ** 2)
    between = max(0.0, (q - df) / float(weights.sum() - (weights**2).sum() / weights.sum()))
    shrunk = 1 / (s**2 + between)
    random = float(shrunk @ y / shrunk.sum())
    scatter = max(1.0, float(shrunk @ (y - random) ** 2) / df)
    error = math.sqrt(scatter / shrunk.sum())
    fixed_error = 1 / math.sqrt(weights.sum())
    prediction = None
    if df >= 2:
        spread = math.sqrt(between + error**2)
        prediction = _within(random, spread, level=level, multiplier=student_quantile(level, df - 1), kind="prediction")
    return MetaAnalysis(
        fixed=PooledValue(
            value=fixed,
            standard_error=fixed_error,
            interval=_within(fixed, fixed_error, level=level, multiplier=z, kind="wald"),
            p_value=two_sided_p_value(fixed, fixed_error),
        ),
        random=PooledValue(
            value=random,
            standard_error=error,
            interval=_within(random, error, level=level, multiplier=student_quantile(level, df), kind="hartung_knapp"),
            p_value=two_sided_p_value(random, error, df),
        ),
        heterogeneity=Heterogeneity(
            q=q,
            df=df,
            p_value=float(chdtrc(df, q)),
            i_squared=max(0.0, (q - df) / q) if q > 0 else 0.0,
            tau_squared=between,
            tau_squared_interval=_between_studies(y, s, level=level),
        ),
        prediction=prediction,
        fixed_weights=tuple((weights / weights.sum()).tolist()),
        random_weights=tuple((shrunk / shrunk.sum()).tolist()),
    )


def _checked(values: npt.ArrayLike, standard_errors: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    y, s = np.asarray(values, dtype=float), np.asarray(standard_errors, dtype=float)
    if y.ndim != 1 or y.shape != s.shape or len(y) < 2:
        raise DataError(f"expected one estimate and one standard error of each of at least 2 studies, found shapes {y.shape} and {s.shape}")
    if not (np.all(np.isfinite(y)) and np.all(np.isfinite(s)) and np.all(s > 0)):
        raise DataError(f"expected finite estimates with standard errors above 0, found {y.tolist()} and {s.tolist()}")
    return y, s


def _within(value: float, error: float, *, level: float, multiplier: float, kind: str) -> Interval:
    found = cut_to(wald_interval(value, error, level=level, multiplier=multiplier), low=-LARGEST, high=LARGEST)
    return found if found.kind == "empty" else Interval(kind=kind, low=found.low, high=found.high, level=level)


def _between_studies(y: FloatArray, s: FloatArray, *, level: float) -> Interval:
    """The values of τ² that the spread of the studies does not contradict; empty when they agree better than chance would have it."""
    df = len(y) - 1

    def generalised_q(between: float) -> float:
        weights = 1 / (s**2 + between)
        return float(weights @ (y - weights @ y / weights.sum()) ** 2)

    def crossing(quantile: float) -> float:
        """Where the generalised Q, which falls with τ², meets the quantile; 0 when it is below from the beginning."""
        return _root(lambda between: generalised_q(between) - quantile)

    low, high = crossing(float(chdtri(df, (1 - level) / 2))), crossing(float(chdtri(df, (1 + level) / 2)))
    if generalised_q(0.0) < chdtri(df, (1 + level) / 2):
        return Interval(kind="empty", low=None, high=None, level=level)
    return Interval(kind="q_profile", low=low, high=high, level=level)


def _root(falling: Callable[[float], float]) -> float:
    """Where a falling function of a number from 0 on becomes zero."""
    if falling(0.0) <= 0:
        return 0.0
    high = 1.0
    while falling(high) > 0:
        high *= 4
    return float(brentq(falling, 0.0, high, xtol=1e-14, rtol=1e-12))
