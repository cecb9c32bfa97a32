"""A student's feedback: against enumeration and integration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.stats import binom, norm

from candor.errors import DataError
from candor.rasch.feedback import ability, at_least, chances_right, score_distribution

DIFFICULTIES = [-1.2, -0.4, 0.1, 0.5, 1.0]
NONE = [0.0] * 5


def likelihood(beta, right):
    return np.prod([1 / (1 + np.exp((1 if x else -1) * (d - beta))) for x, d in zip(right, DIFFICULTIES, strict=True)])


@pytest.mark.parametrize("right", [[True] * 5, [False] * 5, [True, True, False, True, False]])
def test_the_posterior_against_integration(right):
    found = ability(right, difficulties=DIFFICULTIES, deviations=NONE, class_mean=0.3, class_sd=1.4)

    def weight(beta, power):
        return beta**power * likelihood(beta, right) * norm.pdf(beta, 0.3, 1.4)

    total, first, second = (quad(weight, -15, 15, args=(power,), epsabs=1e-13)[0] for power in range(3))
    assert found.value == pytest.approx(first / total, abs=1e-6)
    assert found.standard_deviation == pytest.approx(np.sqrt(second / total - (first / total) ** 2), abs=1e-6)
    for end, share in ((found.low, 0.025), (found.high, 0.975)):
        assert quad(weight, -15, end, args=(0,), epsabs=1e-13)[0] / total == pytest.approx(share, abs=1e-4)


@pytest.mark.parametrize("right", [[True] * 5, [False] * 5, [True, True, False, True, False]])
def test_warms_estimate_maximises_the_weighted_likelihood(right):
    """For the Rasch model Warm's estimate is where L·√I is largest (Jeffreys)."""

    def weighted(beta):
        p = 1 / (1 + np.exp(np.array(DIFFICULTIES) - beta))
        return -np.log(likelihood(beta, right)) - np.log((p * (1 - p)).sum()) / 2

    best = minimize_scalar(weighted, bounds=(-8, 8), method="bounded", options={"xatol": 1e-9}).x
    assert ability(right, difficulties=DIFFICULTIES, deviations=NONE).warm == pytest.approx(best, abs=1e-5)


def test_an_item_that_was_not_answered_says_nothing():
    with_gap = ability([True, None, False], difficulties=[0.0, 2.0, 0.5], deviations=[0.1, 0.1, 0.1])
    assert with_gap == ability([True, False], difficulties=[0.0, 0.5], deviations=[0.1, 0.1])


@pytest.mark.parametrize("deviation", [0.2, 0.5, 1.0])
def test_uncertain_difficulties_are_averaged_over(deviation):
    def weighted_chance(z, beta, delta):
        return norm.pdf(z) / (1 + np.exp(delta + deviation * z - beta))

    for beta, delta in product((-2.0, 0.0, 1.0), (-1.0, 0.0, 2.0)):
        exact = quad(weighted_chance, -9, 9, args=(beta, delta))[0]
        assert chances_right(beta, np.array([delta]), deviation)[0] == pytest.approx(exact, abs=0.01)


def test_uncertain_difficulties_widen_the_interval():
    sharp, unsure = (ability([True] * 4 + [False], difficulties=DIFFICULTIES, deviations=[sd] * 5) for sd in (0.0, 0.8))
    assert unsure.standard_deviation > sharp.standard_deviation


def test_scores_against_enumeration_and_the_binomial():
    chances = np.array([0.2, 0.5, 0.7, 0.9])
    expected = np.zeros(5)
    for answers in product((0, 1), repeat=4):
        expected[sum(answers)] += np.prod(np.where(answers, chances, 1 - chances))
    np.testing.assert_allclose(score_distribution(chances), expected, atol=1e-15)
    np.testing.assert_allclose(score_distribution(np.full(200, 0.3)), binom.pmf(range(201), 200, 0.3), atol=1e-15)
    assert at_least(chances, 3) == pytest.approx(expected[3:].sum())
    assert (at_least(chances, 0), at_least(chances, 5)) == (pytest.approx(1), 0)


@pytest.mark.parametrize(
    ("right", "difficulties", "deviations", "said"),
    [
        ([True], [0.0, 1.0], [0.1, 0.1], "an answer for each difficulty, found 1, 2 and 2"),
        ([None, None], [0.0, 1.0], [0.1, 0.1], "at least one answer, found none"),
        ([True, False], [0.0, 1.0], [0.1, -0.1], "deviations of at least 0"),
        ([True, False], [0.0, float("nan")], [0.1, 0.1], "finite difficulties"),
    ],
)
def test_impossible_feedback_is_refused(right, difficulties, deviations, said):
    with pytest.raises(DataError, match=said):
        ability(right, difficulties=difficulties, deviations=deviations)


def test_a_class_that_does_not_vary_is_refused():
    with pytest.raises(DataError, match="a class SD above 0"):
        ability([True, False], difficulties=[0.0, 1.0], deviations=[0.1, 0.1], class_sd=0.0)
