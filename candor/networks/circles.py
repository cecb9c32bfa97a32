"""Circles: the two numbers that each student gives, and the clustering coefficient that follows from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from candor.errors import DataError
from candor.privacy.sensitivity import Whole

MOST_FRIENDS = 8
NO_LIST = -1
# Every clustering coefficient of up to eight friends is a whole number of these parts: the least common multiple of 1, 3, 6 … 28.
PARTS = math.lcm(*(friends * (friends - 1) // 2 for friends in range(2, MOST_FRIENDS + 1)))


@dataclass(frozen=True, eq=False)
class Circles:
    """The two numbers that each student told of their friends.

    Parameters
    ----------
    table : int array, shape (n, 2)
        Friends (0–8), and the pairs of them who are friends with each other, 0 to d(d−1)/2. A student who gave no list has −1 in both:
        that is not a list of nobody.

    Raises
    ------
    DataError
        The shape or the type is another, or numbers do not fit each other.

    Examples
    --------
    >>> Circles([[3, 1], [0, 0], [-1, -1]]).coefficients.tolist()  # in 1/420; −1 where there is none
    [140, -1, -1]
    """

    table: ArrayLike

    def __post_init__(self) -> None:
        table = np.asarray(self.table)
        if table.ndim != 2 or table.shape[1] != 2 or table.dtype.kind not in "iu":
            raise DataError(f"circles are whole numbers of shape (students, 2): got {table.dtype} of shape {table.shape}")
        friends, linked = table.T
        fits = (friends >= 0) & (friends <= MOST_FRIENDS) & (linked >= 0) & (linked <= friends * (friends - 1) // 2)
        if (wrong := np.flatnonzero(~fits & ~((friends == NO_LIST) & (linked == NO_LIST)))).size:
            row = wrong[0]
            raise DataError(
                f"student {row}: expected 0 to {MOST_FRIENDS} friends d with 0 to d(d−1)/2 linked pairs, or −1 and −1 for no list: "
                f"got {friends[row]} and {linked[row]}"
            )

    @property
    def friends(self) -> Whole:
        """Friends of each student, shape (n,); −1 where there is no list."""
        return np.asarray(self.table)[:, 0].astype(np.int64)

    @cached_property
    def coefficients(self) -> Whole:
        """Clustering coefficient of each student, linked pairs / (d(d−1)/2), in parts of 1/420; −1 with fewer than two friends."""
        pairs = self.friends * (self.friends - 1) // 2
        has_one = self.friends >= 2
        linked = np.asarray(self.table)[:, 1]
        return np.where(has_one, linked * (PARTS // np.where(has_one, pairs, 1)), NO_LIST)


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """Where the groups of the tables begin. They are public and fixed before anybody looks at the data.

    Parameters
    ----------
    friends : (int, int)
        The second and the third group of numbers of friends begin here; the first begins at 2.
    clustering : (float, float)
        The second and the third group of clustering coefficients begin here; the first begins at 0.
    """

    friends: tuple[int, int] = (4, 6)
    clustering: tuple[float, float] = (1 / 3, 2 / 3)

    def __post_init__(self) -> None:
        if not 2 < self.friends[0] < self.friends[1] <= MOST_FRIENDS:
            raise DataError(f"thresholds of friends rise, above 2 and up to {MOST_FRIENDS}: got {self.friends}")
        if not 0 < self.clustering[0] < self.clustering[1] <= 1:
            raise DataError(f"thresholds of clustering rise, above 0 and up to 1: got {self.clustering}")

    def group_of_friends(self, friends: Whole) -> Whole:
        """0, 1 or 2 for each number of friends from 2."""
        return np.searchsorted(self.friends, friends, side="right")

    def group_of_clustering(self, parts: ArrayLike) -> Whole:
        """0, 1 or 2 for each coefficient in parts of 1/420."""
        return np.searchsorted([round(one * PARTS, 6) for one in self.clustering], parts, side="right")
