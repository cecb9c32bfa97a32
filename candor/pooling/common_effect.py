"""One effect for all studies by likelihood: no study is left out because its honest share is uncertain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq, minimize_scalar
from scipy.special import chdtrc, chdtri

from candor.errors import DataError
from candor.results import Interval

FloatArray = npt.NDArray[np.float64]
GRID = np.linspace(-1.0, 1.0, 2001)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRatio:
    """Δ̂ and x̂ of one study with their sampling variances and covariance."""

    honest_times_effect: float
    honest_proportion: float
    honest_times_effect_variance: float
    honest_proportion_variance: float
    covariance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonEffect:
    """The effect that fits all studies best, the values that fit almost as well, and whether any fits.

    ``q`` is what is left at the best fit, χ² with ``df`` degrees of freedom when all studies have one effect.
    """

    value: float
    interval: Interval
    p_value: float
    q: float
    df: int
    q_p_value: float


def common_effect(studies: Sequence[StudyRatio], *, level: float = 0.95) -> CommonEffect:
    """Estimate one τ from the pairs (Δ̂_i, x̂_i) of all studies.

    Parameters
    ----------
    studies : sequence of StudyRatio
        Each with a positive variance of Δ̂; x̂ may be as uncertain as it likes.
    level : float
        Nominal coverage of the interval.

    Returns
    -------
    CommonEffect
        Between −1 and 1. The interval holds every τ within the χ² quantile (1 df) of the best fit, from its least to its largest.

    Raises
    ------
    DataError
        Without a study.

    Notes
    -----
    If (Δ̂_i, x̂_i) is normal about (x_i·τ, x_i), the largest likelihood over x_i leaves S(τ) = Σ(Δ̂_i − τx̂_i)²/(V_Δ − 2τC + τ²V_x).
    The estimate minimises S. The interval are the τ with S(τ) − min S ≤ z². A study that cannot tell its honest share from zero adds an
    almost flat term: it is heard as far as it says something. For one study the interval is Fieller's, where that has two ends.

    References
    ----------
    Fieller, E. C. (1954). Some problems in interval estimation. Journal of the Royal Statistical Society B 16, 175–185.

    Examples
    --------
    With honest shares that are known, it is the fixed-effect mean: two studies that find 0 and .4 alike give .2.

    >>> exact = {"honest_proportion": 1.0, "honest_times_effect_variance": 0.01, "honest_proportion_variance": 0.0, "covariance": 0.0}
    >>> found = common_effect([StudyRatio(honest_times_effect=0.0, **exact), StudyRatio(honest_times_effect=0.4, **exact)])
    >>> round(found.value, 6), round(found.q, 6), round(found.interval.low, 3), round(found.interval.high, 3)
    (0.2, 8.0, 0.061, 0.339)
    """
    if not studies:
        raise DataError("a common effect needs at least 1 study, found 0")
    delta, honest, v_delta, v_honest, covariance = np.array([astuple(one) for one in studies]).T

    def misfit(tau: npt.ArrayLike) -> FloatArray:
        at = np.asarray(tau, dtype=float)[..., None]
        variance = np.maximum(v_delta - 2 * at * covariance + at**2 * v_honest, 1e-300)
        return np.asarray(((delta - at * honest) ** 2 / variance).sum(axis=-1))

    best = int(np.argmin(misfit(GRID)))
    low, high = GRID[max(best - 1, 0)], GRID[min(best + 1, len(GRID) - 1)]
    value = float(minimize_scalar(lambda tau: float(misfit(tau)), bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x)
    value = min((value, float(low), float(high)), key=lambda tau: float(misfit(tau)))
    least = float(misfit(value))
    allowed = least + float(chdtri(1, 1 - level))
    points = np.union1d(GRID, value)  # large studies may leave nothing but the value itself
    inside = np.flatnonzero(misfit(points) <= allowed).tolist()

    def end(inner: int, outer: int) -> float:
        """The end between a point inside and the next one outside; −1 or 1 where there is no next one."""
        if not 0 <= outer < len(points):
            return float(points[inner])
        return float(brentq(lambda tau: float(misfit(tau)) - allowed, points[outer], points[inner], xtol=1e-13))

    interval = Interval(kind="likelihood", low=end(inside[0], inside[0] - 1), high=end(inside[-1], inside[-1] + 1), level=level)
    df = len(studies) - 1
    return CommonEffect(
        value=value,
        interval=interval,
        p_value=float(chdtrc(1, max(float(misfit(0.0)) - least, 0.0))),
        q=least,
        df=df,
        q_p_value=float(chdtrc(df, least)) if df else 1.0,
    )
