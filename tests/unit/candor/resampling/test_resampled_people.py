"""The bootstrap with covariates against theory, full refits and resampled rows."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.fixed_working_models import SYMMETRIC, resampled_study, study_of
from candor.adjustment.adjusted_study import adjusted_study
from candor.adjustment.doubly_robust import (
    adjusted_cells,
    doubly_robust_estimates,
    effects_with_covariates,
)
from candor.adjustment.held_out import augmented_means, augmented_outcomes
from candor.errors import MethodError, NotIdentifiedError
from candor.resampling import resampled_people
from candor.resampling.bootstrap import bootstrap, with_bootstrap
from candor.resampling.resampled_people import ResampledPeople, ResampledQuestion


def test_standard_errors_are_those_of_the_influence_functions_when_the_study_is_large():
    study = study_of(6000, subsamples=SYMMETRIC, cheaters="always_no", arms=3)
    resampled = ResampledPeople.of({"": study})
    effects = with_bootstrap(effects_with_covariates(study), bootstrap(resampled, replicates=1000, seed=1), study=resampled)
    assert len(effects) == 4
    for effect in effects:
        assert effect.bootstrap.failed == 0
        assert effect.bootstrap.standard_error == pytest.approx(effect.standard_error, rel=0.1)
        for interval in (effect.bootstrap, effect.bootstrap.bca):
            assert interval.low == pytest.approx(effect.interval.low, abs=0.4 * effect.standard_error)
            assert interval.high == pytest.approx(effect.interval.high, abs=0.4 * effect.standard_error)


def as_unseen(study, group, models, rows):
    """Augmented means of the drawn rows, with the residuals of people whom the models have not seen."""
    found = augmented_means(study.reported, group, study.matrix, models)
    outcome = found.predictions[np.arange(len(group)), group] + found.residuals
    return augmented_outcomes(outcome[rows], group[rows], found.predictions[rows]).mean(axis=0)


def test_a_replicate_is_the_estimate_of_the_resampled_rows(monkeypatch):
    study = study_of(800, subsamples=SYMMETRIC, cheaters="always_no")
    resampled = ResampledPeople.of({"": study})
    known = np.random.default_rng(4).integers(0, 800, size=800)
    monkeypatch.setattr(resampled_people, "draw_people", lambda drawn, rng: np.copyto(drawn[0], np.bincount(known, minlength=800)))
    (doubly_robust,), (efficient,) = resampled.replicate_effects(1, np.random.default_rng(1)).values()
    _, pattern = ResampledQuestion.of(study, np.arange(800))
    rows = np.argsort(pattern, kind="stable")[known]
    again = resampled_study(study, rows, refit=False)
    arms, cells = (
        as_unseen(study, group, models, rows) for group, models in ((study.arm, study.arm_models), (study.cell, study.cell_models))
    )
    joint = doubly_robust_estimates(again).joint
    truth = study.design.truth[study.subsample[rows]].mean()
    assert doubly_robust == pytest.approx((arms[1] - arms[0]) / truth / joint.honest_proportion, abs=1e-9)
    fit = adjusted_cells(study).fit
    found = replace(fit, coefficients=adjusted_cells(study).operator @ cells).joint_estimates().raw_effect
    assert efficient == pytest.approx(found, abs=1e-9)


def test_one_draw_serves_all_questions_so_the_same_answers_have_the_same_replicates():
    study = study_of(300)
    opposite = replace(study, reported=study.reported)
    run = bootstrap(ResampledPeople.of({"first": study, "second": opposite}), replicates=100, seed=3).effects
    for method in ("doubly_robust", "efficient_with_covariates"):
        np.testing.assert_array_equal(run[f"{method} of first"], run[f"{method} of second"])


def test_people_who_answered_only_one_question_are_resampled_with_the_others():
    """A random two thirds answered the second question; its spread is that of the smaller study."""
    study = study_of(3000)
    there = np.sort(np.random.default_rng(1).permutation(3000)[:2000])
    values = study.matrix.values[there][:, 1:-1]
    covariates = {f"x{column}": values[:, column] for column in range(values.shape[1])}
    part = adjusted_study(study.reported[there].astype(int), study.arm[there], study.subsample[there], covariates, design=study.design)
    together = ResampledPeople.of({"all": study, "part": part}, answered={"all": np.arange(3000), "part": there})
    run, alone = bootstrap(together, replicates=1000, seed=1), bootstrap(ResampledPeople.of({"": part}), replicates=1000, seed=2)
    for method in ("doubly_robust", "efficient_with_covariates"):
        spreads = [np.diff(np.quantile(found, [0.16, 0.84]))[0] for found in (run.effects[f"{method} of part"], alone.effects[method])]
        assert spreads[0] == pytest.approx(spreads[1], rel=0.15)
        np.testing.assert_allclose(together.estimates[f"{method} of part"], ResampledPeople.of({"": part}).estimates[method])
    with pytest.raises(MethodError, match="who answered which"):
        ResampledPeople.of({"all": study, "part": part})


def test_a_row_of_several_people_is_not_taken_for_one():
    """Its bootstrap would be that of fewer people, with wider intervals, and nothing would say so."""
    design, cells = study_of(200, subsamples=SYMMETRIC, cheaters="always_no").design, np.indices((2, 2, 2)).reshape(3, 8)
    several = adjusted_study(cells[2], cells[0], cells[1], {}, design=design, frequencies=np.full(8, 25))
    with pytest.raises(MethodError, match="in which row everybody is"):
        ResampledPeople.of({"": several})
    assert ResampledPeople.with_patterns({"": ResampledQuestion.of(several, np.repeat(np.arange(8), 25))}).people == 200


def test_a_resample_in_which_nobody_answered_a_question_fails_without_a_warning(monkeypatch):
    """A question that few answered: now and then chance draws none of them."""
    many, few = study_of(300, subsamples=SYMMETRIC, cheaters="always_no"), study_of(100, subsamples=SYMMETRIC, cheaters="always_no")
    both = ResampledPeople.of({"many": many, "few": few}, answered={"many": np.arange(100, 400), "few": np.arange(100)})
    without = both.questions["few"].terms[both.rows[:, 1]].any(axis=1) == 0
    monkeypatch.setattr(resampled_people, "draw_people", lambda drawn, rng: np.copyto(drawn, 1.0 * without))
    found = both.replicate_effects(1, np.random.default_rng(1))
    assert {name: bool(np.isnan(effects).all()) for name, effects in found.items()} == {name: "few" in name for name in found}


def test_drawing_patterns_is_as_good_as_drawing_participants(monkeypatch):
    study = study_of(3000, numeric=False, subsamples=SYMMETRIC, cheaters="always_no")
    by_pattern = bootstrap(ResampledPeople.of({"": study}), replicates=1500, seed=1).effects
    monkeypatch.setattr(resampled_people, "_PEOPLE_PER_BINOMIAL_DRAW", 10**9)
    by_participant = bootstrap(ResampledPeople.of({"": study}), replicates=1500, seed=2).effects
    for method, effects in by_pattern.items():
        assert not np.isnan(effects).any()
        quantiles = np.quantile(effects, [0.1, 0.5, 0.9])
        np.testing.assert_allclose(np.quantile(by_participant[method], [0.1, 0.5, 0.9]), quantiles, atol=0.2 * effects.std())


def test_workers_do_not_change_the_result():
    resampled = ResampledPeople.of({"": study_of(300)})
    runs = [bootstrap(resampled, replicates=2500, seed=6, workers=workers).effects for workers in (1, 2, 4)]
    for method in runs[0]:
        np.testing.assert_array_equal(runs[0][method], runs[1][method])
        np.testing.assert_array_equal(runs[0][method], runs[2][method])


def test_the_order_of_participants_does_not_change_the_replicates():
    study = study_of(300, subsamples=SYMMETRIC, cheaters="always_no")
    order = np.random.default_rng(1).permutation(300)
    age = study.matrix.values[:, -2]
    studies = [
        adjusted_study(study.reported[rows], study.arm[rows], study.subsample[rows], {"age": age[rows]}, design=study.design)
        for rows in (np.arange(300), order)
    ]
    first, second = (bootstrap(ResampledPeople.of({"": one}), replicates=100, seed=6).effects for one in studies)
    # Somebody who answered nothing stands among the others, or after them.
    within = ResampledPeople.of({"": studies[0]}, answered={"": np.delete(np.arange(301), 50)})
    for method in first:
        np.testing.assert_allclose(first[method], second[method], atol=1e-6)
        np.testing.assert_array_equal(first[method], bootstrap(within, replicates=100, seed=6).effects[method])


def test_small_studies_count_their_failures_and_never_crash():
    failed = []
    for seed in range(6):
        study = study_of(40, seed=seed)
        resampled = ResampledPeople.of({"": study})
        effects = with_bootstrap(effects_with_covariates(study), bootstrap(resampled, replicates=250, seed=1), study=resampled)
        failed += [effect.bootstrap.failed for effect in effects if effect.bootstrap]
        assert all(effect.bootstrap or effect.value is None for effect in effects)
    assert max(failed) > 20


def test_a_design_without_an_effect_is_refused():
    with pytest.raises(NotIdentifiedError, match="no effect estimate to resample"):
        ResampledPeople.of({"": study_of(200, subsamples=SYMMETRIC)})


def test_what_was_stored_gives_the_same_replicates_without_the_background():
    study = study_of(600, subsamples=SYMMETRIC, cheaters="always_no")
    there = np.sort(np.random.default_rng(1).permutation(900)[:600])
    for answered in ({"here": there, "all": np.arange(600)}, {"here": np.arange(600), "all": np.arange(600)}):
        resampled = ResampledPeople.of({"here": study, "all": study}, answered=answered)
        arrays = resampled.arrays()
        again = ResampledPeople.from_arrays(arrays, designs={"here": study.design, "all": study.design})
        for name, effects in bootstrap(resampled, replicates=50, seed=1).effects.items():
            np.testing.assert_array_equal(bootstrap(again, replicates=50, seed=1).effects[name], effects)
            np.testing.assert_array_equal(again.estimates[name], resampled.estimates[name])
            np.testing.assert_array_equal(again.accelerations[name], resampled.accelerations[name])
        assert all(len(values) < 900 for name, values in arrays.items() if name.endswith("terms")), "patterns, nobody's covariates"
