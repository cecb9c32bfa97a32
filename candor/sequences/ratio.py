"""Every value of a ratio that a confidence sequence leaves: an interval with two ends, whatever the denominator is."""

from __future__ import annotations

import math

from candor.estimators.intervals import cut_to
from candor.results import Interval

KIND = "sequence"


def interval_of_value(value: float, variance: float, *, multiplier: float, level: float, low: float, high: float) -> Interval:
    """value ± multiplier·√variance, cut to what is possible; empty where nothing of it is.

    Examples
    --------
    >>> interval_of_value(0.9, 0.01, multiplier=3, level=0.95, low=0, high=1)
    Interval(kind='sequence', low=0.6, high=1, level=0.95)
    """
    reach = multiplier * math.sqrt(variance)
    return cut_to(Interval(kind=KIND, low=value - reach, high=value + reach, level=level), low=low, high=high)


def interval_of_ratio(
    numerator: float,
    denominator: float,
    *,
    numerator_variance: float,
    denominator_variance: float,
    covariance: float,
    multiplier: float,
    level: float,
    low: float,
    high: float,
) -> Interval:
    """The smallest interval that holds every ratio from low to high which the sequence does not exclude.

    Notes
    -----
    The ratio r is not excluded when (Δ̂ − r·x̂)² ≤ c²(V_Δ − 2rC + r²V_x), that is ar² − 2br + d ≤ 0 with a = x̂² − c²V_x, b = Δ̂x̂ −
    c²C, d = Δ̂² − c²V_Δ (Fieller). For a > 0 that is an interval; otherwise everything, or everything outside of an interval. Of the
    latter, what lies in [low, high] may be two pieces; the interval given holds both. For each single r it is one confidence sequence,
    so that the true ratio is never excluded with the stated probability, also when x̂ is near zero.

    Examples
    --------
    A denominator that may be zero still excludes some effects: a = −.11, b = .1, d = .031, so everything but −1.96 to .144 is left:

    >>> certain = {"numerator_variance": 0.001, "denominator_variance": 0.04, "covariance": 0.0, "multiplier": 3.0, "level": 0.95}
    >>> found = interval_of_ratio(0.2, 0.5, **certain, low=-1.0, high=1.0)
    >>> round(found.low, 3), found.high
    (0.144, 1.0)
    >>> interval_of_ratio(0.0, 0.1, **certain, low=-1.0, high=1.0)
    Interval(kind='sequence', low=-1.0, high=1.0, level=0.95)
    """
    square = multiplier**2
    a = denominator**2 - square * denominator_variance
    b = numerator * denominator - square * covariance
    d = numerator**2 - square * numerator_variance
    pieces = [(max(left, low), min(right, high)) for left, right in _where_not_positive(a, b, d) if left <= high and right >= low]
    if not pieces:
        return Interval(kind="empty", low=None, high=None, level=level)
    return Interval(kind=KIND, low=pieces[0][0], high=pieces[-1][1], level=level)


def _where_not_positive(a: float, b: float, d: float) -> list[tuple[float, float]]:
    """The pieces of the line, from left to right, on which ar² − 2br + d ≤ 0."""
    everything = [(-math.inf, math.inf)]
    discriminant = b * b - a * d
    if discriminant < 0:
        return [] if a > 0 else everything
    # The root with the larger numerator first; the other follows from the product of the roots, without cancellation.
    larger = b + math.copysign(math.sqrt(discriminant), b)
    if larger == 0:
        return everything if d <= 0 else []
    first = d / larger
    if a == 0:
        return [(first, math.inf)] if b > 0 else [(-math.inf, first)]
    left, right = sorted((first, larger / a))
    return [(left, right)] if a > 0 else [(-math.inf, left), (right, math.inf)]
