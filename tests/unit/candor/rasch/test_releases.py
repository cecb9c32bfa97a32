"""Releases: what they keep, what they refuse, and that everything follows from the noisy numbers."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from candor.errors import DataError, TooFewResponsesError
from candor.privacy.losses import Loss, LossError
from candor.privacy.noise import cube_sd, laplace_sd
from candor.rasch.answers import Omitted, QuizAnswers
from candor.rasch.before_spending import GAUSSIAN, MECHANISMS, NOT_GIVEN, PAIRS, PURE, NoiseError, budget, predicted_error, warning
from candor.rasch.pairs.release import all_pairs, difficulties_of_pairs, of_pairs, sparse_pairs
from candor.rasch.persons_and_items.release import difficulties_of_persons_and_items
from candor.rasch.releases import estimate_released, release_difficulties
from candor.rasch.spectral import spectral_difficulties
from tests.unit.candor.rasch.quizzes import simulated

RNG = np.random.default_rng(11)
TRUTH = np.linspace(-1.5, 1.5, 10)
TABLE = simulated(RNG, abilities=RNG.normal(size=4000), difficulties=TRUTH)
QUIZ = QuizAnswers.of(TABLE)
NOT_GIVEN_QUIZ = QuizAnswers.of(TABLE, omitted=Omitted.NOT_GIVEN)
LOSS = Loss.pure(1.0)


def noise_of(mechanism, epsilon):
    """Variance on a total (or pair), and on a score: squared sensitivities for ten items over twice their share of ρ, or a share of ε."""
    rho = epsilon**2 / 2
    return {
        GAUSSIAN: [10 / (2 * 0.9 * rho), 2 / (2 * 0.1 * rho)],
        PURE: [cube_sd(10, 0.9 * epsilon) ** 2, laplace_sd(2 / (0.1 * epsilon)) ** 2],
        NOT_GIVEN: [20 / (2 * rho), None],
        PAIRS: [50 / (2 * rho), None],
    }[mechanism]


@pytest.mark.parametrize("epsilon", [1.0, 2.0])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_release_is_right_paid_and_repeatable_from_its_noisy_numbers(mechanism, epsilon):
    quiz, loss = NOT_GIVEN_QUIZ if mechanism == NOT_GIVEN else QUIZ, Loss.pure(epsilon)
    release = release_difficulties(quiz, loss=loss, mechanism=mechanism)
    # Eight predicted standard errors: never by chance.
    assert np.abs(np.array([item.difficulty for item in release.items]) - TRUTH).max() < 8 * release.predicted_error
    assert 0.999 * loss.rho < release.loss.rho <= loss.rho or mechanism == PURE
    assert (release.loss.pure_epsilon is not None) == (mechanism == PURE)
    assert estimate_released(release.statistics, items=quiz.items) == (release.items, release.abilities)
    assert json.loads(json.dumps(asdict(release), allow_nan=False))["n"] == 4000
    for one in release.items:
        half = None if mechanism == PAIRS else 1.959964 * one.standard_deviation
        ends = (None, None) if half is None else pytest.approx((one.difficulty - half, one.difficulty + half), abs=1e-6)
        assert (one.low, one.high) == ends
    told, (variance, of_scores) = asdict(release.statistics), noise_of(mechanism, epsilon)
    assert [told.get("totals_variance", told.get("variance")), told.get("score_variance")] == pytest.approx([variance, of_scores], rel=1e-9)
    slope = {NOT_GIVEN: 1.25 / 0.18**2, PAIRS: 2 * 9 / (10 * 0.11) ** 2}.get(mechanism, 1 / 0.18**2)
    assert release.predicted_error == pytest.approx(np.sqrt(1 / (0.18 * 4000) + slope * variance / 4000**2), rel=1e-9)


def test_a_pure_release_costs_what_was_asked_for():
    release = release_difficulties(QUIZ, loss=LOSS, mechanism=PURE)
    assert release.loss.pure_epsilon == pytest.approx(1.0)
    with pytest.raises(LossError, match="a pure release needs a budget of pure ε"):
        release_difficulties(QUIZ, loss=Loss.zcdp(0.5), mechanism=PURE)


def test_two_releases_differ():
    first, second = (release_difficulties(QUIZ, loss=LOSS).statistics for _ in range(2))
    assert first.totals != second.totals
    assert first.score_counts != second.score_counts


def test_no_noisy_number_is_left_as_it_was():
    """Of 100 empty counts with noise of SD 6, all stay 0 with chance below 1e-100."""
    quiz = QuizAnswers.of(np.tile(np.tril(np.ones((10, 10))), (50, 1)))
    release = release_difficulties(quiz, loss=LOSS, mechanism=PAIRS)
    exact = quiz.solved_first_not_second()
    noisy_zeros = [count for (i, j), count in zip(release.statistics.pairs, release.statistics.counts, strict=True) if exact[i, j] == 0]
    assert len(noisy_zeros) == 45
    assert np.count_nonzero(noisy_zeros) > 20
    scores = release_difficulties(quiz, loss=LOSS).statistics
    assert np.std(scores.score_counts) > 0


def test_a_sparse_graph_is_connected_and_cheaper():
    graph = sparse_pairs(60)
    assert connected_components(graph, directed=False)[0] == 1
    assert (graph == graph.T).all()
    assert not graph.diagonal().any()
    assert of_pairs(graph).l2_squared == graph.sum() < of_pairs(all_pairs(60)).l2_squared
    release = release_difficulties(QUIZ, loss=LOSS, mechanism=PAIRS, sparse=True, although_noise=True)
    assert len(release.statistics.pairs) == len(release.statistics.counts) <= 90


def test_the_rule_for_omitted_answers_decides_the_mechanism():
    for quiz, mechanism in ((NOT_GIVEN_QUIZ, GAUSSIAN), (NOT_GIVEN_QUIZ, PURE), (QUIZ, NOT_GIVEN)):
        with pytest.raises(DataError, match=f"the mechanism {mechanism} does not fit the rule"):
            release_difficulties(quiz, loss=LOSS, mechanism=mechanism)
    with pytest.raises(DataError, match="expected one of totals_and_scores"):
        release_difficulties(QUIZ, loss=LOSS, mechanism="laplace")


def test_a_release_that_would_be_noise_needs_a_word():
    few = QuizAnswers.of(np.tile(TABLE[:62], (1, 1)))
    little = Loss.pure(0.1)
    said = warning(n=62, m=10, loss=little)
    with pytest.raises(NoiseError, match=r"This would be noise\. With 62 people and 10 items"):
        release_difficulties(few, loss=little)
    assert "standard error" in said
    assert warning(n=4000, m=10, loss=LOSS) is None
    found = release_difficulties(few, loss=little, although_noise=True)
    assert found.predicted_error > 0.5
    assert np.isfinite([item.difficulty for item in found.items]).all()


def test_the_class_of_the_paper_cannot_be_released():
    """62 students and 16 items at ε = 1, whatever the paper's figures say."""
    assert predicted_error(n=62, m=16, loss=budget(n=62, epsilon=1.0, delta=1e-4)) > 1


def test_the_prediction_depends_on_public_numbers_alone_and_is_the_documented_one():
    loss = Loss.zcdp(0.04)
    noise = np.sqrt(20 / (2 * 0.9 * 0.04))
    assert predicted_error(n=500, m=20, loss=loss) == pytest.approx(np.sqrt(1 / 90 + (noise / 90) ** 2))
    with pytest.raises(TooFewResponsesError):
        predicted_error(n=19, m=20, loss=loss)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, 1e-10, 10.1, float("nan"), float("inf")])
def test_other_epsilons_are_refused(epsilon):
    with pytest.raises(LossError, match=r"ε must be (above 0 and at most 10|at least 1e-09), found"):
        budget(n=100, epsilon=epsilon)


@pytest.mark.parametrize("delta", [0.0, -1e-6, 0.001, 0.5, float("nan")])
def test_a_delta_that_would_allow_to_publish_somebody_is_refused(delta):
    with pytest.raises(LossError, match=r"below 1/\(10·100\) = 0.001"):
        budget(n=100, epsilon=1.0, delta=delta)


def test_budgets():
    assert budget(n=100, epsilon=10.0).pure_epsilon == 10
    assert budget(n=100, epsilon=1.0, delta=0.0009).epsilon(0.0009) <= 1.0


def test_the_joint_likelihood_of_exact_scores_and_totals():
    """Its well-known bias is m/(m − 1): with 10 items the difficulties come out about a ninth too far apart."""
    noisy = np.concatenate([QUIZ.scores(), QUIZ.totals()])
    found = difficulties_of_persons_and_items(noisy, m=10)
    assert np.polyfit(TRUTH, found, 1)[0] == pytest.approx(10 / 9, abs=0.05)


def test_weights_make_the_walk_over_pairs_more_precise():
    """50 quizzes: a fifth less error than by the walk of the paper, in which each pair counts alike."""
    graph, variance, errors = all_pairs(20), 2500.0, []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        truth = rng.normal(size=20)
        truth -= truth.mean()
        exact = QuizAnswers.of(simulated(rng, abilities=rng.normal(size=1000), difficulties=truth)).solved_first_not_second()
        noisy = np.rint(exact[graph] + rng.normal(0, np.sqrt(variance), graph.sum())).astype(int)
        plain = np.zeros((20, 20))
        plain[graph] = np.maximum(noisy, 1)
        for found in (difficulties_of_pairs(noisy, graph=graph, variance=variance), spectral_difficulties(plain)):
            errors.append(np.sqrt(np.mean((found - truth) ** 2)))
    weighted, alike = np.reshape(errors, (50, 2)).mean(axis=0)
    assert weighted < 0.9 * alike


def test_weights_change_nothing_without_noise():
    """Exact expected counts agree with the model, so each weight gives the same difficulties."""
    truth = np.array([-1.0, -0.2, 0.3, 0.9])
    expected = 1e8 * np.exp(truth - truth[:, None]) / (1 + np.exp(truth - truth[:, None]))
    graph = all_pairs(4)
    found = difficulties_of_pairs(np.rint(expected[graph]).astype(int), graph=graph, variance=1.0)
    np.testing.assert_allclose(found, truth, atol=1e-6)
