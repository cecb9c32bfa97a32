"""The rule at the boundary, against likelihoods maximised by brute force."""

import numpy as np
import pytest
from scipy import optimize
from scipy.special import xlogy

from candor.designs.design import Design, FloatArray
from candor.estimators.cheaters import (
    cheater_proportion_kernel,
    constrained_honest_proportion,
    log_likelihood_if_everybody_is_honest,
    log_likelihood_if_nobody_is_honest,
)


def brute_force(table: FloatArray, design: Design) -> float:
    """The log-likelihood at x = 1 with every arm's prevalence found by a bounded search."""
    total = 0.0
    for arm in table:

        def loss(p: float, arm: FloatArray = arm) -> float:
            mean = design.truth * p + design.forced_yes
            return -float((arm[:, 1] * np.log(mean) + arm[:, 0] * np.log(1 - mean)).sum())

        found = optimize.minimize_scalar(loss, bounds=(0, 1), method="bounded", options={"xatol": 1e-12})
        total -= min(found.fun, loss(0.0), loss(1.0))
    return total


def test_the_honest_likelihood_is_the_maximum_over_prevalences(design: Design) -> None:
    tables = np.random.default_rng(1).integers(0, 30, size=(20, *design.shape, 2)).astype(float)
    fast = log_likelihood_if_everybody_is_honest(tables, design)
    assert fast == pytest.approx([brute_force(table, design) for table in tables], rel=1e-7)


def test_if_nobody_is_honest_everybody_answers_yes_at_one_rate(mirrored: Design, symmetric: Design) -> None:
    table = np.array([[[3.0, 1], [2, 2]], [[4, 0], [1, 3]]])
    assert log_likelihood_if_nobody_is_honest(table, mirrored) == pytest.approx(6 * np.log(6 / 16) + 10 * np.log(10 / 16))
    assert log_likelihood_if_nobody_is_honest(table, symmetric) == -np.inf


def test_inside_the_unit_interval_nothing_changes(mirrored: Design) -> None:
    tables = np.ones((3, 2, 2, 2))
    assert constrained_honest_proportion(tables, np.array([0.0, 0.4, 1.0]), mirrored).tolist() == [0, 0.4, 1]


def test_outside_the_more_likely_end_is_taken(identified_design: Design) -> None:
    tables = np.random.default_rng(4).integers(0, 25, size=(400, *identified_design.shape, 2)).astype(float) + 1
    estimate = cheater_proportion_kernel(tables, identified_design)
    outside = (estimate.raw < -1e-6) | (estimate.raw > 1 + 1e-6)
    assert outside.sum() > 50
    for table, value in zip(tables[outside], estimate.constrained[outside], strict=True):
        no, yes = table.sum(axis=(0, 1))
        known = identified_design.cheater_model.yes_rate
        rate = yes / (no + yes) if known is None else float(known)
        nobody = xlogy(yes, rate) + xlogy(no, 1 - rate)
        assert value == (0 if brute_force(table, identified_design) >= nobody else 1)


def test_rounding_does_not_push_a_zero_over_the_boundary(mirrored: Design) -> None:
    """Both subsamples say yes half of the time: x̂ = 0 although floating point says −1e-16; λ̂ is 1, not 0 by the rule for x̂ < 0."""
    estimate = cheater_proportion_kernel(np.array([[[60.0, 40], [60, 40]], [[40, 60], [40, 60]]]), mirrored)
    assert float(estimate.constrained) == pytest.approx(1)


def test_more_yes_than_honesty_allows_means_no_cheaters(mirrored: Design) -> None:
    """Subsample means .2 and .8: x̂ = 3.6, so the raw λ̂ is −2.6 and the constrained one 0."""
    table = np.array([[[80.0, 20], [20, 80]], [[80, 20], [20, 80]]])
    estimate = cheater_proportion_kernel(table, mirrored)
    assert float(estimate.raw) == pytest.approx(-2.6)
    assert float(estimate.constrained) == 0


def test_nobody_honest_means_one_rate_for_every_arm_where_cheaters_may_differ_by_arm(three_subsamples: Design) -> None:
    """The arms differ, the subsamples do not: with one rate for all that speaks for honest people, with one for each arm it does not."""
    table = np.array([[[80.0, 20], [80, 20], [80, 20]], [[20, 80], [20, 80], [20, 80]]])
    raw = np.asarray(-0.01)
    assert constrained_honest_proportion(table[None], raw[None], three_subsamples).tolist() == [1]
    assert constrained_honest_proportion(table[None], raw[None], three_subsamples, arm_specific_cheaters=True).tolist() == [0]
    by_arm = log_likelihood_if_nobody_is_honest(table, three_subsamples, arm_specific_cheaters=True)
    assert float(by_arm) == pytest.approx(600 * (0.2 * np.log(0.2) + 0.8 * np.log(0.8)))
