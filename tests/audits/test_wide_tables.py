"""A table that can be wider than a telephone stands in a frame that scrolls, also by keyboard: German words are long."""

import re
from pathlib import Path

TEMPLATES = Path(__file__).parents[2] / "templates"
NARROW = {
    "components/die_key.html": "two columns of faces and of one word",
    "surveys/irb/sections/die.html": "two columns of faces and of one word",
    "surveys/irb/sections/access.html": "two columns of sentences, which wrap",
    "surveys/irb/sections/files.html": "packets give its long words room to break",
    "surveys/irb/sections/stored.html": "packets give its long words room to break",
    "surveys/participant/outlook.html": "a word and a percentage, written by a script",
    "surveys/participant/two_worlds.html": "three numbers, in words that participants' browsers test",
    "surveys/classroom/screen.html": "of a projector",
    "analysis/packages/index.html": "its rows are stacked on a telephone",
}


def test_a_wide_table_stands_in_a_frame_that_scrolls() -> None:
    bare = set()
    for path in TEMPLATES.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        frames = [part.partition(">")[0] for part in text.split('class="table-scroll')[1:]]
        assert all('tabindex="0"' in frame for frame in frames), path
        if text.count("<table") > len(frames):
            bare.add(str(path.relative_to(TEMPLATES)))
    assert bare == set(NARROW)


def test_a_line_break_keeps_words_apart() -> None:
    """Heads of tables have two lines. Programs that read or copy a page, and drop what they do not know, made one word of both."""
    joined = [
        str(path.relative_to(TEMPLATES)) for path in TEMPLATES.rglob("*.html") if re.search(r"\S<br", path.read_text(encoding="utf-8"))
    ]
    assert joined == []
