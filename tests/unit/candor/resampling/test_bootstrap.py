"""The engine of the bootstrap: chunks, workers, progress, and summaries of the chunks' results."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from candor.designs.design import Design
from candor.errors import MethodError
from candor.resampling.bootstrap import (
    BootstrapCancelledError,
    BootstrapReplicates,
    bootstrap,
    bootstrap_chunk,
    chunk_count,
    merge,
    with_bootstrap,
)
from candor.resampling.resampled_counts import ResampledCounts
from candor.resampling.summaries import acceleration, bootstrap_summary
from candor.results import Effect, HonestTimesEffect

MIRRORED = Design.of(
    arms=("control", "treatment"),
    control="control",
    subsamples={"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}},
)
HEAVY_TAILS = [[[134, 94], [115, 113]], [[118, 110], [104, 124]]]


@dataclass
class MeanOfNumbers:
    """The simplest study: its effect is the mean of some numbers."""

    numbers: np.ndarray
    replicates_per_chunk: int = 7

    @property
    def estimates(self):
        return {"mean": self.numbers.mean(keepdims=True)}

    @property
    def accelerations(self):
        return {"mean": acceleration((self.numbers - self.numbers.mean())[:, None], np.ones(len(self.numbers)))}

    def replicate_effects(self, replicates, rng):
        return {"mean": rng.choice(self.numbers, (replicates, max(1, len(self.numbers)))).mean(axis=1, keepdims=True)}


NUMBERS = MeanOfNumbers(np.random.default_rng(5).exponential(0.1, size=40))


@pytest.mark.parametrize("workers", [2, 4, 64])
def test_any_number_of_workers_gives_the_same_replicates(workers):
    alone = bootstrap(NUMBERS, replicates=100, seed=3, workers=1)
    together = bootstrap(NUMBERS, replicates=100, seed=3, workers=workers)
    np.testing.assert_array_equal(together.effects["mean"], alone.effects["mean"])


def test_chunks_from_anywhere_in_any_order_merge_to_the_same_run():
    chunks = [bootstrap_chunk(NUMBERS, replicates=100, seed=3, chunk_index=index) for index in range(chunk_count(NUMBERS, replicates=100))]
    assert [len(chunk.effects["mean"]) for chunk in chunks] == [7] * 14 + [2]
    merged = merge(reversed(chunks))
    np.testing.assert_array_equal(merged.effects["mean"], bootstrap(NUMBERS, replicates=100, seed=3).effects["mean"])


def test_a_longer_run_begins_like_a_shorter_one_and_another_seed_does_not():
    long, short = (bootstrap(NUMBERS, replicates=replicates, seed=3).effects["mean"] for replicates in (21, 14))
    np.testing.assert_array_equal(long[:14], short)
    assert not np.array_equal(bootstrap(NUMBERS, replicates=14, seed=4).effects["mean"], short)


@pytest.mark.parametrize("present", [[0, 2], [0, 1], [0, 0, 1, 2], [1, 2], []])
def test_a_missing_or_repeated_chunk_is_refused(present):
    chunks = [bootstrap_chunk(NUMBERS, replicates=21, seed=3, chunk_index=index) for index in present]
    with pytest.raises(MethodError, match="every chunk from 0 to the last once"):
        merge(chunks)


def test_chunks_of_different_runs_are_refused():
    chunks = [bootstrap_chunk(NUMBERS, replicates=14, seed=seed, chunk_index=index) for index, seed in enumerate([3, 4])]
    with pytest.raises(MethodError, match=r"their seeds are \[3, 4\]"):
        merge(chunks)


def test_indices_and_replicates_that_make_no_sense_are_refused():
    with pytest.raises(MethodError, match="from 0 to 2, got 3"):
        bootstrap_chunk(NUMBERS, replicates=21, seed=3, chunk_index=3)
    with pytest.raises(MethodError, match="at least 2 replicates, got 1"):
        bootstrap(NUMBERS, replicates=1, seed=3)


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_counts_up_to_the_end(workers):
    seen = []
    bootstrap(NUMBERS, replicates=20, seed=1, workers=workers, progress=lambda done, replicates: seen.append((done, replicates)))
    assert seen == [(7, 20), (14, 20), (20, 20)]


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_that_returns_false_cancels_the_run(workers):
    with pytest.raises(BootstrapCancelledError, match="cancelled after 14 of 700 replicates"):
        bootstrap(NUMBERS, replicates=700, seed=1, workers=workers, progress=lambda done, _: done < 14)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_progress_or_in_a_chunk_comes_through(workers):
    def broken(done, replicates):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        bootstrap(NUMBERS, replicates=700, seed=1, workers=workers, progress=broken)
    with pytest.raises(ValueError, match="cannot be empty"):
        bootstrap(MeanOfNumbers(np.array([])), replicates=700, seed=1, workers=workers)


def test_without_failures_the_percentile_interval_and_error_are_numpys():
    replicates = np.random.default_rng(0).normal(0.2, 0.1, 999)
    summary = bootstrap_summary(replicates, estimate=0.2, acceleration=0.0, level=0.9, seed=8)
    assert (summary.low, summary.high) == pytest.approx(tuple(np.quantile(replicates, [0.05, 0.95])))
    low, high = np.quantile(replicates, stats.norm.cdf([-1, 1]))
    assert summary.standard_error == pytest.approx((high - low) / 2)
    assert summary.standard_error == pytest.approx(replicates.std(ddof=1), rel=0.05)
    assert (summary.replicates, summary.failed, summary.seed, summary.level) == (999, 0, 8, 0.9)


def test_the_bca_interval_agrees_with_scipy():
    numbers = NUMBERS.numbers
    theirs = stats.bootstrap((numbers,), np.mean, n_resamples=4999, method="BCa", rng=np.random.default_rng(1))
    ours = bootstrap_summary(
        theirs.bootstrap_distribution, estimate=numbers.mean(), acceleration=float(NUMBERS.accelerations["mean"][0]), level=0.95, seed=1
    ).bca
    assert ours.kind == "bca"
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), rel=2e-3)


def test_failed_replicates_push_both_ends_outward():
    found = np.linspace(0.0, 0.9, 98)
    failing = bootstrap_summary(np.append(found, [np.nan] * 2), estimate=0.45, acceleration=0.0, level=0.9, seed=1)
    assert failing.failed == 2
    assert failing.low == pytest.approx(np.quantile(np.append(found, [-1e-9] * 2), 0.05), abs=1e-6)
    assert failing.high == pytest.approx(0.9 * (0.95 * 99) / 97)
    low, high = np.append([-1e-9] * 2, found), np.append(found, [0.9 + 1e-9] * 2)
    below, above = stats.norm.cdf([-1, 1])
    assert failing.standard_error == pytest.approx((np.quantile(high, above) - np.quantile(low, below)) / 2)
    assert failing.bca.low <= failing.low + 1e-9


def test_too_many_failed_replicates_leave_no_end_and_then_no_standard_error():
    some = bootstrap_summary(np.append(np.linspace(0, 0.9, 93), [np.nan] * 7), estimate=0.45, acceleration=0.0, level=0.9, seed=1)
    assert (some.low, some.high, some.bca.low, some.bca.high) == (None, None, None, None)
    assert some.standard_error is not None
    one = bootstrap_summary(np.append(np.linspace(0, 0.9, 19), np.nan), estimate=0.45, acceleration=0.0, level=0.95, seed=1)
    assert (one.low, one.high, one.standard_error is None) == (None, None, False), "a twentieth may fail, but a fortieth at each end"
    tenth = bootstrap_summary(np.append(np.linspace(0, 0.9, 90), [np.nan] * 10), estimate=0.45, acceleration=0.0, level=0.9, seed=1)
    assert tenth.standard_error is not None, "exactly a tenth may fail at 90 %"
    half = bootstrap_summary(np.append(np.linspace(0, 0.9, 70), [np.nan] * 30), estimate=0.45, acceleration=0.0, level=0.5, seed=1)
    assert half.standard_error is None, "the central 68 % have no end, although few enough failed for the level"
    many = bootstrap_summary(np.append(np.linspace(0, 0.9, 80), [np.nan] * 20), estimate=0.45, acceleration=0.0, level=0.9, seed=1)
    assert many.standard_error is None
    nothing = bootstrap_summary(np.full(50, np.nan), estimate=0.45, acceleration=0.0, level=0.9, seed=1)
    assert (nothing.low, nothing.standard_error, nothing.bca, nothing.failed) == (None, None, None, 50)


def test_ends_are_cut_to_where_effects_can_lie():
    summary = bootstrap_summary(np.linspace(-3, 3, 100), estimate=0.0, acceleration=0.0, level=0.9, seed=1)
    assert (summary.low, summary.high) == (-1.0, 1.0)


def test_an_estimate_outside_of_all_replicates_has_no_bca_interval():
    for estimate in (0.5, -0.5):
        assert bootstrap_summary(np.linspace(0, 0.1, 50), estimate=estimate, acceleration=0.0, level=0.9, seed=1).bca is None
    turned = bootstrap_summary(np.linspace(0, 0.1, 50), estimate=0.05, acceleration=0.7, level=0.9, seed=1)
    assert turned.bca is None, "1 − .7·1.64 is below 0, where Efron's formula turns round"
    for estimate, acceleration_of in ((0.08, 0.45), (0.02, -0.45)):
        beyond = bootstrap_summary(np.linspace(0, 0.1, 50), estimate=estimate, acceleration=acceleration_of, level=0.9, seed=1)
        assert beyond.bca is None, "1 − .45·(1.64 + .84)"


def test_the_acceleration_is_the_skewness_over_six_root_n():
    sample = np.random.default_rng(2).exponential(size=500)
    centred = sample - sample.mean()
    assert acceleration(centred[:, None], np.ones(500))[0] == pytest.approx(stats.skew(sample) / (6 * np.sqrt(500)))
    assert acceleration(np.zeros((3, 1)), np.ones(3))[0] == 0.0


def effect(method, treatment, value):
    return Effect(
        treatment=treatment,
        control="control",
        method=method,
        value=value,
        standard_error=None,
        interval=None,
        wald=None,
        p_value=None,
        adjusted_p_value=None,
        honest_times_effect=HonestTimesEffect(value=None, standard_error=None, p_value=None),
        honest_proportion=None,
        assumption="",
    )


class ThreeContrasts:
    replicates_per_chunk = 10

    def __init__(self):
        self.estimates = {"ours": np.array([0.1, 0.5, 0.8])}
        self.accelerations = {"ours": np.zeros(3)}


def test_every_effect_gets_the_summary_of_its_own_contrast():
    columns = [np.linspace(0.0, 0.2, 101), np.append(np.linspace(0.4, 0.6, 99), [np.nan] * 2), np.linspace(0.7, 0.9, 101)]
    replicates = BootstrapReplicates(effects={"ours": np.column_stack(columns)}, seed=9)
    effects = tuple(effect(method, arm, value) for arm, value in (("a", 0.1), ("b", 0.5), ("c", 0.8)) for method in ("theirs", "ours"))
    summarised = with_bootstrap(effects, replicates, study=ThreeContrasts(), level=0.9)
    assert [one.bootstrap is None for one in summarised] == [True, False] * 3
    assert (summarised[5].bootstrap.low, summarised[5].bootstrap.bca.high) == pytest.approx((0.71, 0.89), abs=1e-3)
    assert summarised[1].bootstrap.low == pytest.approx(0.01)
    assert summarised[1].notes == ()
    assert summarised[3].bootstrap.failed == 2
    assert summarised[3].notes == ("In 2 of 101 resamples nobody was honest or a cell was empty; they widen the bootstrap intervals.",)


def test_an_effect_without_a_value_keeps_the_place_of_its_contrast():
    replicates = BootstrapReplicates(effects={"ours": np.column_stack([np.full(50, np.nan), np.linspace(0.4, 0.6, 50)])}, seed=9)
    summarised = with_bootstrap((effect("ours", "a", None), effect("ours", "b", 0.5)), replicates, study=ThreeContrasts())
    assert summarised[0].bootstrap is None
    assert summarised[1].bootstrap.failed == 0


def test_the_standard_error_of_a_ratio_with_heavy_tails_is_the_same_for_every_seed():
    """912 people, x̂ two and a half standard errors above zero. Negative control: the replicates' standard deviation is not."""
    study = ResampledCounts(HEAVY_TAILS, design=MIRRORED)
    errors, deviations = [], []
    for seed in range(12):
        effects = bootstrap(study, replicates=5000, seed=seed).effects["difference_in_means"][:, 0]
        errors.append(bootstrap_summary(effects, estimate=0.2, acceleration=0.0, level=0.95, seed=seed).standard_error)
        deviations.append(np.nanstd(effects))
    assert max(errors) < 1.1 * min(errors)
    assert max(deviations) > 10 * min(deviations)
