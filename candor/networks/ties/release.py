"""The table of friends by clustering, as each student sees it, with noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from candor.networks.circles import NO_LIST, Circles, Thresholds
from candor.privacy.noise import Noisy, with_noise
from candor.privacy.sensitivity import Sensitivity, Whole

SENSITIVITY = Sensitivity.of_histogram()
CELLS = 10


def ties(circles: Circles, thresholds: Thresholds | None = None) -> Whole:
    """How many students are in each cell of friends by clustering. Students who gave no list are in no cell.

    Returns
    -------
    int array, shape (10,)
        First the students with at most one friend, who have no coefficient; then three groups of friends by three groups of clustering,
        one group of friends after the other.
    """
    limits = thresholds or Thresholds()
    group = 1 + 3 * limits.group_of_friends(circles.friends) + limits.group_of_clustering(circles.coefficients)
    cell = np.where(circles.friends < 2, 0, group)
    return np.bincount(cell[circles.friends != NO_LIST], minlength=CELLS)


def private_ties(counts: ArrayLike, *, rho: float | None = None, epsilon: float | None = None) -> Noisy:
    """The counts with discrete Gaussian noise for a ρ, or discrete Laplace noise for a pure ε.

    Sensitivity (one row replaced): one cell loses a student and another gains one, so L1 is 2, and L2 is √2.
    """
    return with_noise(counts, sensitivity=SENSITIVITY, rho=rho, epsilon=epsilon)


def cell_names(thresholds: Thresholds | None = None) -> tuple[str, ...]:
    """The cells in words, in the order of `ties`.

    Examples
    --------
    >>> cell_names()[:3]
    ('0 or 1 friends', '2 to 3 friends, 0 to 0.33 linked', '2 to 3 friends, 0.33 to 0.67 linked')
    """
    limits = thresholds or Thresholds()
    few, many = limits.friends
    low, high = limits.clustering
    friends = (f"2 to {few - 1} friends", f"{few} to {many - 1} friends", f"{many} friends or more")
    linked = (f"0 to {low:.2g} linked", f"{low:.2g} to {high:.2g} linked", f"{high:.2g} to 1 linked")
    return ("0 or 1 friends", *(f"{one}, {other}" for one in friends for other in linked))
