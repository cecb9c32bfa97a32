"""Properties of estimators that only many trials can show; each tolerance is derived where it is used, and all seeds are fixed."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from candor.adjustment.covariates import model_matrix, notes_about_balance
from candor.designs.design import Design, FloatArray
from candor.estimators.cell_means import efficient_kernel, maximum_likelihood_fit
from candor.estimators.difference_in_means import difference_in_means_kernel
from candor.likelihood.maximum import maximise
from candor.likelihood.polytope import Polytope
from candor.likelihood.region import likelihood_region, quantile, quantile_for_effects
from candor.sequences.boundary import anytime_multiplier, tuned_rho
from tests.designs import Cells, means_of, some_tables


def test_the_spread_of_many_trials_is_the_standard_error_and_no_larger_than_the_simple_one(
    identified_design: Design, cell_probabilities: Cells
) -> None:
    """20,000 trials: the standard deviation has a relative error of .5 %; four of those and 1 % for curvature at n = 20,000."""
    tables = some_tables(identified_design, cell_probabilities, n=20_000, trials=20_000)
    efficient, simple = efficient_kernel(tables, identified_design), difference_in_means_kernel(tables, identified_design)
    for name in ("honest_times_effect", "honest_proportion"):
        spread = getattr(efficient, name).std(axis=0)
        assert spread == pytest.approx(np.sqrt(getattr(efficient, f"{name}_variance").mean(axis=0)), rel=0.03)
        assert np.all(spread <= 1.01 * getattr(simple, name).std(axis=0))


def test_the_specification_statistic_is_chi_squared_when_the_model_holds(design: Design, cell_probabilities: Cells) -> None:
    """The share of 20,000 trials above the 95 % quantile is within 4·√(.05·.95/20000) = .0062 of .05; 0.003 more for n = 5,000."""
    fit = maximum_likelihood_fit(some_tables(design, cell_probabilities, n=5000, trials=20_000), design)
    alarms = (fit.statistic > stats.chi2.ppf(0.95, fit.df)).mean()
    assert alarms == pytest.approx(0.05, abs=0.0092)
    assert fit.converged.all()


def test_the_region_holds_what_the_design_leaves_open_and_narrows_to_its_bounds(symmetric_unknown: Design) -> None:
    """Nobody cheats and few would say yes, at an end of what the design leaves open. 400 trials at .95 hold in 356 or more with probability
    1 − 10⁻⁶."""
    rng, truth = np.random.default_rng(11), means_of(symmetric_unknown, 1.0, (0.02, 0.6), 0.5)
    yes = rng.binomial(150, truth, size=(400, 2, 2))
    tables, polytope = np.stack([150 - yes, yes], axis=-1).reshape(400, 4, 2).astype(float), Polytope(design=symmetric_unknown)
    best = maximise(tables, polytope.free()).log_likelihood
    held = 2 * (best - maximise(tables, polytope.at_effect(0, 0.58)).log_likelihood) <= quantile(0.95) ** 2
    assert held.sum() >= 356
    table = 1e8 * np.stack([1 - truth, truth], axis=-1)
    region = likelihood_region(table, symmetric_unknown)
    assert region.honest_proportion == pytest.approx(region.open_honest_proportion, abs=2e-3)
    assert region.effects[0] == pytest.approx(region.open_effects[0], abs=2e-3)


def test_an_anytime_sequence_holds_at_all_looks_at_once(mirrored: Design, cell_probabilities: Callable[..., FloatArray]) -> None:
    """2,000 studies looked at after every 20 of 3,000 participants, from the 60th: never wrong in at least 95 % (Monte-Carlo error .5 %).

    The ordinary interval is wrong at some look far more often, so the test can fail.
    """
    p = cell_probabilities(mirrored, honest=0.85, prevalence=(0.4, 0.6), cheater_yes_rate=0.5)
    arriving = np.random.default_rng(7).multinomial(20, p.ravel(), size=(2000, 150))
    tables = arriving.cumsum(axis=1)[:, 2:].reshape(2000, -1, *p.shape).astype(float)
    estimate = difference_in_means_kernel(tables, mirrored)
    n, rho = tables.sum(axis=(2, 3, 4))[0], tuned_rho(3000)
    reach = np.array([anytime_multiplier(one, rho=rho) for one in n])
    gap = np.abs(estimate.honest_times_effect[..., 0] - 0.2 * estimate.honest_proportion)
    variance = (
        estimate.honest_times_effect_variance[..., 0] - 0.4 * estimate.covariance[..., 0] + 0.04 * estimate.honest_proportion_variance
    )
    assert (gap <= reach * np.sqrt(variance)).all(axis=1).mean() >= 0.95
    assert (gap <= 1.96 * np.sqrt(variance)).all(axis=1).mean() < 0.8


def test_the_interval_covers_when_cheaters_of_two_arms_differ_by_all_of_kappa(mirrored: Design) -> None:
    """q = (.65, .5), a difference of κ against the effect of .2. Of 4,000 trials 3,700 or fewer cover with probability 10⁻⁶ at .94; the
    interval for cheaters who answer alike is the negative control."""
    rates, rng = np.array([0.65, 0.5])[:, None], np.random.default_rng(2)
    truth = 0.7 * (mirrored.truth * np.array([0.4, 0.6])[:, None] + mirrored.forced_yes) + 0.3 * rates
    yes = rng.binomial(500, truth, size=(4000, 2, 2))
    tables = np.stack([500 - yes, yes], axis=-1).reshape(4000, 4, 2).astype(float)
    covered = {}
    for kappa in (0.0, 0.15):
        polytope = Polytope(design=mirrored, kappa=kappa)
        ratio = 2 * (maximise(tables, polytope.free()).log_likelihood - maximise(tables, polytope.at_effect(0, 0.2)).log_likelihood)
        covered[kappa] = int((ratio <= quantile_for_effects(polytope, level=0.95) ** 2).sum())
    assert covered[0.15] > 3700
    assert covered[0.0] < 3600


def test_covariates_of_a_random_assignment_are_called_unbalanced_once_in_a_thousand() -> None:
    """10,000 covariates: ten expected, and four standard deviations are 13; a pooled category with several columns among them."""
    rng = np.random.default_rng(5)
    named = sum(
        len(
            notes_about_balance(
                model_matrix({f"x{i}": rng.normal(size=200) for i in range(10)} | {"c": rng.choice(list("abc"), 200)}, participants=200),
                rng.integers(0, 4, 200),
            )
        )
        for _ in range(910)
    )
    assert 0 < named < 23
