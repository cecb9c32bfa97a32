"""The power of the test between sections that are assigned as a whole: Student's t, as few degrees of freedom as sections leave."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np
from scipy.special import betaincinv, chdtri, ndtr, stdtrit

from candor.designs.design import Design
from candor.planning.information import Array

LEAST_SECTIONS = 2
"""In every arm; with fewer nothing tells how much sections differ."""
MUCH_BOLDER = 1.2
"""A test that errs so many times as often as it says deserves a word."""
NODES = 32
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionTest:
    """The test of one contrast between sections.

    Attributes
    ----------
    variances : tuple of float
        The parts of treatment and control in the variance of the estimate, on any scale.
    sections_per_person : tuple of float
        How many sections each of the two arms has for every person of the study.
    """

    variances: tuple[float, float]
    sections_per_person: tuple[float, float]

    @classmethod
    def of(cls, design: Design, variances: Array, contrast: int, *, size: float) -> SectionTest:
        """The test of a contrast in sections of one size, from the parts of all arms in the variance, shape (K,).

        Notes
        -----
        Other arms add a little to what is known about cheaters; it counts as if it came from these two.
        """
        arms = (design.treatment_indexes[contrast], design.control_index)
        first, second = (float(variances[arm]) for arm in arms)
        of_first, of_second = (float(design.arm_shares[arm]) / size for arm in arms)
        return cls(variances=(first, second), sections_per_person=(of_first, of_second))

    def is_possible(self, n: float) -> bool:
        """Whether both arms have two sections."""
        return n * min(self.sections_per_person) >= LEAST_SECTIONS - ROUNDING

    def power(self, *, effect: float, standard_error: float, n: float, level: float) -> float:
        """Probability that the test rejects; 0 where an arm has fewer than two sections, because there is no test then.

        Notes
        -----
        The parts V_a of the variance are estimated with f_a = G_a − 1 degrees of freedom from G_a sections, as V_a χ²/f_a. Their share
        B = χ²_1/(χ²_1 + χ²_2) has a beta distribution, gives Welch's degrees of freedom, and is independent of χ²_1 + χ²_2. So the power is
        an integral over these two, by Gauss and Legendre over their quantiles. Assumes that means of sections are nearly normal.

        Examples
        --------
        With equal parts and very many sections it is the z-test. Where two sections stand against eighteen, equally unlike each other, nine
        tenths of the variance are in the arm of two, and the test is far bolder than it says.

        >>> many = SectionTest(variances=(1, 1), sections_per_person=(0.5, 0.5))
        >>> few = SectionTest(variances=(9, 1), sections_per_person=(0.1, 0.9))
        >>> round(many.power(effect=2.8, standard_error=1, n=1e7, level=0.95), 3)
        0.8
        >>> round(few.power(effect=0.0, standard_error=1, n=20, level=0.95), 3)
        0.119
        """
        if not self.is_possible(n):
            return 0.0
        at, weights = _quantiles()
        multiplier, relative, freedom = self._multipliers(n, level=level)
        critical = multiplier[:, None] * np.sqrt(relative[:, None] * chdtri(freedom, at))
        shift = abs(effect) / standard_error
        return float(weights @ (ndtr(shift - critical) + ndtr(-critical - shift)) @ weights)

    def multiplier(self, n: float, *, level: float) -> float:
        """Student's t in the mean: how many standard errors make half of an interval."""
        return float(_quantiles()[1] @ self._multipliers(n, level=level)[0])

    def _multipliers(self, n: float, *, level: float) -> tuple[Array, Array, float]:
        """At quantiles of B: Student's t, and the estimated variance over χ²₁ + χ²₂ times the true one; and the freedom of these.

        The fewest sections that make a test stand for fewer.
        """
        first, second = (max(n * each, LEAST_SECTIONS) - 1 for each in self.sections_per_person)
        share = betaincinv(first / 2, second / 2, _quantiles()[0])
        parts = np.array([self.variances[0] * share / first, self.variances[1] * (1 - share) / second]) / sum(self.variances)
        relative = parts.sum(axis=0)
        freedom = np.maximum(relative**2 / (parts[0] ** 2 / first + parts[1] ** 2 / second), 1.0)
        return stdtrit(freedom, (1 + level) / 2), relative, first + second

    def errs(self, n: float, *, level: float) -> float:
        """How often it rejects where there is no effect."""
        return self.power(effect=0.0, standard_error=1.0, n=n, level=level)

    def people_for_its_level(self, level: float) -> int:
        """The fewest people with whom it errs about as often as it says."""
        least, much = self.least_people, MUCH_BOLDER * (1 - level)
        return least + bisect_left(range(1000 * least), True, key=lambda more: self.errs(least + more, level=level) <= much)

    @property
    def least_people(self) -> int:
        """The fewest with two sections in both arms."""
        return ceil(LEAST_SECTIONS / min(self.sections_per_person) - ROUNDING)


@lru_cache(maxsize=1)
def _quantiles() -> tuple[Array, Array]:
    """Where between 0 and 1 to read a distribution, and with which weights."""
    at, weights = np.polynomial.legendre.leggauss(NODES)
    return (at + 1) / 2, weights / 2
