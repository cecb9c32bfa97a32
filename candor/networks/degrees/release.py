"""The out-degree histogram of those who gave a list, with noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from candor.networks.circles import MOST_FRIENDS, NO_LIST, Circles
from candor.privacy.noise import Noisy, with_noise
from candor.privacy.sensitivity import Sensitivity, Whole

SENSITIVITY = Sensitivity.of_histogram()


def degrees(circles: Circles) -> Whole:
    """How many students named 0, 1, …, 8 friends. Students who gave no list are in no cell.

    Returns
    -------
    int array, shape (9,)
    """
    friends = circles.friends
    return np.bincount(friends[friends != NO_LIST], minlength=MOST_FRIENDS + 1)


def cell_names() -> tuple[str, ...]:
    """The cells in words, in the order of `degrees`."""
    return tuple("1 friend" if number == 1 else f"{number} friends" for number in range(MOST_FRIENDS + 1))


def private_degrees(counts: ArrayLike, *, rho: float | None = None, epsilon: float | None = None) -> Noisy:
    """The counts with discrete Gaussian noise for a ρ, or discrete Laplace noise for a pure ε.

    Sensitivity (one row replaced): one cell loses a student and another gains one, so L1 is 2, and L2 is √2.
    """
    return with_noise(counts, sensitivity=SENSITIVITY, rho=rho, epsilon=epsilon)
