"""People in every cell against the stated allocation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from candor.designs.design import Design
from candor.estimators.sample_ratio import SampleRatio, sample_ratio

RATIO_ALARM = (
    "The shares of arms and subsamples are not the stated ones: χ² = {ratio.statistic:.1f}, {ratio.df} df, p = {ratio.p_value:.1g}, and "
    "one share is off by {ratio.largest_deviation:.1%}. People were lost, or put elsewhere, in a way that may depend on the arm. Look "
    "for the reason before you read the numbers."
)


def stated_ratio(people: NDArray[np.generic], *, design: Design) -> SampleRatio | None:
    """Compare the people in every cell, shape (K, S), with the stated allocation."""
    cells = {(s, a): int(people[i, j]) for i, a in enumerate(design.arms) for j, s in enumerate(design.subsample_names)}
    arms, subsamples = _whole(design.arm_probabilities), _whole(design.subsample_probabilities)
    return sample_ratio(
        cells,
        subsample_weights=dict(zip(design.subsample_names, subsamples, strict=True)),
        arm_weights=dict(zip(design.arms, arms, strict=True)),
    )


def _whole(shares: Sequence[Fraction]) -> list[int]:
    """The smallest whole numbers in these proportions."""
    denominator = math.lcm(*(share.denominator for share in shares))
    return [int(share * denominator) for share in shares]
