"""The mean over public classes of their mean clustering coefficient, with noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from candor.networks.circles import PARTS, Circles
from candor.networks.classes import coefficients_by_class
from candor.privacy.noise import Noisy, with_noise
from candor.privacy.sensitivity import Sensitivity, Whole

# A class's mean is a whole number of thousandths before anything gets noise.
UNIT = 1000
EMPTY = UNIT // 2


def sensitivity(*, memberships: int = 1) -> Sensitivity:
    """The sensitivity of the sum over classes in thousandths, when the row of a student of at most so many classes is replaced."""
    return Sensitivity(l1=UNIT * memberships, l2_squared=(UNIT * memberships) ** 2, linf=UNIT * memberships)


def sum_of_class_means(circles: Circles, classes: ArrayLike, *, count: int) -> Whole:
    """The sum over all N classes of the mean clustering coefficient of their students, in thousandths, shape (1,).

    A class in which nobody has a coefficient counts ½. Parameters as `coefficients_by_class`.
    """
    sums, numbers = coefficients_by_class(circles, classes, count=count)
    whole = PARTS * np.maximum(numbers, 1)
    means = (2 * UNIT * sums + whole) // (2 * whole)  # rounded to thousandths, in whole numbers
    return np.array([np.where(numbers > 0, means, EMPTY).sum()])


def private_sum_of_class_means(total: ArrayLike, *, memberships: int = 1, rho: float | None = None, epsilon: float | None = None) -> Noisy:
    """The sum with discrete Gaussian noise for a ρ, or discrete Laplace noise for a pure ε; `mean_over_classes` makes it a mean."""
    return with_noise(total, sensitivity=sensitivity(memberships=memberships), rho=rho, epsilon=epsilon)


def mean_over_classes(noisy: Noisy, *, count: int) -> tuple[float, float]:
    """The mean over N classes, from 0 to 1, and the standard deviation of its noise."""
    mean = float(noisy.values[0]) / (UNIT * count)
    return min(max(mean, 0.0), 1.0), noisy.noise_sd / (UNIT * count)
