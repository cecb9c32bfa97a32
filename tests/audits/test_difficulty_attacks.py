"""Attacks on what is released about quiz items, and on calibrations that were published and are wrong: each must be caught.

The wrong ones draw noise that can be repeated, so their bounds are the same in each run. `tests/contracts` attacks the mechanisms on their
noisy numbers; here the attacker sees the final difficulties alone.
"""

from __future__ import annotations

import numpy as np
import pytest

from candor.privacy.auditing import epsilon_at_least
from candor.privacy.losses import Loss
from candor.rasch.conditional_likelihood import ScoreGroups
from candor.rasch.pairs.release import all_pairs, of_pairs
from candor.rasch.perturbed_objective.minimiser import calibration, perturbed_difficulties
from candor.rasch.small_quizzes import class_with, quiz
from tests.audits.published_calibrations import Algorithm1, counts_without_noise_on_zeros, differences_from_final_difficulties

DELTA = 1e-4
CLAIMED = 1.88
RHO = Loss.within(CLAIMED, DELTA).rho


@pytest.mark.parametrize(
    ("variance", "at_least", "at_most"),
    [(np.sqrt(10 * 9) / (2 * RHO), 2.8, np.inf), (of_pairs(all_pairs(10)).l2_squared / (2 * RHO), 0.5, CLAIMED)],
    ids=["Lemma 4.1", "corrected"],
)
def test_the_variance_of_lemma_4_1_is_refuted_from_the_final_difficulties_alone(variance, at_least, at_most):
    rng = np.random.default_rng(0)
    worlds = [differences_from_final_difficulties(world, 250_000, m=10, variance=variance, rng=rng) for world in (0, 1)]
    assert at_least <= epsilon_at_least(*worlds, delta=DELTA) <= at_most


def test_counts_without_noise_on_zeros_are_refuted():
    rng = np.random.default_rng(1)
    worlds = [counts_without_noise_on_zeros(world, 500_000, variance=36.0, rng=rng) for world in (0, 1)]
    assert epsilon_at_least(*worlds) >= 10


PAIR = tuple(np.vstack([np.ones((4, 5)), last]) for last in ([1, 1, 0, 0, 0], [1, 1, 1, 1, 1]))


def test_algorithm_1_is_refuted_by_outputs():
    """Nominal ε = 1, m = 5, N = 5, λ = .01."""
    algorithm, rng = Algorithm1(PAIR, epsilon=1.0), np.random.default_rng(2)
    worlds = [algorithm.scores(world, 20_000, rng) for world in (0, 1)]
    assert epsilon_at_least(*worlds) >= 2.5
    # The density itself says more than 20,000 outputs can: an output of world 0 in a hundred is e^4.4 times as likely there.
    assert np.quantile(worlds[0], 0.01) <= -4.4


def test_the_density_of_algorithm_1_is_right():
    """P₁(E) is the mean over world 0 of the density ratio on E: the scores of both worlds fit together."""
    algorithm, rng = Algorithm1(PAIR, epsilon=1.0), np.random.default_rng(3)
    in_0, in_1 = (algorithm.scores(world, 20_000, rng) for world in (0, 1))
    for below in (-2.0, -1.0, 0.0, 0.5):
        by_ratio = np.where(in_0 <= below, np.exp(in_0), 0.0)
        error = np.hypot(by_ratio.std(), (in_1 <= below).std()) / np.sqrt(20_000)
        assert abs(by_ratio.mean() - (in_1 <= below).mean()) < 5 * error


def test_corrected_objective_perturbation_stays_within_its_claim():
    """With its exact density ratio as the score; the noise is the operating system's, so the bound differs from run to run."""
    m, epsilon, runs = 3, 1.0, 800
    kappa, ridge = calibration(m, epsilon)
    # Few people: one of them matters most there.
    tables = [quiz(np.vstack([class_with([1, 0, 0])[:6], row])) for row in ([1, 0, 0], [0, 1, 1])]
    groups = [ScoreGroups.of(table) for table in tables]

    def log_density(world, difficulties):
        found = groups[world].derivatives(difficulties)
        noise = found.gradient - ridge * difficulties
        return -kappa * np.linalg.norm(noise) + np.log(np.linalg.eigvalsh(found.information + ridge * np.eye(m))).sum()

    worlds = []
    for table in tables:
        outputs = [np.array(perturbed_difficulties(table, epsilon=epsilon).difficulties) for _ in range(runs)]
        worlds.append(np.array([log_density(1, output) - log_density(0, output) for output in outputs]))
    # The exact ratio never exceeds the claim, up to the rounding of the output; nor does what outputs alone show.
    largest = max(float(np.abs(scores).max()) for scores in worlds)
    assert 0.3 * epsilon < largest <= epsilon + 0.01
    assert epsilon_at_least(*worlds, confidence=1 - 1e-7) <= epsilon
