"""Pasted lists: what people copy out of a text, a table or a mail."""

from typing import Any

import pytest

from surveys.drafting.pasting import MOST_QUESTIONS, items_of, read_pasted
from surveys.drafting.questions import MOST_OPTIONS


def found(text: str, part: str = "background") -> list[tuple[str, list[str]]]:
    pasted = read_pasted(text, part)
    assert pasted.problems == []
    return [(one.text, one.options) for one in pasted.questions]


def items(text: str, part: str, languages: tuple[str, ...] = ("en",), taken: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    return items_of(read_pasted(text, part).questions, part, languages=languages, taken=taken)


@pytest.mark.parametrize(
    "text",
    [
        "How often?\n  Never\n  Often\nWhy?",
        "How often?\n\tNever\n\tOften\n\nWhy?\n",
        "How often?\r\n- Never\r\n- Often\r\nWhy?",
        "1. How often?\n– Never\n– Often\n2) Why?",
        "    How often?\n      • Never\n      • Often\n    Why?",
    ],
)
def test_options_are_indented_or_come_after_a_dash(text: str) -> None:
    assert found(text) == [("How often?", ["Never", "Often"]), ("Why?", [])]


def test_a_number_that_belongs_to_the_question_stays() -> None:
    assert found("1990 or later?\n3 times a week?") == [("1990 or later?", []), ("3 times a week?", [])]


def test_questions_become_items_of_the_document() -> None:
    assert items("Year?\n- First\n- Later\nWhy?", "background", taken=("year",)) == [
        {
            "name": "year_2",
            "text": "Year?",
            "kind": "single_choice",
            "role": "quasi_identifier",
            "options": [{"name": "first", "text": "First"}, {"name": "later", "text": "Later"}],
        },
        {"name": "why", "text": "Why?", "kind": "short_text"},
    ]
    (item,) = items("2 + 2?\n- 3\n- *4", "quiz")
    assert (item["answer"], [option["text"] for option in item["options"]]) == ("4", ["3", "4"])
    assert items("Did you copy?", "questions") == [{"name": "did_you_copy", "text": "Did you copy?"}]


def test_other_languages_become_gaps() -> None:
    (item,) = items("Did you copy?", "questions", languages=("en", "de"))
    assert item["text"] == {"en": "Did you copy?", "de": "[[translate: Did you copy?]]"}


@pytest.mark.parametrize(
    ("part", "text", "problem"),
    [
        ("background", " \n\n", "Paste at least one question."),
        ("background", "- Never\n- Often\nHow often?", "Line 1: expected a question first"),
        ("background", "Why?\n- Because", "Line 1: expected no option, or two or more, found 1."),
        ("background", "Why?\n- A\n- A", "Line 1: two options"),
        ("background", "Why?\n" + "x" * 1001, "Line 2: expected at most 1000 characters."),
        ("background", "Why?\n- A" + "\n- B" * MOST_OPTIONS, f"Line 1: expected at most 100 options, found {MOST_OPTIONS + 1}."),
        ("quiz", "Why?" + "".join(f"\n- {chr(0x4E00 + number)}" for number in range(6000)), "Line 1: expected at most 100 options"),
        ("quiz", "\nWhy?", "Line 2: expected two options or more"),
        ("quiz", "Why?\n- A\n- B", "Line 1: expected a star"),
        ("quiz", "Why?\n- *A\n- *B", "Line 1: expected a star"),
        ("questions", "Did you copy?\n- Yes\n- No", "Line 1: a sensitive question has no options here"),
        ("questions", "Did you?\n" * (MOST_QUESTIONS + 1), f"found {MOST_QUESTIONS + 1}."),
    ],
)
def test_what_cannot_be_read_is_said_by_line(part: str, text: str, problem: str) -> None:
    (first, *_others) = read_pasted(text, part).problems
    assert problem in first
