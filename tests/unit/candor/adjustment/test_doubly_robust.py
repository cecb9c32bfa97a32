"""Covariate-adjusted estimates against other programs, exact enumeration and derivations by hand."""

import csv
import json
from dataclasses import asdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from candor.adjustment.adjusted_study import adjusted_study
from candor.adjustment.covariates import model_matrix
from candor.adjustment.doubly_robust import (
    augmented_difference,
    doubly_robust_estimates,
    effects_with_covariates,
    efficient_estimates,
    estimate_doubly_robust,
)
from candor.adjustment.held_out import augmented_outcomes
from candor.adjustment.working_models import choose_working_model, expit, fit_logistic
from candor.designs.design import Design
from candor.errors import DataError, TooFewResponsesError
from candor.estimators.cell_means import maximum_likelihood_fit
from candor.estimators.cheaters import cheater_proportion_kernel
from candor.estimators.counts import margins_of
from candor.estimators.difference_in_means import difference_in_means_kernel

DATA = Path(__file__).parents[1] / "data"
ORACLES = json.loads((DATA / "rct_aipw_oracles.json").read_text())

MIRRORED = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
SYMMETRIC = {"1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "2/6", "forced_yes": "2/6"}}
THREE = {**MIRRORED, "3": {"forced_no": "1/6", "forced_yes": "1/6"}}


def design_of(subsamples=MIRRORED, *, arms=("control", "treatment"), cheaters="any"):
    return Design.of(arms=arms, control=arms[0], subsamples=subsamples, cheater_model=cheaters)


def simulated(n, *, design, seed=1, cheaters=0.1, effect=0.2, strength=1.0):
    """Reported answers of honest participants and of cheaters who toss a coin, with one covariate that matters and two that do not."""
    rng = np.random.default_rng(seed)
    covariates = {"age": rng.normal(size=n), "region": rng.choice(["north", "south", "west"], n), "score": rng.normal(size=n)}
    arm, subsample = rng.integers(0, design.shape[0], n), rng.integers(0, design.shape[1], n)
    true = rng.random(n) < expit(strength * covariates["age"] - 0.4 + 5 * effect * (arm > 0))
    roll = rng.random(n)
    truth, forced = design.truth[subsample], design.forced_yes[subsample]
    reported = np.where(roll < truth, true, roll < truth + forced)
    reported = np.where(rng.random(n) < cheaters, rng.random(n) < 0.5, reported)
    return reported.astype(int), arm, subsample, covariates


@pytest.fixture(scope="module")
def ordinary_trial():
    with (DATA / "rct_aipw_example.csv").open() as file:
        rows = list(csv.DictReader(file))
    matrix = model_matrix({name: [row[name] for row in rows] for name in ("x1", "x2", "x3", "x4", "x5")}, participants=len(rows))
    return matrix, np.array([float(row["y"]) for row in rows]), np.array([int(row["a"]) for row in rows])


def test_the_augmented_difference_agrees_with_doubleml_and_statsmodels(ordinary_trial):
    matrix, outcome, arm = ordinary_trial
    models = [fit_logistic(matrix.values[arm == a], outcome[arm == a]) for a in (0, 1)]
    predictions = np.column_stack([expit(matrix.values @ model.coefficients) for model in models])
    value, error = augmented_difference(outcome, arm, predictions)
    for oracle, named in (("rct_reference_arm_logits_e_const", "se_n"), ("rct_DoubleML_external_arm_logits_e_const", "se")):
        assert value == pytest.approx(ORACLES[oracle]["estimate"], abs=1e-9)
        assert error == pytest.approx(ORACLES[oracle][named], abs=1e-9)


def test_stepwise_choice_keeps_every_covariate_of_the_example_and_so_agrees_too(ordinary_trial):
    matrix, outcome, arm = ordinary_trial
    models = [choose_working_model(matrix, outcome, arm == a, group=f"arm {a}") for a in (0, 1)]
    assert all(model.terms == ("x1", "x2", "x3", "x4", "x5") for model in models)
    value, _ = augmented_difference(outcome, arm, np.column_stack([model.predict(matrix.values) for model in models]))
    assert value == pytest.approx(0.1893577, abs=1e-7)


def test_without_models_the_augmented_difference_is_the_difference_in_means(ordinary_trial):
    _, outcome, arm = ordinary_trial
    means = np.array([outcome[arm == 0].mean(), outcome[arm == 1].mean()])
    value, error = augmented_difference(outcome, arm, np.tile(means, (len(outcome), 1)))
    assert value == pytest.approx(ORACLES["rct_unadjusted"]["estimate"], abs=1e-12)
    assert error == pytest.approx(ORACLES["rct_unadjusted"]["se"] * np.sqrt(499 / 500), rel=1e-9)


def test_any_working_model_is_unbiased_over_all_possible_assignments():
    rng = np.random.default_rng(0)
    potential = rng.integers(0, 2, (7, 2)).astype(float)
    predictions = rng.random((7, 2))
    estimates = []
    for treated in combinations(range(7), 3):
        arm = np.isin(np.arange(7), treated).astype(int)
        estimates.append(augmented_outcomes(potential[np.arange(7), arm], arm, predictions).mean(axis=0))
    np.testing.assert_allclose(np.mean(estimates, axis=0), potential.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("subsamples", [MIRRORED, SYMMETRIC, THREE])
@pytest.mark.parametrize(("times", "widest"), [(1, 1.2), (1000, 1.0002)])
def test_without_predictive_covariates_or_subsample_it_is_the_difference_in_means(subsamples, times, widest):
    """Variances allow for what the fit has seen, which matters to 22 people an arm and to no 22,000."""
    design = design_of(subsamples, cheaters="always_no")
    counts = times * np.array([[[6, 5]] * len(subsamples), [[5, 6]] * len(subsamples)])
    arm, subsample, reported = (np.repeat(places, counts.reshape(-1)) for places in np.indices(counts.shape).reshape(3, -1))
    study = adjusted_study(reported, arm, subsample, {}, design=design)
    assert [model.terms for model in study.arm_models] == [(), ()]
    ours, theirs = doubly_robust_estimates(study).joint, difference_in_means_kernel(counts.astype(float), design)
    for name in ("honest_times_effect", "honest_proportion", "honest_proportion_variance"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-10, err_msg=name)
    assert np.all((ours.honest_times_effect_variance / theirs.honest_times_effect_variance) <= widest)
    assert np.all(ours.honest_times_effect_variance > theirs.honest_times_effect_variance)


def test_with_only_the_subsample_in_the_models_it_is_the_stratified_difference():
    design = design_of()
    counts = np.array([[[300, 150], [200, 260]], [[200, 230], [150, 350]]])
    rows = [(a, s, y) for (a, s, y), count in np.ndenumerate(counts) for _ in range(count)]
    arm, subsample, reported = map(np.array, zip(*rows, strict=True))
    (effect,) = estimate_doubly_robust(reported, arm, subsample, {}, design=design)
    margins = margins_of(counts.astype(float))
    difference = (margins.cell_means[1] - margins.cell_means[0]) @ margins.subsample_sizes / margins.n
    honest = 1 - cheater_proportion_kernel(counts.astype(float), design).constrained
    assert effect.value == pytest.approx(difference / (honest * 0.5), abs=1e-9)


def test_without_covariates_the_efficient_fit_is_that_of_maximum_likelihood():
    design = design_of(SYMMETRIC, cheaters="always_no")
    study = adjusted_study(*simulated(600, design=design)[:3], {}, design=design)
    likely = maximum_likelihood_fit(study.counts, design)
    ours, theirs = efficient_estimates(study), likely.joint_estimates()
    np.testing.assert_allclose(ours.joint.honest_times_effect, theirs.honest_times_effect, atol=1e-7)
    np.testing.assert_allclose(ours.joint.honest_proportion, theirs.honest_proportion, atol=1e-7)
    np.testing.assert_allclose(ours.joint.honest_times_effect_variance, theirs.honest_times_effect_variance, rtol=0.03)
    assert asdict(ours.specification_test) == pytest.approx(asdict(likely.specification_test()), rel=0.05)


@pytest.mark.parametrize("estimate", [doubly_robust_estimates, efficient_estimates])
@pytest.mark.parametrize("subsamples", [MIRRORED, SYMMETRIC, THREE])
def test_the_influence_function_has_mean_zero_and_gives_the_standard_error(estimate, subsamples):
    design = design_of(subsamples, cheaters={"yes_rate": 0.1})
    study = adjusted_study(*simulated(3000, design=design), design=design)
    estimates = estimate(study)
    np.testing.assert_allclose(estimates.influence.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(np.sqrt((estimates.influence**2).mean(axis=0) / 3000), estimates.joint.standard_error, rtol=1e-6)


@pytest.mark.parametrize("estimate", [doubly_robust_estimates, efficient_estimates])
def test_the_influence_function_is_what_leaving_one_participant_out_changes(estimate):
    """Up to the influence of the working models' coefficients, which vanishes like 1/√n."""
    design = design_of()
    reported, arm, subsample, covariates = simulated(8000, design=design, cheaters=0.4)
    covariates = {"age": covariates["age"]}
    full = estimate(adjusted_study(reported, arm, subsample, covariates, design=design))
    for left_out in range(0, 8000, 1000):
        rest = np.arange(8000) != left_out
        study = adjusted_study(reported[rest], arm[rest], subsample[rest], {"age": covariates["age"][rest]}, design=design)
        change = 7999 * (full.joint.effect - estimate(study).joint.effect)
        np.testing.assert_allclose(change, full.influence[left_out], atol=0.03 * np.abs(full.influence).max())
    assert 0 < full.joint.honest_proportion < 1


def test_a_strong_covariate_narrows_the_error_of_the_numerator():
    design = design_of()
    study = adjusted_study(*simulated(4000, design=design, cheaters=0.0, strength=6.0), design=design)
    without = difference_in_means_kernel(study.counts, design).honest_times_effect_variance
    for estimate in (doubly_robust_estimates, efficient_estimates):
        assert (estimate(study).joint.honest_times_effect_variance < 0.92 * without).all()


def test_every_treatment_arm_is_compared_with_the_control_wherever_it_stands():
    design = Design.of(arms=("video", "slides", "text"), control="slides", subsamples=MIRRORED)
    reported, arm, subsample, covariates = simulated(900, design=design)
    effects = effects_with_covariates(adjusted_study(reported, arm, subsample, covariates, design=design))
    assert [(effect.treatment, effect.control, effect.method) for effect in effects] == [
        (treatment, "slides", method) for method in ("doubly_robust", "efficient_with_covariates") for treatment in ("video", "text")
    ]
    moved = Design.of(arms=("slides", "text", "video"), control="slides", subsamples=MIRRORED)
    again = effects_with_covariates(adjusted_study(reported, np.array([2, 0, 1])[arm], subsample, covariates, design=moved))
    assert effects[0].value == pytest.approx(again[1].value)
    assert effects[2].standard_error == pytest.approx(again[3].standard_error)
    assert effects[0].adjusted_p_value >= effects[0].p_value


def test_a_design_that_does_not_identify_the_effect_still_tests_its_sign():
    design = design_of(SYMMETRIC)
    for effect in effects_with_covariates(adjusted_study(*simulated(800, design=design), design=design)):
        assert effect.value is None
        assert effect.honest_times_effect.p_value < 0.05
        assert any("not identified" in note for note in effect.notes)


def test_nobody_honest_gives_no_estimate_and_says_so():
    design = design_of()
    rng = np.random.default_rng(3)
    arm, subsample = np.tile([0, 1], 200), np.repeat([0, 1], 200)
    reported = (rng.random(400) < np.where(subsample == 0, 0.7, 0.3)).astype(int)
    for effect in effects_with_covariates(adjusted_study(reported, arm, subsample, {"x": rng.normal(size=400)}, design=design)):
        assert effect.value is None
        assert any("honest share is estimated at zero" in note for note in effect.notes)


def test_degenerate_covariates_are_reported_and_change_nothing_else():
    design = design_of()
    reported, arm, subsample, covariates = simulated(500, design=design)
    ages = [None if i % 9 == 0 else f"{age:.3f}" for i, age in enumerate(covariates["age"])]
    odd = {"age": ages, "same": ["x"] * 500, "copy": ages, "answer": reported.astype(str), "identity": [f"p{i}" for i in range(500)]}
    effects = effects_with_covariates(adjusted_study(reported, arm, subsample, odd, design=design))
    for effect in effects:
        assert effect.value is not None
        assert "same: the same for everyone, left out" in effect.notes
        assert "identity: every level but one is rare, left out" in effect.notes
        assert any("separates yes from no" in note for note in effect.notes)
        assert any(note.startswith("age: 56 missing answers") for note in effect.notes)


def test_a_covariate_made_from_the_answers_takes_the_effect_away_and_is_named():
    """Reports depend on the die, so no earlier variable can be a copy of them."""
    counts = np.array([[[130, 70], [110, 90]], [[90, 110], [70, 130]]])
    rows = [(a, s, y) for (a, s, y), count in np.ndenumerate(counts) for _ in range(count)]
    arm, subsample, reported = map(np.array, zip(*rows, strict=True))
    age = np.random.default_rng(1).normal(size=800)
    for effect in effects_with_covariates(adjusted_study(reported, arm, subsample, {"leak": reported, "age": age}, design=design_of())):
        assert [note.split(":")[0] for note in effect.notes if "measured after the assignment" in note] == ["leak"]


def test_when_everybody_says_yes_no_interval_is_called_empty():
    arm, subsample = np.repeat([0, 1], 100), np.tile([0, 1], 100)
    for effect in effects_with_covariates(adjusted_study(np.ones(200), arm, subsample, {"x": np.arange(200.0)}, design=design_of())):
        assert effect.value is None
        assert effect.interval is None or effect.interval.kind == "unbounded"


def test_a_cell_where_everyone_answers_alike_keeps_a_finite_error():
    design = design_of()
    counts = np.array([[[10, 10], [9, 11]], [[9, 11], [0, 20]]])
    rows = [(a, s, y) for (a, s, y), count in np.ndenumerate(counts) for _ in range(count)]
    arm, subsample, reported = map(np.array, zip(*rows, strict=True))
    effects = effects_with_covariates(adjusted_study(reported, arm, subsample, {"x": np.arange(80.0)}, design=design))
    assert effects[1].honest_times_effect.standard_error > 0.1
    assert any("everyone reported yes" in note for note in effects[1].notes)


def test_eight_participants_get_an_answer_that_says_how_little_it_is():
    arm, subsample, reported = np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.tile([0, 1], 4), np.array([0, 1, 1, 0, 0, 1, 0, 1])
    doubly_robust, efficient = effects_with_covariates(adjusted_study(reported, arm, subsample, {"x": np.arange(8.0)}, design=design_of()))
    assert doubly_robust.interval.kind == "unbounded"
    assert doubly_robust.value == pytest.approx(0.0)
    assert efficient.wald.high - efficient.wald.low > 2
    assert "working model of arm 'control': too few answers to add subsample, x" in doubly_robust.notes


@pytest.mark.parametrize(
    ("reported", "arm", "subsample", "error", "message"),
    [
        ([0, 1, 2, 1], [0, 0, 1, 1], [0, 1, 0, 1], DataError, "zeros and ones"),
        ([0, 1, float("nan"), 1], [0, 0, 1, 1], [0, 1, 0, 1], DataError, "zeros and ones"),
        ([0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1], DataError, "one arm for each of 3 answers"),
        ([0, 1, 1, 1], [0, 0, 1, 2], [0, 1, 0, 1], DataError, r"position from 0 to 1 \(control, treatment\)"),
        ([0, 1, 1, 1], [0, 0, 1, 1], [0, 1, 0.5, 1], DataError, "every subsample must be a position"),
        ([0, 1, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1], TooFewResponsesError, "arm 'treatment', subsample '1'"),
        ([], [], [], TooFewResponsesError, "arm 'control'"),
    ],
)
def test_data_that_do_not_fit_the_design_are_refused(reported, arm, subsample, error, message):
    with pytest.raises(error, match=message):
        adjusted_study(reported, arm, subsample, {}, design=design_of())


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(60, 200))
def test_order_of_rows_labels_of_arms_and_complementing_answers_do_not_matter(seed, n):
    design = design_of()
    reported, arm, subsample, covariates = simulated(n, design=design, seed=seed)
    assume(np.bincount(arm * 2 + subsample, minlength=4).min() > 0)
    covariates = {"age": covariates["age"]}

    def deltas(reported, arm, subsample, age):
        study = adjusted_study(reported, arm, subsample, {"age": age}, design=design)
        assume(not any(model.fit.separated for model in (*study.arm_models, *study.cell_models)))
        return np.concatenate([estimate(study).joint.honest_times_effect for estimate in (doubly_robust_estimates, efficient_estimates)])

    found = deltas(reported, arm, subsample, covariates["age"])
    order = np.random.default_rng(seed).permutation(n)
    np.testing.assert_allclose(deltas(reported[order], arm[order], subsample[order], covariates["age"][order]), found, atol=1e-6)
    np.testing.assert_allclose(deltas(reported, 1 - arm, subsample, covariates["age"]), -found, atol=1e-6)
    np.testing.assert_allclose(deltas(1 - reported, arm, 1 - subsample, covariates["age"]), -found, atol=1e-6)
    np.testing.assert_allclose(deltas(reported, arm, subsample, 7 - 1000 * covariates["age"]), found, atol=1e-6)
