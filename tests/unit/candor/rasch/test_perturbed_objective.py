"""Objective perturbation: its two bounds, its noise, and that it gives the exact minimum or nothing."""

from __future__ import annotations

from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import gamma, kstest

from candor.errors import DataError, MethodError
from candor.rasch import conditional_likelihood
from candor.rasch.answers import Omitted, QuizAnswers
from candor.rasch.conditional_likelihood import ScoreGroups, most_likely_difficulties
from candor.rasch.perturbed_objective.minimiser import calibration, noise_of_length_gamma, perturbed_difficulties
from candor.rasch.small_quizzes import complete_rows, quiz
from tests.unit.candor.rasch.quizzes import lsat6

LSAT6 = QuizAnswers.of(lsat6())


def slope_and_curvature(row, difficulties):
    """One person's gradient of −ln L, and the curvature."""
    found = ScoreGroups.of(quiz(row[None, :])).derivatives(difficulties) if 0 < row.sum() < len(row) else None
    m = len(row)
    return (-found.gradient, found.information) if found else (np.zeros(m), np.zeros((m, m)))


@pytest.mark.parametrize("m", [2, 3, 4])
def test_two_rows_move_the_slope_by_at_most_the_root_of_2m(m):
    """Every pair of rows, at difficulties near and far."""
    rng = np.random.default_rng(m)
    largest = 0.0
    for spread in (0.1, 1.0, 3.0, 8.0):
        for _ in range(8):
            difficulties = rng.normal(0, spread, m)
            slopes = [slope_and_curvature(row, difficulties - difficulties.mean())[0] for row in complete_rows(m)]
            largest = max(largest, *(float(np.linalg.norm(first - second)) for first, second in combinations(slopes, 2)))
    assert 0.6 * np.sqrt(2 * m) < largest <= np.sqrt(2 * m)


@pytest.mark.parametrize(("m", "ridge"), [(2, 0.3), (3, 0.05), (4, 1.0), (5, 20.0)])
def test_one_person_moves_the_determinant_by_at_most_the_bound(m, ridge):
    rng = np.random.default_rng(m)
    bound = (m - 1) * np.log1p(m / (4 * ridge * (m - 1)))
    largest = 0.0
    for spread in (0.01, 1.0, 4.0):
        difficulties = rng.normal(0, spread, m)
        for row in complete_rows(m):
            curvature = slope_and_curvature(row, difficulties)[1]
            values = np.linalg.eigvalsh(curvature)
            assert abs(values[0]) < 1e-9
            largest = max(largest, float(np.log1p(values[1:] / ridge).sum()))
    assert 0.6 * bound < largest <= bound


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("m", [2, 20, 200])
def test_both_parts_spend_the_budget(m, epsilon):
    kappa, ridge = calibration(m, epsilon)
    assert kappa * np.sqrt(2 * m) + (m - 1) * np.log1p(m / (4 * ridge * (m - 1))) == pytest.approx(epsilon)


def test_the_noise_has_the_length_and_the_directions_that_it_should_have():
    draws = np.array([noise_of_length_gamma(4, 0.5) for _ in range(4000)])
    assert np.abs(draws.sum(axis=1)).max() < 1e-9
    # Operating-system randomness cannot be repeated: a limit that right noise breaks once in a billion runs.
    assert kstest(np.linalg.norm(draws, axis=1), gamma(3, scale=2).cdf).pvalue > 1e-9
    covariance = draws.T @ draws / len(draws)
    expected = (np.eye(4) - 1 / 4) * (3 * 4 * 4) / 3
    np.testing.assert_allclose(covariance, expected, atol=2.5)


def test_it_is_the_minimum_by_a_general_optimiser():
    groups = ScoreGroups.of(LSAT6)
    slope = np.array([30.0, -50.0, 10.0, 0.0, 10.0])
    found, _ = most_likely_difficulties(groups, ridge=4.0, slope=slope)

    def objective(free):
        at = np.append(free, -free.sum())
        return -groups.derivatives(at).log_likelihood + 2 * at @ at + slope @ at

    np.testing.assert_allclose(found[:4], minimize(objective, np.zeros(4), method="BFGS", options={"gtol": 1e-7}).x, atol=1e-5)


def test_a_class_in_which_nobody_tells_items_apart_is_answered_as_every_other():
    """Attack: a refusal would say for sure that no student solved some items and not others. The noise alone has its minimum at −b/λ."""
    alike = QuizAnswers.of(np.repeat([[1] * 4, [0] * 4], 25, axis=0), omitted=Omitted.WRONG)
    slope = np.array([3.0, -5.0, 1.0, 1.0])
    found, _ = most_likely_difficulties(ScoreGroups.of(alike), ridge=4.0, slope=slope)
    np.testing.assert_allclose(found, -slope / 4, atol=1e-9)
    assert np.isfinite(perturbed_difficulties(alike, epsilon=1.0).difficulties).all()
    with pytest.raises(MethodError, match="nobody solved some items and not others"):
        most_likely_difficulties(ScoreGroups.of(alike))


def test_it_is_rounded_and_marked():
    found = perturbed_difficulties(LSAT6, epsilon=2.0)
    assert all(value == round(value, 3) for value in found.difficulties)
    assert found.note.startswith("comparison, not for release")
    assert found.loss.pure_epsilon == 2.0


def test_what_does_not_converge_gives_nothing():
    with patch.object(conditional_likelihood, "STEPS", 1), pytest.raises(MethodError, match="did not converge within 1 steps"):
        perturbed_difficulties(LSAT6, epsilon=1.0)


def test_omitted_answers_that_do_not_count_are_refused():
    with pytest.raises(DataError, match="needs complete rows"):
        perturbed_difficulties(QuizAnswers.of(lsat6(), omitted=Omitted.NOT_GIVEN), epsilon=1.0)
