"""Properties of estimators that only many trials can show; each tolerance is derived where it is used, and all seeds are fixed."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from candor.adjustment.covariates import model_matrix, notes_about_balance
from candor.designs.design import Design, FloatArray
from candor.estimators.bounds import confidence_bounds, sharp_bounds
from candor.estimators.cell_means import efficient_kernel, maximum_likelihood_fit
from candor.estimators.difference_in_means import difference_in_means_kernel
from candor.estimators.effects import estimate_outcome
from candor.estimators.sensitivity import sensitivity_to_arm_dependent_cheating
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


def test_confidence_bounds_hold_the_truth_as_often_as_they_say_and_narrow_to_the_sharp_ones(symmetric_unknown: Design) -> None:
    """Also when nobody cheats and few would say yes, where many samples have means that no parameters give."""
    rng, truth = np.random.default_rng(11), means_of(symmetric_unknown, 1.0, (0.02, 0.6), 0.5)
    held = without_sharp = 0
    for _ in range(200):
        yes = rng.binomial(150, truth)
        table = np.stack([150 - yes, yes], axis=-1)
        bounds = confidence_bounds(table, symmetric_unknown, level=0.8)
        held += bounds is not None and bounds.honest_proportion[1] > 1 - 1e-6 and bounds.effects[0][0] <= 0.58 <= bounds.effects[0][1]
        without_sharp += estimate_outcome(table, design=symmetric_unknown).bounds is None
    assert held >= 0.8 * 200
    assert without_sharp > 20
    million = np.round(1e8 * np.stack([1 - truth, truth], axis=-1))
    wide, sharp = confidence_bounds(million, symmetric_unknown), sharp_bounds(truth, symmetric_unknown)
    assert wide is not None
    assert sharp is not None
    assert wide.honest_proportion == pytest.approx(sharp.honest_proportion, abs=2e-3)
    assert wide.effects[0] == pytest.approx(sharp.effects[0], abs=2e-3)


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


def test_the_interval_of_a_bound_covers_its_end_at_its_level(mirrored: Design, cell_probabilities: Callable[..., FloatArray]) -> None:
    """The lower end of 1,000 intervals misses the lower bound (.2 − .15·.2/(.8·.5)) in 2.5 % ± 4·√(.025·.975/1000) = 2 %."""
    p = cell_probabilities(mirrored, honest=0.8, prevalence=(0.4, 0.6), cheater_yes_rate=0.5)
    tables = np.random.default_rng(2).multinomial(20_000, p.ravel(), size=1000).reshape(-1, *p.shape)
    missed = 0
    for table in tables:
        (one,) = sensitivity_to_arm_dependent_cheating(table, design=mirrored, kappa=0.15)
        assert one.interval.low is not None
        missed += one.interval.low > 0.2 - 0.15 * 0.2 / (0.8 * 0.5)
    assert missed / 1000 == pytest.approx(0.025, abs=0.02)


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
