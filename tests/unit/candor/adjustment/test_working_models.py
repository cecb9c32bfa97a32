"""The search equals one by statsmodels without shortcuts, the final fit (statsmodels') a derivation by hand; neither ever crashes."""

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit as scipy_expit

from candor.adjustment.covariates import model_matrix
from candor.adjustment.working_models import (
    PRIOR_DEVIATION,
    PRIOR_DEVIATION_OF_INTERCEPT,
    choose_working_model,
    estimable_columns,
    expit,
    final_fit,
    fit_logistic,
)
from candor.errors import TooFewResponsesError


def participants(n, seed=1):
    rng = np.random.default_rng(seed)
    covariates = {
        "age": rng.normal(size=n),
        "score": rng.normal(size=n),
        "region": rng.choice(["north", "south", "west"], n),
        "noise": rng.normal(size=n),
    }
    outcome = (rng.random(n) < scipy_expit(0.8 * covariates["age"] + (covariates["region"] == "west") - 0.3)).astype(float)
    return model_matrix(covariates, participants=n), outcome


def test_expit_agrees_with_scipy():
    linear_predictor = np.linspace(-800, 800, 1001)
    np.testing.assert_allclose(expit(linear_predictor), scipy_expit(linear_predictor), rtol=1e-14, atol=1e-300)


def test_a_fit_agrees_with_statsmodels():
    matrix, outcome = participants(300)
    fit = fit_logistic(matrix.values, outcome)
    theirs = sm.Logit(outcome, matrix.values).fit(disp=0, tol=1e-12)
    np.testing.assert_allclose(fit.coefficients, theirs.params, atol=1e-8)
    assert fit.log_likelihood == pytest.approx(theirs.llf)
    assert fit.aic == pytest.approx(theirs.aic)
    assert not fit.separated


def test_a_start_far_away_reaches_the_same_fit():
    matrix, outcome = participants(300)
    far = fit_logistic(matrix.values, outcome, start=np.full(matrix.values.shape[1], 3.0))
    np.testing.assert_allclose(far.coefficients, fit_logistic(matrix.values, outcome).coefficients, atol=1e-6)


def test_perfect_separation_gives_the_mode_under_the_prior():
    values = np.column_stack([np.ones(20), np.repeat([-1.0, 1.0], 10)])
    outcome = np.repeat([0.0, 1.0], 10)
    fit = fit_logistic(values, outcome)
    assert fit.separated
    deviations = np.array([PRIOR_DEVIATION_OF_INTERCEPT, PRIOR_DEVIATION])
    score = values.T @ (outcome - scipy_expit(values @ fit.coefficients)) - fit.coefficients / deviations**2
    np.testing.assert_allclose(score, 0.0, atol=1e-4)
    assert 2.0 < fit.coefficients[1] < 6.0


@pytest.mark.parametrize("answer", [0.0, 1.0])
def test_everyone_giving_the_same_answer_has_a_finite_fit(answer):
    fit = fit_logistic(np.ones((50, 1)), np.full(50, answer))
    assert fit.separated
    assert 0.9 < abs(expit(fit.coefficients)[0] - (1 - answer)) < 1.0


def test_aliased_and_empty_columns_are_left_out():
    matrix, _ = participants(100)
    values = np.column_stack([matrix.values, matrix.values[:, 1] * 2 + 3, np.zeros(100)])
    width = matrix.values.shape[1]
    assert estimable_columns(values.T @ values, range(values.shape[1])) == tuple(range(width))


def stepwise_by_hand(matrix, outcome):
    """The same search with statsmodels and no shortcuts."""

    def aic(names):
        return sm.Logit(outcome, matrix.values[:, matrix.columns_of(names)]).fit(disp=0).aic

    chosen = set()
    while True:
        neighbours = [chosen ^ {term.name} for term in matrix.terms]
        best = min(neighbours, key=aic)
        if aic(best) >= aic(chosen):
            return chosen
        chosen = best


@pytest.mark.parametrize("seed", range(3))
def test_stepwise_choice_agrees_with_a_search_by_hand(seed):
    matrix, outcome = participants(200, seed=seed)
    model = choose_working_model(matrix, outcome, np.ones(200, dtype=bool), group="everyone")
    assert set(model.terms) == stepwise_by_hand(matrix, outcome)
    score = matrix.values[:, model.columns].T @ (outcome - model.predict(matrix.values))
    np.testing.assert_allclose(score, 0.0, atol=1e-11)  # only the final fit is as exact


def test_a_few_people_who_are_separated_are_seen_among_many():
    """Five people of a rare level all say yes: among 200,000 others their coefficient grows, and the likelihood hardly any more."""
    rare, yes = np.zeros(200_000), np.tile([0.0, 1.0], 100_000)
    rare[1:10:2] = 1.0
    fit = fit_logistic(np.column_stack([np.ones(200_000), rare]), yes)
    assert fit.separated
    assert 1 < fit.coefficients[1] < 10


def test_huge_values_of_a_few_among_millions_have_a_penalised_fit():
    """Newton's steps are halved until they are small. The maximum is there, and its score is 0."""
    answers = {
        "age": np.array([2.0, 0.0, 0.0, 2.0, 2.0, 0.0, 2.0, 1e8]),
        "hours": np.array([-0.88354231, -1.60058934, 0.68748688, 2.43083964, -0.88354231, -1.60058934, -0.0979528, 0.3059031]),
        "marks": np.array([2.0, 1e8, 1.0, 1e8, 2.0, 1e8, 0.0, 2.0]),
    }
    yes, people = np.array([0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]), np.array([1288, 2, 20, 4, 1170, 1, 65320, 5772700])
    values = model_matrix(answers, participants=8, frequencies=people).values
    fit = fit_logistic(values, yes, frequencies=people)
    assert fit.separated
    np.testing.assert_allclose(values.T @ (people * (yes - fit.probability(values))), fit.penalty * fit.coefficients, atol=1e-3)


def test_the_final_fit_of_two_groups_is_that_of_the_two_by_two_table():
    """30 of 50 and 12 of 60 say yes: the log odds of the first, and the log odds ratio."""
    second = np.repeat([0.0, 1.0], [50, 60])
    values, outcome = np.column_stack([np.ones(110), second]), np.concatenate([np.arange(50) < 30, np.arange(60) < 12]).astype(float)
    fit = final_fit(values, outcome, found=fit_logistic(values, outcome))
    np.testing.assert_allclose(fit.coefficients, [np.log(30 / 20), np.log(12 / 48 / (30 / 20))], rtol=1e-12)
    assert fit.log_likelihood == pytest.approx(30 * np.log(0.6) + 20 * np.log(0.4) + 12 * np.log(0.2) + 48 * np.log(0.8), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_final_fit_solves_the_score_equations_and_is_the_maximum_that_the_search_found(seed):
    matrix, outcome = participants(250, seed=seed)
    found = fit_logistic(matrix.values, outcome)
    fit = final_fit(matrix.values, outcome, found=found)
    score = matrix.values.T @ (outcome - scipy_expit(matrix.values @ fit.coefficients))
    np.testing.assert_allclose(score, 0.0, atol=1e-11)
    np.testing.assert_allclose(fit.coefficients, found.coefficients, atol=1e-8)
    assert fit.aic == pytest.approx(found.aic, abs=1e-9)


def test_a_penalised_fit_is_left_as_it_is():
    values = np.column_stack([np.ones(20), np.repeat([-1.0, 1.0], 10)])
    found = fit_logistic(values, np.repeat([0.0, 1.0], 10))
    assert final_fit(values, np.repeat([0.0, 1.0], 10), found=found) is found


def test_a_term_that_matters_only_beside_another_can_leave_again():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 4000))
    outcome = (rng.random(4000) < scipy_expit(2.0 * a + 2.0 * b)).astype(float)
    matrix = model_matrix({"proxy": a + b + 0.3 * rng.normal(size=4000), "a": a, "b": b}, participants=4000)
    model = choose_working_model(matrix, outcome, np.ones(4000, dtype=bool), group="everyone")
    assert model.terms == ("a", "b")


def test_the_subsample_is_found_when_it_predicts_the_report():
    rng = np.random.default_rng(2)
    subsample = rng.integers(1, 3, 600)
    outcome = (rng.random(600) < np.where(subsample == 1, 0.3, 0.6)).astype(float)
    matrix = model_matrix({"noise": rng.normal(size=600)}, participants=600).with_category("subsample", subsample)
    model = choose_working_model(matrix, outcome, np.ones(600, dtype=bool), group="arm 'control'")
    assert "subsample" in model.terms
    predicted = model.predict(matrix.values)
    assert predicted[subsample == 1].mean() == pytest.approx(outcome[subsample == 1].mean(), abs=1e-6)


def test_a_small_group_may_only_have_a_small_model():
    matrix, outcome = participants(18)
    model = choose_working_model(matrix, outcome, np.ones(18, dtype=bool), group="cell")
    assert model.terms == ()
    assert model.notes == ("working model of cell: too few answers to add age, noise, region, score",)


def test_a_level_that_the_group_has_not_seen_is_predicted_as_the_reference():
    rng = np.random.default_rng(0)
    region = np.array(["north"] * 200 + ["south"] * 150 + ["west"] * 50)
    members = region != "west"
    outcome = (rng.random(400) < np.where(region == "north", 0.2, 0.8)).astype(float)
    matrix = model_matrix({"region": region}, participants=400)
    model = choose_working_model(matrix, outcome, members, group="arm 'control'")
    predicted = model.predict(matrix.values)
    assert predicted[-1] == pytest.approx(predicted[0])


def test_a_separating_covariate_is_reported_and_does_not_crash():
    n = 200
    x = np.repeat([0.0, 1.0], n // 2)
    model = choose_working_model(model_matrix({"x": x}, participants=n), x.copy(), np.ones(n, dtype=bool), group="arm 'control'")
    assert model.fit.separated
    assert model.notes == (
        "working model of arm 'control': a covariate separates yes from no, so a ridge penalty keeps the estimate finite",
    )
    assert np.isfinite(model.predict(np.column_stack([np.ones(n), x]))).all()


def test_everyone_reporting_yes_is_reported():
    matrix = model_matrix({"x": np.arange(30.0)}, participants=30)
    model = choose_working_model(matrix, np.ones(30), np.ones(30, dtype=bool), group="arm 'control'")
    assert model.terms == ()
    assert model.notes[0] == "working model of arm 'control': everyone reported yes"


def test_the_order_of_participants_does_not_matter():
    matrix, outcome = participants(300)
    order = np.random.default_rng(3).permutation(300)
    shuffled = replace(matrix, values=matrix.values[order])
    everyone = np.ones(300, dtype=bool)
    model = choose_working_model(matrix, outcome, everyone, group="g")
    again = choose_working_model(shuffled, outcome[order], everyone, group="g")
    assert again.terms == model.terms
    np.testing.assert_allclose(again.fit.coefficients, model.fit.coefficients, atol=1e-8)


def test_an_empty_group_is_an_error_that_names_it():
    matrix, outcome = participants(10)
    with pytest.raises(TooFewResponsesError, match="arm 'control'"):
        choose_working_model(matrix, outcome, np.zeros(10, dtype=bool), group="arm 'control'")
