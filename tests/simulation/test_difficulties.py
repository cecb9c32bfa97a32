"""Released difficulties: intervals that cover, errors as small as the reference, predictions that come true. Long: benchmarks/rasch.py."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.rasch import CELLS, COVERAGES, LOSSES, SETTINGS, coverage, error
from candor.rasch.before_spending import PAIRS, predicted_error

TRIALS = 40


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_intervals_cover(setting):
    """Within .93 to .98, up to four standard errors of the mean of 40 quizzes (13 large ones), whose items miss together."""
    trials = TRIALS if setting.n < 100_000 else TRIALS // 3
    shares = np.array([coverage(setting, seed) for seed in range(trials)])
    chance = 4 * shares.std() / np.sqrt(trials)
    low, high = COVERAGES
    assert low - chance <= shares.mean() <= high + chance
    assert shares.mean() > 0.9


def test_intervals_without_the_noise_do_not_cover():
    """The negative control: the variance of the noise is said to be a tenth."""
    shares = [coverage(SETTINGS[0], seed, believed=0.1) for seed in range(TRIALS)]
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
