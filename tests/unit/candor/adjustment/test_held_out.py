"""Residuals of people whom a working model has not seen, against models that were fitted without them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from candor.adjustment.covariates import model_matrix
from candor.adjustment.held_out import augmented_means, degrees_of_freedom_of_a_search
from candor.adjustment.working_models import choose_working_model, expit, fit_logistic


def group_of(n, *, signals=2, noise=0, seed=1):
    rng = np.random.default_rng(seed)
    columns = {f"x{index}": rng.normal(size=n) for index in range(signals + noise)}
    outcome = (rng.random(n) < expit(sum((columns[f"x{index}"] for index in range(signals)), np.zeros(n)))).astype(float)
    matrix = model_matrix(columns, participants=n)
    model = choose_working_model(matrix, outcome, np.full(n, True), group="all")
    return matrix, outcome, model


def test_the_residuals_are_as_large_as_those_of_models_fitted_without_the_person():
    """Oracle: 120 refits, one without each person. To first order they are equal; their spread agrees to 2 %."""
    matrix, outcome, model = group_of(120)
    columns = matrix.values[:, model.columns]
    fits = [fit_logistic(np.delete(columns, person, 0), np.delete(outcome, person)) for person in range(120)]
    left_out = outcome - np.array([float(fit.probability(columns[[person]])[0]) for person, fit in enumerate(fits)])
    found = augmented_means(outcome, np.zeros(120, dtype=np.intp), matrix, [model])
    plain = outcome - found.predictions[:, 0]
    assert np.std(found.residuals) == pytest.approx(np.std(left_out), rel=0.02)
    assert np.std(plain) < 0.98 * np.std(left_out)
    assert found.residuals.mean() == pytest.approx(plain.mean(), abs=1e-12)


def test_the_residuals_are_as_large_as_those_of_people_who_came_later_when_all_covariates_are_noise():
    """Oracle: the squared error in 2,000 new people, whose answers no covariate tells, over 100 groups of 100 with 8 columns of noise."""
    found, plain, new = [], [], []
    for seed in range(100):
        matrix, outcome, model = group_of(100, signals=0, noise=8, seed=seed)
        unseen = augmented_means(outcome, np.zeros(100, dtype=np.intp), matrix, [model])
        found.append((unseen.residuals**2).mean())
        plain.append(((outcome - unseen.predictions[:, 0]) ** 2).mean())
        strangers = model.predict(np.hstack([np.ones((2000, 1)), np.random.default_rng([seed, 1]).normal(size=(2000, 8))]))
        new.append((0.25 + (strangers - 0.5) ** 2).mean())
    assert np.mean(found) == pytest.approx(np.mean(new), rel=0.03)
    assert np.mean(plain) < 0.93 * np.mean(new)


def test_the_order_of_people_does_not_matter():
    matrix, outcome, model = group_of(90, noise=2)
    order = np.random.default_rng(3).permutation(90)
    everybody = np.zeros(90, dtype=np.intp)
    found = augmented_means(outcome, everybody, matrix, [model]).residuals
    turned = replace(matrix, values=matrix.values[order])
    np.testing.assert_allclose(augmented_means(outcome[order], everybody, turned, [model]).residuals, found[order], atol=1e-12)


@pytest.mark.parametrize(("candidates", "places"), [(8, 8), (8, 3), (20, 4), (3, 1)])
def test_the_cost_of_a_search_is_what_the_best_of_many_chance_gains_sum_to(candidates, places):
    """Oracle: 40,000 draws of independent gains; the largest ones above the price are kept."""
    gains = np.sort(np.random.default_rng(5).standard_normal((40_000, candidates)) ** 2, axis=1)[:, ::-1][:, :places]
    kept = gains > 2
    expected = (gains * kept).sum(axis=1).mean()
    mean_kept = kept.sum(axis=1).mean()
    price = max(2.0, chi2.isf(places / candidates, 1)) if places < candidates else 2.0
    found = degrees_of_freedom_of_a_search(kept=candidates * chi2.sf(price, 1), candidates=candidates, places=places)
    assert mean_kept + found == pytest.approx(expected, rel=0.12)


def test_a_group_without_room_for_a_covariate_pays_for_no_search():
    assert degrees_of_freedom_of_a_search(kept=0, candidates=5, places=0) == 0
    assert degrees_of_freedom_of_a_search(kept=0, candidates=0, places=5) == 0
    assert degrees_of_freedom_of_a_search(kept=5, candidates=5, places=5) == 0
