"""Conditions on earlier answers and earlier answers in texts: what is refused when a study is built, and what people are then asked."""

from typing import Any

import pytest

from surveys.definition import StudyDefinition
from surveys.drafting.conditions import read_conditions
from surveys.drafting.forms import DraftForm
from surveys.errors import DefinitionError
from surveys.journey.fields import arranged, field_view
from surveys.journey.forms import read_fields, settled
from surveys.questions.conditions import spelled_out, spelled_out_text
from surveys.questions.parts import Text
from surveys.study_file import define
from tests.factories import document
from tests.unit.surveys.journey.test_forms import typed

OPTIONS = [{"name": name, "text": name.upper()} for name in ("a", "b", "c", "d", "e")]
COMMON = {"text": "How?", "role": "auxiliary"}
ONE = {"kind": "single_choice", "name": "one", "options": OPTIONS, **COMMON}
SEVERAL = {"kind": "multiple_choice", "name": "several", "options": OPTIONS, **COMMON}
AGE = {"kind": "number", "name": "age", "minimum": 18, "maximum": 99, **COMMON}
STEPS = {"kind": "slider", "name": "steps", "minimum": 0, "maximum": 100, "step": 10, **COMMON}
MATRIX = {"kind": "matrix", "name": "rows", "options": OPTIONS, "rows": [{"name": "r", "text": "R"}], **COMMON}
MOVED = {"kind": "date", "name": "moved", "earliest": "2010-01", "latest": "2020-12", **COMMON}
BORN = {"kind": "date", "name": "born", "precision": "year", "earliest": "1980", "latest": "2010", **COMMON}
WORDS = {"kind": "short_text", "name": "words", "text": "Which?"}
SECRET = {**AGE, "name": "secret", "role": "sensitive"}


def asking(*show_if: dict[str, Any], name: str = "asked", text: str = "How?") -> dict[str, Any]:
    return {"kind": "ordinal_scale", "name": name, "options": OPTIONS, "show_if": list(show_if), **COMMON, "text": text}


def study(*background: dict[str, Any]) -> StudyDefinition:
    return define(document(languages=["en"], background=list(background)))


def is_one(*names: str) -> dict[str, Any]:
    return {"question": "one", "any_of": list(names)}


NEVER = "would never be shown: no answer to"
REFUSED: dict[str, tuple[list[dict[str, Any]], str]] = {
    "forward": ([asking(is_one("a")), ONE], "expected an earlier background question"),
    "itself": ([ONE, asking({"question": "asked", "any_of": ["a"]})], "expected an earlier background question"),
    "the arm": ([ONE, asking({"question": "arm", "any_of": ["a"]})], "nor at the arm, the subsample, the die or the quiz"),
    "the quiz": ([ONE, asking({"question": "quiz.fair", "any_of": ["a"]})], "possible here: one"),
    "a matrix as a whole": ([MATRIX, asking({"question": "rows", "any_of": ["a"]})], "possible here: rows.r"),
    "words": ([WORDS, asking({"question": "words", "any_of": ["a"]})], "a question with options, a number or a date, got another kind"),
    "an unknown option": ([ONE, asking(is_one("a", "x"))], "expected options among a, b, c, d, e, got x"),
    "ends of a choice": ([ONE, asking({"question": "one", "at_least": 1})], "expected any_of: a, b, c, d, e"),
    "options of a number": ([AGE, asking({"question": "age", "any_of": ["a"]})], "expected at_least or at_most"),
    "nothing": ([ONE, asking({"question": "one"})], "expected any_of, or at_least and at_most"),
    "two options at once": ([ONE, asking(is_one("a", "b"), is_one("c"))], f"{NEVER} one"),
    "a number beyond its ends": ([AGE, asking({"question": "age", "at_most": 17})], f"{NEVER} age"),
    "a number between two": ([AGE, asking({"question": "age", "at_least": 18.2, "at_most": 18.8})], f"{NEVER} age"),
    "between two positions of a slider": ([STEPS, asking({"question": "steps", "at_least": 11, "at_most": 19})], f"{NEVER} steps"),
    "a month before the first": ([MOVED, asking({"question": "moved", "at_most": "2009-12"})], f"{NEVER} moved"),
    "months that cross": ([MOVED, asking({"question": "moved", "at_least": "2015-02", "at_most": "2015-01"})], f"{NEVER} moved"),
    "no month": ([MOVED, asking({"question": "moved", "at_most": "2015-13"})], "at_most"),
    "options of a date": ([MOVED, asking({"question": "moved", "any_of": ["2015-01"]})], "expected at_least or at_most"),
    "ends that cross": ([AGE, asking({"question": "age", "at_least": 40, "at_most": 30})], f"{NEVER} age"),
    "through another question": (
        [ONE, asking(is_one("a"), name="between"), asking(is_one("b"), {"question": "between", "any_of": ["a"]})],
        f"asked {NEVER} one",
    ),
    "a condition within a group": (
        [ONE, {"kind": "group", "name": "group", "text": "G", "fields": [asking(is_one("a"))]}],
        "a question within a group has no condition",
    ),
    "a later answer in a text": ([asking(text="More than {one|that}?"), ONE], "expected an earlier question"),
    "a sensitive answer in a text": ([SECRET, asking(text="More than {secret|that}?")], "which is sensitive"),
    "a matrix in a text": ([MATRIX, asking(text="More than {rows|that}?")], "expected an earlier question"),
    "half a name in a text": ([ONE, asking(text="More than {one|}?")], "{question|words if it was left out}"),
}


@pytest.mark.parametrize(("background", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_can_never_hold_is_refused_with_the_reason(background: list[dict[str, Any]], sentence: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        study(*background)
    assert any(sentence in problem for problem in refused.value.problems), refused.value.problems


def test_what_can_hold_is_taken() -> None:
    several = [{"question": "several", "any_of": [name]} for name in ("a", "b")]
    between = {"question": "age", "at_least": 18.5, "at_most": 19}
    study(ONE, SEVERAL, AGE, STEPS, MATRIX, asking(is_one("a"), *several, between, {"question": "steps", "at_least": 10, "at_most": 10}))
    study(MATRIX, asking({"question": "rows.r", "any_of": ["e"]}))
    study({**AGE, "whole": False}, asking({"question": "age", "at_least": 18.2, "at_most": 18.8}))
    study(ONE, WORDS, asking(text="A set {1, 2} of {one|that} and {words|none}"))


def read(definition: StudyDefinition, **sent: Any) -> tuple[dict[str, object], list[str]]:
    """The answers, and the questions that were displayed."""
    answers, fields = read_fields([field_view(question, "en") for question in definition.background], typed(**sent))
    return answers, [field.key for field in fields]


def test_an_answer_to_a_question_that_was_not_displayed_is_nobodys() -> None:
    definition = study(ONE, asking(is_one("a"), name="first"), asking({"question": "first", "any_of": ["a"]}, name="second"))
    everything = {"one": "a", "first": "a", "second": "b"}
    assert read(definition, **everything) == (everything, ["one", "first", "second"])
    assert read(definition, **everything | {"first": "b"}) == ({"one": "a", "first": "b"}, ["one", "first"])
    assert read(definition, **everything | {"one": "b"}) == ({"one": "b"}, ["one"]), "nor one that hangs on it"
    assert read(definition, first="a", second="b") == ({}, ["one"])
    assert read(definition, **everything | {"one": "x"}) == ({}, ["one"]), "a mistake meets no condition"


def test_one_of_several_choices_is_enough_and_ends_belong_to_the_range() -> None:
    definition = study(
        SEVERAL, AGE, asking({"question": "several", "any_of": ["a", "b"]}, {"question": "age", "at_least": 18, "at_most": 20})
    )
    for several, age, displayed in ((["b", "e"], "20", True), (["c"], "20", False), (["a"], "21", False), (["a"], "", False)):
        assert ("asked" in read(definition, several=several, age=age, asked="c")[1]) == displayed


def test_an_answer_stands_in_a_later_text_as_it_was_said_and_once() -> None:
    definition = study(ONE, SEVERAL, AGE, WORDS, asking(text="{one|x}, {several|x}, {age|x}, {words|your words}: {one|x}"))
    fields = read_fields(
        [field_view(question, "en") for question in definition.background],
        typed(one="a", several=["b", "c"], age="30", words="{one|deep} <b>"),
    )[1]
    assert fields[-1].text == "A, B, C, 30, {one|deep} <b>: A"
    empty = read_fields([field_view(question, "en") for question in definition.background], typed(one="", age="17"))[1]
    assert empty[-1].text == "x, x, x, your words: x", "left out, or a mistake"


def test_an_order_by_chance_is_a_persons_own_and_stays() -> None:
    definition = study({**ONE, "shuffle": True}, {**SEVERAL, "shuffle": True}, AGE, STEPS)
    fields = [field_view(question, "en") for question in definition.background]
    orders = {key: arranged(fields, order=key, by_chance=True) for key in map(str, range(200))}
    assert all(arranged(fields, order=key, by_chance=True) == order for key, order in orders.items())
    assert len({tuple(field.key for field in order) for order in orders.values()}) > 12
    assert {field.key: sorted(field.options) for order in orders.values() for field in order} == {
        field.key: sorted(field.options) for field in fields
    }
    assert len({field.options for order in orders.values() for field in order if field.key == "one"}) > 60
    assert [field.key for field in arranged(fields, order="1", by_chance=False)] == ["one", "several", "age", "steps"]


@pytest.mark.parametrize(
    ("asked", "condition", "line", "met", "unmet"),
    [
        (MOVED, {"at_most": "2015-06"}, "moved: <= 2015-06", ("2010-01", "2015-06"), ("2015-07", "2020-12", None)),
        (MOVED, {"at_least": "2015-06"}, "moved: >= 2015-06", ("2015-06", "2016-01"), ("2015-05", None)),
        (MOVED, {"at_least": "2015-06", "at_most": "2016-01"}, "moved: 2015-06 to 2016-01", ("2015-06", "2016-01"), ("2015-05", "2016-02")),
        (BORN, {"at_most": 1999}, "born: <= 1999", ("1980", "1999"), ("2000", None)),
    ],
)
def test_a_date_is_before_or_after_a_month(
    asked: dict[str, Any], condition: dict[str, Any], line: str, met: tuple[str, ...], unmet: tuple[str | None, ...]
) -> None:
    found = study(asked, asking({"question": asked["name"], **condition})).background[1].show_if[0]
    assert found.line == line
    assert [found.holds({asked["name"]: answer}) for answer in met] == [True] * len(met)
    assert [found.holds({asked["name"]: answer}) for answer in unmet] == [False] * len(unmet)
    form = DraftForm({"show_if": line}, languages=("en",))
    assert read_conditions(form) == [found.model_dump(exclude_defaults=True)]
    assert not form.summary


def item(*show_if: dict[str, Any], text: str = "2 + 2?", name: str = "sum") -> dict[str, Any]:
    return {"name": name, "text": text, "options": OPTIONS[:2], "answer": "a", "show_if": list(show_if)}


def study_with_quiz(*quiz: dict[str, Any]) -> StudyDefinition:
    return define(document(languages=["en"], background=[ONE, SEVERAL, AGE, BORN, MOVED, WORDS, SECRET, MATRIX], quiz=list(quiz)))


@pytest.mark.parametrize(
    ("quiz", "sentence"),
    [
        (
            [item(name="one"), item({"question": "sum", "any_of": ["a"]})],
            "quiz: sum is shown only if sum …: expected an earlier",
        ),
        ([item(is_one("a", "x"))], "quiz: sum is shown only if one …: expected options among a, b, c, d, e, got x"),
        ([item(is_one("a"), is_one("b"))], f"quiz: sum {NEVER} one"),
        ([item(text="More than {secret|that}?")], "quiz: the text of sum names the answer to secret, which is sensitive"),
        ([item(text="More than {rows|that}?")], "quiz: the text of sum names the answer to rows: expected an earlier question"),
    ],
)
def test_a_quiz_hangs_on_background_answers_alone(quiz: list[dict[str, Any]], sentence: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        study_with_quiz(*quiz)
    assert any(sentence in problem for problem in refused.value.problems), refused.value.problems


def test_stored_answers_choose_the_quiz_and_stand_in_its_texts() -> None:
    every = "{one|x}; {several|x}; {age|x}; {born|x}; {moved|x}; {words|x}"
    sets = "{x|x>1} of {1,2} and {words|none}"
    definition = study_with_quiz(item(is_one("a"), {"question": "age", "at_least": 20}, text=every), item(text=sets, name="one"))
    fields, background = ([field_view(one, "en") for one in part] for part in (definition.quiz, definition.background))

    def texts(**answers: object) -> list[str]:
        return [field.text for field in settled(fields, background, answers)]

    given = {"one": "a", "several": ["b", "c"], "age": 20, "born": "1999", "moved": "2015-07", "words": "{one|deep} <b>", "rows.r": "a"}
    assert texts(**given) == ["A; B, C; 20; 1999; July 2015; {one|deep} <b>", "{x|x>1} of {1,2} and {one|deep} <b>"]
    assert texts(one="a", age=20.5)[0] == "A; x; 20.5; x; x; x"
    for unmet in ({"age": 20}, {"one": "b", "age": 20}, {"one": "a", "age": 19}, {}):
        assert texts(**unmet) == ["{x|x>1} of {1,2} and none"]


def test_a_codebook_names_the_question_whose_answer_a_text_has() -> None:
    assert spelled_out("More than {one|that}, or {x|x>1}?", {"one": "How many?"}) == "More than [answer to “How many?”], or {x|x>1}?"
    assert spelled_out("{one|a}{two|b}", {"one": "Why {two|that}?", "two": "x" * 200}) == f"[answer to “Why …?”][answer to “{'x' * 100}…”]"
    text = Text({"en": "More than {one|that}?", "de": "Mehr als {one|das}?"})
    named = {"one": Text({"en": "How many?", "de": "Wie viele?"})}
    assert spelled_out_text(text, named).root == {"en": "More than [answer to “How many?”]?", "de": "Mehr als [answer to “Wie viele?”]?"}
    assert spelled_out_text(Text("As {one|that}"), {"one": Text("How?")}).root == "As [answer to “How?”]"


def test_a_text_that_names_many_answers_does_not_grow_without_end() -> None:
    many = "{one|x}" * 2_500
    assert len(str(spelled_out_text(Text(many), {"one": Text(many)}).root)) == 20_000
