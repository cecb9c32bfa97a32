"""The power of the test between sections, against Welch's test of SciPy on studies that were made up."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import ttest_ind_from_stats

from candor.planning.effect_tests import EffectTest, ordinary_tests, power_of_z_test
from candor.planning.information import Scenario
from candor.planning.power import plan_study
from candor.planning.section_tests import SectionTest
from tests.designs import DESIGNS

STUDIES = 20_000
EXPECTED = {"prevalence": 0.4, "effects": 0.2, "cheater_proportion": 0.1, "cheater_yes_rate": 0.5}


def mirrored(control: int, treatment: int):
    shares = tuple(Fraction(weight, control + treatment) for weight in (control, treatment))
    return replace(DESIGNS["mirrored"], arm_probabilities=shares)


def welch(first: np.ndarray, second: np.ndarray, *, level: float) -> float:
    """How many of the studies in the columns reject."""
    of_both = [one for arm in (first, second) for one in (arm.mean(axis=0), arm.std(axis=0, ddof=1), len(arm))]
    with np.errstate(divide="ignore", invalid="ignore"):  # where all sections of both arms have the same mean, nothing is rejected
        return float((ttest_ind_from_stats(*of_both, equal_var=False).pvalue < 1 - level).mean())


@pytest.mark.parametrize("level", [0.9, 0.95, 0.975])
@pytest.mark.parametrize("effect", [0.0, 2.0, 4.0])
@pytest.mark.parametrize(
    ("sections", "spreads"), [((3, 3), (1, 1)), ((2, 18), (1, 1)), ((4, 36), (1, 2)), ((20, 5), (1, 3)), ((60, 60), (1, 1))]
)
def test_power_is_that_of_welch_on_normal_sections(
    sections: tuple[int, int], spreads: tuple[float, float], effect: float, level: float
) -> None:
    """20,000 studies of sections with normal means; four standard errors of a share are .014."""
    rng, variances = np.random.default_rng(1), tuple(spread**2 / number for spread, number in zip(spreads, sections, strict=True))
    first, second = (rng.normal(0, spread, (number, STUDIES)) for spread, number in zip(spreads, sections, strict=True))
    test = SectionTest(variances=variances, sections_per_person=tuple(number / 100 for number in sections))
    error = sum(variances) ** 0.5
    found = welch(first + effect * error, second, level=level)
    assert test.power(effect=effect * error, standard_error=error, n=100, level=level) == pytest.approx(found, abs=0.014)


@pytest.mark.parametrize(
    ("sections", "weights", "icc", "off"),
    [
        (6, (1, 1), 0.02, 0.02),
        (10, (1, 1), 0.1, 0.02),
        (40, (1, 1), 0.3, 0.02),
        (20, (1, 9), 0.02, 0.02),
        (40, (9, 1), 0.1, 0.02),
        (20, (9, 1), 0.3, 0.04),  # shares of a few very unlike sections are far from normal
    ],
)
def test_a_plan_has_the_power_of_studies_in_sections(sections: int, weights: tuple[int, int], icc: float, off: float) -> None:
    """Answers drawn by hand: half of a section in each subsample, nine in ten honest, and Welch's test of the means of sections.

    The mean of a section is x(p/2 + ¼) + .05, and its difference half of Δ. A plan by the normal distribution is wrong by up to .2.
    """
    size, rng = 50, np.random.default_rng(2)
    in_arm = [sections * weight // sum(weights) for weight in weights]
    means = []
    for p, number in zip((0.4, 0.6), in_arm, strict=True):
        share = rng.beta(p * (1 / icc - 1), (1 - p) * (1 / icc - 1), (number, STUDIES))
        means.append(sum(rng.binomial(size // 2, 0.9 * (share / 2 + forced) + 0.05) for forced in (1 / 6, 1 / 3)) / size)
    plan = plan_study(mirrored(*weights), **EXPECTED, n=sections * size, cluster_size=size, intraclass_correlation=icc)
    (contrast,) = plan.contrasts
    found = welch(*means, level=0.95)
    assert contrast.power == pytest.approx(found, abs=off)
    if sections < 40:
        naive = power_of_z_test(effect=0.18, standard_error=contrast.honest_times_effect_standard_error)
        assert abs(naive - found) > max(0.03, abs(contrast.power - found)), "the normal distribution promised another power"


def test_an_ordinary_trial_in_sections_has_the_same_test() -> None:
    """The design effect of true answers is 1 + (m − 1)ρ, with which SciPy's Welch test rejects as often."""
    size, sections, icc, rng = 20, 8, 0.05, np.random.default_rng(3)
    design = mirrored(1, 1)
    scenario = Scenario.of(design, prevalence=0.4, effects=0.2, cheater_proportion=0.1)
    (test,) = ordinary_tests(design, scenario, level=0.95, cluster_size=size, intraclass_correlation=icc)
    assert test.unit_error**2 == pytest.approx(4 * 0.24 * (1 + (size - 1) * icc))
    share = [rng.beta(p * (1 / icc - 1), (1 - p) * (1 / icc - 1), (sections // 2, STUDIES)) for p in (0.4, 0.6)]
    found = welch(*(rng.binomial(size, one) / size for one in share), level=0.95)
    assert test.power(size * sections) == pytest.approx(found, abs=0.02)
    (few_controls,) = ordinary_tests(
        mirrored(1, 3), Scenario.of(mirrored(1, 3), prevalence=0.1, effects=0.4, cheater_proportion=0.1), level=0.95, cluster_size=size
    )
    assert few_controls.sections is not None
    assert few_controls.sections.variances == pytest.approx((0.25 / 0.75, 0.09 / 0.25))


def test_the_participants_needed_are_the_fewest_that_reach_the_power_between_sections() -> None:
    test = EffectTest(
        effect=0.2,
        unit_error=3.0,
        unit_test_error=3.0,
        level=0.95,
        sections=SectionTest(variances=(1, 4), sections_per_person=(0.03, 0.01)),
    )
    needed = test.participants_needed(0.8)
    assert test.power(needed) >= 0.8 > test.power(needed - 1)
    assert needed > replace(test, sections=None).participants_needed(0.8)


@pytest.mark.parametrize("effect", [0.0, 1.0, 3.0, 10.0, 1e4])
@pytest.mark.parametrize("people", [1e3, 1e6, 1e9])
def test_very_many_sections_are_the_z_test(effect: float, people: float) -> None:
    test = SectionTest(variances=(1, 1), sections_per_person=(0.5, 0.5))
    assert test.power(effect=effect, standard_error=1, n=people, level=0.95) == pytest.approx(
        power_of_z_test(effect=effect, standard_error=1), abs=1.5 / people + 1e-3 / people**0.5
    )


def test_one_section_in_an_arm_tests_nothing() -> None:
    test = SectionTest(variances=(1, 1), sections_per_person=(0.01, 0.09))
    assert [test.power(effect=100, standard_error=1, n=n, level=0.95) > 0 for n in (199, 200)] == [False, True]
    assert test.least_people == 200
