"""Batched refits equal refits one by one: of the coefficients by Newton's method, of the augmented means by definition."""

import numpy as np
import pytest
import statsmodels.api as sm

from candor.adjustment.covariates import model_matrix
from candor.adjustment.weighted_refits import WeightedRefits
from candor.adjustment.working_models import LogisticFit, WorkingModel, choose_working_model, expit, fit_logistic

REPLICATES = 300


def trial(n, *, seed=1, levels="abc"):
    """Covariates and outcomes sorted by arm, so that each arm is contiguous."""
    rng = np.random.default_rng(seed)
    matrix = model_matrix({"x": rng.normal(size=n), "c": rng.choice(list(levels), n), "z": rng.normal(size=n)}, participants=n)
    outcome = (rng.random(n) < expit(0.7 * matrix.values[:, 1] - 0.4)).astype(float)
    half = n // 2
    groups = [slice(0, half), slice(half, n)]
    everything = np.arange(matrix.values.shape[1])
    models = [
        WorkingModel(terms=(), columns=everything, fit=fit_logistic(matrix.values[group], outcome[group]), notes=()) for group in groups
    ]
    weights = rng.multinomial(n, np.full(n, 1 / n), size=REPLICATES).astype(float)
    return matrix.values, outcome, groups, models, weights


def full_refits(values, outcome, groups, weights):
    """The plain way: statsmodels refits every model in every replicate."""
    means = np.empty((len(weights), len(groups)))
    for replicate, weight in enumerate(weights):
        for position, group in enumerate(groups):
            own = weight[group]
            fit = sm.GLM(outcome[group], values[group], family=sm.families.Binomial(), freq_weights=own).fit()
            predicted = expit(values @ fit.params)
            means[replicate, position] = weight @ predicted / weight.sum() + own @ (outcome[group] - predicted[group]) / own.sum()
    return means


@pytest.fixture(scope="module")
def refitted():
    values, outcome, groups, models, weights = trial(400)
    return values, outcome, groups, models, weights[:100], full_refits(values, outcome, groups, weights[:100])


@pytest.mark.parametrize(("steps", "tolerance"), [(1, 0.05), (2, 0.01), (8, 1e-6)])
def test_every_newton_step_comes_closer_to_full_refits(refitted, steps, tolerance):
    values, outcome, groups, models, weights, expected = refitted
    means = WeightedRefits(values, outcome, groups=groups, models=models, newton_steps=steps).means(weights)
    distance = np.sqrt(np.mean((means - expected) ** 2, axis=0)) / expected.std(axis=0)
    assert (distance < tolerance).all()


@pytest.mark.parametrize("steps", [1, 2])
def test_the_standard_error_of_the_difference_is_that_of_full_refits(refitted, steps):
    values, outcome, groups, models, weights, expected = refitted
    means = WeightedRefits(values, outcome, groups=groups, models=models, newton_steps=steps).means(weights)
    assert np.diff(means).std() == pytest.approx(np.diff(expected).std(), rel=0.01)


@pytest.mark.parametrize("steps", [1, 3])
def test_equal_weights_give_back_the_full_sample(steps):
    values, outcome, groups, models, _ = trial(300)
    means = WeightedRefits(values, outcome, groups=groups, models=models, newton_steps=steps).means(np.ones((1, 300)))
    expected = [
        model.predict(values).mean() + (outcome - model.predict(values))[group].mean() for group, model in zip(groups, models, strict=True)
    ]
    assert means[0] == pytest.approx(expected, abs=1e-10)


def test_weights_are_the_same_as_repeated_rows():
    values, outcome, groups, models, weights = trial(200)
    refits = WeightedRefits(values, outcome, groups=groups, models=models)
    copies = weights[0].astype(int)
    order = np.repeat(np.arange(200), copies)
    first = copies[:100].sum()
    repeated = WeightedRefits(values[order], outcome[order], groups=[slice(0, first), slice(first, 200)], models=models)
    assert refits.means(weights[:1]) == pytest.approx(repeated.means(np.ones((1, 200))), abs=1e-10)


@pytest.mark.parametrize("steps", [1, 2])
def test_a_model_without_covariates_gives_the_weighted_mean(steps):
    values, outcome, groups, _, weights = trial(200)
    models = [
        WorkingModel(terms=(), columns=np.array([0]), fit=fit_logistic(values[group][:, [0]], outcome[group]), notes=()) for group in groups
    ]
    means = WeightedRefits(values, outcome, groups=groups, models=models, newton_steps=steps).means(weights)
    for position, group in enumerate(groups):
        own = weights[:, group]
        assert means[:, position] == pytest.approx(own @ outcome[group] / own.sum(axis=1))


@pytest.mark.parametrize("steps", [1, 2])
def test_a_level_that_vanishes_from_a_replicate_does_no_harm(steps):
    values, outcome, groups, models, weights = trial(200, levels="aaaaaaaaab")
    weights[:, values[:, 2] == 1] = 0.0
    means = WeightedRefits(values, outcome, groups=groups, models=models, newton_steps=steps).means(weights)
    assert ((means > 0.0) & (means < 1.0)).all()


def test_a_group_without_weight_has_no_mean_and_leaves_the_other_alone():
    values, outcome, groups, models, weights = trial(200)
    refits = WeightedRefits(values, outcome, groups=groups, models=models)
    weights[0, groups[0]] = 0.0
    means = refits.means(weights)
    assert np.isnan(means[0, 0])
    assert np.isfinite(means[0, 1])
    assert np.isfinite(means[1:]).all()


@pytest.mark.parametrize("steps", [1, 2])
def test_a_separated_model_stays_finite_and_penalised(steps):
    n = 200
    values = np.column_stack([np.ones(n), np.tile([-1.0, 1.0], n // 2)])
    outcome = np.tile([0.0, 1.0], n // 2)
    groups = [slice(0, 100), slice(100, n)]
    models = [
        WorkingModel(terms=(), columns=np.array([0, 1]), fit=fit_logistic(values[group], outcome[group]), notes=()) for group in groups
    ]
    assert all(model.fit.separated for model in models)
    weights = np.random.default_rng(1).multinomial(n, np.full(n, 1 / n), size=50).astype(float)
    means = WeightedRefits(values, outcome, groups=groups, models=models, newton_steps=steps).means(weights)
    share = weights @ outcome / n
    np.testing.assert_allclose(means, np.column_stack([share, share]), atol=0.02)


def test_chosen_models_with_different_columns_are_refitted_together():
    values, outcome, groups, _, weights = trial(400)
    matrix = model_matrix({"x": values[:, 1], "z": values[:, -1]}, participants=400)
    models = []
    for group in groups:
        members = np.zeros(400, dtype=bool)
        members[group] = True
        models.append(choose_working_model(matrix, outcome, members, group="arm"))
    models[1] = WorkingModel(
        terms=(),
        columns=np.array([0]),
        fit=LogisticFit(
            coefficients=np.array([np.log(outcome[200:].mean() / (1 - outcome[200:].mean()))]),
            penalty=np.zeros(1),
            log_likelihood=0.0,
            separated=False,
        ),
        notes=(),
    )
    together = WeightedRefits(matrix.values, outcome, groups=groups, models=models).means(weights)
    for position in range(2):
        alone = WeightedRefits(matrix.values, outcome, groups=[groups[position]], models=[models[position]]).means(weights)
        np.testing.assert_allclose(together[:, position], alone[:, 0], rtol=1e-10)


def test_no_newton_step_is_refused():
    values, outcome, groups, models, _ = trial(50)
    with pytest.raises(ValueError, match="at least 1, got 0"):
        WeightedRefits(values, outcome, groups=groups, models=models, newton_steps=0)
