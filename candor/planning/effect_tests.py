"""The test of no effect as the analysis makes it: its power with n people, and the people that it needs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from scipy.special import ndtr, ndtri

from candor.designs.design import Design
from candor.errors import MethodError
from candor.likelihood.region import quantile_at_an_end
from candor.planning.information import Array, Scenario, precision, unit_test_errors
from candor.planning.margins import MOST_PARTICIPANTS
from candor.planning.section_tests import SectionTest
from candor.planning.sections import with_sections


def power_of_z_test(*, effect: float, standard_error: float, test_standard_error: float | None = None, level: float = 0.95) -> float:
    """Probability that the two-sided z-test of "no effect" rejects, both tails counted.

    Parameters
    ----------
    effect, standard_error : float
        Mean and standard deviation of the estimate.
    test_standard_error : float, optional
        What the test divides it by. Default: the same.
    level : float
        Confidence level of the test.

    Notes
    -----
    The `normal_power` of statsmodels gives the same; the design page, which web processes draw from two hundred of these, would need
    60 MB and a tenth of a second more for it.

    Examples
    --------
    An effect of 2.8 standard errors is found four times in five; no effect is "found" one time in twenty.

    >>> round(power_of_z_test(effect=2.8, standard_error=1.0), 3), round(power_of_z_test(effect=0.0, standard_error=1.0), 3)
    (0.8, 0.05)
    """
    critical = ndtri((1 + level) / 2) * (1.0 if test_standard_error is None else test_standard_error / standard_error)
    shift = abs(effect) / standard_error
    return float(ndtr(shift - critical) + ndtr(-critical - shift))


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectTest:
    """The two-sided test that one effect is 0.

    Attributes
    ----------
    effect : float
    unit_error, unit_test_error : float
        √n times the standard error of the estimate, and times what the z-test divides it by.
    level : float
        Confidence level.
    sections : SectionTest, optional
        The test between sections that are assigned as a whole, which then takes the place of the z-test.
    """

    effect: float
    unit_error: float
    unit_test_error: float
    level: float
    sections: SectionTest | None = None

    def power(self, n: float) -> float:
        """Probability that n people reject it."""
        error = self.unit_error / sqrt(n)
        if self.sections is not None:
            return self.sections.power(effect=self.effect, standard_error=error, n=n, level=self.level)
        return power_of_z_test(
            effect=self.effect, standard_error=error, test_standard_error=self.unit_test_error / sqrt(n), level=self.level
        )

    def participants_needed(self, power: float) -> int | None:
        """Fewest participants with which it reaches a power; None when `MOST_PARTICIPANTS` would not be enough.

        Parameters
        ----------
        power : float
            Wanted probability of rejecting, above 1 − level.

        Notes
        -----
        (z_{1−α/2} σ_test + z_{power} σ)²/effect² leaves out the rejections in the wrong direction, so it is enough for the z-test; the
        fewest that are enough are found below it by bisection, for sections below a multiple of it.

        Examples
        --------
        (1.96 + 0.8416)² · 0.96 / 0.2² = 188.4 for an ordinary trial with prevalences 0.4 and 0.6.

        >>> EffectTest(effect=0.2, unit_error=0.96**0.5, unit_test_error=0.96**0.5, level=0.95).participants_needed(0.8)
        189
        """
        if not 1 - self.level < power < 1:
            raise MethodError(f"the power must lie between {1 - self.level:.6g} (what no effect gives) and 1, found {power:.6g}")
        if self.effect == 0:
            return None
        ratio = (float(ndtri((1 + self.level) / 2)) * self.unit_test_error + float(ndtri(power)) * self.unit_error) / abs(self.effect)
        if not ratio < sqrt(MOST_PARTICIPANTS):
            return None
        enough = max(ceil(ratio**2), 1)
        while self.sections is not None and self.power(enough) < power:
            enough *= 2
            if enough > MOST_PARTICIPANTS:
                return None
        return 1 + bisect_left(range(1, enough), power, key=self.power)


def interval_multiplier(tests: Sequence[EffectTest], n: float, *, level: float) -> float:
    """How many standard errors make half of an interval: by the normal distribution, for sections by the mean Student's t."""
    return _multiplier_in_sections(tests, n, level=level) or float(ndtri((1 + level) / 2))


def cheaters_multiplier(tests: Sequence[EffectTest], n: float, *, level: float) -> float:
    """The same of the interval of cheaters that results show: by the likelihood region, for sections by Student's t.

    Examples
    --------
    >>> round(cheaters_multiplier([], 500, level=0.95), 2)
    2.14
    """
    return _multiplier_in_sections(tests, n, level=level) or quantile_at_an_end(level)


def _multiplier_in_sections(tests: Sequence[EffectTest], n: float, *, level: float) -> float | None:
    return max((test.sections.multiplier(n, level=level) for test in tests if test.sections is not None), default=None)


def effect_tests(
    design: Design, scenario: Scenario, *, level: float, cluster_size: float = 1, intraclass_correlation: float = 0.0
) -> tuple[EffectTest, ...]:
    """The tests of Δ = 0 by contrast, at the level of the first, strictest step of Holm's adjustment.

    Notes
    -----
    The z-test of people who are assigned one by one divides by the larger of two standard errors (`unit_test_errors`), that between
    sections by the one that the sections show.
    """
    alone = precision(design, scenario)
    found, _ = with_sections(alone, design=design, scenario=scenario, size=cluster_size, intraclass_correlation=intraclass_correlation)
    in_sections = cluster_size > 1
    tested = found.unit_honest_times_effect_error if in_sections else unit_test_errors(design, scenario, alone)
    return tuple(
        EffectTest(
            effect=float(found.honest_times_effect[contrast]),
            unit_error=float(found.unit_honest_times_effect_error[contrast]),
            unit_test_error=float(tested[contrast]),
            level=_strictest(design, level),
            sections=SectionTest.of(design, found.unit_variance_of_arms[contrast], contrast, size=cluster_size) if in_sections else None,
        )
        for contrast in range(len(design.treatments))
    )


def ordinary_tests(
    design: Design, scenario: Scenario, *, level: float, cluster_size: float = 1, intraclass_correlation: float = 0.0
) -> tuple[EffectTest | None, ...]:
    """The same of τ = 0 in a trial that sees true answers of honest people; None where these do not vary."""
    found, _ = with_sections(
        precision(design, scenario), design=design, scenario=scenario, size=cluster_size, intraclass_correlation=intraclass_correlation
    )
    p = np.array(scenario.prevalence)
    of_arms: Array = p * (1 - p) / design.arm_shares
    return tuple(
        EffectTest(
            effect=float(effect),
            unit_error=float(error),
            unit_test_error=float(error),
            level=_strictest(design, level),
            sections=SectionTest.of(design, of_arms, contrast, size=cluster_size) if cluster_size > 1 else None,
        )
        if error > 0
        else None
        for contrast, (effect, error) in enumerate(zip(found.effect, found.unit_ordinary_error, strict=True))
    )


def _strictest(design: Design, level: float) -> float:
    return 1 - (1 - level) / len(design.treatments)
