"""Noise has the law that it names, costs at most what was asked for, and refuses all but whole numbers."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

from candor.errors import DataError
from candor.privacy.auditing import epsilon_at_least
from candor.privacy.losses import Loss
from candor.privacy.noise import cube, cube_sd, discrete_gaussian, discrete_laplace, laplace_sd, noisy_maximum, with_noise, within_its_range
from candor.privacy.sensitivity import Sensitivity

HISTOGRAM = Sensitivity.of_histogram()
MANY = 28_000


@pytest.mark.parametrize(("amount", "entries"), [(0.013, 1), (0.37, 3), (1.0, 1), (1 / 3, 2), (2.9, 3)])
def test_the_loss_is_at_most_what_was_asked_for_and_nearly_all_of_it(amount: float, entries: int) -> None:
    sensitivity = HISTOGRAM.times(entries)
    for noisy, asked, sd in (
        (discrete_gaussian([1, 2], sensitivity=sensitivity, rho=amount), Loss.zcdp(amount), entries / math.sqrt(amount)),
        (discrete_laplace([1, 2], sensitivity=sensitivity, epsilon=amount), Loss.pure(amount), laplace_sd(2 * entries / amount)),
        (cube([1, 2], sensitivity=sensitivity, epsilon=amount), Loss.pure(amount), cube_sd(2, amount / entries)),
        (noisy_maximum([1, 2], sensitivity=sensitivity, epsilon=amount), Loss.pure(amount), 2 * entries / amount),
    ):
        assert 0.999999 * asked.rho < noisy.loss.rho <= asked.rho
        assert (noisy.loss.pure_epsilon is None) == (asked.pure_epsilon is None)
        assert noisy.noise_sd == pytest.approx(sd, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_standard_deviations_are_those_of_the_laws(epsilon: float) -> None:
    """By sums over the points of the laws; a cube of one number is discrete Laplace noise."""
    far = math.ceil(40 / epsilon)
    one, other = np.mgrid[-far : far + 1, -far : far + 1]
    laplace, square = np.exp(-epsilon * np.abs(one[:, 0])), np.exp(-epsilon * np.maximum(np.abs(one), np.abs(other)))
    line = math.sqrt((laplace * one[:, 0] ** 2).sum() / laplace.sum())
    assert [laplace_sd(1 / epsilon), cube_sd(1, epsilon)] == pytest.approx([line, line], rel=1e-9)
    assert cube_sd(2, epsilon) == pytest.approx(math.sqrt((square * one**2).sum() / square.sum()), rel=1e-9)


def test_a_price_is_either_of_the_two() -> None:
    assert with_noise([1], sensitivity=HISTOGRAM, rho=0.1).noise == "discrete Gaussian"
    assert with_noise([1], sensitivity=HISTOGRAM, epsilon=0.1).noise == "discrete Laplace"
    for prices in ({}, {"rho": 0.1, "epsilon": 0.1}):
        with pytest.raises(DataError, match="say either rho"):
            with_noise([1], sensitivity=HISTOGRAM, **prices)


@pytest.mark.parametrize("scale", [0.4, 3.0, 25.0])
def test_gaussian_and_laplace_noise_spread_as_they_say(scale: float) -> None:
    """Chance alone fails one of these comparisons, at five standard errors, in one of 300,000 runs."""
    zeros = np.zeros(MANY, dtype=np.int64)
    for noisy in (
        discrete_gaussian(zeros, sensitivity=HISTOGRAM, rho=1 / scale**2),
        discrete_laplace(zeros, sensitivity=HISTOGRAM, epsilon=2 / scale),
    ):
        kurtosis = 6 if noisy.noise == "discrete Laplace" else 3
        tolerance = 5 * math.sqrt((kurtosis + 1 / scale**2) / (4 * MANY))
        found = noisy.values.std()
        # The discrete Gaussian's SD is below its σ, much so where σ is below 1.
        assert found < noisy.noise_sd * (1 + tolerance)
        assert scale < 1 or found > noisy.noise_sd * (1 - tolerance)


def test_the_cube_has_its_law_on_every_point_of_a_small_one() -> None:
    """For two numbers: P(z) ∝ exp(−ε‖z‖∞/L∞), by a χ² test over the 49 points next to the middle and all others together."""
    epsilon, draws, entries = 0.8, 20_000, 3
    shrink = math.exp(-epsilon)
    total = 1 + sum(8 * radius * shrink**radius for radius in range(1, 200))
    points = np.array([cube([0, 0], sensitivity=HISTOGRAM.times(entries), epsilon=entries * epsilon).values for _ in range(draws)])
    inside = np.abs(points).max(axis=1) <= 3
    found = np.zeros((7, 7))
    np.add.at(found, tuple((points[inside] + 3).T), 1)
    radius = np.maximum(*np.abs(np.mgrid[-3:4, -3:4]))
    expected = draws * shrink**radius / total
    rest = draws - expected.sum()
    statistic = ((found - expected) ** 2 / expected).sum() + (draws - inside.sum() - rest) ** 2 / rest
    assert statistic < chi2.isf(1e-8, 49)


@pytest.mark.parametrize("size", [1, 10, 60])
def test_the_cubes_noise_spreads_as_it_says(size: int) -> None:
    draws = np.array([cube(np.zeros(size, dtype=int), sensitivity=HISTOGRAM, epsilon=0.5).values for _ in range(4000)])
    assert math.sqrt((draws**2).mean()) == pytest.approx(cube_sd(size, 0.5), rel=0.15)


def test_the_noisy_maximum_finds_a_clear_one_and_misses_a_close_one() -> None:
    assert all(noisy_maximum([3, 900, 5], sensitivity=HISTOGRAM, epsilon=1.0).values == 1 for _ in range(50))
    close = [int(noisy_maximum([10, 11], sensitivity=HISTOGRAM, epsilon=0.5).values) for _ in range(400)]
    assert 100 < sum(close) < 380


@pytest.mark.parametrize("wrong", [[0.5], [math.nan], [math.inf], ["1"], [], [2**60], [True]])
def test_all_but_whole_numbers_is_refused(wrong: list[object]) -> None:
    for draw in (
        lambda values: discrete_gaussian(values, sensitivity=HISTOGRAM, rho=1.0),
        lambda values: discrete_laplace(values, sensitivity=HISTOGRAM, epsilon=1.0),
        lambda values: cube(values, sensitivity=HISTOGRAM, epsilon=1.0),
        lambda values: noisy_maximum(values, sensitivity=HISTOGRAM, epsilon=1.0),
    ):
        with pytest.raises(DataError, match="whole numbers"):
            draw(wrong)


@pytest.mark.parametrize("amount", [0.0, -1.0, math.nan, math.inf])
def test_noise_for_no_loss_or_all_of_it_is_refused(amount: float) -> None:
    with pytest.raises(DataError, match="above 0"):
        discrete_gaussian([1], sensitivity=HISTOGRAM, rho=amount)
    with pytest.raises(DataError, match="above 0"):
        cube([1], sensitivity=HISTOGRAM, epsilon=amount)


def test_the_shape_of_a_table_is_kept() -> None:
    assert discrete_gaussian(np.zeros((3, 4), dtype=int), sensitivity=HISTOGRAM, rho=1.0).values.shape == (3, 4)
    assert cube(np.zeros((3, 4), dtype=int), sensitivity=HISTOGRAM, epsilon=1.0).values.shape == (3, 4)


def test_the_lower_bound_is_below_the_truth_and_not_far_below() -> None:
    """Randomised response at ε = 1: the bound is right 99.9 % of the time, and near 1 with 100,000 answers."""
    rng = np.random.default_rng(13)
    says_one = math.e / (1 + math.e)
    worlds = [(rng.random(100_000) < probability).astype(float) for probability in (1 - says_one, says_one)]
    assert 0.9 < epsilon_at_least(*worlds) <= 1.0
    assert epsilon_at_least(worlds[0], worlds[0]) < 0.1


def test_an_interval_keeps_its_width_and_all_that_is_possible_where_noise_leaves_the_range() -> None:
    """A count of −7 ± 5 was told as 0, from 0 to 0: surely nobody."""
    for count in range(-30, 50):
        value, low, high = within_its_range(count, 5, low=0, high=20)
        assert 0 <= low <= value <= high <= 20
        assert high - low >= 5
        assert all(low <= possible <= high for possible in range(max(count - 5, 0), min(count + 5, 20) + 1))
