"""Difficulties from noisy counts: without noise they are the ordinary ones, and the constants do what they say."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest

from candor.errors import DataError, TooFewResponsesError
from candor.rasch import noise_aware
from candor.rasch.answers import Omitted, QuizAnswers
from candor.rasch.item_difficulties import item_difficulties
from candor.rasch.noise_aware import NoisyStatistics, estimate_from_noisy_statistics
from tests.unit.candor.rasch.quizzes import lsat6, simulated

RNG = np.random.default_rng(7)
LARGE = QuizAnswers.of(simulated(RNG, abilities=RNG.normal(0.5, 1.3, size=20_000), difficulties=np.linspace(-2, 2, 12)))


def statistics(answers, *, variance=1e-6, rng=None):
    """Counts with rounded normal noise of this variance, or nearly without."""

    def noisy(counts):
        noise = np.zeros(len(counts)) if rng is None else rng.normal(0, np.sqrt(variance), len(counts))
        return tuple(np.rint(counts + noise).astype(int).tolist())

    return NoisyStatistics(
        n=answers.n,
        totals=noisy(answers.totals()),
        totals_variance=variance,
        score_counts=noisy(answers.score_counts()),
        score_variance=variance,
    )


@pytest.mark.parametrize("answers", [QuizAnswers.of(lsat6()), LARGE], ids=["LSAT6", "20,000 people"])
def test_without_noise_it_agrees_with_conditional_likelihood(answers):
    """Within a third of a standard error: the two use the same totals, and differ by the prior and by the density of abilities."""
    noisy, exact = estimate_from_noisy_statistics(statistics(answers)), item_difficulties(answers)
    for value, item in zip(noisy.difficulties, exact.items, strict=True):
        assert abs(value - item.difficulty) < item.standard_error / 3


def test_it_finds_how_abilities_are_spread():
    found = estimate_from_noisy_statistics(statistics(LARGE)).abilities
    assert (found.mean, found.standard_deviation) == (pytest.approx(0.5, abs=0.05), pytest.approx(1.3, abs=0.05))
    assert sum(found.shares) == pytest.approx(1)
    assert not found.assumed


def test_two_classes_in_one_course_are_seen():
    rng = np.random.default_rng(1)
    abilities = np.where(rng.random(20_000) < 0.5, -2.0, 2.0) + rng.normal(0, 0.3, 20_000)
    answers = QuizAnswers.of(simulated(rng, abilities=abilities, difficulties=np.linspace(-2, 2, 20)))
    found = estimate_from_noisy_statistics(statistics(answers, variance=50.0, rng=rng)).abilities
    shares, values = np.array(found.shares), np.array(found.values)
    middle = shares[np.abs(values - found.mean) < 0.4].max()
    assert shares[values < found.mean - 1].max() > 2 * middle
    assert shares[values > found.mean + 1].max() > 2 * middle


def test_the_order_of_items_does_not_matter():
    noisy = statistics(LARGE, variance=100.0, rng=np.random.default_rng(2))
    order = np.random.default_rng(3).permutation(12)
    turned = replace(noisy, totals=tuple(noisy.totals[place] for place in order))
    there, back = estimate_from_noisy_statistics(noisy), estimate_from_noisy_statistics(turned)
    np.testing.assert_allclose(back.difficulties, np.array(there.difficulties)[order], atol=1e-9)
    assert sum(there.difficulties) == pytest.approx(0)


def test_more_noise_means_wider_intervals_and_never_a_failure():
    """Also where the noisy counts are impossible: negative, or more than there are people."""
    small = QuizAnswers.of(lsat6()[:40])
    deviations = []
    for variance in (1.0, 1e2, 1e4, 1e6):
        found = estimate_from_noisy_statistics(statistics(small, variance=variance, rng=np.random.default_rng(4)))
        assert np.isfinite(found.difficulties).all()
        deviations.append(np.mean(found.standard_deviations))
    assert deviations == sorted(deviations)


def test_items_that_all_or_nobody_solved_stay_in():
    table = np.column_stack([lsat6(), np.ones(1000), np.zeros(1000)])
    found = estimate_from_noisy_statistics(statistics(QuizAnswers.of(table), variance=25.0, rng=np.random.default_rng(8)))
    assert np.argmin(found.difficulties) == 5
    assert np.argmax(found.difficulties) == 6
    assert np.isfinite(found.difficulties).all()
    # Nobody knows how much easier, or harder: only the prior says that it is not infinitely so.
    assert min(found.standard_deviations[5:]) > 2 * max(found.standard_deviations[:5])


def test_more_rounds_change_nothing_that_matters():
    """ROUNDS: later ones move a difficulty by less than a third of its standard deviation."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        answers = QuizAnswers.of(simulated(rng, abilities=rng.normal(size=1000), difficulties=rng.normal(size=20)))
        noisy = statistics(answers, variance=250.0, rng=rng)
        found = estimate_from_noisy_statistics(noisy)
        with patch.object(noise_aware, "ROUNDS", 60):
            longer = estimate_from_noisy_statistics(noisy)
        moved = np.abs(np.array(found.difficulties) - longer.difficulties) / found.standard_deviations
        assert moved.max() < 1 / 3


@pytest.mark.parametrize("variance", [1e-6, 100.0, 1e6])
def test_a_finer_grid_changes_nothing_that_matters(variance):
    """STEPS_PER_ERROR: a hundredth of a standard deviation, in a class of 20,000 too."""
    noisy = statistics(LARGE, variance=variance, rng=np.random.default_rng(5))
    found = estimate_from_noisy_statistics(noisy)
    with patch.object(noise_aware, "STEP", 0.01), patch.object(noise_aware, "STEPS_PER_ERROR", 8.0):
        fine = estimate_from_noisy_statistics(noisy)
    error = np.array(fine.standard_deviations)
    np.testing.assert_allclose(found.difficulties / error, fine.difficulties / error, atol=0.01)
    np.testing.assert_allclose(found.standard_deviations, error, rtol=0.01)


def test_given_answers_are_the_people_who_count():
    """Half of the people skip each item: the totals halve, the difficulties stay."""
    rng = np.random.default_rng(6)
    answers = simulated(rng, abilities=rng.normal(size=20_000), difficulties=np.linspace(-2, 2, 6))
    answers[rng.random(answers.shape) < np.array([0.0, 0.2, 0.4, 0.6, 0.8, 0.5])] = np.nan
    quiz = QuizAnswers.of(answers, omitted=Omitted.NOT_GIVEN)
    found = estimate_from_noisy_statistics(
        NoisyStatistics(n=quiz.n, totals=tuple(quiz.totals().tolist()), answered=tuple(quiz.answered().tolist()), totals_variance=100.0)
    )
    np.testing.assert_allclose(found.difficulties, np.linspace(-2, 2, 6), atol=0.1)
    assert found.abilities.assumed
    # Fewer people tell less.
    assert found.standard_deviations[4] > 1.5 * found.standard_deviations[1]


@pytest.mark.parametrize(
    ("changed", "error", "said"),
    [
        ({"totals": (1,)}, DataError, "2 to 200 items, found 1"),
        ({"n": 19}, TooFewResponsesError, "found 19"),
        ({"score_counts": (1, 2)}, DataError, "expected 13 noisy counts of scores, found 2"),
        ({"answered": (1, 2)}, DataError, "expected 12 noisy counts of given answers, found 2"),
        ({"totals_variance": 0.0}, DataError, "variances of the noise above 0"),
        ({"totals_variance": float("nan")}, DataError, "variances of the noise above 0"),
        ({"score_variance": None}, DataError, "variances of the noise above 0"),
    ],
)
def test_impossible_statistics_are_refused(changed, error, said):
    with pytest.raises(error, match=said):
        replace(statistics(LARGE), **changed)
