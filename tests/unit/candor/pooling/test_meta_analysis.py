"""Fixed and random effects against a calculation by hand, R's metafor and an independent simulation."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, chi2, t

from candor.errors import DataError, MethodError
from candor.pooling.common_effect import StudyRatio, common_effect
from candor.pooling.meta_analysis import meta_analysis
from candor.subgroups.interaction import same_effect

# tests/unit/candor/data/metafor_example.R with R 4.2.2 and metafor 3.8.1; test="adhoc" is Hartung–Knapp with a factor of at least 1.
Y, S = [0.10, 0.30, -0.05, 0.22, 0.45], [0.08, 0.12, 0.10, 0.20, 0.15]
METAFOR_FIXED = (0.144147627417, 0.050306616978, 0.0455484699555, 0.242746784878, 0.00416507706934)
METAFOR_RANDOM = (0.179335488822, 0.0861476380095, -0.0598486990542, 0.418519676697, 0.105816502408)
METAFOR_HETEROGENEITY = (10.0620913884, 0.0393946490346, 0.602468329336, 0.0209572470128)
METAFOR_TAU_SQUARED = (0.0, 0.284768499430)
METAFOR_WEIGHTS = (0.267682892621, 0.207116436748, 0.236554206887, 0.120134477415, 0.168511986329)


def test_dersimonian_and_laird_by_hand():
    """Three studies, y = .1, .3, .8 and s = .1, .2, .1, so w = 100, 25, 100.

    Σw = 225, Σwy = 10 + 7.5 + 80 = 97.5, μ_F = .43333…; Q = 100·(1/3)² + 25·(2/15)² + 100·(11/30)² = 11.1111 + .4444 + 13.4444 = 25.
    Σw² = 20625, C = 225 − 20625/225 = 133.3333, τ² = (25 − 2)/133.3333 = .1725.
    """
    found = meta_analysis([0.1, 0.3, 0.8], [0.1, 0.2, 0.1])
    assert found.fixed.value == pytest.approx(97.5 / 225)
    assert found.fixed.standard_error == pytest.approx(1 / 15)
    assert found.heterogeneity.q == pytest.approx(25)
    assert found.heterogeneity.i_squared == pytest.approx(0.92)
    assert found.heterogeneity.tau_squared == pytest.approx(0.1725)
    # w* = 1/.1825, 1/.2125, 1/.1825 = 5.479452, 4.705882, 5.479452; Σw* = 15.664786; Σw*y = .5479452 + 1.4117647 + 4.3835616 = 6.3432715.
    assert found.random.value == pytest.approx(6.3432715 / 15.664786, abs=1e-7)
    # Hartung and Knapp's factor is [5.479452·(.30494² + .39506²) + 4.705882·.10494²]/2 = .708, below 1: 1 is used.
    assert found.random.standard_error == pytest.approx(1 / math.sqrt(15.664786), abs=1e-7)
    spread = math.sqrt(0.1725 + 1 / 15.664786)
    # t with one degree of freedom has the quantile 12.706, so that the ends are cut to where effects can be.
    assert t.ppf(0.975, 1) * spread > 1
    assert (found.prediction.low, found.prediction.high) == (-1.0, 1.0)


def test_the_numbers_of_metafor():
    found = meta_analysis(Y, S)
    for one, expected in ((found.fixed, METAFOR_FIXED), (found.random, METAFOR_RANDOM)):
        numbers = (one.value, one.standard_error, one.interval.low, one.interval.high, one.p_value)
        assert numbers == pytest.approx(expected, abs=1e-9)
    spread = found.heterogeneity
    assert (spread.q, spread.p_value, spread.i_squared, spread.tau_squared) == pytest.approx(METAFOR_HETEROGENEITY, abs=1e-9)
    assert (spread.tau_squared_interval.low, spread.tau_squared_interval.high) == pytest.approx(METAFOR_TAU_SQUARED, abs=1e-6)
    assert found.random_weights == pytest.approx(METAFOR_WEIGHTS, abs=1e-9)
    assert sum(found.fixed_weights) == pytest.approx(1)


def test_studies_that_agree_by_chance_do_not_shorten_the_interval():
    """Hartung and Knapp's factor would be 0 here; the usual random-effects interval is the least that is shown."""
    found = meta_analysis([0.2, 0.2, 0.2], [0.1, 0.1, 0.1])
    assert found.random.standard_error == pytest.approx(0.1 / math.sqrt(3))
    assert found.heterogeneity.tau_squared == 0.0
    assert found.heterogeneity.tau_squared_interval.kind == "empty"
    assert meta_analysis([0.1, 0.3], [0.1, 0.1]).prediction is None


@pytest.mark.parametrize(
    ("values", "errors", "complaint"),
    [
        ([0.1], [0.1], "at least 2 studies"),
        ([0.1, 0.2], [0.1], "found shapes"),
        ([0.1, 0.2], [0.1, 0.0], "standard errors above 0"),
        ([0.1, math.nan], [0.1, 0.1], "finite estimates"),
    ],
)
def test_what_cannot_be_pooled_is_refused(values, errors, complaint):
    with pytest.raises(DataError, match=complaint):
        meta_analysis(values, errors)
    with pytest.raises(MethodError, match="confidence level"):
        meta_analysis([0.1, 0.2], [0.1, 0.1], level=1.0)


def test_hartung_and_knapp_cover_where_the_plain_interval_does_not():
    """Four studies that differ (τ = .15, s = .1): plain random effects cover far too rarely, which is the negative control."""
    rng = np.random.default_rng(11)
    trials, hits, plain = 600, 0, 0
    for _ in range(trials):
        found = meta_analysis(rng.normal(0.1, 0.15, 4) + rng.normal(0, 0.1, 4), [0.1] * 4)
        hits += found.random.interval.contains(0.1)
        between = found.heterogeneity.tau_squared
        plain += abs(found.random.value - 0.1) <= 1.96 * math.sqrt((0.01 + between) / 4)
    assert binom.cdf(hits, trials, 0.95) > 1e-6
    assert binom.cdf(plain, trials, 0.95) < 1e-6


def ratio(delta: float, honest: float, *, honest_variance: float) -> StudyRatio:
    return StudyRatio(
        honest_times_effect=delta,
        honest_proportion=honest,
        honest_times_effect_variance=0.002,
        honest_proportion_variance=honest_variance,
        covariance=0.0,
    )


def test_the_common_effect_of_one_study_has_fieller_s_interval():
    from candor.estimators.intervals import fieller_interval

    found = common_effect([replace(ratio(0.15, 0.8, honest_variance=0.01), covariance=0.003)])
    fieller = fieller_interval(0.15, 0.8, numerator_variance=0.002, denominator_variance=0.01, covariance=0.003)
    assert found.value == pytest.approx(0.15 / 0.8)
    assert (found.interval.low, found.interval.high) == pytest.approx((fieller.low, fieller.high), abs=1e-9)


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_common_effect_ends_at_one(sign: int):
    found = common_effect([ratio(sign * 0.6, 0.5, honest_variance=1e-4)])
    assert (found.value, found.q_p_value) == (sign, 1)
    assert sign in (found.interval.low, found.interval.high)
    with pytest.raises(DataError, match="at least 1 study"):
        common_effect([])


def test_the_common_effect_fits_as_one_effect_of_all_groups_does():
    """The same likelihood, as `candor.subgroups` tests it; no effect fits with S(0) = ΣΔ²/V."""
    rng = np.random.default_rng(2)
    delta, honest, correlation = rng.normal(0.2, 0.1, 4), rng.uniform(0.3, 0.9, 4), np.array([0.6, -0.3, 0.8, 0.0])
    variance, honest_variance = rng.uniform(0.002, 0.01, 4), rng.uniform(0.01, 0.1, 4)
    covariance = correlation * np.sqrt(variance * honest_variance)
    columns = (delta, variance, honest, honest_variance, covariance)
    names = ("honest_times_effect", "honest_times_effect_variance", "honest_proportion", "honest_proportion_variance", "covariance")
    found = common_effect([StudyRatio(**dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True)])
    known = {"numerator_variance": variance, "denominator_variance": honest_variance, "covariance": covariance}
    expected = same_effect(delta, honest, **known, treatment="b", control="a")
    assert (found.q, found.df, found.q_p_value) == pytest.approx((expected.statistic, expected.df, expected.p_value), rel=1e-6)
    assert found.p_value == pytest.approx(chi2.sf((delta**2 / variance).sum() - found.q, 1))


def test_a_study_whose_honest_share_is_unknown_is_heard_and_covers():
    """Leaving it out, or weighing it by the ratio's standard error, is what fixed effects would do; the likelihood keeps its level."""
    rng = np.random.default_rng(5)
    trials, hits, wider = 400, 0, 0
    for _ in range(trials):
        sure = [ratio(rng.normal(0.24, 0.002**0.5), rng.normal(0.8, 0.1), honest_variance=0.01) for _ in range(2)]
        vague = ratio(rng.normal(0.24, 0.002**0.5), rng.normal(0.8, 0.5), honest_variance=0.25)
        found, without = common_effect([*sure, vague]), common_effect(sure)
        hits += found.interval.contains(0.3)
        wider += found.interval.high - found.interval.low > without.interval.high - without.interval.low
    assert binom.cdf(hits, trials, 0.95) > 1e-6
    assert binom.sf(hits, trials, 0.95) > 1e-6
    assert wider < trials / 2


def test_studies_of_millions_leave_an_interval_between_two_points_of_the_grid():
    """With honest shares that are known it is the fixed-effect interval, however narrow: 1.96·10⁻⁴/√2 on either side of .2004."""
    exact = {"honest_proportion": 1.0, "honest_times_effect_variance": 1e-8, "honest_proportion_variance": 0.0, "covariance": 0.0}
    found = common_effect([StudyRatio(honest_times_effect=one, **exact) for one in (0.20035, 0.20045)])
    assert found.value == pytest.approx(0.2004, abs=1e-8)
    assert [found.value - found.interval.low, found.interval.high - found.value] == pytest.approx([1.96e-4 / 2**0.5] * 2, rel=1e-3)


def test_answers_that_say_nothing_leave_the_whole_range():
    found = common_effect([ratio(0.01, 0.0, honest_variance=1.0)] * 2)
    assert (found.interval.low, found.interval.high) == (-1.0, 1.0)


@pytest.mark.parametrize("delta", [0.012, 0.042, 0.109, 0.192])
def test_studies_that_contradict_each_other_alike_say_nothing_against_no_effect(delta):
    """No effect fits best. Rounding may say that it fits better than the best fit."""
    found = common_effect([ratio(sign * delta, 0.8, honest_variance=0.02) for sign in (-1, 1)])
    assert found.value == pytest.approx(0, abs=1e-6)
    assert found.p_value == pytest.approx(1, abs=1e-6)
