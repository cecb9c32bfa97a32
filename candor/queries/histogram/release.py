"""Counts of people in disjoint cells, with noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from candor.errors import DataError
from candor.privacy.noise import Noisy, with_noise
from candor.privacy.sensitivity import Sensitivity, Whole

SENSITIVITY = Sensitivity.of_histogram()


def histogram(codes: ArrayLike, *, cells: int) -> Whole:
    """Exact counts of people by cell.

    Parameters
    ----------
    codes : int array, shape (n,)
        The cell of each person, counted from 0.
    cells : int
        How many cells are declared; a cell that nobody is in counts 0.

    Returns
    -------
    int array, shape (cells,)
    """
    places = np.asarray(codes)
    if places.dtype.kind not in "iu" or (places.size and not (places.min() >= 0 and places.max() < cells)):
        raise DataError(f"a cell is a whole number from 0 to {cells - 1}: got {places.dtype} codes")
    return np.bincount(places.ravel(), minlength=cells)


def private_histogram(counts: ArrayLike, *, rho: float | None = None, epsilon: float | None = None, entries: int = 1) -> Noisy:
    """Counts of disjoint cells with discrete Gaussian noise for a ρ, or discrete Laplace noise for a pure ε.

    Sensitivity (one row replaced): one cell loses a person and another gains one, so L1 is 2, and L2 is √2. Where up to c entries of a
    person are counted, both are c times as large.

    Raises
    ------
    DataError
        Not exactly one of `rho` and `epsilon` is given, or the counts are not whole numbers.
    """
    return with_noise(counts, sensitivity=SENSITIVITY.times(entries), rho=rho, epsilon=epsilon)
