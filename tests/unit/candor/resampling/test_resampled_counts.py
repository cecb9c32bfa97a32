"""The bootstrap from counts against resampled rows, against theory, and at any size."""

from functools import partial

import numpy as np
import pytest

from candor.designs.design import Design
from candor.errors import NotIdentifiedError, TooFewResponsesError
from candor.estimators.cell_means import efficient_kernel
from candor.estimators.difference_in_means import difference_in_means_kernel
from candor.estimators.effects import estimate_outcome
from candor.resampling.bootstrap import bootstrap, with_bootstrap
from candor.resampling.resampled_counts import ResampledCounts

MIRRORED = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
SYMMETRIC = {"1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "2/6", "forced_yes": "2/6"}}
THREE = {**MIRRORED, "3": {"forced_no": "1/6", "forced_yes": "1/6"}}


def design_of(subsamples=MIRRORED, *, arms=("control", "treatment"), cheaters="any"):
    return Design.of(arms=arms, control=arms[0], subsamples=subsamples, cheater_model=cheaters)


def expected_counts(design, n, *, honest=0.9, prevalence=(0.4, 0.6, 0.5), yes_rate=0.5):
    arms, subsamples = design.shape
    means = honest * (np.outer(prevalence[:arms], design.truth) + design.forced_yes) + (1 - honest) * yes_rate
    yes = np.round(n * means / (arms * subsamples))
    return np.stack([np.round(n / (arms * subsamples)) - yes, yes], axis=-1).astype(int)


def test_one_multinomial_draw_is_as_good_as_resampling_rows():
    design = design_of()
    counts = expected_counts(design, 4000)
    rows = np.repeat(np.arange(8), counts.reshape(-1))
    rng = np.random.default_rng(1)
    tables = np.array([np.bincount(rng.choice(rows, len(rows)), minlength=8) for _ in range(1500)]).reshape(-1, 2, 2, 2).astype(float)
    plain = difference_in_means_kernel(tables, design).raw_effect
    ours = bootstrap(ResampledCounts(counts, design=design), replicates=6000, seed=2).effects["difference_in_means"]
    quantiles = [0.05, 0.25, 0.5, 0.75, 0.95]
    np.testing.assert_allclose(np.quantile(ours, quantiles), np.quantile(plain, quantiles), atol=0.007)


@pytest.mark.parametrize(
    ("subsamples", "cheaters"), [(MIRRORED, "any"), (MIRRORED, "always_no"), (SYMMETRIC, {"yes_rate": 0.5 - 1 / 8}), (THREE, "any")]
)
def test_standard_errors_and_intervals_are_those_of_theory_when_the_study_is_large(subsamples, cheaters):
    design = design_of(subsamples, arms=("control", "face", "voice"), cheaters=cheaters)
    counts = expected_counts(design, 300_000, yes_rate=0.375)
    study = ResampledCounts(counts, design=design)
    effects = with_bootstrap(estimate_outcome(counts, design=design).effects, bootstrap(study, replicates=4000, seed=1), study=study)
    assert {effect.method for effect in effects} >= {"difference_in_means", "efficient"}
    assert ("efficient_arm_specific_cheaters" in {effect.method for effect in effects}) == (subsamples is THREE)
    for effect in effects:
        assert effect.bootstrap.failed == 0
        assert effect.bootstrap.standard_error == pytest.approx(effect.standard_error, rel=0.06)
        for interval in (effect.bootstrap, effect.bootstrap.bca):
            assert interval.low == pytest.approx(effect.interval.low, abs=0.25 * effect.standard_error)
            assert interval.high == pytest.approx(effect.interval.high, abs=0.25 * effect.standard_error)


@pytest.mark.parametrize("subsamples", [MIRRORED, THREE])
def test_the_acceleration_is_that_of_the_derivatives_by_every_count(subsamples):
    """Estimates depend on shares alone, so that a participant's influence is n times the derivative by their count. Cells are unlike."""
    design = design_of(subsamples)
    counts = expected_counts(design, 6_000_000, honest=0.7, prevalence=(0.05, 0.3)) * np.arange(1, 2 * len(subsamples) + 1).reshape(
        2, -1, 1
    )
    kernels = {
        "difference_in_means": difference_in_means_kernel,
        "efficient": efficient_kernel,
        "efficient_arm_specific_cheaters": partial(efficient_kernel, arm_specific_cheaters=True),
    }
    accelerations = ResampledCounts(counts, design=design).accelerations
    assert set(accelerations) == (set(kernels) if subsamples is THREE else {"difference_in_means", "efficient"})
    step, weights = 2000.0, counts.reshape(-1)
    for method, found in accelerations.items():
        above, below = (
            kernels[method]((weights + sign * step * np.eye(counts.size)).reshape(-1, *counts.shape), design).effect[:, 0]
            for sign in (1, -1)
        )
        influence = weights.sum() * (above - below) / (2 * step)
        expected = (weights @ influence**3) / (6 * (weights @ influence**2) ** 1.5)
        assert found[0] == pytest.approx(expected, rel=0.01)


def test_a_hundred_and_ten_million_participants_take_the_same_kind_of_draw():
    design = design_of()
    counts = expected_counts(design, 10**7) * 11
    study = ResampledCounts(counts, design=design)
    (effect, _) = with_bootstrap(estimate_outcome(counts, design=design).effects, bootstrap(study, replicates=2000, seed=1), study=study)
    assert effect.bootstrap.standard_error == pytest.approx(effect.standard_error, rel=0.06)


def test_the_students_of_2021_are_too_few_and_the_failures_are_counted():
    """Counts of the question on attention as published by Kancharla & Kang (2021), control first, under a die they could have used."""
    counts = [[[9, 11], [5, 12]], [[10, 8], [7, 10]]]
    study = ResampledCounts(counts, design=design_of())
    replicates = bootstrap(study, replicates=4000, seed=1)
    (effect, _) = with_bootstrap(estimate_outcome(counts, design=study.design).effects, replicates, study=study)
    failed = np.isnan(replicates.effects["efficient"]).sum()
    assert effect.bootstrap.failed == failed > 200
    assert (effect.bootstrap.low, effect.bootstrap.high, effect.bootstrap.standard_error) == (None, None, None)
    assert effect.notes[-1] == "They are too many for a bootstrap standard error."


def test_workers_do_not_change_the_result():
    study = ResampledCounts(expected_counts(design_of(), 500), design=design_of())
    runs = [bootstrap(study, replicates=20_500, seed=6, workers=workers).effects for workers in (1, 2, 4)]
    for method in runs[0]:
        np.testing.assert_array_equal(runs[0][method], runs[1][method])
        np.testing.assert_array_equal(runs[0][method], runs[2][method])


def test_a_design_without_an_effect_and_an_empty_cell_are_refused():
    with pytest.raises(NotIdentifiedError, match="no effect estimate to resample"):
        ResampledCounts(expected_counts(design_of(SYMMETRIC), 500), design=design_of(SYMMETRIC))
    with pytest.raises(TooFewResponsesError):
        ResampledCounts([[[1, 1], [1, 1]], [[1, 1], [0, 0]]], design=design_of())


@pytest.mark.parametrize("subsamples", [MIRRORED, THREE])
def test_resamples_are_not_pulled_to_the_boundary_when_nobody_cheats(subsamples):
    """Half of them have x̂ above 1; taking 1 instead would pile them up at Δ̂, which no bootstrap survives."""
    design = design_of(subsamples)
    counts = expected_counts(design, 90_000, honest=1.0)
    study = ResampledCounts(counts, design=design)
    effects = with_bootstrap(estimate_outcome(counts, design=design).effects, bootstrap(study, replicates=4000, seed=1), study=study)
    for effect in effects:
        spread = effect.bootstrap.high - effect.bootstrap.low
        assert effect.bootstrap.standard_error == pytest.approx(effect.standard_error, rel=0.06)
        assert spread == pytest.approx(effect.fieller.high - effect.fieller.low, rel=0.06)
        assert effect.bootstrap.high - effect.value == pytest.approx(effect.fieller.high - effect.value, abs=0.05 * spread)


def test_a_sample_beyond_the_boundary_has_intervals_around_the_ratio_before_the_rule():
    counts = expected_counts(design_of(), 90_000, honest=1.03, prevalence=(0.45, 0.55))
    study = ResampledCounts(counts, design=design_of())
    (_, simple) = with_bootstrap(
        estimate_outcome(counts, design=study.design).effects, bootstrap(study, replicates=2000, seed=1), study=study
    )
    raw = simple.honest_times_effect.value / 1.03
    assert simple.value == pytest.approx(0.103, abs=1e-3)
    assert study.estimates["difference_in_means"][0] == pytest.approx(raw, abs=1e-3)
    assert (simple.bootstrap.low + simple.bootstrap.high) / 2 == pytest.approx(raw, abs=0.003)
    assert (simple.bootstrap.bca.low, simple.bootstrap.bca.high) == pytest.approx((simple.fieller.low, simple.fieller.high), abs=0.003)
