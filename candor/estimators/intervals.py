"""Confidence intervals from an estimate and its variance: plain Wald, and Fieller's for a ratio whose denominator may be near zero."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from candor.errors import MethodError
from candor.results import Interval

FloatArray = npt.NDArray[np.float64]
ZERO = 1e-9
"""A denominator as small as this is zero, blurred by rounding."""


def normal_quantile(level: float) -> float:
    """The z with P(|N(0,1)| ≤ z) = level.

    Raises
    ------
    MethodError
        When the level is not strictly between 0 and 1.

    Examples
    --------
    >>> round(normal_quantile(0.95), 4)
    1.96
    """
    if not 0 < level < 1:
        raise MethodError(f"the confidence level must lie strictly between 0 and 1, not {level!r}")
    return float(ndtri((1 + level) / 2))


def student_quantile(level: float, freedom: float | None) -> float:
    """The t with P(|T| ≤ t) = level of so many degrees of freedom; None: the normal distribution.

    Raises
    ------
    MethodError
        As `normal_quantile`.

    Examples
    --------
    >>> round(student_quantile(0.95, 4.0), 3), round(student_quantile(0.95, None), 3)
    (2.776, 1.96)
    """
    normal = normal_quantile(level)
    return normal if freedom is None else float(stdtrit(freedom, (1 + level) / 2))


def two_sided_p_value(value: float, standard_error: float, freedom: float | None = None) -> float | None:
    """P-value of the test that the truth is zero, the z-test unless there are degrees of freedom; None when no standard error could be
    estimated.

    Examples
    --------
    >>> round(two_sided_p_value(1.959964, 1.0), 4), two_sided_p_value(1.0, 0.0)
    (0.05, None)
    """
    if not standard_error > 0:
        return None
    ratio = -abs(value) / standard_error
    return float(2 * (ndtr(ratio) if freedom is None else stdtr(freedom, ratio)))


def wald_interval(value: float, standard_error: float, *, level: float = 0.95, multiplier: float | None = None) -> Interval:
    """value ± z · standard error.

    Parameters
    ----------
    value, standard_error : float
        The estimate and its standard error.
    level : float
        Nominal coverage.
    multiplier : float, optional
        Another multiple of the standard error than the normal quantile (confidence sequences use it).

    Examples
    --------
    >>> interval = wald_interval(0.1, 0.05)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.002, 0.198)
    """
    z = normal_quantile(level) if multiplier is None else multiplier
    if not (math.isfinite(value) and standard_error > 0):
        return Interval(kind="wald", low=None, high=None, level=level)
    return Interval(kind="wald", low=float(value - z * standard_error), high=float(value + z * standard_error), level=level)


def cut_to(interval: Interval, *, low: float, high: float) -> Interval:
    """The part of an interval that lies in [low, high]; kind "empty" without ends when there is none.

    Examples
    --------
    >>> cut_to(Interval(kind="wald", low=-0.2, high=0.3, level=0.95), low=0, high=1)
    Interval(kind='wald', low=0, high=0.3, level=0.95)
    """
    if interval.low is None or interval.high is None:
        return interval
    if interval.low > high or interval.high < low:
        return Interval(kind="empty", low=None, high=None, level=interval.level)
    return Interval(kind=interval.kind, low=max(low, interval.low), high=min(high, interval.high), level=interval.level)


def fieller_limits(
    numerator: npt.ArrayLike,
    denominator: npt.ArrayLike,
    *,
    numerator_variance: npt.ArrayLike,
    denominator_variance: npt.ArrayLike,
    covariance: npt.ArrayLike,
    multiplier: npt.ArrayLike,
) -> tuple[FloatArray, FloatArray]:
    """Fieller's limits of many ratios at once; NaN where the set is not a bounded interval.

    Parameters
    ----------
    numerator, denominator : array_like
        The two estimates Δ̂ and x̂, any shapes that broadcast.
    numerator_variance, denominator_variance, covariance : array_like
        Their sampling variances and covariance.
    multiplier : array_like
        z.

    Returns
    -------
    low, high : ndarray
        Limits of the ratio, not cut to any range.

    Notes
    -----
    The set of τ with (Δ̂ − τx̂)² ≤ z²(V_Δ − 2τC + τ²V_x), that is aτ² − 2bτ + c ≤ 0 with a = x̂² − z²V_x, b = Δ̂x̂ − z²C, c = Δ̂² − z²V_Δ. It is
    a bounded interval exactly when a > 0; geometrically, the slopes of the lines through the origin that meet the z-ellipse around (x̂, Δ̂).

    References
    ----------
    Fieller, E. C. (1954). Some problems in interval estimation. Journal of the Royal Statistical Society B 16, 175–185.

    Examples
    --------
    With V_x = C = 0 it is the interval of the numerator divided by the denominator:

    >>> low, high = fieller_limits(0.1, 0.5, numerator_variance=0.0025, denominator_variance=0, covariance=0, multiplier=2)
    >>> round(float(low), 6), round(float(high), 6)
    (0.0, 0.4)
    """
    top, bottom = np.asarray(numerator, float), np.asarray(denominator, float)
    square = np.square(multiplier)
    a = bottom**2 - square * np.asarray(denominator_variance, float)
    b = top * bottom - square * np.asarray(covariance, float)
    c = top**2 - square * np.asarray(numerator_variance, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(b**2 - a * c, 0))
        bounded = a > 0
        return np.where(bounded, (b - root) / a, np.nan), np.where(bounded, (b + root) / a, np.nan)


def fieller_interval(
    numerator: float,
    denominator: float,
    *,
    numerator_variance: float,
    denominator_variance: float,
    covariance: float,
    level: float = 0.95,
    low: float = -1.0,
    high: float = 1.0,
    multiplier: float | None = None,
    one_sided: bool = False,
) -> Interval:
    """Fieller's interval of one ratio with a non-negative denominator, cut to [low, high].

    Parameters
    ----------
    one_sided : bool
        The denominator is above zero. Where it cannot be told from zero, but both together can, the ratio has one end.

    Returns
    -------
    Interval
        Kind ``"fieller"``; ``"unbounded"`` without ends when the denominator cannot be told from zero (x̂² ≤ z²V_x); ``"empty"`` when no
        ratio in [low, high] with a non-negative denominator is compatible with the estimates, which contradicts the model.

    Notes
    -----
    See `fieller_limits`. It contains 0 exactly when the z-test of a zero numerator does not reject, unless it is `one_sided`. Then a
    line counts only where it meets the ellipse at x > 0. Where the ellipse reaches x = 0 it holds the origin, and all lines meet it; or it
    passes above or below the origin (b² > ac), and the lines beyond the one that touches it meet it.

    Examples
    --------
    >>> fieller_interval(0.1, 0.2, numerator_variance=0.01, denominator_variance=0.04, covariance=0.0).kind
    'unbounded'

    With a = −.25, b = .15 and c = .16 (see `fieller_limits`) the root that has the numerator's sign is .4:

    >>> variances = {"numerator_variance": 0.0225, "denominator_variance": 0.085, "covariance": 0.0}
    >>> found = fieller_interval(0.5, 0.3, **variances, multiplier=2, one_sided=True)
    >>> round(found.low, 9), found.high
    (0.4, 1.0)
    """
    z = normal_quantile(level) if multiplier is None else multiplier
    lower, upper = fieller_limits(
        numerator,
        denominator,
        numerator_variance=numerator_variance,
        denominator_variance=denominator_variance,
        covariance=covariance,
        multiplier=z,
    )
    if not (np.isfinite(lower) and np.isfinite(upper)) or abs(denominator) <= ZERO:
        a, c = denominator**2 - z**2 * denominator_variance, numerator**2 - z**2 * numerator_variance
        b = numerator * denominator - z**2 * covariance
        if one_sided and b**2 > a * c:
            side = math.copysign(1.0, numerator * denominator_variance - denominator * covariance)
            least = side * b + math.sqrt(b**2 - a * c)
            end = c / least if least else math.inf
            ends = (end, math.inf) if side > 0 else (-math.inf, -end)
            return cut_to(Interval(kind="fieller", low=ends[0], high=ends[1], level=level), low=low, high=high)
        return Interval(kind="unbounded", low=None, high=None, level=level)
    if denominator <= 0:
        return Interval(kind="empty", low=None, high=None, level=level)
    return cut_to(Interval(kind="fieller", low=float(lower), high=float(upper), level=level), low=low, high=high)
