"""Covariates and questions with categories: two answers are the yes/no estimator, more agree with statsmodels, and the gain is real."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit

from candor.adjustment.adjusted_categories import _of_answers_that_nobody_gave, adjusted_categories
from candor.adjustment.adjusted_study import adjusted_study
from candor.adjustment.doubly_robust import efficient_estimates
from candor.categories.estimates import estimate_categories
from candor.categories.linear_model import category_model, information_weights, maximum_likelihood_fit
from candor.designs.design import Design
from candor.errors import DataError, TooFewResponsesError

NAMES = ("never", "once", "often")
FACES = {"1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}}
MIRRORED = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
THREE = MIRRORED | {"3": {"forced_no": "1/6", "forced_yes": "1/6"}}
SYMMETRIC = {"1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "2/6", "forced_yes": "2/6"}}


def named(cheaters="any", **more):
    return Design.of(
        arms=("slides", "face"), control="slides", subsamples=FACES, cheater_model=cheaters, categories=NAMES, ordered=True, **more
    )


def people(design, n, *, seed, honest=0.85, effect=0.6):
    """Answers that a grade explains: its log odds move one point up by each category, and by the effect in the second arm."""
    rng = np.random.default_rng(seed)
    arm, subsample, grade = rng.integers(0, len(design.arms), n), rng.integers(0, design.shape[1], n), rng.normal(size=n)
    size = len(design.categories)
    cuts = np.linspace(-0.5, 0.5, size - 1) if size > 2 else np.zeros(1)
    above = expit(1.6 * grade[:, None] + effect * (arm == 1)[:, None] - cuts)
    true = (rng.random(n)[:, None] < above).sum(axis=1)
    forced, truth = design.forced_answers[subsample], design.truth[subsample]
    rolled = (rng.random(n)[:, None] > np.cumsum(np.column_stack([truth, forced]), axis=1)).sum(axis=1) - 1
    said = np.where(rolled < 0, true, np.minimum(rolled, size - 1))
    cheats = rng.random(n) > honest
    return np.where(cheats, 0, said), arm, subsample, grade


@pytest.mark.parametrize("subsamples", [MIRRORED, THREE, SYMMETRIC], ids=["mirrored", "three", "symmetric"])
@pytest.mark.parametrize("cheaters", ["any", {"yes_rate": 0.3}], ids=["any", "stated"])
def test_two_answers_are_the_estimator_that_there_was(subsamples, cheaters):
    design = Design.of(arms=("a", "b", "c"), control="a", subsamples=subsamples, cheater_model=cheaters)
    reported, arm, subsample, grade = people(design, 1500, seed=7)
    covariates = {"grade": grade, "noise": np.random.default_rng(1).normal(size=len(grade))}
    old = efficient_estimates(adjusted_study(reported, arm, subsample, covariates, design=design))
    new = adjusted_categories(reported, arm, subsample, covariates, design=design)
    for one, other in zip([effect for effect in new.effects if effect.category == "yes"], old.effects(design=design), strict=True):
        for mine, its in [
            (one.value, other.value),
            (one.standard_error, other.standard_error),
            (one.interval and one.interval.low, other.interval and other.interval.low),
            (one.interval and one.interval.high, other.interval and other.interval.high),
            (one.wald and one.wald.low, other.wald and other.wald.low),
            (one.p_value, other.p_value),
            (one.adjusted_p_value, other.adjusted_p_value),
            (one.honest_times_effect.value, other.honest_times_effect.value),
        ]:
            assert mine == (None if its is None else pytest.approx(its, abs=1e-9, rel=1e-9))
    fit = old.specification_test
    assert (new.specification_test.statistic, new.specification_test.df) == (pytest.approx(fit.statistic, rel=1e-8), fit.df)
    assert [one.p_value for one in new.no_effect] == pytest.approx([effect.p_value for effect in old.effects(design=design)], rel=1e-8)


def test_a_cell_in_which_all_answer_alike_has_the_variance_that_it_had():
    design = Design.of(arms=("a", "b"), control="a", subsamples=MIRRORED)
    counts = np.array([[[30, 0], [20, 12]], [[18, 14], [11, 19]]])
    reported, arm, subsample = rows_of(counts)
    old = efficient_estimates(adjusted_study(reported, arm, subsample, {"age": list(range(len(arm)))}, design=design))
    new = adjusted_categories(reported, arm, subsample, {"age": list(range(len(arm)))}, design=design)
    assert new.effects[1].honest_times_effect.standard_error == pytest.approx(
        old.effects(design=design)[0].honest_times_effect.standard_error, rel=1e-9
    )


def rows_of(counts):
    rows = [place for place in np.ndindex(*counts.shape) for _ in range(counts[place])]
    arm, subsample, reported = np.array(rows).T
    return reported, arm, subsample


@pytest.mark.parametrize("cheaters", ["any", {"always": "never"}], ids=["any", "always"])
def test_estimates_are_those_of_statsmodels_step_by_step(cheaters):
    """Logit by cell and answer with the lower AIC, augmented means by definition, weighted least squares and its sandwich."""
    design = named(cheaters)
    reported, arm, subsample, grade = people(design, 4000, seed=3)
    found = adjusted_categories(reported, arm, subsample, {"grade": grade}, design=design)
    assert "working models of “often”: grade" in found.notes
    n, cell = len(arm), arm * 2 + subsample
    values = sm.add_constant((grade - grade.mean()) / grade.std())
    each = np.empty((n, 4, 3))
    for answer in range(3):
        said = (reported == answer).astype(float)
        for one in range(4):
            there = cell == one
            both = [sm.Logit(said[there], values[there, :p]).fit(disp=False, tol=1e-12) for p in (1, 2)]
            best = min(both, key=lambda fit: fit.aic)
            predicted = best.predict(values[:, : len(best.params)])
            each[:, one, answer] = predicted + there * (said - predicted) / there.mean()
    flat = each.reshape(n, -1)
    counts = np.bincount(cell * 3 + reported, minlength=12).reshape(2, 2, 3).astype(float)
    model = category_model(design)
    weights = information_weights(counts, maximum_likelihood_fit(counts, model).fitted).reshape(-1)
    solved = sm.WLS(flat.mean(axis=0) - model.offset, model.matrix, weights=weights).fit()
    beta, spread = solved.params, solved.normalized_cov_params @ (model.matrix.T * weights)
    covariance = spread @ np.cov(flat.T, bias=True) @ spread.T / n
    x = beta[model.honest]
    assert 0 < x < 1
    by_category = [one for one in found.effects if one.measure == "category"]
    for answer, one in enumerate(by_category):
        row = model.of_arm(1, np.eye(3)[answer]) - model.of_arm(0, np.eye(3)[answer])
        tau = row @ beta / x
        assert one.honest_times_effect.value == pytest.approx(row @ beta, abs=1e-8)
        assert one.value == pytest.approx(tau, abs=1e-8)
        gradient = row / x
        gradient[model.honest] -= tau / x
        assert one.standard_error == pytest.approx(np.sqrt(gradient @ covariance @ gradient), rel=0.01), "residuals are as of unseen people"
    (mean,) = [one for one in found.effects if one.measure == "mean_score"]
    assert mean.value == pytest.approx(by_category[1].value + 2 * by_category[2].value, abs=1e-9)
    assert sum(one.value for one in by_category) == pytest.approx(0, abs=1e-9)


def test_a_covariate_that_explains_the_answers_makes_the_errors_smaller_and_one_that_does_not_leaves_them():
    design = named({"always": "never"})
    reported, arm, subsample, grade = people(design, 4000, seed=11)
    counts = np.bincount((arm * 2 + subsample) * 3 + reported, minlength=12).reshape(2, 2, 3)
    plain = estimate_categories(counts, design=design).effects[2].honest_times_effect.standard_error
    helped = adjusted_categories(reported, arm, subsample, {"grade": grade}, design=design).effects[2].honest_times_effect.standard_error
    useless = adjusted_categories(reported, arm, subsample, {"same": [1] * len(arm)}, design=design).effects[2].honest_times_effect
    assert helped < 0.99 * plain, "the die asks three of eight for the truth, so the noise that stays is large"
    assert useless.standard_error == pytest.approx(plain, rel=0.02)


def test_rare_answers_and_bad_input():
    design = named()
    counts = np.array([[[30, 9, 0], [22, 10, 9]], [[20, 11, 8], [24, 9, 7]]])
    reported, arm, subsample = rows_of(counts)
    age = np.random.default_rng(2).normal(size=len(arm))
    found = adjusted_categories(reported, arm, subsample, {"age": age}, design=design)
    assert all(one.honest_times_effect.standard_error > 0 for one in found.effects)
    with pytest.raises(DataError, match="every answer must be a position from 0 to 2"):
        adjusted_categories(reported + 1, arm, subsample, {"age": age}, design=design)
    with pytest.raises(DataError, match="expected one arm for each of"):
        adjusted_categories(reported, arm[1:], subsample, {"age": age}, design=design)
    there = (arm == 0) | (subsample == 0)
    with pytest.raises(TooFewResponsesError, match="arm 'face', subsample '2'"):
        adjusted_categories(reported[there], arm[there], subsample[there], {"age": age[there]}, design=design)
    survey = Design.of(arms=("all",), control="all", subsamples=FACES, categories=NAMES)
    with pytest.raises(DataError, match="a survey has no effect"):
        adjusted_categories(reported, arm * 0, subsample, {"age": age}, design=survey)


def test_an_answer_that_nobody_gave_varies_as_that_of_half_a_person() -> None:
    """Its row is the multinomial one at (0 + ½)/(n + C/2); other cells have none."""
    counts = np.full((2, 2, 3), 9.0)
    counts[1, 0] = [20, 0, 7]
    found = _of_answers_that_nobody_gave(counts)
    shares = np.array([20.5, 0.5, 7.5]) / 28.5
    expected = (np.diag(shares) - np.outer(shares, shares)) / 27
    np.testing.assert_allclose(found[7, 6:9], expected[1])
    np.testing.assert_allclose(found[6:9, 7], expected[1])
    np.testing.assert_allclose(found[6:9].sum(axis=1), 0, atol=1e-15)
    assert np.count_nonzero(found) == 9
