"""A point of a figure says its numbers in full, its name and its words, once, for scripts and for people without any."""

import xml.etree.ElementTree as ET

import pytest

from candor.figures.drawing import Drawing
from candor.figures.forest import ForestRow, forest_drawing

SVG = "{http://www.w3.org/2000/svg}"


def test_a_point_holds_its_marks_and_its_numbers_in_full() -> None:
    drawing = Drawing(width=20, height=10, title="Dots")
    with drawing.mark('"A" & <b>', "+12", value=1 / 3, low=None, n=40):
        drawing.dot(10, 5, "estimate")
    (mark,) = ET.fromstring(drawing.svg()).iter(f"{SVG}g")
    assert float(mark.attrib["data-value"]) == 1 / 3
    assert {name: text for name, text in mark.attrib.items() if name != "data-value"} == {
        "class": "mark",
        "data-mark": '"A" & <b>',
        "data-n": "40",
    }
    assert [child.tag.removeprefix(SVG) for child in mark] == ["title", "circle"]
    assert mark.findtext(f"{SVG}title") == '"A" & <b>: +12'
    (reading,) = drawing.readings
    assert (reading.name, reading.words, reading.numbers) == ('"A" & <b>', "+12", {"value": 1 / 3, "n": 40})


@pytest.mark.parametrize("character", ["\x00", "\x0b", "\x1f", "\ufffe", "\uffff"])
def test_a_character_that_xml_cannot_hold_spoils_no_picture(character: str) -> None:
    """An arm may be called so; a picture of it was an error of the server."""
    drawing = Drawing(width=20, height=10, title=f"A{character}B")
    drawing.text(0, 0, f"x{character}y")
    with drawing.mark(f"m{character}", "words"):
        drawing.dot(10, 5, "estimate")
    assert ET.fromstring(drawing.svg()).attrib["aria-label"] == "A\N{REPLACEMENT CHARACTER}B"


@pytest.mark.parametrize("narrow", [False, True])
def test_every_row_of_a_forest_is_one_point_and_all_marks_lie_on_the_paper(narrow: bool) -> None:
    rows = [
        ForestRow(
            label="A label that is so long that it takes two lines on narrow paper",
            detail="by some method",
            value=0.5,
            low=0.1,
            high=0.9,
            n=40,
        ),
        ForestRow(label="B", value=None, low=None, high=0.5, second=(-0.5, 0.25)),
    ]
    drawing = forest_drawing(rows, title="Effects", narrow=narrow)
    assert [one.numbers for one in drawing.readings] == [
        {"value": 0.5, "low": 0.1, "high": 0.9, "n": 40},
        {"high": 0.5, "second-low": -0.5, "second-high": 0.25},
    ]
    document = ET.fromstring(drawing.svg())
    places = [(float(mark.attrib["x"]), float(mark.attrib["y"])) for mark in document.iter(f"{SVG}text")]
    places += [
        (float(line.attrib[x]), float(line.attrib[y])) for line in document.iter(f"{SVG}line") for x, y in (("x1", "y1"), ("x2", "y2"))
    ]
    assert all(0 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in places)
    longest = max(len(text.text or "") for text in document.iter(f"{SVG}text") if text.get("text-anchor") == "start")
    assert longest * 7 <= drawing.width
