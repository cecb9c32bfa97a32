"""Figures as pictures hold their words, also on a machine without any fonts."""

from functools import partial
from io import BytesIO

import av
import numpy as np
import pytest
import resvg_py

from analysis.figures.png import PIXELS_PER_PIXEL, png
from candor.figures.drawing import Drawing


def dark_pixels(picture: bytes) -> int:
    with av.open(BytesIO(picture)) as opened:
        grey = next(opened.decode(video=0)).to_ndarray(format="gray")
    assert grey.shape == (80 * PIXELS_PER_PIXEL, 300 * PIXELS_PER_PIXEL)
    return int(np.count_nonzero(grey < 128))


@pytest.fixture
def machine_without_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resvg_py, "svg_to_bytes", partial(resvg_py.svg_to_bytes, skip_system_fonts=True))


@pytest.mark.usefixtures("machine_without_fonts")
@pytest.mark.parametrize("kind", ["words", "heading"])
def test_every_letter_leaves_ink(kind: str) -> None:
    ink = []
    for words in ("", "i", "iiii", "Größe", "Žluťoučký", "−12 … ±"):
        drawing = Drawing(width=300, height=80, title="words")
        drawing.text(10, 40, words, kind)
        ink.append(dark_pixels(png(drawing)))
    assert ink[0] == 0
    assert ink[2] == pytest.approx(4 * ink[1], rel=0.4)
    assert min(ink[3:]) > ink[2]


@pytest.mark.usefixtures("machine_without_fonts")
def test_headings_are_heavier_than_words() -> None:
    def ink(kind: str) -> int:
        drawing = Drawing(width=300, height=80, title="words")
        drawing.text(10, 40, "How many people came how far", kind)
        return dark_pixels(png(drawing))

    assert ink("heading") > 1.1 * ink("words")


def test_a_name_that_xml_cannot_hold_has_a_picture() -> None:
    drawing = Drawing(width=300, height=80, title="A\uffff")
    drawing.text(10, 40, "slides\ufffe")
    assert dark_pixels(png(drawing)) > 0
