"""One sum over people, with noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from candor.errors import DataError
from candor.privacy.noise import Noisy, with_noise
from candor.privacy.sensitivity import Sensitivity, Whole


def sensitivity(low: int, high: int) -> Sensitivity:
    """A sum to which each person adds a whole number from `low` to `high`: replaced, a row moves it by at most high − low."""
    if not low < high:
        raise DataError(f"the low bound of what a person adds is below the high bound: got {low} and {high}")
    return Sensitivity(l1=high - low, l2_squared=(high - low) ** 2, linf=high - low)


def total(contributions: ArrayLike, *, low: int, high: int) -> Whole:
    """The exact sum.

    Parameters
    ----------
    contributions : bool or int array, any shape
        What people add, each from `low` to `high`.

    Returns
    -------
    int array, shape (1,)

    Raises
    ------
    DataError
        A contribution is not whole or out of its bounds.
    """
    added = np.asarray(contributions)
    if added.dtype.kind == "b" and low <= 0 and high >= 1:
        return np.array([np.count_nonzero(added)], dtype=np.int64)
    if added.dtype.kind not in "iu" or (added.size and not (added.min() >= low and added.max() <= high)):
        raise DataError(f"each person adds a whole number from {low} to {high}: got {added.dtype} values")
    return np.array([added.sum(dtype=np.int64)])


def private_total(
    exact: ArrayLike, *, low: int, high: int, rho: float | None = None, epsilon: float | None = None, entries: int = 1
) -> Noisy:
    """The sum with discrete Gaussian noise for a ρ, or discrete Laplace noise for a pure ε.

    Parameters
    ----------
    exact : int array, shape (1,)
        By `total`.
    low, high : int
        Bounds of what one entry adds.
    entries : int
        How many entries of one person can be in the sum.

    Raises
    ------
    DataError
        Not exactly one of `rho` and `epsilon` is given, or the sum is not whole.
    """
    return with_noise(exact, sensitivity=sensitivity(low, high).times(entries), rho=rho, epsilon=epsilon)
