"""Lines on paper: what lies where."""

import itertools
import re

import pytest

from analysis.planning.plots import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    across,
    band,
    curve,
    decades,
    down,
    evenly,
    level,
    mark,
    upwards,
)

X = Axis(low=0, high=10, title="x", ticks=())
Y = Axis(low=0, high=1, title="y", ticks=())


def points_of(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"([\d.]+),([\d.]+)", path)]


def test_the_corners_of_the_data_are_the_corners_of_the_paper() -> None:
    assert (across(X, 0), across(X, 10)) == (LEFT, WIDTH - RIGHT)
    assert (down(Y, 0), down(Y, 1)) == (HEIGHT - BOTTOM, TOP)


def test_a_curve_stops_at_the_edge_of_the_paper() -> None:
    line = curve([(5, 0.5), (6, 1.0), (7, 1.5), (11, 0.5)], X, Y, style="own")
    assert len(points_of(line.path)) == 2
    assert curve([(7, 1.5)], X, Y, style="own").path == ""


def test_a_band_is_cut_at_the_edges() -> None:
    heights = {y for _x, y in points_of(band([(0, -3, 4), (10, 0.25, 0.75)], X, Y, style="own").path)}
    assert min(heights) == TOP
    assert max(heights) == HEIGHT - BOTTOM


def test_lines_beside_the_paper_are_not_drawn() -> None:
    assert mark((11, 0.5), X, Y, style="own", words="") == ()
    assert level(2, X, Y, style="own").path == ""


@pytest.mark.parametrize("high", [0.4, 3, 26, 50, 99.5])
def test_an_axis_ends_at_the_next_round_number_and_has_few_ticks(high: float) -> None:
    axis = upwards(high, title="", write=str)
    assert axis.high >= high
    assert 2 <= len(axis.ticks) <= 7
    assert axis.ticks[-1][0] == pytest.approx(axis.high)


@pytest.mark.parametrize(("low", "high"), [(10, 1000), (72, 940), (100, 100), (20, 5_000_000)])
def test_decades_hold_everything_that_was_asked_for(low: float, high: float) -> None:
    axis = decades(low, high, title="", write=str)
    assert axis.holds(low)
    assert axis.holds(high)
    assert [value for value, _label in axis.ticks] == sorted({value for value, _label in axis.ticks})
    assert across(axis, axis.low) == LEFT
    assert across(axis, axis.high) == WIDTH - RIGHT


def test_logarithmic_steps_have_equal_ratios() -> None:
    steps = evenly(10, 1000, 9, logarithmic=True)
    assert [b / a for a, b in itertools.pairwise(steps)] == pytest.approx([100 ** (1 / 8)] * 8)
