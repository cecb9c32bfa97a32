"""Totals of items and counts of scores under pure ε."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from candor.privacy.noise import Noisy, cube, discrete_laplace
from candor.rasch.totals_and_scores.release import OF_SCORES, SHARE_OF_TOTALS, of_totals


def pure_totals_and_scores(totals: ArrayLike, score_counts: ArrayLike, *, epsilon: float) -> tuple[Noisy, Noisy]:
    """Add a cube of noise to the totals of m items, and discrete Laplace noise to the counts of scores from 0 to m.

    Parameters
    ----------
    totals : int array, shape (m,)
    score_counts : int array, shape (m + 1,)
    epsilon : float
        For both together: 90 % for the totals.

    Notes
    -----
    A replaced row moves no total by more than 1, so noise z on the totals with P(z) ∝ exp(−.9ε‖z‖∞) costs .9ε [1]_. Laplace noise of scale
    2/(.1ε) on the scores costs the rest. For each total the noise is about 2.4 times smaller than Laplace noise of scale m/(.9ε).

    References
    ----------
    .. [1] Hardt, M. and Talwar, K. (2010). On the geometry of differential privacy. STOC.
    """
    return (
        cube(totals, sensitivity=of_totals(np.shape(totals)[-1]), epsilon=SHARE_OF_TOTALS * epsilon),
        discrete_laplace(score_counts, sensitivity=OF_SCORES, epsilon=(1 - SHARE_OF_TOTALS) * epsilon),
    )
