"""Right and given answers of each item with discrete Gaussian noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from candor.errors import DataError
from candor.privacy.noise import Noisy, discrete_gaussian
from candor.privacy.sensitivity import Sensitivity


def of_right_and_answered(m: int) -> Sensitivity:
    """One replaced row, from nothing answered to everything solved, moves 2m counts by 1."""
    return Sensitivity(l1=2 * m, l2_squared=2 * m, linf=1)


def private_right_and_answered(counts: ArrayLike, *, rho: float) -> Noisy:
    """Add noise to the counts of right and of given answers to m items.

    Parameters
    ----------
    counts : int array, shape (…, 2, m)
        Right answers, then given answers.
    rho : float

    Notes
    -----
    σ² = 2m/(2ρ). Scores are not released: people who answered different items have scores that cannot be compared.
    """
    shape = np.shape(counts)
    if len(shape) < 2 or shape[-2] != 2:
        raise DataError(f"expected a row of right and a row of given answers, found the shape {shape}")
    return discrete_gaussian(counts, sensitivity=of_right_and_answered(shape[-1]), rho=rho)
