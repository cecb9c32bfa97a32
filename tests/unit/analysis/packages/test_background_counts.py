"""Counts of background answers: nothing small is shown, and nothing small can be worked out."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement, permutations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from analysis.packages.background_counts import Cell, background_cells, cells_csv, hide_small
from surveys.questions.background import BackgroundQuestion

QUESTION: TypeAdapter[Any] = TypeAdapter(BackgroundQuestion)
OPTIONS = [{"name": name, "text": name} for name in ("phone", "laptop", "room")]


def question(kind: str, **parts: Any) -> Any:
    return QUESTION.validate_python({"kind": kind, "name": "asked", "text": "?", **parts})


def follow_up(*conditions: dict[str, Any]) -> Any:
    return question("single_choice", name="further", role="auxiliary", options=OPTIONS, show_if=conditions)


def counts(asked: Any, answers: list[Any], *, smallest: int = 5) -> dict[str, int | None]:
    given_answers = [{} if answer is None else {"asked": answer} for answer in answers]
    return {cell.answer: cell.count for cell in background_cells([asked], given_answers, smallest=smallest, secret="x")}


def counts_of_both(asked: Any, further: Any, people: list[tuple[Any, str | None]]) -> dict[str, dict[str, int | None]]:
    given_answers = [{name: one for name, one in zip(("asked", "further"), both, strict=True) if one is not None} for both in people]
    found = background_cells([asked, further], given_answers, smallest=5, secret="x")
    return {name: {cell.answer: cell.count for cell in found if cell.question == name} for name in ("asked", "further")}


@given(
    table=st.lists(st.integers(0, 40), min_size=1, max_size=8).map(lambda found: {str(place): count for place, count in enumerate(found)}),
    smallest=st.integers(1, 20),
    order=st.permutations([str(place) for place in range(8)]),
)
def test_shown_counts_are_large_and_hidden_ones_cannot_be_told_from_the_total(
    table: dict[str, int], smallest: int, order: list[str]
) -> None:
    shown = hide_small(table, smallest=smallest, order=[answer for answer in order if answer in table])
    hidden = [answer for answer, count in shown.items() if count is None]
    assert all(count is None or (count == table[answer] and count >= smallest) for answer, count in shown.items())
    if hidden and len(hidden) < len(table):
        assert len(hidden) >= 2
        assert sum(table[answer] for answer in hidden) >= smallest


def test_nothing_is_hidden_without_need() -> None:
    assert hide_small({"a": 5, "b": 30}, smallest=5, order="ab") == {"a": 5, "b": 30}
    assert hide_small({"a": 4, "b": 3, "c": 30}, smallest=5, order="abc") == {"a": None, "b": None, "c": 30}
    assert hide_small({"a": 4, "b": 9, "c": 30}, smallest=5, order="cba") == {"a": None, "b": 9, "c": None}
    assert hide_small({"a": 0, "b": 60}, smallest=5, order="ab") == {"a": None, "b": None}


Rule = Callable[..., dict[str, int | None]]


def least_that_stays_possible(rule: Rule, *, answers: str, smallest: int, most: int) -> int:
    """The number of possible values of a hidden small count for a reader who knows the rule, the total and everything shown.

    By enumeration of all tables and all orders in which further counts may be hidden: the least over all tables with enough people.
    """
    possible: dict[Any, set[tuple[int, ...]]] = defaultdict(set)
    for counted in product(range(most + 1), repeat=len(answers)):
        if smallest * 2 <= sum(counted) <= most:
            for order in permutations(answers):
                shown = rule(dict(zip(answers, counted, strict=True)), smallest=smallest, order=order)
                possible[sum(counted), tuple(shown.values())].add(counted)
    return min(
        len({table[place] for table in tables})
        for (_total, shown), tables in possible.items()
        for place, count in enumerate(shown)
        if count is None and any(table[place] < smallest for table in tables)
    )


@pytest.mark.parametrize(("answers", "smallest", "most"), [("abc", 3, 14), ("abc", 5, 22), ("abcd", 3, 13)])
def test_a_reader_who_knows_the_rule_cannot_work_out_a_small_count(answers: str, smallest: int, most: int) -> None:
    assert least_that_stays_possible(hide_small, answers=answers, smallest=smallest, most=most) >= smallest


def test_hiding_always_the_next_larger_count_would_tell_small_ones() -> None:
    """Proves that the enumeration above can find a failure."""

    def by_size(counts: dict[str, int], *, smallest: int, order: Sequence[str]) -> dict[str, int | None]:
        return hide_small(counts, smallest=smallest, order=sorted(order, key=lambda answer: counts[answer]))

    assert least_that_stays_possible(by_size, answers="abc", smallest=5, most=22) == 2


def test_packages_that_were_built_with_each_threshold_do_not_tell_a_small_count_together() -> None:
    """Attack: one package hides a count along with a small one, and the other one shows it, because its threshold hides others already."""

    def of_both(*choices: int) -> Rule:
        def rule(counts: dict[str, int], *, smallest: int, order: Sequence[str]) -> dict[str, Any]:
            seen = [hide_small(counts, smallest=one, order=order, choices=choices) for one in (3, smallest)]
            return {answer: None if (both := [one[answer] for one in seen]) == [None, None] else tuple(both) for answer in counts}

        return rule

    assert least_that_stays_possible(of_both(3, 5), answers="abc", smallest=5, most=16) >= 3
    assert least_that_stays_possible(of_both(), answers="abc", smallest=5, most=16) == 1


def test_the_same_people_hide_the_same_counts_and_others_may_hide_others() -> None:
    asked = question("single_choice", role="auxiliary", options=OPTIONS)
    answers = ["phone"] * 9 + ["laptop"] * 9 + ["room"] * 9

    def found(secret: str) -> tuple[Cell, ...]:
        given_answers = [{"asked": answer} for answer in answers]
        return tuple(background_cells([asked], given_answers, smallest=5, secret=secret))

    assert found("one") == found("one")
    assert len({found(str(number)) for number in range(20)}) == 3


ROOM = ("room", None)
FURTHER = [("phone", "phone")] * 12 + [("phone", "laptop")] * 8 + [("phone", "room")] * 9


def test_a_question_for_those_who_gave_an_answer_does_not_tell_how_many_gave_it() -> None:
    asked = question("single_choice", role="auxiliary", options=OPTIONS)
    further = follow_up({"question": "asked", "any_of": ["phone"]})
    found = [counts_of_both(asked, further, [*FURTHER, *[ROOM] * 9, *[("laptop", None)] * few]) for few in range(5)]
    assert {one["asked"]["phone"] for one in found} == {None}  # it hides how many have a laptop
    assert {count for one in found for count in one["further"].values()} == {None}


def test_people_who_were_asked_and_did_not_answer_are_no_small_rest() -> None:
    asked = question("single_choice", role="auxiliary", options=OPTIONS)
    further = follow_up({"question": "asked", "any_of": ["phone"]})
    others = [*[("laptop", None)] * 6, *[ROOM] * 7, *[(None, None)] * 8]
    found = counts_of_both(asked, further, [*FURTHER, *others, *[("phone", None)] * 5])
    assert found["asked"] == {"phone": 34, "laptop": 6, "room": 7, "not answered": 8}
    assert found["further"] == {"phone": 12, "laptop": 8, "room": 9, "not answered": 26}
    assert counts_of_both(asked, further, [*FURTHER, *others, *[("phone", None)] * 4])["further"]["not answered"] is None


def test_people_between_two_ends_or_with_one_of_several_choices_are_no_shown_count() -> None:
    year = question("number", role="auxiliary", minimum=1, maximum=3)
    people = [(value, answer) for value in (1, 2, 3) for answer in ("phone", "laptop", "room", None) for _person in range(5)]
    assert set(counts_of_both(year, follow_up({"question": "asked", "at_least": 1}), people)["further"].values()) == {None}
    several = question("multiple_choice", role="auxiliary", options=OPTIONS)
    chosen = {1: ["phone", "laptop"], 2: ["phone", "room"], 3: ["laptop"]}

    def found(*conditions: list[str]) -> set[int | None]:
        further = follow_up(*({"question": "asked", "any_of": one} for one in conditions))
        return set(counts_of_both(several, further, [(chosen[value], answer) for value, answer in people])["further"].values())

    assert found(["phone"]) == {10, 30}
    assert found(["phone", "room"]) == found(["phone"], ["laptop"]) == {None}


def test_one_choice_counts_those_who_did_not_answer_too() -> None:
    asked = question("single_choice", role="auxiliary", options=OPTIONS)
    found = counts(asked, ["phone"] * 7 + ["laptop"] * 6 + ["room"] * 8 + [None] * 9)
    assert found == {"phone": 7, "laptop": 6, "room": 8, "not answered": 9}


def test_one_of_several_choices_that_nearly_everybody_made_is_hidden_too() -> None:
    asked = question("multiple_choice", role="auxiliary", options=OPTIONS)
    found = counts(asked, [["phone", "laptop"]] * 10 + [["phone"]] * 10 + [["room"]] * 4)
    assert found == {"phone": None, "laptop": 10, "room": None, "not answered": None}


ONE, SEVERAL = (question(kind, role="auxiliary", options=OPTIONS[:2]) for kind in ("single_choice", "multiple_choice"))
ANSWERED_SO: dict[str, tuple[list[Any], list[tuple[Any, str | None]], int]] = {
    "several, 5 people": ([SEVERAL], [(one, None) for one in (None, ["phone"], ["laptop"], ["phone", "laptop"])], 5),
    "several, 7 people": ([SEVERAL], [(one, None) for one in (None, ["phone"], ["laptop"], ["phone", "laptop"])], 7),
    "a question that hangs on another one": (
        [ONE, follow_up({"question": "asked", "any_of": ["phone"]})],
        [(None, None), ("laptop", None), ("phone", None), ("phone", "phone"), ("phone", "laptop"), ("phone", "room")],
        6,
    ),
}


@pytest.mark.parametrize(("questions", "ways", "people"), ANSWERED_SO.values(), ids=list(ANSWERED_SO))
def test_nobody_can_work_a_hidden_count_out(questions: list[Any], ways: list[tuple[Any, str | None]], people: int) -> None:
    """Attack: list all people who may have answered so, and look for few who are equally many in each of these lists."""
    possible: dict[tuple[int | None, ...], set[tuple[int, ...]]] = {}
    for said in combinations_with_replacement(range(len(ways)), people):
        answers = [{name: one for name, one in zip(("asked", "further"), ways[way], strict=True) if one is not None} for way in said]
        for secret in range(60 if len(questions) > 1 else 1):
            shown = tuple(cell.count for cell in background_cells(questions, answers, smallest=2, secret=str(secret)))
            possible.setdefault(shown, set()).add(tuple(said.count(way) for way in range(len(ways))))
    assert len(possible) > 4
    for found in possible.values():
        assert {numbers.pop() for numbers in map(set, zip(*found, strict=True)) if len(numbers) == 1}.isdisjoint({0, 1})


def test_numbers_are_counted_one_by_one_or_in_ten_intervals() -> None:
    year = question("number", role="auxiliary", minimum=1, maximum=3)
    assert counts(year, [1] * 5 + [2] * 6 + [3] * 7 + [None] * 8) == {"1": 5, "2": 6, "3": 7, "not answered": 8}
    age = question("number", role="auxiliary", minimum=0, maximum=100)
    found = counts(age, [0] * 5 + [9] * 5 + [10] * 6 + [100] * 7, smallest=0)
    assert [found[label] for label in ("0 to under 10", "10 to under 20", "90 to 100")] == [10, 6, 7]
    assert len(found) == 11


def test_groups_count_only_the_number_of_their_entries() -> None:
    fields = [{"kind": "number", "name": "grade", "text": "?", "role": "sensitive", "minimum": 0, "maximum": 100}]
    courses = question("group", fields=fields, at_most=2)
    found = counts(courses, [[{"grade": 1}]] * 6 + [[{"grade": 1}, {"grade": 99}]] * 7 + [None] * 5, smallest=5)
    along = {"1 entry": 6, "2 entries": 7, "not answered": 5}
    assert (list(found), found["0 entries"]) == (["0 entries", *along], None)
    assert sorted(found[answer] is None for answer in along) == [False, False, True]
    assert all(found[answer] in (None, count) for answer, count in along.items())


def test_the_file_leaves_hidden_counts_empty() -> None:
    assert cells_csv([Cell(question="q", answer="a", count=None), Cell(question="q", answer="b, c", count=7)]) == (
        'question,answer,count\nq,a,\nq,"b, c",7\n'
    )


@pytest.mark.parametrize("smallest", [5, 10, 20])
def test_a_class_that_all_answers_alike_is_hidden_wholly(smallest: int) -> None:
    asked = question("single_choice", role="sensitive", options=OPTIONS)
    assert set(counts(asked, ["phone"] * 500, smallest=smallest).values()) == {None}


def test_a_scale_is_counted_like_a_choice_and_words_are_not_counted_at_all() -> None:
    scale = question("ordinal_scale", role="sensitive", options=[option | {"score": place} for place, option in enumerate(OPTIONS)])
    answers: list[Any] = ["phone"] * 20 + ["room"] * 3 + ["laptop"] * 9 + [None] * 10
    assert counts(scale, answers) == counts(question("single_choice", role="sensitive", options=OPTIONS), answers)
    assert counts(question("short_text"), answers) == {}
