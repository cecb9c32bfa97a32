"""Whether people were assigned to arms and subsamples in the planned shares. Needs neither NumPy nor SciPy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

SMALL_P = 0.001
LEAST_DEVIATION = 0.01
"""Smallest deviation of a share that matters: with very many people even harmless deviations have tiny p-values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRatio:
    """Pearson's χ² of the counts against the planned shares; `alarm` when both the p-value is small and the deviation large."""

    statistic: float
    df: int
    p_value: float
    largest_deviation: float
    alarm: bool


def sample_ratio(
    counts: Mapping[tuple[str, str], int],
    *,
    subsample_weights: Mapping[str, int],
    arm_weights: Mapping[str, int],
    step: int = 0,
) -> SampleRatio | None:
    """Compare the people assigned to each (subsample, arm) with the weights.

    Parameters
    ----------
    counts : mapping of (str, str) to int
        People by subsample and arm; a cell that is not there has nobody.
    subsample_weights, arm_weights : mapping of str to int
        Planned shares, as whole numbers of any size.
    step : int
        Where counts are shown in steps of this size; 0 for exact ones.

    Returns
    -------
    SampleRatio or None
        None before anybody was assigned.

    Raises
    ------
    ZeroDivisionError
        When people were assigned and all weights are 0.

    Notes
    -----
    Counts that are shown in steps of b, the newest step held back, stand for b to 2b − 1 people more, all equally likely; a count of 0 for
    0 to 2b − 1. Each cell gets the mean of these, and their variance beside that of chance, so that rounding raises no alarm.

    References
    ----------
    Fabijan, A. et al. (2019). Diagnosing sample ratio mismatch in online controlled experiments. KDD '19.

    Examples
    --------
    Expected are 250 in each of four cells: χ² = 2·50²/250 = 20 with 3 degrees of freedom.

    >>> cells = {("1", "slides"): 300, ("1", "face"): 200, ("2", "slides"): 250, ("2", "face"): 250}
    >>> found = sample_ratio(cells, subsample_weights={"1": 1, "2": 1}, arm_weights={"slides": 1, "face": 1})
    >>> found.statistic, found.df, found.alarm
    (20.0, 3, True)
    """
    if not sum(counts.values()):
        return None
    whole = sum(subsample_weights.values()) * sum(arm_weights.values())
    shares = {(s, a): ws * wa / whole for s, ws in subsample_weights.items() for a, wa in arm_weights.items()}
    found, unknown = {}, {}
    for cell in shares:
        shown = counts.get(cell, 0)
        possible = step if shown else 2 * step
        found[cell] = shown + (step if shown else 0) + max(possible - 1, 0) / 2
        unknown[cell] = (possible**2 - 1) / 12 if possible else 0.0
    n = sum(found.values())
    statistic = sum((found[cell] - n * share) ** 2 / (n * share + unknown[cell]) for cell, share in shares.items())
    largest = max(abs(found[cell] / n - share) for cell, share in shares.items())
    p_value = chi_square_p_value(statistic, df=len(shares) - 1)
    return SampleRatio(
        statistic=statistic,
        df=len(shares) - 1,
        p_value=p_value,
        largest_deviation=largest,
        alarm=p_value < SMALL_P and largest >= LEAST_DEVIATION,
    )


def chi_square_p_value(statistic: float, *, df: int) -> float:
    """P(χ² > statistic): Q(½df, ½statistic) by Q(a + 1, x) = Q(a, x) + xᵃe⁻ˣ/Γ(a + 1). Web processes do without SciPy.

    Examples
    --------
    >>> round(chi_square_p_value(3.8415, df=1), 4)
    0.05
    """
    x = statistic / 2
    if x <= 0:
        return 1.0
    a = 0.5 if df % 2 else 1.0
    upper = math.erfc(math.sqrt(x)) if df % 2 else math.exp(-x)
    while a < df / 2:
        upper += math.exp(a * math.log(x) - x - math.lgamma(a + 1))
        a += 1
    return upper
