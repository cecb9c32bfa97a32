"""The bootstrap with covariates against theory, full refits and resampled rows."""

from dataclasses import replace

import numpy as np
import pytest

from candor.adjustment.adjusted_study import adjusted_study
from candor.adjustment.doubly_robust import (
    adjusted_cells,
    augmented_outcomes,
    doubly_robust_estimates,
    effects_with_covariates,
)
from candor.adjustment.working_models import expit, fit_logistic
from candor.designs.design import Design
from candor.errors import NotIdentifiedError
from candor.resampling import resampled_patterns
from candor.resampling.bootstrap import bootstrap, with_bootstrap
from candor.resampling.resampled_patterns import ResampledPatterns

MIRRORED = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
SYMMETRIC = {"1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "2/6", "forced_yes": "2/6"}}


def study_of(n, *, seed=1, subsamples=MIRRORED, cheaters="any", arms=2, numeric=True):
    design = Design.of(arms=[f"arm {a}" for a in range(arms)], control="arm 0", subsamples=subsamples, cheater_model=cheaters)
    rng = np.random.default_rng(seed)
    covariates = {"region": rng.choice(["north", "south", "west"], n), "smoker": rng.choice(["yes", "no"], n)}
    if numeric:
        covariates["age"] = rng.normal(size=n)
    arm, subsample = rng.integers(0, arms, n), rng.integers(0, 2, n)
    age = covariates.get("age", np.zeros(n))
    true = rng.random(n) < expit(1.5 * age + (covariates["region"] == "west") - 0.5 + 0.9 * arm)
    roll = rng.random(n)
    reported = np.where(roll < design.truth[subsample], true, roll < (design.truth + design.forced_yes)[subsample])
    return adjusted_study(reported.astype(int), arm, subsample, covariates, design=design)


def test_standard_errors_are_those_of_the_influence_functions_when_the_study_is_large():
    study = study_of(6000, subsamples=SYMMETRIC, cheaters="always_no", arms=3)
    resampled = ResampledPatterns(study)
    effects = with_bootstrap(effects_with_covariates(study), bootstrap(resampled, replicates=1000, seed=1), study=resampled)
    assert len(effects) == 4
    for effect in effects:
        assert effect.bootstrap.failed == 0
        assert effect.bootstrap.standard_error == pytest.approx(effect.standard_error, rel=0.1)
        for interval in (effect.bootstrap, effect.bootstrap.bca):
            assert interval.low == pytest.approx(effect.interval.low, abs=0.4 * effect.standard_error)
            assert interval.high == pytest.approx(effect.interval.high, abs=0.4 * effect.standard_error)


@pytest.mark.parametrize(("steps", "tolerance"), [(1, 0.02), (2, 0.002)])
def test_few_newton_steps_are_as_good_as_full_refits(steps, tolerance):
    study = study_of(1500, subsamples=SYMMETRIC, cheaters="always_no")
    full = bootstrap(ResampledPatterns(study, newton_steps=10), replicates=500, seed=1).effects
    short = bootstrap(ResampledPatterns(study, newton_steps=steps), replicates=500, seed=1).effects
    for method, expected in full.items():
        assert np.sqrt(np.mean((short[method] - expected) ** 2)) < tolerance * expected.std()
        assert short[method].std() == pytest.approx(expected.std(), rel=0.005)


def test_a_replicate_is_the_estimate_of_the_resampled_rows():
    study = study_of(800, subsamples=SYMMETRIC, cheaters="always_no")
    resampled = ResampledPatterns(study, newton_steps=12)

    class KnownDraw:
        """Hands out one known resample of participants."""

        drawn = np.random.default_rng(4).integers(0, 800, size=(1, 800))

        def integers(self, low, high, size):
            return self.drawn

    (doubly_robust,), (efficient,) = resampled.replicate_effects(1, KnownDraw()).values()
    used = np.unique(np.concatenate([model.columns for model in (*study.arm_models, *study.cell_models)]))
    rows = np.lexsort([*study.matrix.values[:, used][:, ::-1].T, study.reported, study.cell])[KnownDraw.drawn[0]]
    again = type(study)(
        design=study.design,
        reported=study.reported[rows],
        arm=study.arm[rows],
        subsample=study.subsample[rows],
        matrix=type(study.matrix)(values=study.matrix.values[rows], terms=study.matrix.terms, notes=()),
        counts=np.bincount(study.cell[rows] * 2 + study.reported[rows].astype(int), minlength=8).reshape(2, 2, 2).astype(float),
        arm_models=tuple(refitted(model, study, rows, study.arm[rows] == a) for a, model in enumerate(study.arm_models)),
        cell_models=tuple(refitted(model, study, rows, study.cell[rows] == c) for c, model in enumerate(study.cell_models)),
    )
    assert doubly_robust == pytest.approx(doubly_robust_estimates(again).joint.raw_effect, abs=1e-7)
    # The weights of the cell means stay those of the full sample.
    cells = adjusted_cells(study)
    means = augmented_outcomes(
        again.reported, again.cell, np.column_stack([model.predict(again.matrix.values) for model in again.cell_models])
    )
    fit = replace(cells.fit, coefficients=cells.operator @ means.mean(axis=0))
    assert efficient == pytest.approx(fit.joint_estimates().raw_effect, abs=1e-7)


def refitted(model, study, rows, members):
    values = study.matrix.values[rows][members][:, model.columns]
    return replace(model, fit=fit_logistic(values, study.reported[rows][members]))


def test_drawing_patterns_is_as_good_as_drawing_participants(monkeypatch):
    study = study_of(3000, numeric=False, subsamples=SYMMETRIC, cheaters="always_no")
    by_pattern = bootstrap(ResampledPatterns(study), replicates=1500, seed=1).effects
    monkeypatch.setattr(resampled_patterns, "_INTEGER_DRAWS_PER_BINOMIAL_DRAW", 10**9)
    by_participant = bootstrap(ResampledPatterns(study), replicates=1500, seed=2).effects
    for method, effects in by_pattern.items():
        assert not np.isnan(effects).any()
        quantiles = np.quantile(effects, [0.1, 0.5, 0.9])
        np.testing.assert_allclose(np.quantile(by_participant[method], [0.1, 0.5, 0.9]), quantiles, atol=0.2 * effects.std())


def test_leaving_one_method_out_does_not_change_the_other():
    study = study_of(300)
    both = bootstrap(ResampledPatterns(study), replicates=60, seed=6).effects
    for method, expected in both.items():
        alone = bootstrap(ResampledPatterns(study, methods=[method]), replicates=60, seed=6).effects
        assert list(alone) == [method]
        np.testing.assert_array_equal(alone[method], expected)


def test_workers_do_not_change_the_result():
    resampled = ResampledPatterns(study_of(300))
    runs = [bootstrap(resampled, replicates=800, seed=6, workers=workers).effects for workers in (1, 2, 4)]
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
    first, second = (bootstrap(ResampledPatterns(one), replicates=100, seed=6).effects for one in studies)
    for method in first:
        np.testing.assert_allclose(first[method], second[method], atol=1e-6)


def test_small_studies_count_their_failures_and_never_crash():
    failed = []
    for seed in range(6):
        study = study_of(40, seed=seed)
        resampled = ResampledPatterns(study)
        effects = with_bootstrap(effects_with_covariates(study), bootstrap(resampled, replicates=250, seed=1), study=resampled)
        failed += [effect.bootstrap.failed for effect in effects if effect.bootstrap]
        assert all(effect.bootstrap or effect.value is None for effect in effects)
    assert max(failed) > 20


def test_a_design_without_an_effect_is_refused():
    with pytest.raises(NotIdentifiedError, match="no effect estimate to resample"):
        ResampledPatterns(study_of(200, subsamples=SYMMETRIC))
