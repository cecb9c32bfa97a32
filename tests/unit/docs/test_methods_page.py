"""The examples of docs/methods.md give the answers that the page promises, including those that it states in words."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "methods.md"


def examples() -> doctest.DocTest:
    """All fenced examples as one session, with the line numbers of the page."""
    text = PAGE.read_text(encoding="utf-8")
    kept = list(text)
    inside = [match.span(1) for match in re.finditer(r"```pycon\n(.*?)```", text, re.DOTALL)]
    for position, character in enumerate(text):
        if character != "\n" and not any(start <= position < end for start, end in inside):
            kept[position] = " "
    lines = "\n".join(line.rstrip() for line in "".join(kept).split("\n"))
    return doctest.DocTestParser().get_doctest(lines, {}, PAGE.name, str(PAGE), 0)


def test_the_examples_of_the_page_are_right() -> None:
    session = examples()
    report: list[str] = []
    failed, tried = doctest.DocTestRunner().run(session, out=report.append)
    assert failed == 0, "".join(report)
    assert tried == len(session.examples) > 40


def test_a_wrong_example_would_be_found() -> None:
    session = examples()
    session.examples[-1].want = "(1, 2)\n"
    assert doctest.DocTestRunner().run(session, out=lambda text: None).failed == 1
