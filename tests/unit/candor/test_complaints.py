"""Complaints about records are found again in their messages, with their values."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import candor.records
from candor import complaints
from candor.complaints import found_again
from candor.errors import MethodError
from candor.records.anonymising import anonymize
from candor.records.hierarchies import from_chains, read_hierarchies

MODULES = ("anonymising", "diversity", "hierarchies", "releases/manifest", "trees")
"""A page that prepares, tries or builds records runs these on what somebody entered."""
ELSEWHERE = {
    "the checker refuses this release": "a bug of the anonymiser",
    "classes: expected rows": "classes come from a manifest that was sealed",
    "expected hierarchies as": "pages write the document",
    "hierarchy : expected {VALUE": "pages write the document",
    "hierarchy , line ": "tables of hierarchies are read by commands alone",
    "hierarchy : not a CSV file": "tables of hierarchies are read by commands alone",
    "expected a manifest": "manifests are sealed",
    "expected a key": "keys are drawn by pages",
    "expected a list of at most": "the reader of files checks it in words of its own",
    "expected at most  levels": "the reader of files checks it in words of its own",
    "expected quasi_identifiers": "pages write the records",
    "unknown field": "pages write the records",
    "expected auxiliary": "pages write the records",
    "expected sensitive": "pages write the records",
    ": expected a text, a number or null": "pages write the records",
}
"""The beginnings of messages, without their values, that no page shows; and why."""


def raised(module: str) -> Iterator[str]:
    """The messages that are written where they are raised; a place before a complaint is “: ”."""
    for node in ast.walk(ast.parse((Path(candor.records.__file__).parent / f"{module}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            message = node.exc.args[0]
            if isinstance(message, ast.Constant) and isinstance(message.value, str):
                yield message.value
            if isinstance(message, ast.JoinedStr):
                yield "".join(str(part.value) for part in message.values if isinstance(part, ast.Constant))


def test_every_message_that_a_page_can_show_is_a_complaint() -> None:
    written = [message for module in MODULES for message in raised(module)]
    assert [message for message in written if message != ": " and not message.startswith(tuple(ELSEWHERE))] == []
    assert [begin for begin in ELSEWHERE if not any(message.startswith(begin) for message in written)] == []


@pytest.mark.parametrize("words", complaints.ALL)
def test_a_message_gives_its_sentence_and_values_back(words: str) -> None:
    values = {name: f"‘{name} 7’" for name in ("name", "label", "first", "second", "value", "found", "most", "smaller", "larger")}
    values |= dict.fromkeys(("k", "n", "smallest", "level", "suppressed"), "12") | {"known": "gpa, grade"}
    used = {name: value for name, value in values.items() if f"%({name})s" in words}
    found = found_again(words % used)
    assert found is not None
    assert (found.words, found.values) == (words, used)
    below = found_again(f"record 3 → child 1 → child 20: {words % used}")
    assert below is not None
    assert str(below) == f"record 3 → child 1 → child 20: {words % used}"
    assert below.words == complaints.AT


def student(**labels: object) -> dict[str, Any]:
    return {"quasi_identifiers": labels, "sensitive": {"gpa": "1"}, "children": []}


def chains(**changed: list[str]) -> dict[str, list[str]]:
    return {"CS1": ["CS1", "CS", "*"], "CS2": ["CS2", "CS", "*"], **changed}


@pytest.mark.parametrize(
    ("chain", "words"),
    [
        ({"CS1": ["CS1", "*", "CS", "*"]}, complaints.LOOP),
        ({"CS1": ["CS1", "CS"]}, complaints.SEVERAL_ROOTS),
        ({"CS1": ["CS2", "CS", "*"]}, complaints.BEGINS_ELSEWHERE),
        ({"CS1": ["CS1", "CS", "science", "*"]}, complaints.TWO_PARENTS),
        ({"CS1": []}, complaints.LONG_CHAIN),
        ({"CS1": "CS1"}, complaints.NO_CHAIN),
    ],
)
def test_a_wrong_hierarchy_is_a_complaint(chain: Any, words: str) -> None:
    with pytest.raises(MethodError) as error:
        from_chains("course", chains(**chain))
    found = found_again(str(error.value))
    assert found is not None
    assert (found.words, found.values["name"]) == (words, "'course'")


@pytest.mark.parametrize(
    ("demands", "words"),
    [
        ({"k": 1}, complaints.SMALL_K),
        ({"k": 5}, complaints.LARGE_K),
        ({"k": 2, "class_size": 1}, complaints.SMALL_CLASSES),
        ({"k": 2, "suppress": 1.0}, complaints.SHARE),
        ({"k": 2, "t": 2.0}, complaints.T),
        ({"k": 2, "diversity": {"grade": 2}}, complaints.NO_SENSITIVE),
        ({"k": 2, "diversity": {"gpa": -1}}, complaints.NEGATIVE_LEVEL),
        ({"k": 2, "diversity": {"gpa": 3}}, complaints.LARGE_LEVEL),
    ],
)
def test_a_demand_that_cannot_be_kept_is_a_complaint(demands: dict[str, Any], words: str) -> None:
    with pytest.raises(MethodError) as error:
        anonymize([student(course="CS1")] * 4, {"course": chains()}, **demands)
    found = found_again(str(error.value))
    assert found is not None
    assert found.words == words


@pytest.mark.parametrize(("course", "words"), [("CS9", complaints.NO_LEAF), (None, complaints.NO_HIERARCHY)])
def test_a_wrong_record_is_a_complaint_with_its_place(course: str | None, words: str) -> None:
    second = student(course="CS1", **({} if course else {"major": "CS"}))
    second["quasi_identifiers"]["course"] = course or "CS1"
    with pytest.raises(MethodError) as error:
        anonymize([student(course="CS1"), second], {"course": chains()}, k=2)
    found = found_again(str(error.value))
    assert found is not None
    complaint = found.values["complaint"]
    assert (str(found.values["path"]), getattr(complaint, "words", "")) == ("record 2", words)


def test_widths_and_numbers_are_complaints() -> None:
    for document, words in (
        ({"interval": [0]}, complaints.WIDTHS),
        ({"interval": [2, 5]}, complaints.NO_MULTIPLE),
        ({}, complaints.NO_VALUE),
    ):
        with pytest.raises(MethodError) as error:
            read_hierarchies({"born": document})
        found = found_again(str(error.value))
        assert found is not None
        assert found.words == words
