"""The words for questions with named answers."""

import pytest

from analysis.live.blinding import ArmNames
from analysis.live.categories import CategoryWords
from candor.categories.results import CATEGORY, CategoryEffect
from candor.results import HonestTimesEffect, Interval


@pytest.mark.parametrize(("low", "certain"), [(0.01, True), (0.0, False), (-0.01, False)])
def test_an_effect_on_an_answer_may_be_chance_where_its_interval_holds_no_difference(low: float, certain: bool) -> None:
    names = ArmNames(shown={"a": "A", "b": "B"}, files={"a": "a", "b": "b"}, blinded=False, control="a")
    words = CategoryWords(names=names, answers={"often": "Often"}, stated_rate=False, is_survey=False, is_background=False)
    effect = CategoryEffect(
        treatment="b",
        control="a",
        measure=CATEGORY,
        category="often",
        value=0.1,
        standard_error=0.05,
        interval=Interval(kind="likelihood", low=low, high=0.2, level=0.95),
        wald=None,
        p_value=0.04,
        adjusted_p_value=0.04,
        honest_times_effect=HonestTimesEffect(value=0.09, standard_error=0.04, p_value=0.04),
    )
    assert ("may be chance" not in words._effect(effect)) == certain
