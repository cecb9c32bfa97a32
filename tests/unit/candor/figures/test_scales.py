"""Scales hold what they were asked to hold, with few and round ticks."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candor.figures.scales import Linear, Logarithmic, round_ticks

NUMBERS = st.floats(-1e9, 1e9).map(lambda number: round(number, 6))


@pytest.mark.parametrize("high", [0.4, 3, 26, 50, 99.5])
def test_an_axis_from_nothing_ends_at_the_next_round_number_and_has_few_ticks(high: float) -> None:
    scale = Linear.holding([0, high])
    assert scale.low == 0
    assert scale.high >= high
    assert 2 <= len(scale.ticks) <= 7
    assert scale.ticks[-1] == pytest.approx(scale.high)


@given(low=NUMBERS, span=st.floats(1e-3, 1e6))
def test_ticks_enclose_a_span_in_even_steps_of_one_two_or_five(low: float, span: float) -> None:
    ticks = round_ticks(low, low + span)
    steps = [after - before for before, after in itertools.pairwise(ticks)]
    assert ticks[0] <= low + 1e-6 * span
    assert ticks[-1] >= low + span - 1e-6 * span
    assert 3 <= len(ticks) <= 7
    assert steps == pytest.approx([steps[0]] * len(steps), rel=1e-3)
    assert f"{steps[0]:.0e}"[0] in "125"


def test_a_scale_of_nothing_or_of_one_number_has_a_length() -> None:
    assert Linear.holding([]).ticks[-1] == 1
    assert Linear.holding([3.0]).low < 3 < Linear.holding([3.0]).high


@pytest.mark.parametrize(("low", "high"), [(10, 1000), (72, 940), (100, 100), (20, 5_000_000)])
def test_decades_hold_everything_that_was_asked_for(low: float, high: float) -> None:
    scale = Logarithmic.holding([low, high], start=46, end=340)
    assert scale.holds(low)
    assert scale.holds(high)
    assert list(scale.ticks) == sorted(set(scale.ticks))
    assert scale(scale.low) == 46
    assert scale(scale.high) == 340


def test_logarithmic_steps_have_equal_ratios() -> None:
    steps = Logarithmic(low=10, high=1000).spread(9)
    assert [b / a for a, b in itertools.pairwise(steps)] == pytest.approx([100 ** (1 / 8)] * 8)


def test_what_lies_beyond_a_scale_is_placed_at_its_end() -> None:
    scale = Linear(low=0, high=1, start=200, end=100)
    assert (scale(-5), scale(0.5), scale(7)) == (200, 150, 100)
