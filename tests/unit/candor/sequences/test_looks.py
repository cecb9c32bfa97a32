"""All that may be said at one look: from the efficient estimates, from the start of the sequence on, and together for a family."""

import math
from dataclasses import replace

import numpy as np
import pytest

from candor.adjustment.adjusted_study import adjusted_study
from candor.adjustment.doubly_robust import adjusted_cells
from candor.designs.design import Design
from candor.errors import MethodError, TooFewResponsesError
from candor.estimators.effects import estimate_outcome
from candor.planning.simulation import LatentModel, cell_probabilities, simulate_trial
from candor.results import SequentialEffect, SequentialEstimate
from candor.sequences.boundary import anytime_multiplier
from candor.sequences.looks import LEAST, decided_together, sequential_estimate
from tests.designs import DESIGNS

TABLE = np.array([[[260, 140], [220, 180]], [[180, 220], [140, 260]]])


def of_method(look: SequentialEstimate, method: str = "efficient") -> SequentialEffect:
    return next(effect for effect in look.effects if effect.method == method)


def table_of(design: Design, people: int) -> np.ndarray:
    """The answers of so many people in every cell, on average."""
    known = design.cheater_model.yes_rate
    effects = dict.fromkeys(design.treatments, 0.2)
    yes = cell_probabilities(design, LatentModel(prevalence=0.4, effects=effects, cheater_proportion=0.0 if known is None else 0.1))
    yes = np.round(people * yes).astype(int)
    return np.stack([people - yes, yes], axis=-1)


def test_it_is_the_efficient_estimate_with_a_larger_multiple_of_its_standard_error(mirrored: Design) -> None:
    look, once = sequential_estimate(TABLE, design=mirrored, planned_n=1600), estimate_outcome(TABLE, design=mirrored)
    found, fixed = of_method(look), next(effect for effect in once.effects if effect.method == "efficient")
    multiplier = anytime_multiplier(look.n, rho=look.rho)
    delta, error = fixed.honest_times_effect.value, fixed.honest_times_effect.standard_error
    assert delta is not None
    assert error is not None
    assert found.value == pytest.approx(fixed.value)
    assert found.honest_times_effect.interval.low == pytest.approx(delta - multiplier * error)
    assert found.honest_times_effect.interval.high == pytest.approx(delta + multiplier * error)


def test_every_true_value_on_the_edge_of_an_interval_is_at_the_limit_of_the_evidence(mirrored: Design) -> None:
    found = of_method(sequential_estimate(TABLE, design=mirrored, planned_n=1600))
    fixed = next(effect for effect in estimate_outcome(TABLE, design=mirrored).effects if effect.method == "efficient")
    assert fixed.interval is not None
    assert fixed.interval.low is not None
    assert found.interval.low is not None
    assert -1 <= found.interval.low < fixed.interval.low


@pytest.mark.parametrize("answer", [0, 1])
@pytest.mark.parametrize("people", [0, LEAST - 1])
def test_it_starts_when_everywhere_five_have_said_yes_and_five_no(mirrored: Design, answer: int, people: int) -> None:
    few = TABLE.copy()
    few[1, 0, answer] = people
    waiting = sequential_estimate(few, design=mirrored, planned_n=1600)
    assert waiting.waits_for == (
        f"too early: {people} said {('no', 'yes')[answer]} in arm 'treatment', subsample '1', "
        "and at least 5 have to say yes and 5 no everywhere"
    )
    assert (waiting.effects, waiting.cheater_proportion, waiting.specification, waiting.prevalence) == ((), None, None, ())
    few[1, 0, answer] = LEAST
    assert sequential_estimate(few, design=mirrored, planned_n=1600).waits_for is None


@pytest.mark.parametrize("sizes", [40, 100, 400, 2000])
def test_with_one_contrast_the_direction_is_certain_when_the_interval_excludes_zero(design: Design, sizes: int) -> None:
    look = sequential_estimate(table_of(design, sizes), design=design, planned_n=1000)
    for effect in look.effects if len(design.treatments) == 1 else ():
        assert (effect.direction != 0) == (not effect.honest_times_effect.interval.contains(0))
        assert effect.direction == 0 or effect.interval.contains(0) is False


def test_where_the_effect_is_not_identified_it_is_at_least_as_large_as_delta(symmetric_unknown: Design) -> None:
    counts = np.array([[[1200, 800], [1000, 1000]], [[800, 1200], [800, 1200]]])
    found = of_method(sequential_estimate(counts, design=symmetric_unknown, planned_n=8000))
    assert (found.value, found.interval.high) == (None, 1.0)
    assert found.interval.low == found.honest_times_effect.interval.low
    assert found.interval.low is not None
    assert found.interval.low > 0
    nothing = of_method(sequential_estimate(np.full((2, 2, 2), 50), design=symmetric_unknown, planned_n=400))
    assert (nothing.interval.low, nothing.interval.high) == (-1.0, 1.0)


def test_answers_that_depend_on_arm_and_subsample_contradict_the_model(mirrored: Design) -> None:
    """Means .2 and .6 in one arm and .6 and .2 in the other: J has one degree of freedom, and ln e is J·s/(2(1 + s)) − ½ ln(1 + s)."""
    crossed = np.array([[[160, 40], [80, 120]], [[80, 120], [160, 40]]])
    look = sequential_estimate(crossed, design=mirrored, planned_n=800)
    assert look.specification is not None
    s = look.n * look.rho**2
    assert look.specification.contradicted
    assert look.specification.log_e_value == pytest.approx(look.specification.statistic * s / (2 * (1 + s)) - math.log(1 + s) / 2)
    fitting = sequential_estimate(TABLE, design=mirrored, planned_n=800).specification
    assert fitting is not None
    assert not fitting.contradicted


def test_three_subsamples_have_a_sequence_for_cheaters_who_differ_by_arm_too(three_subsamples: Design) -> None:
    look = sequential_estimate(table_of(three_subsamples, 300), design=three_subsamples, planned_n=1800)
    assert [effect.method for effect in look.effects] == ["efficient", "efficient_arm_specific_cheaters"]
    wide, narrow = (
        of_method(look, "efficient_arm_specific_cheaters").honest_times_effect.interval,
        of_method(look).honest_times_effect.interval,
    )
    assert wide.low < narrow.low < narrow.high < wide.high
    assert [one.arm for one in look.prevalence] == list(three_subsamples.arms)
    assert all(one.interval.contains(one.value) for one in look.prevalence)


def test_intervals_of_several_contrasts_hold_together(mirrored: Design) -> None:
    """As wide as those of one contrast at level 1 − α/2, or of two questions of one contrast each."""
    three = DESIGNS["three arms"]
    look = sequential_estimate(np.full((3, 2, 2), 100), design=three, planned_n=1200)
    assert look.family == 2
    two_questions = sequential_estimate(TABLE, design=mirrored, planned_n=1600, questions=2)
    narrow = sequential_estimate(TABLE, design=mirrored, planned_n=1600)
    (wide,), (one,) = two_questions.effects, narrow.effects
    ratio = anytime_multiplier(1600, rho=narrow.rho, level=0.975) / anytime_multiplier(1600, rho=narrow.rho)
    ends = wide.honest_times_effect.interval, one.honest_times_effect.interval
    assert (ends[0].high - ends[0].low) / (ends[1].high - ends[1].low) == pytest.approx(ratio)
    assert (wide.direction, one.direction) == (0, 1)


def test_questions_of_one_family_are_decided_together(mirrored: Design) -> None:
    """e = 30 for the one, and nothing for the other: certain alone, not beside it; e = 45 is, since (90 + 0 + 1 + 1)/4 > 20."""
    look = sequential_estimate(TABLE, design=mirrored, planned_n=1600, questions=2)
    (effect,) = look.effects

    def with_evidence(e: float) -> SequentialEstimate:
        return replace(look, effects=(replace(effect, log_e_more=math.log(2 * e), log_e_fewer=-50.0),))

    waiting = sequential_estimate(np.full((2, 2, 2), 1), design=mirrored, planned_n=1600, questions=2)
    assert [one.effects[0].direction for one in decided_together([with_evidence(31), with_evidence(1e4)])] == [1, 1]
    assert decided_together([with_evidence(30), waiting])[0].effects[0].direction == 0
    assert decided_together([with_evidence(45), waiting])[0].effects[0].direction == 1


def test_covariates_give_a_sequence_beside_the_efficient_one(mirrored: Design) -> None:
    """A covariate that predicts much makes it narrower."""
    model = LatentModel(prevalence=0.4, effects={"treatment": 0.2}, cheater_proportion=0.0, background_effects={"ability": 3.0})
    trial = simulate_trial(mirrored, model, n=3000, rng=np.random.default_rng(5))
    study = adjusted_study(trial.reported, trial.arm, trial.subsample, trial.covariates, design=mirrored)
    fit = adjusted_cells(study).fit
    look = sequential_estimate(study.counts, design=mirrored, planned_n=3000, adjusted={"efficient_with_covariates": fit})
    plain, adjusted = (of_method(look, method).honest_times_effect.interval for method in ("efficient", "efficient_with_covariates"))
    assert adjusted.high - adjusted.low < plain.high - plain.low


@pytest.mark.parametrize("planned", [0, float("nan")])
def test_the_planned_number_must_be_a_number_of_people(mirrored: Design, planned: float) -> None:
    with pytest.raises(MethodError, match="planned number"):
        sequential_estimate(TABLE, design=mirrored, planned_n=planned)


def test_an_empty_cell_is_an_error(mirrored: Design) -> None:
    with pytest.raises(TooFewResponsesError):
        sequential_estimate([[[1, 1], [0, 0]], [[1, 1], [1, 1]]], design=mirrored, planned_n=10)


def test_an_effect_of_certain_sign_has_an_interval_on_one_side(mirrored: Design) -> None:
    """x̂ = .07 may be zero, so ratios below −.95 and above .66 fit; but Δ is positive, and τ with it."""
    counts = np.array([[[260, 140], [260, 140]], [[190, 210], [180, 220]]])
    look = sequential_estimate(counts, design=mirrored, planned_n=1600)
    found, cheaters = of_method(look), look.cheater_proportion
    assert cheaters is not None
    assert cheaters.interval.high == 1.0
    assert found.honest_times_effect.interval.low > 0
    assert (found.interval.low, found.interval.high) == (pytest.approx(0.657, abs=0.001), 1.0)
