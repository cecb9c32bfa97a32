"""The bounds of an audit lie below the truth, and near it; each is compared with losses that are known exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from candor.privacy.auditing import Audit, epsilon_at_least, rho_at_least
from candor.privacy.losses import Loss


def gaussian(rho: float, runs: int, seed: int) -> list[np.ndarray]:
    """Scores in two worlds of a mechanism that is exactly ρ-zCDP, and no better: Gaussian noise of variance 1 on a change of √(2ρ)."""
    rng = np.random.default_rng(seed)
    return [rng.normal(world * math.sqrt(2 * rho), 1, runs) for world in (0, 1)]


@pytest.mark.parametrize("rho", [0.05, 0.5, 2.0])
def test_the_bound_of_rho_lies_below_the_truth_and_near_it(rho: float) -> None:
    assert 0.5 * rho < rho_at_least(*gaussian(rho, 200_000, seed=1)) <= rho


def test_a_true_rho_is_not_refuted() -> None:
    """At 90 % confidence three of 30 true claims may be; the bound of an event leaves room, so that fewer are."""
    assert sum(rho_at_least(*gaussian(0.5, 1000, seed=seed), confidence=0.9) > 0.5 for seed in range(30)) == 0


def test_the_bound_of_rho_is_that_of_two_coins() -> None:
    """An event that happens with chance 0.8 and 0.2: D_α by hand at α = 2 gives ρ ≥ ln(0.8²/0.2 + 0.2²/0.8)/2 = 0.589, and α → 1 the
    divergence of Kullback and Leibler, 0.6·ln 4 = 0.832. Intervals of 200,000 coins leave nearly all of it."""
    worlds = [np.repeat([1.0, 0.0], [ones, 5 - ones]).tolist() * 40_000 for ones in (1, 4)]
    found = rho_at_least(*(np.array(world) for world in worlds))
    assert 0.589 < found < 0.832
    assert found > 0.8


@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_the_bound_of_epsilon_is_that_of_two_coins(delta: float) -> None:
    """A quarter of 4,000 coins chooses the event; intervals of the others are those of statsmodels."""
    ones, others = (np.resize(np.repeat([1.0, 0.0], [most, 5 - most]), 4000) for most in (4, 1))
    low, _ = proportion_confint(2400, 3000, alpha=0.001, method="beta")
    _, high = proportion_confint(600, 3000, alpha=0.001, method="beta")
    for worlds in ((ones, others), (others, ones)):
        assert epsilon_at_least(*worlds, delta=delta) == pytest.approx(math.log((low - delta) / high))
        assert epsilon_at_least(*worlds, delta=0.9) == 0, "an event that δ allows tells nothing"


def test_two_equal_worlds_tell_nothing() -> None:
    worlds = gaussian(0.5, 4000, seed=2)
    assert rho_at_least(worlds[0], worlds[0]) == 0
    assert epsilon_at_least(worlds[0], worlds[0]) < 0.2


def test_a_claim_of_rho_is_attacked_as_such() -> None:
    """(ε, δ) of Gaussian noise is far below what ρ allows, so that the probabilities of an event at δ hardly reach half of it."""
    worlds = gaussian(2.0, 4000, seed=3)
    claim = Loss.zcdp(2.0)
    found = Audit(claim, lambda world, runs: worlds[world][:runs]).epsilon_at_least(4000)
    assert all(0.5 * claim.epsilon(delta) < bound < claim.epsilon(delta) for delta, bound in found.items())
    assert all(epsilon_at_least(*worlds, delta=delta) < bound for delta, bound in found.items() if delta < 0.1)
    too_small = Audit(Loss.zcdp(0.8), lambda world, runs: worlds[world][:runs])
    assert too_small.excess(4000) > 0
