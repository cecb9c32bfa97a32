"""A summary of the replicates of one effect: standard error, percentile and BCa interval."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from candor.adjustment.covariates import FloatArray
from candor.results import BootstrapSummary, Interval

ONE_STANDARD_ERROR = float(ndtr(1.0))
"""A normal estimate lies below its mean plus one standard error with this probability, .8413: between the two lie 68.27 %."""


def bootstrap_summary(effects: FloatArray, *, estimate: float, acceleration: float, level: float, seed: int) -> BootstrapSummary:
    """Summarise the replicates of one effect.

    Parameters
    ----------
    effects : ndarray of shape (replicates,)
        The estimate in every resample; NaN where there was none.
    estimate : float
        That of the data; NaN when there is none, and then there is no BCa interval.
    acceleration : float
        Skewness of the influence function over 6√n, see `acceleration`.
    level : float
        Nominal coverage.
    seed : int
        Of the run.

    Returns
    -------
    BootstrapSummary
        With the standard error, the percentile interval, and the BCa interval [1]_.

    Notes
    -----
    The standard error is half of the width of the interval that holds the central 68.27 % of the replicates (from the 15.87th to the
    84.13th percentile), which for a normal estimate is its standard deviation. The estimate is a ratio: its distribution over resamples has
    no variance, so a standard deviation of replicates would be that of the few in which x̂ came closest to zero, another for each seed.

    A failed replicate (nobody honest, or an empty cell) could have been anything: it counts as −∞ for the lower end and as +∞ for the
    upper one. So when (1 − level)/2 of them fail, or more, the percentile interval is unbounded, and when more than 1 − level do, no
    standard error is given. Ends are cut to [−1, 1], outside of which no effect lies.

    References
    ----------
    .. [1] Efron (1987), "Better bootstrap confidence intervals", Journal of the American Statistical Association 82(397).

    Examples
    --------
    >>> summary = bootstrap_summary(np.linspace(0.1, 0.3, 101), estimate=0.2, acceleration=0.0, level=0.9, seed=1)
    >>> round(summary.low, 3), round(summary.high, 3), summary.bca.kind, round(summary.bca.low, 3)
    (0.11, 0.29, 'bca', 0.11)

    The values are spread evenly over a width of .2, of which the central 68.27 % are .1365:

    >>> round(summary.standard_error, 5)
    0.06827
    """
    found = np.sort(effects[~np.isnan(effects)])
    failed = len(effects) - len(found)
    tail = (1.0 - level) / 2.0
    low, high = _ends(found, failed, tail, 1.0 - tail)
    reliable = len(found) > 1 and failed <= round((1.0 - level) * len(effects), 6)  # 1 − .9 is a little below .1
    return BootstrapSummary(
        standard_error=_standard_error(found, failed) if reliable else None,
        low=low,
        high=high,
        level=level,
        replicates=len(effects),
        failed=failed,
        seed=seed,
        bca=_bca(found, failed, estimate=estimate, acceleration=acceleration, level=level),
    )


def _standard_error(found: FloatArray, failed: int) -> float | None:
    """Half of the width of the central 68.27 %, with the failed replicates at both ends as for the intervals; None where it has no end."""
    last = len(found) + failed - 1
    low, high = (1.0 - ONE_STANDARD_ERROR) * last - failed, ONE_STANDARD_ERROR * last
    if low < 0.0:  # as far below the first as `high` is above the last
        return None
    ends = np.interp([low, high], np.arange(len(found)), found)
    return float(ends[1] - ends[0]) / 2.0


def _bca(found: FloatArray, failed: int, *, estimate: float, acceleration: float, level: float) -> Interval | None:
    """The bias-corrected and accelerated interval; None when every replicate lies on one side of the estimate."""
    if not len(found) or np.isnan(estimate):
        return None
    below = (np.searchsorted(found, estimate, "left") + np.searchsorted(found, estimate, "right")) / (2.0 * len(found))
    if not 0.0 < below < 1.0:
        return None
    bias = ndtri(below)
    shifted = bias + ndtri([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    if (1.0 - acceleration * shifted).min() <= 0.0:
        return None
    tails = ndtr(bias + shifted / (1.0 - acceleration * shifted))
    low, high = _ends(found, failed, float(tails[0]), float(tails[1]))
    return Interval(kind="bca", low=low, high=high, level=level)


def _ends(found: FloatArray, failed: int, lower: float, upper: float) -> tuple[float | None, float | None]:
    """Quantiles with the failed replicates at −∞ for the lower and at +∞ for the upper end; None where that is infinite."""
    last = len(found) + failed - 1
    return _at(found, lower * last - failed), _at(found, upper * last)


def _at(ordered: FloatArray, position: float) -> float | None:
    """The value at a fractional position by linear interpolation; None outside."""
    if position < 0.0 or position > len(ordered) - 1:
        return None
    return float(np.clip(np.interp(position, np.arange(len(ordered)), ordered), -1.0, 1.0))


def acceleration(influence: FloatArray, frequencies: FloatArray | NDArray[np.intp]) -> FloatArray:
    """Return the acceleration of the BCa interval: Σ f ψ³ / (6 (Σ f ψ²)^{3/2}), for each column of `influence`.

    Parameters
    ----------
    influence : ndarray of shape (m, contrasts)
        Influence function of every pattern.
    frequencies : ndarray of shape (m,)
        How many participants show the pattern.

    Examples
    --------
    >>> float(acceleration(np.array([[-1.0], [2.0]]), np.array([2, 1]))[0].round(4))
    0.068
    """
    squares = frequencies @ influence**2
    with np.errstate(invalid="ignore", divide="ignore"):
        skewness = (frequencies @ influence**3) / (6.0 * squares**1.5)
    return np.where(squares > 0.0, skewness, 0.0)
