"""Noise on whole numbers, from the operating system's randomness.

Nothing here takes a seed or a generator: noise that can be drawn again protects nobody. Estimation, which must be repeatable, has
`numpy.random.Generator`; it cannot be passed here.
"""

from __future__ import annotations

import bisect
import math
import secrets
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from candor.errors import DataError
from candor.privacy.losses import Loss
from candor.privacy.opendp import Measurement, opendp
from candor.privacy.sensitivity import Sensitivity, Whole

# Doubles hold every whole number up to here, and no count of people comes near.
LARGEST = 2**53
# OpenDP rounds losses up: scales grow by this factor until the loss is at most what was asked for.
A_HAIR = 1 + 2.0**-50
# The cube's radius is drawn from weights in fixed point of so many bits; the total variation from the true law is below 2^-300.
CUBE_BITS = 400
CUBE_DIGITS = 160
# Each radius that can be drawn is a weight in memory: so many are some hundred megabytes, and some seconds before a price is shown.
MOST_RADII = 200_000
HALF_WIDTHS = {"discrete Gaussian": 1.96, "discrete Laplace": math.log(20) / math.sqrt(2)}
"""Half of a 95 % interval of the noise, in its standard deviations."""

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Noisy:
    """The result of a mechanism: whole numbers with noise, what they cost, and how large the noise is.

    Parameters
    ----------
    values : int array
        The statistic with noise, in the shape of the statistic.
    loss : Loss
        What to charge; at most what was asked for.
    noise_sd : float
        Standard deviation of the noise on each number.
    noise : str
        Name of the noise: ``"discrete Gaussian"``, ``"discrete Laplace"``, ``"cube"``.
    """

    values: Whole
    loss: Loss
    noise_sd: float
    noise: str


def within_its_range(value: Number, half_width: Number, *, low: Number, high: Number) -> tuple[Number, Number, Number]:
    """A value with noise as the nearest that is possible, and the ends of an interval around that one.

    Parameters
    ----------
    value, half_width : int or float
        With noise, and half of the interval of the noise.
    low, high : int or float
        What the value can be without noise.

    Returns
    -------
    tuple of three numbers
        The value and both ends of its interval, each from `low` to `high`.

    Notes
    -----
    The interval holds every possible value that the interval around `value` itself holds, so it covers at least as often. Noise far below 0
    cannot leave an interval of nothing but 0, which would promise that nobody is there.

    Examples
    --------
    >>> within_its_range(-7, 5, low=0, high=100), within_its_range(40, 5, low=0, high=100)
    ((0, 0, 5), (40, 35, 45))
    """
    nearest = min(max(value, low), high)
    return nearest, max(nearest - half_width, low), min(nearest + half_width, high)


def with_noise(values: ArrayLike, *, sensitivity: Sensitivity, rho: float | None = None, epsilon: float | None = None) -> Noisy:
    """Discrete Gaussian noise for a ρ, or discrete Laplace noise for a pure ε.

    Parameters
    ----------
    values : int array, any shape
        The exact statistic.
    sensitivity : Sensitivity
        Of the statistic.
    rho, epsilon : float, optional
        Exactly one of the two.

    Raises
    ------
    DataError
        Both are given, or none; or the values are not whole numbers.
    """
    if rho is not None and epsilon is None:
        return discrete_gaussian(values, sensitivity=sensitivity, rho=rho)
    if epsilon is not None and rho is None:
        return discrete_laplace(values, sensitivity=sensitivity, epsilon=epsilon)
    raise DataError(f"say either rho (Gaussian noise) or epsilon (Laplace noise): got rho={rho!r}, epsilon={epsilon!r}")


def discrete_gaussian(values: ArrayLike, *, sensitivity: Sensitivity, rho: float) -> Noisy:
    r"""Add discrete Gaussian noise of variance σ² = L2²/(2ρ): ρ-zCDP (Canonne, Kamath and Steinke 2020).

    Parameters
    ----------
    values : int array, any shape
        The exact statistic.
    sensitivity : Sensitivity
        Of the statistic; its ``l2_squared`` counts.
    rho : float
        Asked for, above 0.

    Raises
    ------
    DataError
        The values are not whole numbers.
    """
    exact, _ = _whole(values), _above_zero(rho, "rho")
    distance = math.nextafter(math.sqrt(sensitivity.l2_squared), math.inf)
    scale = distance / math.sqrt(2 * rho)
    while (measurement := _gaussian(scale)).map(distance) > rho:
        scale *= A_HAIR
    return Noisy(_drawn(measurement, exact), Loss.zcdp(measurement.map(distance)), scale, "discrete Gaussian")


def discrete_laplace(values: ArrayLike, *, sensitivity: Sensitivity, epsilon: float) -> Noisy:
    """Add discrete Laplace noise of scale L1/ε: pure ε (Ghosh, Roughgarden and Sundararajan 2009). Parameters as `discrete_gaussian`."""
    exact, _ = _whole(values), _above_zero(epsilon, "epsilon")
    scale = sensitivity.l1 / epsilon
    while (measurement := _laplace(scale)).map(sensitivity.l1) > epsilon:
        scale *= A_HAIR
    return Noisy(_drawn(measurement, exact), Loss.pure(measurement.map(sensitivity.l1)), laplace_sd(scale), "discrete Laplace")


def cube(values: ArrayLike, *, sensitivity: Sensitivity, epsilon: float) -> Noisy:
    """Add noise z with P(z) ∝ exp(−ε‖z‖∞/L∞): pure ε for a vector of which one person moves each number by at most L∞.

    The K-norm mechanism (Hardt and Talwar 2010) on m whole numbers: a radius K with weight (2K+1)^m·e^(−εK), then each number uniform
    on −K…K. The sum over all K ≥ ‖z‖∞ is proportional to e^(−ε‖z‖∞). Parameters as `discrete_gaussian`.
    """
    exact, _ = _whole(values), _above_zero(epsilon, "epsilon")
    numerator, denominator = (epsilon / sensitivity.linf).as_integer_ratio()
    cumulative = _cube_radii(exact.size, numerator, denominator)
    radius = bisect.bisect_right(cumulative, secrets.randbelow(cumulative[-1]))
    noise = np.array([secrets.randbelow(2 * radius + 1) - radius for _ in range(exact.size)], dtype=np.int64)
    sd = cube_sd(exact.size, epsilon / sensitivity.linf)
    return Noisy(exact + noise.reshape(exact.shape), Loss.pure(epsilon), sd, "cube")


def noisy_maximum(scores: ArrayLike, *, sensitivity: Sensitivity, epsilon: float) -> Noisy:
    """The place of the largest score after noise: pure ε, by OpenDP's report-noisy-max. Gives one number, counted from 0.

    Parameters as `discrete_gaussian`; the sensitivity's ``linf`` counts. `noise_sd` is that of the noise on the scores.
    """
    exact, _ = _whole(scores), _above_zero(epsilon, "epsilon")
    scale = 2 * sensitivity.linf / epsilon
    while (measurement := _noisy_maximum(scale)).map(sensitivity.linf) > epsilon:
        scale *= A_HAIR
    place = np.asarray(measurement(exact.ravel().tolist()), dtype=np.int64)
    return Noisy(place, Loss.pure(measurement.map(sensitivity.linf)), scale, "noisy maximum")


def laplace_sd(scale: float) -> float:
    """Standard deviation of discrete Laplace noise of this scale: √(2p)/(1 − p) with p = e^(−1/scale)."""
    p = math.exp(-1 / scale)
    return math.sqrt(2 * p) / -math.expm1(-1 / scale)


@lru_cache(maxsize=64)
def cube_sd(size: int, epsilon: float) -> float:
    """Standard deviation of each number's noise in a cube of so many numbers: √E[K(K+1)/3]."""
    cumulative = _cube_radii(size, *epsilon.as_integer_ratio())
    weights = np.diff(np.array([0.0] + [count / cumulative[-1] for count in cumulative]))
    radii = np.arange(len(weights))
    return float(math.sqrt(weights @ (radii * (radii + 1) / 3)))


@lru_cache(maxsize=64)
def _cube_radii(size: int, numerator: int, denominator: int) -> tuple[int, ...]:
    """Cumulative weights (2K+1)^size·e^(−εK), K = 0, 1, …, in fixed point; the last one is their sum.

    Raises DataError where there are too many of them: about (size + `CUBE_BITS`)/ε.
    """
    if (excess := Fraction((size + CUBE_BITS) * denominator, MOST_RADII * numerator)) > 1:
        raise DataError(f"this ε asks for noise that is too large to draw: expected at least {float(excess):.3g} times as much")
    with localcontext() as context:
        context.prec = CUBE_DIGITS
        shrink = (Decimal(-numerator) / Decimal(denominator)).exp()
        weights, power, largest = list[Decimal](), Decimal(1), Decimal(0)
        while True:
            weights.append(Decimal(2 * len(weights) + 1) ** size * power)
            largest = max(largest, weights[-1])
            if weights[-1] < largest * Decimal(2) ** -CUBE_BITS:  # past the largest: weights rise, and then fall
                break
            power *= shrink
        sums = list(accumulate(weights))
        return tuple(int(so_far / sums[-1] * (1 << CUBE_BITS)) for so_far in sums)


@lru_cache(maxsize=256)
def _gaussian(scale: float) -> Measurement:
    dp = opendp()
    made: Measurement = dp.m.make_gaussian(_whole_numbers(), dp.l2_distance(T="f64"), scale=scale)
    return made


@lru_cache(maxsize=256)
def _laplace(scale: float) -> Measurement:
    dp = opendp()
    made: Measurement = dp.m.make_laplace(_whole_numbers(), dp.l1_distance(T="i64"), scale=scale)
    return made


@lru_cache(maxsize=256)
def _noisy_maximum(scale: float) -> Measurement:
    dp = opendp()
    made: Measurement = dp.m.make_noisy_max(_whole_numbers(), dp.linf_distance(T="i64"), dp.max_divergence(), scale=scale)
    return made


def _whole_numbers() -> object:
    dp = opendp()
    return dp.vector_domain(dp.atom_domain(T="i64"))


def _drawn(measurement: Measurement, exact: Whole) -> Whole:
    return np.array(measurement(exact.ravel().tolist()), dtype=np.int64).reshape(exact.shape)


def _whole(values: ArrayLike) -> Whole:
    array = np.asarray(values)
    if array.dtype.kind not in "iu" or array.size == 0 or np.abs(array).max() > LARGEST:
        raise DataError(f"noise is drawn for whole numbers up to 2^53, at least one: got {array.size} of type {array.dtype}")
    return array.astype(np.int64)


def _above_zero(number: float, name: str) -> float:
    if not (math.isfinite(number) and number > 0):
        raise DataError(f"{name} is a finite number above 0: got {number!r}")
    return number
