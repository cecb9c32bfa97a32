"""Public classes of students, and how close the circles in each of them are."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from candor.errors import DataError
from candor.networks.circles import NO_LIST, Circles
from candor.privacy.sensitivity import Whole

NO_CLASS = -1


def coefficients_by_class(circles: Circles, classes: ArrayLike, *, count: int) -> tuple[Whole, Whole]:
    """Sum and number of the clustering coefficients in each class.

    Parameters
    ----------
    circles : Circles
        Of n students. Those without a coefficient (no list, or fewer than two friends) count in no class.
    classes : int array, shape (n,) or (n, memberships)
        The classes of each student, counted from 0; −1 for none. A class that stands twice counts once.
    count : int
        The number N of classes, which is public.

    Returns
    -------
    sums, numbers : int arrays, shape (N,)
        The sums are in parts of 1/420, as `Circles.coefficients`.

    Raises
    ------
    DataError
        There is no class, a student is in a class that is not there, or classes and circles are of different length.
    """
    table = np.asarray(classes)
    table = table[:, None] if table.ndim == 1 else table
    coefficients = circles.coefficients
    if table.ndim != 2 or len(table) != len(coefficients) or table.dtype.kind not in "iu":
        raise DataError(f"expected the classes of {len(coefficients)} students as whole numbers: got {table.dtype} of shape {table.shape}")
    if count < 1 or (table.size and not (table.min() >= NO_CLASS and table.max() < count)):
        raise DataError(f"a class is a whole number from {NO_CLASS} to {count - 1}: got {table.min(initial=0)} to {table.max(initial=0)}")
    is_in = (table[:, :, None] == np.arange(count)).any(axis=1) & (coefficients != NO_LIST)[:, None]
    return (is_in * coefficients[:, None]).sum(axis=0), is_in.sum(axis=0)
