"""Forest plots put every mark where its number is."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET

import pytest

from candor.figures.forest import LABEL_WIDTH, PLOT_WIDTH, ForestRow, forest_drawing, forest_svg, forest_text
from candor.figures.tables import interval

SVG = "{http://www.w3.org/2000/svg}"
ROWS = [
    ForestRow(label="first", value=0.5, low=0.0, high=1.0),
    ForestRow(label="no upper end", value=0.25, low=-0.5, high=None),
    ForestRow(label="<none> & nothing", value=None, has_interval=False),
]


def marks(document: str, kind: str) -> list[ET.Element]:
    return [element for element in ET.fromstring(document).iter() if element.get("class") == kind]


def test_the_marks_of_the_svg_stand_where_the_numbers_say():
    """The axis runs from −0.5 to 1, so that x = label width + (value + 0.5)/1.5 · plot width."""

    def expected(value: float) -> float:
        return pytest.approx(LABEL_WIDTH + (value + 0.5) / 1.5 * PLOT_WIDTH, abs=0.01)

    drawn = forest_svg(ROWS, title="Effects & more")
    estimates, intervals = marks(drawn, "estimate"), marks(drawn, "interval")
    assert [float(mark.get("cx")) for mark in estimates] == [expected(0.5), expected(0.25)]
    assert [(float(mark.get("x1")), float(mark.get("x2"))) for mark in intervals] == [
        (expected(0.0), expected(1.0)),
        (expected(-0.5), expected(1.0)),
    ]
    assert [float(mark.get("x1")) for mark in marks(drawn, "no-effect")] == [expected(0.0)]


def test_an_interval_without_an_end_is_drawn_with_an_arrow_head():
    drawn = forest_svg(ROWS, title="Effects")
    assert len(marks(drawn, "unbounded")) == 1
    assert "▶" in forest_text(ROWS).splitlines()[1]
    assert "+∞" in forest_text(ROWS).splitlines()[1]


def test_labels_are_escaped_and_the_figure_has_a_name():
    drawn = ET.fromstring(forest_svg(ROWS, title="Effects & more"))
    assert drawn.findtext(f"{SVG}title") == "Effects & more"
    assert "<none> & nothing" in [element.text for element in drawn.iter(f"{SVG}text")]
    assert "style" not in {element.tag.removeprefix(SVG) for element in drawn.iter()}


@pytest.mark.parametrize("narrow", [False, True])
def test_a_long_label_stands_in_lines_that_no_other_row_touches(narrow):
    label = "Slides with the instructor and a summary minus Slides with nothing else"
    rows = [ForestRow(label=label, detail="efficient", value=0.5), ForestRow(label="second", value=0.1)]
    drawn = ET.fromstring(forest_drawing(rows, title="", narrow=narrow).svg())
    words = [(float(one.get("y")), one.text) for one in drawn.iter(f"{SVG}text") if one.get("x") == "10"]
    own = [one for one in words if one[1] in label]
    assert len(own) == 2
    assert " ".join(text for _y, text in own) == label
    apart = [below - above for (above, _), (below, _) in itertools.pairwise(words)]
    assert min(apart) >= 17, "lines of text lie on each other"


def test_a_label_without_an_end_takes_a_few_lines():
    short, long = (forest_drawing([ForestRow(label=label, value=0.1)], title="") for label in ("a " * 80, "a " * 8_000))
    assert short.height == long.height
    assert "…" in long.svg()


def test_a_row_without_anything_says_so():
    assert forest_text(ROWS).splitlines()[2].endswith("no estimate")


@pytest.mark.parametrize("width", [50, 80, 140])
def test_the_lines_of_the_text_keep_to_the_width(width):
    rows = [ForestRow(label="a", value=0.1, low=0.05, high=0.2)]
    assert max(map(len, forest_text(rows, width=width).splitlines())) <= max(width, 1 + 2 + 40 + len(rows[0].text) + 2)


def test_bigger_numbers_stand_further_to_the_right():
    rows = [ForestRow(label="x", value=value, low=value - 0.05, high=value + 0.05) for value in (-0.2, 0.0, 0.1, 0.3)]
    columns = [line.index("●") for line in forest_text(rows).splitlines()[:4]]
    assert columns == sorted(set(columns))


def test_a_plot_of_nothing_is_an_empty_axis():
    assert "0" in forest_text([])
    assert ET.fromstring(forest_svg([], title="Nothing")) is not None


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.0004, 0.2, "(+0.0004 to +0.200)"),
        (-0.2, -0.00004, "(-0.200 to -4e-05)"),
        (-0.2, -1e-17, "(-0.200 to +0.000)"),
        (-0.0, 0.2, "(+0.000 to +0.200)"),
        (0.0006, 0.2, "(+0.001 to +0.200)"),
        (None, 0.0002, "(−∞ to +0.0002)"),
    ],
)
def test_an_end_reads_as_zero_only_where_the_interval_ends_at_zero(low, high, said):
    assert ForestRow(label="a", value=0.1, low=low, high=high).text == f"+0.100 {said}"
    assert interval(low, high) == said.strip("()").replace("+0", "0")


def test_an_estimate_that_rounds_to_zero_has_no_minus():
    assert ForestRow(label="video", value=-0.0004, low=-0.1, high=0.1).text == "+0.000 (-0.100 to +0.100)"
    assert ForestRow.of(-0.0004, None, label="video").text == "+0.000"
