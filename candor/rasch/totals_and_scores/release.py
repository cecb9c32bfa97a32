"""Totals of items and counts of scores with discrete Gaussian noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from candor.privacy.noise import Noisy, discrete_gaussian
from candor.privacy.sensitivity import Sensitivity

SHARE_OF_TOTALS = 0.9
"""This share of the budget is for the totals, which tell the difficulties; the scores only tell how abilities are spread."""
OF_SCORES = Sensitivity.of_histogram()


def of_totals(m: int) -> Sensitivity:
    """One replaced row moves each of m totals by at most 1."""
    return Sensitivity(l1=m, l2_squared=m, linf=1)


def private_totals_and_scores(totals: ArrayLike, score_counts: ArrayLike, *, rho: float) -> tuple[Noisy, Noisy]:
    """Add noise to the totals of m items and the counts of scores from 0 to m.

    Parameters
    ----------
    totals : int array, shape (…, m)
        How many solved each item.
    score_counts : int array, shape (…, m + 1)
        How many have each score. Empty scores get noise like all others.
    rho : float
        For both together: 90 % for the totals.

    Notes
    -----
    σ_s² = m/(2·.9ρ) and σ_h² = 2/(2·.1ρ), so ρ = m/(2σ_s²) + 1/σ_h².
    """
    m = np.shape(totals)[-1]
    return (
        discrete_gaussian(totals, sensitivity=of_totals(m), rho=SHARE_OF_TOTALS * rho),
        discrete_gaussian(score_counts, sensitivity=OF_SCORES, rho=(1 - SHARE_OF_TOTALS) * rho),
    )
