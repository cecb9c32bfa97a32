"""Counts of background answers: nothing small is shown, and nothing small can be worked out."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from analysis.releases.background_counts import Cell, background_cells, cells_csv, hide_small
from surveys.definition import BackgroundQuestion

QUESTION: TypeAdapter[Any] = TypeAdapter(BackgroundQuestion)
OPTIONS = [{"name": name, "text": name} for name in ("phone", "laptop", "room")]


def question(kind: str, **parts: Any) -> Any:
    return QUESTION.validate_python({"kind": kind, "name": "asked", "text": "?", **parts})


def counts(asked: Any, answers: list[Any], *, smallest: int = 5) -> dict[str, int | None]:
    given_answers = [{} if answer is None else {"asked": answer} for answer in answers]
    return {cell.answer: cell.count for cell in background_cells([asked], given_answers, smallest=smallest)}


@given(table=st.dictionaries(st.text(max_size=3), st.integers(0, 40), min_size=1, max_size=8), smallest=st.integers(1, 20))
def test_what_is_shown_is_large_and_what_is_hidden_cannot_be_told_from_the_total(table: dict[str, int], smallest: int) -> None:
    shown = hide_small(table, smallest=smallest)
    hidden = [answer for answer, count in shown.items() if count is None]
    assert all(count is None or (count == table[answer] and count >= smallest) for answer, count in shown.items())
    if hidden and len(hidden) < len(table):
        assert len(hidden) >= 2
        assert sum(table[answer] for answer in hidden) >= smallest


def test_nothing_is_hidden_without_need() -> None:
    assert hide_small({"a": 5, "b": 30}, smallest=5) == {"a": 5, "b": 30}
    assert hide_small({"a": 4, "b": 3, "c": 30}, smallest=5) == {"a": None, "b": None, "c": 30}
    assert hide_small({"a": 4, "b": 9, "c": 30}, smallest=5) == {"a": None, "b": None, "c": 30}
    assert hide_small({"a": 0, "b": 60}, smallest=5) == {"a": None, "b": None}


def test_one_choice_counts_those_who_did_not_answer_too() -> None:
    asked = question("single_choice", role="auxiliary", options=OPTIONS)
    found = counts(asked, ["phone"] * 7 + ["laptop"] * 6 + ["room"] * 8 + [None] * 9)
    assert found == {"phone": 7, "laptop": 6, "room": 8, "not answered": 9}


def test_of_several_choices_one_that_nearly_everybody_made_is_hidden_too() -> None:
    asked = question("multiple_choice", role="auxiliary", options=OPTIONS)
    found = counts(asked, [["phone", "laptop"]] * 10 + [["phone"]] * 10 + [["room"]] * 4)
    assert found == {"phone": None, "laptop": 10, "room": None, "not answered": None}


def test_numbers_are_counted_one_by_one_or_in_ten_intervals() -> None:
    year = question("number", role="auxiliary", minimum=1, maximum=3)
    assert counts(year, [1] * 5 + [2] * 6 + [3] * 7 + [None] * 8) == {"1": 5, "2": 6, "3": 7, "not answered": 8}
    age = question("number", role="auxiliary", minimum=0, maximum=100)
    found = counts(age, [0] * 5 + [9] * 5 + [10] * 6 + [100] * 7, smallest=0)
    assert [found[label] for label in ("0 to under 10", "10 to under 20", "90 to 100")] == [10, 6, 7]
    assert len(found) == 11


def test_of_groups_only_the_number_of_entries_is_counted() -> None:
    fields = [{"kind": "number", "name": "grade", "text": "?", "role": "sensitive", "minimum": 0, "maximum": 100}]
    courses = question("group", fields=fields, at_most=2)
    found = counts(courses, [[{"grade": 1}]] * 6 + [[{"grade": 1}, {"grade": 99}]] * 7 + [None] * 5, smallest=5)
    assert found == {"0 entries": None, "1 entries": 6, "2 entries": 7, "not answered": None}


def test_the_file_leaves_hidden_counts_empty() -> None:
    assert cells_csv([Cell(question="q", answer="a", count=None), Cell(question="q", answer="b, c", count=7)]) == (
        'question,answer,count\nq,a,\nq,"b, c",7\n'
    )


@pytest.mark.parametrize("smallest", [5, 10, 20])
def test_a_class_that_all_answers_alike_is_hidden_wholly(smallest: int) -> None:
    asked = question("single_choice", role="sensitive", options=OPTIONS)
    assert set(counts(asked, ["phone"] * 500, smallest=smallest).values()) == {None}
