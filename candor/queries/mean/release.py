"""For each group of people the sum of their values, as distances from the middle of the bounds, and their number, with noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from candor.errors import DataError
from candor.privacy.noise import Noisy, with_noise
from candor.privacy.sensitivity import Sensitivity, Whole

# The width of the bounds in whole steps: what rounding a row can change, a two-millionth of the width, is far below the noise.
STEPS = 10**6


def sensitivity(groups: int, *, steps: int = STEPS) -> Sensitivity:
    """The sensitivity of `sums` for so many groups.

    A person adds a distance of at most K/2 to one sum, and K/2 to the count of the same group. In the same group the distance changes by at
    most K. From one group to another, or from none to one, each of the numbers concerned changes by at most K/2: four numbers, or two.
    """
    return Sensitivity(l1=steps if groups == 1 else 2 * steps, l2_squared=steps**2, linf=steps)


def sums(values: ArrayLike, groups: ArrayLike, *, count: int, steps: int = STEPS) -> Whole:
    """The exact numbers.

    Parameters
    ----------
    values : int array, shape (n,)
        Distances from the middle in steps, from −steps/2 to steps/2.
    groups : int array, shape (n,)
        The group of each person, counted from 0; −1 for somebody in none.
    count : int
        How many groups there are.
    steps : int
        The width of the bounds, an even number.

    Returns
    -------
    int array, shape (2, count)
        Sums of the values; numbers of people times steps/2.

    Raises
    ------
    DataError
        A value or a group is out of its range.
    """
    added, places, half = np.asarray(values), np.asarray(groups), steps // 2
    if added.dtype.kind not in "iu" or (added.size and np.abs(added).max() > half):
        raise DataError(f"a value is a whole number of steps from {-half} to {half}: got {added.dtype} values")
    if places.dtype.kind not in "iu" or (places.size and not (places.min() >= -1 and places.max() < count)):
        raise DataError(f"a group is a whole number from -1 to {count - 1}: got {places.dtype} codes")
    inside = places >= 0
    exact = np.zeros((2, count), dtype=np.int64)
    np.add.at(exact[0], places[inside], added[inside])
    exact[1] = np.bincount(places[inside], minlength=count) * half
    return exact


def private_sums(
    exact: ArrayLike, *, rho: float | None = None, epsilon: float | None = None, entries: int = 1, steps: int = STEPS
) -> Noisy:
    """Sums and counts with discrete Gaussian noise for a ρ, or discrete Laplace noise for a pure ε.

    Parameters
    ----------
    exact : int array, shape (2, groups)
        By `sums`.
    entries : int
        How many entries of one person can be in the sums.

    Raises
    ------
    DataError
        Not exactly one of `rho` and `epsilon` is given, or the numbers are not whole.
    """
    groups = np.shape(exact)[-1]
    return with_noise(exact, sensitivity=sensitivity(groups, steps=steps).times(entries), rho=rho, epsilon=epsilon)
