"""Properties of every design and every table: names and order do not matter, yes and no are alike, results survive JSON."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candor.designs.design import CheaterModel, Design, ForcedResponse
from candor.estimators.contrasts import OUTSIDE_REGION
from candor.estimators.effects import estimate_outcome
from candor.results import Effect, OutcomeEstimate, to_json

MIRRORED = (("2/6", "1/6"), ("1/6", "2/6"))
SYMMETRIC = (("1/6", "1/6"), ("1/3", "1/3"))
THREE = (*MIRRORED, ("1/6", "1/6"))


def build(forced: tuple[tuple[str, str], ...], cheaters: Any = "any", arms: tuple[str, ...] = ("control", "treatment")) -> Design:
    subsamples = {str(index + 1): {"forced_no": no, "forced_yes": yes} for index, (no, yes) in enumerate(forced)}
    return Design.of(arms=arms, control="control", subsamples=subsamples, cheater_model=cheaters)


CASES = [
    build(MIRRORED),
    build(MIRRORED, arms=("x", "control", "y")),
    build(SYMMETRIC, "always_no"),
    build(SYMMETRIC, {"yes_rate": "1/4"}),
    build(SYMMETRIC, "unknown"),
    build(THREE),
]

BY_ARM_ALONE = (build(THREE), np.array([[[1, 1], [20, 1], [1, 1]], [[1, 1], [1, 20], [20, 1]]]))
"""The answers contradict the model in which cheaters differ by arm, and not that of the headline."""


@st.composite
def studies(draw: Callable[..., Any]) -> tuple[Design, np.ndarray]:
    """A design and a table without empty cells: any one, which nearly always contradicts the model, or one that the model gives."""
    design = draw(st.sampled_from(CASES))
    if draw(st.booleans()):
        return design, table_of_the_model(design, seed=draw(st.integers(0, 2**32)))
    size = int(np.prod(design.shape)) * 2
    cells = draw(st.lists(st.one_of(st.integers(1, 8), st.integers(20, 400)), min_size=size, max_size=size))
    return design, np.array(cells).reshape(*design.shape, 2)


def table_of_the_model(design: Design, *, seed: int) -> np.ndarray:
    """Answers by arm, subsample, and no or yes, of honest people and of cheaters who say yes at one rate."""
    random = np.random.default_rng(seed)
    honest, cheaters_yes, people = random.uniform(0.3, 1), design.cheater_model.yes_rate, int(random.integers(10, 400))
    prevalence, rate = random.random(len(design.arms)), random.random() if cheaters_yes is None else float(cheaters_yes)
    forced = [float(one.forced_yes) for _name, one in design.subsamples]
    truth = [1 - float(one.forced_yes) - float(one.forced_no) for _name, one in design.subsamples]
    yes = random.binomial(people, honest * (np.outer(prevalence, truth) + forced) + (1 - honest) * rate)
    return np.stack([people - yes, yes], axis=-1) + 1


def same(one: Effect, other: Effect, *, sign: int = 1) -> None:
    """Two effects agree up to the sign; iterations of the efficient fit leave about 1e-6."""
    close = {"rel": 1e-4, "abs": 1e-6}
    assert one.honest_times_effect.value == pytest.approx(sign * (other.honest_times_effect.value or 0), **close)
    assert one.honest_times_effect.standard_error == pytest.approx(other.honest_times_effect.standard_error, **close)
    assert (one.value is None) == (other.value is None)
    if one.value is not None and other.value is not None:
        assert one.value == pytest.approx(sign * other.value, **close)
    for interval, like in ((one.interval, other.interval), (one.fieller, other.fieller)):
        assert (interval is None) == (like is None)
        if interval is None or like is None or like.low is None or like.high is None:
            continue
        ends = (like.low, like.high) if sign == 1 else (-like.high, -like.low)
        assert (interval.low, interval.high) == pytest.approx(ends, **close)


def by_name(estimate: OutcomeEstimate) -> dict[tuple[str, str], Effect]:
    return {(one.method, one.treatment): one for one in estimate.effects}


def results_survive_json_and_hold_no_nan(estimate: OutcomeEstimate) -> None:
    def lists(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: lists(one) for key, one in value.items()}
        return [lists(one) for one in value] if isinstance(value, list | tuple) else value

    assert json.loads(to_json(estimate)) == lists(asdict(estimate))


def intervals_contain_their_values_and_agree_with_the_test(estimate: OutcomeEstimate) -> None:
    for one in estimate.effects:
        if one.fieller is not None and one.fieller.kind == "fieller" and one.p_value is not None and abs(one.p_value - 0.05) > 1e-6:
            assert one.fieller.contains(0) == (one.p_value >= 0.05)
    shown = [(f"{one.method}, {one.treatment}: The effect", one.value, one.interval) for one in estimate.effects]
    shown += [("The cheater proportion", estimate.cheater_proportion.value, estimate.cheater_proportion.interval)]
    shown += [(f"The prevalence in arm {one.arm!r}", one.value, one.interval) for one in estimate.prevalence]
    for what, value, interval in shown:
        if value is not None and interval is not None and interval.kind == "likelihood":
            assert interval.contains(value) == (OUTSIDE_REGION.format(what=what) not in estimate.notes)


def every_missing_value_has_a_reason_in_the_notes(estimate: OutcomeEstimate) -> None:
    for one in estimate.effects:
        complete = one.value is not None and one.interval is not None and one.interval.low is not None
        contradicted = one.interval is not None and one.interval.kind == "empty"
        assert complete or one.notes or (contradicted and any("contradict the model" in note for note in estimate.notes))
        assert {f"{one.method}, {one.treatment}: {note}" for note in one.notes} <= set(estimate.notes)
    reasons = ("not identified", "contradict the model")
    assert estimate.cheater_proportion.value is not None or any(reason in note for note in estimate.notes for reason in reasons)


def shares_and_p_values_are_possible_numbers(estimate: OutcomeEstimate) -> None:
    shares = [estimate.cheater_proportion.value, *(one.honest_proportion for one in estimate.effects)]
    assert all(-1 - 1e-9 <= one.value <= 1 + 1e-9 for one in estimate.effects if one.value is not None)
    p_values = [value for one in estimate.effects for value in (one.p_value, one.adjusted_p_value)]
    assert all(0 <= value <= 1 for value in shares + p_values if value is not None)
    for one in estimate.effects:
        assert one.p_value is None or one.adjusted_p_value is None or one.p_value <= one.adjusted_p_value


def estimated(counts: np.ndarray, *, design: Design) -> OutcomeEstimate:
    """Every estimate of this file survives JSON, agrees with itself, gives reasons and is possible."""
    estimate = estimate_outcome(counts, design=design)
    results_survive_json_and_hold_no_nan(estimate)
    intervals_contain_their_values_and_agree_with_the_test(estimate)
    every_missing_value_has_a_reason_in_the_notes(estimate)
    shares_and_p_values_are_possible_numbers(estimate)
    return estimate


@settings(max_examples=60)
@given(studies(), st.randoms(use_true_random=False))
def test_the_order_of_arms_and_subsamples_does_not_matter(study: tuple[Design, np.ndarray], random: Any) -> None:
    design, counts = study
    arms, subsamples = list(range(design.shape[0])), list(range(design.shape[1]))
    random.shuffle(arms)
    random.shuffle(subsamples)
    shuffled = Design(
        arms=tuple(design.arms[index] for index in arms),
        control=design.control,
        subsamples=tuple(design.subsamples[index] for index in subsamples),
        cheater_model=design.cheater_model,
    )
    first, second = estimated(counts, design=design), estimated(counts[arms][:, subsamples], design=shuffled)
    assert first.cheater_proportion.raw == pytest.approx(second.cheater_proportion.raw, rel=1e-6)
    for name, one in by_name(first).items():
        same(one, by_name(second)[name])


@settings(max_examples=60)
@given(studies())
def test_exchanging_yes_and_no_changes_only_the_sign(study: tuple[Design, np.ndarray]) -> None:
    design, counts = study
    rate = design.cheater_model.yes_rate
    mirror = Design(
        arms=design.arms,
        control=design.control,
        subsamples=tuple((name, ForcedResponse(forced_no=one.forced_yes, forced_yes=one.forced_no)) for name, one in design.subsamples),
        cheater_model=design.cheater_model if rate is None else CheaterModel(name="yes_rate", yes_rate=1 - rate),
    )
    first, second = estimated(counts, design=design), estimated(counts[..., ::-1], design=mirror)
    assert first.cheater_proportion.raw == pytest.approx(second.cheater_proportion.raw, rel=1e-6)
    for name, one in by_name(first).items():
        same(one, by_name(second)[name], sign=-1)


@settings(max_examples=40)
@given(studies().filter(lambda study: len(study[0].arms) == 2))
def test_exchanging_treatment_and_control_changes_only_the_sign(study: tuple[Design, np.ndarray]) -> None:
    design, counts = study
    swapped = Design(arms=design.arms, control="treatment", subsamples=design.subsamples, cheater_model=design.cheater_model)
    first, second = estimated(counts, design=design), estimated(counts, design=swapped)
    for one, other in zip(first.effects, second.effects, strict=True):
        same(one, other, sign=-1)


@settings(max_examples=40)
@given(studies(), st.integers(2, 50))
def test_the_same_answers_many_times_narrow_the_errors_and_nothing_else(study: tuple[Design, np.ndarray], times: int) -> None:
    design, counts = study
    once, often = estimated(counts, design=design), estimated(counts * times, design=design)
    assert often.n == times * once.n
    for one, other in zip(once.effects, often.effects, strict=True):
        if one.method == "difference_in_means":
            assert other.honest_times_effect.value == pytest.approx(one.honest_times_effect.value)
            error = one.honest_times_effect.standard_error
            assert error is not None
            assert other.honest_times_effect.standard_error == pytest.approx(error / times**0.5)


def test_answers_that_contradict_one_method_alone_are_told_so_there() -> None:
    design, counts = BY_ARM_ALONE
    estimate = estimated(counts, design=design)
    values = {one.method: one.value is None for one in estimate.effects}
    assert values == {"efficient": False, "difference_in_means": False, "efficient_arm_specific_cheaters": True}
    assert estimate.effects[-1].notes[0].startswith("No effect is given: even if cheaters differ by arm")
    assert not any(note.startswith("The answers contradict the model") for note in estimate.notes)


def test_the_same_counts_give_the_same_result_as_list_array_or_floats() -> None:
    counts = [[[13, 7], [11, 9]], [[9, 11], [7, 13]]]
    results = {to_json(estimated(one, design=CASES[0])) for one in (counts, np.array(counts), np.array(counts, float))}
    assert len(results) == 1
