"""Marks lie where their numbers say, and nothing lies beside the paper."""

import re

import pytest

from candor.figures.charts import BOTTOM, LEFT, RIGHT, TOP, Axis, Chart
from candor.figures.scales import Linear

X = Axis(scale=Linear(low=0, high=10), title="x", write="{:g}".format)
Y = Axis(scale=Linear(low=0, high=1), title="y", write="{:g}".format)


@pytest.fixture
def chart() -> Chart:
    return Chart(title="A chart", x=X, y=Y)


def paths(chart: Chart) -> list[list[tuple[float, float]]]:
    found = re.findall(r'<path d="M([^"]*)"', chart.drawing.svg())
    return [[(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", path)] for path in found]


def test_the_corners_of_the_data_are_the_corners_of_the_paper(chart: Chart) -> None:
    chart.curve([(0, 0), (10, 1)], "curve")
    assert paths(chart) == [[(LEFT, BOTTOM), (RIGHT, TOP)]]


def test_a_curve_stops_at_the_edge_of_the_paper(chart: Chart) -> None:
    chart.curve([(5, 0.5), (6, 1.0), (7, 1.5), (11, 0.5)], "curve")
    chart.curve([(7, 1.5)], "curve")
    assert [len(path) for path in paths(chart)] == [2]


def test_a_band_is_cut_at_the_edges(chart: Chart) -> None:
    chart.band([(0, -3, 4), (10, 0.25, 0.75)], "band")
    heights = {y for _x, y in paths(chart)[0]}
    assert min(heights) == TOP
    assert max(heights) == BOTTOM


def test_what_lies_beside_the_paper_is_not_drawn(chart: Chart) -> None:
    empty = chart.drawing.svg()
    chart.point((11, 0.5), "point", words="beside")
    chart.across(2, "limit")
    chart.upright(-1, "here")
    assert chart.drawing.svg() == empty


def test_the_legend_names_each_kind_once_and_leaves_out_points_that_are_not_there(chart: Chart) -> None:
    for x in (1, 2):
        chart.point((x, 0.5), "point-second", words="A <die>", label="dice")
    chart.point((11, 0.5), "point", words="beside", label="your die")
    chart.across(2, "limit", label="wanted")
    assert [key.label for key in chart.legend] == ["dice", "wanted"]
    assert "<circle" in chart.legend[0].drawing.svg()
    assert "<line" in chart.legend[1].drawing.svg()
    assert chart.drawing.svg().count("<title>A &lt;die&gt;</title>") == 2
