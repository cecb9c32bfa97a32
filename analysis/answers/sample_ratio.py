"""Whether people were assigned to arms and subsamples in the planned shares."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from surveys.batches.rules import LEAST

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
    in_steps: bool = False,
) -> SampleRatio | None:
    """Compare the people assigned to each (subsample, arm) with the weights; None before anybody was assigned.

    Counts that are shown in steps of b, the newest step held back, stand for b to 2b − 1 people more, all equally likely; a count of 0 for
    0 to 2b − 1. Each cell gets the mean of these, and their variance beside that of chance, so that rounding raises no alarm.
    """
    if not sum(counts.values()):
        return None
    whole = sum(subsample_weights.values()) * sum(arm_weights.values())
    shares = {(s, a): ws * wa / whole for s, ws in subsample_weights.items() for a, wa in arm_weights.items()}
    found, unknown = {}, {}
    for cell in shares:
        shown = counts.get(cell, 0)
        possible = 0 if not in_steps else LEAST if shown else 2 * LEAST
        found[cell] = shown + (LEAST if shown and in_steps else 0) + max(possible - 1, 0) / 2
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
