"""Whether people were assigned to arms and subsamples in the planned shares."""

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
    counts: Mapping[tuple[str, str], int], *, subsample_weights: Mapping[str, int], arm_weights: Mapping[str, int]
) -> SampleRatio | None:
    """Compare the people assigned to each (subsample, arm) with the weights; None before anybody was assigned."""
    n = sum(counts.values())
    if not n:
        return None
    whole = sum(subsample_weights.values()) * sum(arm_weights.values())
    shares = {(s, a): ws * wa / whole for s, ws in subsample_weights.items() for a, wa in arm_weights.items()}
    found = {cell: counts.get(cell, 0) for cell in shares}
    statistic = sum((found[cell] - n * share) ** 2 / (n * share) for cell, share in shares.items())
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
    """P(χ² > statistic): Q(½df, ½statistic) by Q(a + 1, x) = Q(a, x) + xᵃe⁻ˣ/Γ(a + 1). Web processes do without SciPy."""
    x = statistic / 2
    if x <= 0:
        return 1.0
    a = 0.5 if df % 2 else 1.0
    upper = math.erfc(math.sqrt(x)) if df % 2 else math.exp(-x)
    while a < df / 2:
        upper += math.exp(a * math.log(x) - x - math.lgamma(a + 1))
        a += 1
    return upper
