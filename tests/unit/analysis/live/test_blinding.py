"""Contrasts the other way round: every number that has a direction has the other one, and nothing else changes."""

from dataclasses import asdict, replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.live.blinding import turned_category, turned_difference, turned_effect, turned_sequence, turned_test
from analysis.stored_results import MarkedEffect, MarkedSequence
from candor.categories.estimates import estimate_categories
from candor.designs.design import Design
from candor.estimators.effects import estimate_outcome
from candor.results import BootstrapSummary, Difference, Interval
from candor.sequences.looks import sequential_estimate

DESIGN = Design.of(
    arms=("slides", "face"),
    control="slides",
    subsamples={"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}},
)
CATEGORIES = Design.of(
    arms=("slides", "face"),
    control="slides",
    categories=("never", "once", "often"),
    ordered=True,
    subsamples={"1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}},
)
# Numbers without a direction; a new number in a result is in neither list, and fails the test.
WITHOUT_DIRECTION = {
    *(
        "standard_error",
        "p_value",
        "adjusted_p_value",
        "honest_proportion",
        "level",
        "replicates",
        "failed",
        "seed",
        "n",
        "planned_n",
        "rho",
    ),
}
WITH_DIRECTION = {"value", "difference", "direction"}
ENDS = {
    "low": "high",
    "high": "low",
    "log_e_more": "log_e_fewer",
    "log_e_fewer": "log_e_more",
    "treatment_mean": "control_mean",
    "control_mean": "treatment_mean",
}
cells = st.lists(st.integers(5, 60), min_size=8, max_size=8).map(lambda counts: np.array(counts).reshape(2, 2, 2))


def check(before: dict[str, Any], after: dict[str, Any]) -> None:
    for name, value in before.items():
        match value:
            case dict():
                check(value, after[name])
            case (float(), float()):
                assert after[name] == (-value[1], -value[0])
            case float() | int() if not isinstance(value, bool):
                assert name in WITHOUT_DIRECTION | WITH_DIRECTION | set(ENDS)
                partner = after[ENDS.get(name, name)]
                assert partner == (-value if name in WITH_DIRECTION or name in ("low", "high") else value)
            case str() if name in ("treatment", "control"):
                assert after[name] == before["control" if name == "treatment" else "treatment"]
            case _ if name not in ENDS:
                assert after[name] == value


@given(counts=cells)
def test_an_effect_is_turned_with_all_its_numbers(counts: np.ndarray) -> None:
    bca = Interval(kind="bca", low=-0.3, high=None, level=0.95)
    boot = BootstrapSummary(standard_error=0.1, low=-0.2, high=0.4, level=0.95, replicates=10, failed=0, seed=1, bca=bca)
    effect = MarkedEffect.of(estimate_outcome(counts, design=DESIGN).effects[0])
    for one in (effect, replace(effect, bootstrap=boot, bounds=(-0.1, 0.3))):
        check(asdict(one), asdict(turned_effect(one)))
        assert turned_effect(turned_effect(one)) == one


@given(counts=cells)
def test_what_holds_at_any_time_is_turned_with_all_its_numbers(counts: np.ndarray) -> None:
    (one,) = MarkedSequence.of(sequential_estimate(counts, design=DESIGN, planned_n=200)).effects
    check(asdict(one), asdict(turned_sequence(one)))
    assert turned_sequence(turned_sequence(one)) == one


@settings(max_examples=20)
@given(counts=st.lists(st.integers(5, 60), min_size=12, max_size=12))
def test_effects_on_categories_and_their_test_are_turned(counts: list[int]) -> None:
    found = estimate_categories(np.array(counts).reshape(2, 2, 3), design=CATEGORIES)
    for one in found.effects:
        check(asdict(one), asdict(turned_category(one)))
        assert turned_category(turned_category(one)) == one
    (test,) = found.no_effect
    turned = turned_test(test)
    assert (turned.treatment, turned.control) == (test.control, test.treatment)
    assert turned_test(turned) == test


def test_a_difference_is_turned_with_its_means() -> None:
    row = Difference(treatment="face", control="slides", variable="year", treatment_mean=2.0, control_mean=None, difference=0.4)
    assert turned_difference(row) == Difference(
        treatment="slides", control="face", variable="year", treatment_mean=None, control_mean=2.0, difference=-0.4
    )
