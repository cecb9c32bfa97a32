"""How far one participant can move a statistic of whole numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Sensitivity:
    """The largest change of a statistic when one participant's whole row is replaced.

    Parameters
    ----------
    l1 : int
        Largest sum of absolute changes.
    l2_squared : int
        Largest sum of squared changes.
    linf : int
        Largest single change.

    Examples
    --------
    >>> Sensitivity.of_histogram()
    Sensitivity(l1=2, l2_squared=2, linf=1)
    """

    l1: int
    l2_squared: int
    linf: int

    @classmethod
    def of_histogram(cls, histograms: int = 1) -> Sensitivity:
        """The sensitivity of so many histograms over the same people: in each, a replaced row leaves one cell and enters another."""
        return cls(l1=2 * histograms, l2_squared=2 * histograms, linf=1)

    def times(self, entries: int) -> Sensitivity:
        """The sensitivity of a sum over entries, of which each participant has at most so many.

        Examples
        --------
        >>> Sensitivity.of_histogram().times(3)
        Sensitivity(l1=6, l2_squared=18, linf=3)
        """
        return Sensitivity(l1=entries * self.l1, l2_squared=entries**2 * self.l2_squared, linf=entries * self.linf)

    @classmethod
    def largest(cls, changes: Iterable[Whole]) -> Sensitivity:
        """The sensitivity of all these changes, of shape (..., entries): what an enumeration of small data finds.

        Examples
        --------
        >>> Sensitivity.largest([np.array([[1, -1, 0], [0, 2, 0]])])
        Sensitivity(l1=2, l2_squared=4, linf=2)
        """
        l1 = l2_squared = linf = 0
        for change in changes:
            size = np.abs(change)
            sums, squares = size.sum(axis=-1), (size**2).sum(axis=-1)
            l1, l2_squared, linf = (int(of.max(initial=most)) for of, most in ((sums, l1), (squares, l2_squared), (size, linf)))
        return cls(l1, l2_squared, linf)
