"""Difficulties and students' feedback: intervals that cover, errors as small as the reference, predictions that come true.

Long: benchmarks/rasch.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.rasch import CELLS, COVERAGES, FEW_FAR_APART, LOSSES, SETTINGS, coverage, error
from candor.rasch.answers import QuizAnswers
from candor.rasch.before_spending import PAIRS, predicted_error
from candor.rasch.feedback import ability
from candor.rasch.item_difficulties import CONDITIONAL, SPECTRAL, item_difficulties
from tests.unit.candor.rasch.quizzes import simulated

TRIALS = 40
SMALL = SETTINGS[1]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_intervals_cover(setting):
    """Within .93 to .98, up to four standard errors of the mean of 40 quizzes (13 large ones), whose items miss together."""
    trials = TRIALS if setting.n < 100_000 else TRIALS // 3
    shares = np.array([coverage(setting, seed) for seed in range(trials)])
    chance = 4 * shares.std() / np.sqrt(trials)
    low, high = COVERAGES
    assert low - chance <= shares.mean() <= high + chance
    assert shares.mean() > 0.9


def test_intervals_of_few_items_far_apart_cover():
    """200 quizzes: .88 with the density of abilities taken for known, for which six items are too few."""
    assert np.mean([coverage(FEW_FAR_APART, seed) for seed in range(200)]) > 0.94


def test_intervals_without_the_noise_do_not_cover():
    """The negative control: the variance of the noise, which is most of the error in a small class, is said to be a tenth."""
    shares = [coverage(SMALL, seed, believed=0.1) for seed in range(TRIALS)]
    assert np.mean(shares) < 0.85


@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell.n * cell.m <= 20_000], ids=lambda cell: cell.name)
def test_errors_are_as_small_as_the_reference(cell):
    """5 % above the reference at most, up to four standard errors of the mean of the trials. The noise differs from run to run."""
    errors = np.array([error(cell, seed) for seed in range(TRIALS)])
    assert errors.mean() <= 1.05 * cell.reference + 4 * errors.std() / np.sqrt(TRIALS)
    if cell.method in LOSSES:
        predicted = predicted_error(n=cell.n, m=cell.m, loss=LOSSES[cell.method], mechanism=cell.method)
        factor = 1.5 if cell.method == PAIRS else 1.25
        chance = 1 + 4 * errors.std() / np.sqrt(TRIALS) / errors.mean()
        assert 1 / (factor * chance) <= predicted / errors.mean() <= factor * chance


@pytest.mark.parametrize("method", [CONDITIONAL, SPECTRAL])
def test_standard_errors_are_the_spread_over_repetitions(method):
    """200 quizzes of 300 people: a standard deviation from 200 has itself a relative standard error of 5 %, so 20 % is four of them."""
    rng = np.random.default_rng(2)
    difficulties, errors = [], []
    for _ in range(200):
        answers = simulated(rng, abilities=rng.normal(0, 1.5, size=300), difficulties=np.linspace(-2, 2, 6))
        found = item_difficulties(QuizAnswers.of(answers), method=method)
        difficulties.append([item.difficulty for item in found.items])
        errors.append([item.standard_error for item in found.items])
    np.testing.assert_allclose(np.std(difficulties, axis=0), np.mean(errors, axis=0), rtol=0.2)
    np.testing.assert_allclose(np.mean(difficulties, axis=0), np.linspace(-2, 2, 6), atol=0.07)


@pytest.mark.parametrize("m", [5, 20])
def test_intervals_cover_students_of_the_class(m):
    """2,000 students, difficulties known up to SD .2: within the binomial limits of .95 at 1e-6, which are .925 and .972."""
    rng = np.random.default_rng(m)
    hits = 0
    for _ in range(2000):
        beta = rng.normal(0.2, 1.1)
        released = np.linspace(-2, 2, m)
        right = rng.random(m) < 1 / (1 + np.exp(released + rng.normal(0, 0.2, m) - beta))
        found = ability(right.tolist(), difficulties=released.tolist(), deviations=[0.2] * m, class_mean=0.2, class_sd=1.1)
        hits += found.low <= beta <= found.high
    assert binom.ppf(1e-6, 2000, 0.95) <= hits <= binom.ppf(1 - 1e-6, 2000, 0.95)
