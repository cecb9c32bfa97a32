import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from candor.errors import MethodError
from candor.estimators.intervals import cut_to, fieller_interval, fieller_limits, normal_quantile, two_sided_p_value, wald_interval
from candor.estimators.multiplicity import holm
from candor.results import Interval

estimates = st.floats(-1, 1)
variances = st.floats(1e-4, 0.2)
correlations = st.floats(-0.9, 0.9)


@given(estimates, estimates, variances, variances, correlations, st.floats(-5, 5))
def test_fieller_collects_every_ratio_that_the_z_test_does_not_reject(
    top: float, bottom: float, top_variance: float, bottom_variance: float, correlation: float, ratio: float
) -> None:
    covariance = correlation * math.sqrt(top_variance * bottom_variance)
    low, high = fieller_limits(
        top, bottom, numerator_variance=top_variance, denominator_variance=bottom_variance, covariance=covariance, multiplier=1.96
    )
    assume(not np.isnan(low))
    score = (top - ratio * bottom) ** 2 / (top_variance - 2 * ratio * covariance + ratio**2 * bottom_variance)
    assume(abs(score - 1.96**2) > 1e-6)
    assert (low <= ratio <= high) == (score <= 1.96**2)


@given(estimates, variances, variances)
def test_fieller_is_unbounded_exactly_when_the_denominator_may_be_zero(top: float, top_variance: float, bottom_variance: float) -> None:
    z = normal_quantile(0.9)
    for bottom, kind in ((0.999 * z * math.sqrt(bottom_variance), "unbounded"), (1.001 * z * math.sqrt(bottom_variance), "bounded")):
        interval = fieller_interval(
            top,
            bottom,
            numerator_variance=top_variance,
            denominator_variance=bottom_variance,
            covariance=0,
            level=0.9,
            low=-math.inf,
            high=math.inf,
        )
        assert (interval.kind == "unbounded") == (kind == "unbounded")
        assert (interval.low is None) == (interval.high is None) == (kind == "unbounded")


@given(estimates, st.floats(-0.99, 0.99), variances, variances, correlations, st.floats(-1, 1))
def test_a_denominator_above_zero_leaves_the_ratios_of_the_ellipse_on_its_side(
    top: float, zs: float, top_variance: float, bottom_variance: float, correlation: float, ratio: float
) -> None:
    covariance = correlation * math.sqrt(top_variance * bottom_variance)
    bottom = 1.96 * zs * math.sqrt(bottom_variance)
    assume(abs(bottom) > 1e-6)
    interval = fieller_interval(
        top,
        bottom,
        numerator_variance=top_variance,
        denominator_variance=bottom_variance,
        covariance=covariance,
        multiplier=1.96,
        one_sided=True,
    )
    inverse, centre = np.linalg.inv([[top_variance, covariance], [covariance, bottom_variance]]), np.array([top, bottom])
    line = np.array([ratio, 1.0])
    nearest = max(line @ inverse @ centre / (line @ inverse @ line), 0.0) * line
    far, origin = ((centre - point) @ inverse @ (centre - point) for point in (nearest, 0.0))
    assume(min(abs(far - 1.96**2), abs(origin - 1.96**2)) > 1e-6)
    assert interval.contains(ratio) == (far <= 1.96**2)
    assert (interval.kind == "unbounded") == (origin <= 1.96**2)


def test_fieller_contains_zero_exactly_when_the_test_does_not_reject() -> None:
    for top in np.linspace(0.1, 0.3, 41):
        interval = fieller_interval(top, 0.8, numerator_variance=0.01, denominator_variance=0.02, covariance=-0.003)
        p_value = two_sided_p_value(top, 0.1)
        assert p_value is not None
        assert interval.contains(0) == (p_value >= 0.05)


def test_without_noise_in_the_denominator_fieller_is_wald() -> None:
    fieller = fieller_interval(0.1, 0.5, numerator_variance=0.0004, denominator_variance=0, covariance=0)
    wald = wald_interval(0.2, 0.04)
    assert (fieller.low, fieller.high) == pytest.approx((wald.low, wald.high))


def test_fieller_is_cut_to_the_possible_effects() -> None:
    interval = fieller_interval(0.5, 0.6, numerator_variance=0.01, denominator_variance=0.01, covariance=0)
    assert interval.high == 1
    assert interval.low is not None
    assert 0 < interval.low < 1


@pytest.mark.parametrize(("top", "bottom"), [(0.9, 0.3), (0.2, -0.5)])
def test_estimates_that_no_effect_explains_give_an_empty_interval(top: float, bottom: float) -> None:
    interval = fieller_interval(top, bottom, numerator_variance=1e-4, denominator_variance=1e-4, covariance=0)
    assert interval == Interval(kind="empty", low=None, high=None, level=0.95)
    assert not interval.contains(0.5)


def test_an_unbounded_interval_contains_everything() -> None:
    assert Interval(kind="unbounded", low=None, high=None, level=0.95).contains(-7)


def test_an_interval_outside_the_range_is_empty() -> None:
    assert cut_to(Interval(kind="wald", low=-0.4, high=-0.1, level=0.95), low=0, high=1).kind == "empty"


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, float("nan")])
def test_the_level_must_lie_between_0_and_1(level: float) -> None:
    with pytest.raises(MethodError, match="strictly between 0 and 1"):
        normal_quantile(level)


def test_without_a_standard_error_there_is_no_wald_interval() -> None:
    assert wald_interval(0.2, 0).low is None
    assert wald_interval(0.2, float("nan")).high is None


def test_holm_by_hand() -> None:
    assert holm([0.04, 0.001, 0.03]) == pytest.approx((0.06, 0.003, 0.06))
    assert holm([0.9, 0.8]) == (1, 1)
    assert holm([]) == ()


@pytest.mark.parametrize("contrasts", [1, 2, 3, 8])
def test_holm_against_statsmodels(contrasts: int) -> None:
    p_values = (np.random.default_rng(contrasts).random(contrasts) ** 3).tolist()
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1], abs=1e-15)


def test_an_undefined_contrast_still_counts() -> None:
    assert holm([None, 0.02]) == (None, 0.04)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_rejects_what_the_step_down_procedure_rejects(p_values: list[float]) -> None:
    adjusted, alpha = holm(p_values), 0.05
    rejected: set[int] = set()
    for index in sorted(range(len(p_values)), key=lambda one: p_values[one]):
        if p_values[index] * (len(p_values) - len(rejected)) > alpha:
            break
        rejected.add(index)
    assert {index for index, value in enumerate(adjusted) if value is not None and value <= alpha} == rejected
