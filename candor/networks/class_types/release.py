"""The number of public classes of each type, with noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from candor.networks.circles import Circles, Thresholds
from candor.networks.classes import coefficients_by_class
from candor.privacy.noise import Noisy, with_noise
from candor.privacy.sensitivity import Sensitivity, Whole

TYPES = ("nobody has two friends", "open", "mixed", "close")


def sensitivity(*, memberships: int = 1) -> Sensitivity:
    """When one student's row is replaced, who is in at most so many classes: each class left and each class entered changes its type."""
    return Sensitivity(l1=4 * memberships, l2_squared=8 * memberships**2, linf=2 * memberships)


def class_types(circles: Circles, classes: ArrayLike, *, count: int, thresholds: Thresholds | None = None) -> Whole:
    """How many of the N classes are of each type, shape (4,), in the order of `TYPES`.

    The type follows from the mean clustering coefficient of a class by the thresholds of clustering. Parameters as `coefficients_by_class`.
    """
    sums, numbers = coefficients_by_class(circles, classes, count=count)
    means = np.round(sums / np.maximum(numbers, 1), 6)
    types = np.where(numbers > 0, 1 + (thresholds or Thresholds()).group_of_clustering(means), 0)
    return np.bincount(types, minlength=len(TYPES))


def private_class_types(counts: ArrayLike, *, memberships: int = 1, rho: float | None = None, epsilon: float | None = None) -> Noisy:
    """The counts with discrete Gaussian noise for a ρ, or discrete Laplace noise for a pure ε."""
    return with_noise(counts, sensitivity=sensitivity(memberships=memberships), rho=rho, epsilon=epsilon)
