"""Ratios of noisy numbers, with Fieller's interval from the library."""

from __future__ import annotations

from candor.queries.questions import Cell


def ratio(top: float, bottom: float, *, variances: tuple[float, float, float], multiplier: float, low: float) -> tuple[float | None, ...]:
    """A ratio from `low` to 1 with both ends: all None where no such ratio fits, the whole range where the bottom can be 0.

    Parameters
    ----------
    variances : tuple
        Of the noise of top and bottom, and their covariance.
    """
    from candor.estimators.intervals import fieller_interval

    top_variance, bottom_variance, covariance = variances
    interval = fieller_interval(
        top,
        bottom,
        numerator_variance=top_variance,
        denominator_variance=bottom_variance,
        covariance=covariance,
        low=low,
        multiplier=multiplier,
    )
    if interval.kind == "empty":
        return None, None, None
    if interval.low is None or interval.high is None:
        return None, low, 1.0
    return min(max(top / bottom, low), 1.0), interval.low, interval.high


def share_cell(yes: int, no: int, *, labels: tuple[str, ...], sd: float, multiplier: float) -> Cell:
    """yes/(yes + no) of two noisy counts."""
    value, low, high = ratio(yes, yes + no, variances=(sd**2, 2 * sd**2, sd**2), multiplier=multiplier, low=0.0)
    return Cell(labels=labels, value=value, low=low, high=high)
