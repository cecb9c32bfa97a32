"""Parsing of participants' input: accepted values, refused values, and the words of each refusal."""

from typing import Any

import pytest
from django.http import QueryDict

from surveys.journey.fields import FieldView, field_view
from surveys.journey.forms import errors_of, read_fields, read_responses
from surveys.journey.presentation import SensitiveQuestionView
from surveys.questions.background import Group, Number, OrdinalScale, ShortText, SingleChoice
from tests.factories import QUESTIONS, definition

FIELDS = tuple(field_view(question, "en") for question in definition().background)


def typed(**values: Any) -> QueryDict:
    """A form as a browser sends it; lists are sent as several values."""
    data = QueryDict(mutable=True)
    for name, value in values.items():
        data.setlist(name, value if isinstance(value, list) else [value])
    return data


def number(**bounds: Any) -> FieldView:
    question = Number(kind="number", name="n", text="How many?", role="auxiliary", **{"minimum": 0, "maximum": 10, **bounds})
    return field_view(question, "en")


def read_number(value: str, **bounds: Any) -> tuple[Any, str]:
    """The number that is stored (None: nothing) and the message about the input."""
    answers, (field,) = read_fields([number(**bounds)], typed(n=value))
    return answers.get("n"), field.error


def test_a_filled_page_is_read_whole() -> None:
    data = typed(
        gender="woman",
        year="2",
        devices=["phone", "room"],
        **{"courses-0-course": "probability", "courses-0-grade": "85", "courses-2-grade": "70"},
    )
    answers, fields = read_fields(FIELDS, data)
    assert answers == {
        "gender": "woman",
        "year": 2,
        "devices": ["phone", "room"],
        "courses": [{"course": "probability", "grade": 85}, {"grade": 70}],
    }
    assert errors_of(fields) == []


def test_everything_may_be_left_out() -> None:
    for data in (typed(), typed(gender="", year=" ", **{"courses-0-course": "", "courses-0-grade": ""})):
        answers, fields = read_fields(FIELDS, data)
        assert answers == {}
        assert errors_of(fields) == []


def test_fields_that_nobody_asked_for_are_ignored() -> None:
    answers, _fields = read_fields(FIELDS, typed(gender="man", name="Eve", arm="slides", **{"courses-9-grade": "1", "courses-0-name": "x"}))
    assert answers == {"gender": "man"}


@pytest.mark.parametrize(("value", "stored"), [("0", 0), ("10", 10), (" 7 ", 7), ("+3", 3), ("007", 7), ("١٠", 10)])
def test_whole_numbers_within_bounds_are_stored(value: str, stored: int) -> None:
    assert read_number(value) == (stored, "")


@pytest.mark.parametrize(("value", "stored"), [("1.5", 1.5), ("1,5", 1.5), ("-0,25", -0.25), (".5", 0.5), ("3", 3.0), ("3.", 3.0)])
def test_decimals_may_have_a_comma_or_a_point(value: str, stored: float) -> None:
    assert read_number(value, minimum=-1, whole=False) == (stored, "")


@pytest.mark.parametrize("value", ["11", "-1", "99999999999999"])
def test_a_number_outside_its_bounds_is_refused(value: str) -> None:
    assert read_number(value) == (None, f"Enter a number from 0 to 10, not {value}.")


@pytest.mark.parametrize(
    "value",
    ["two", "inf", "-inf", "nan", "NaN", "1e1", "1_0", "1 0", "0x1", "--1", "²", "三", "1.0", "1,000", "1.000", "9" * 400, "\x00", "5\n5"],
)
def test_input_that_is_no_whole_number_is_refused(value: str) -> None:
    stored, error = read_number(value)
    assert stored is None
    assert error == f"Enter a whole number from 0 to 10, not “{value[:40]}”."


@pytest.mark.parametrize("value", ["inf", "nan", "1e-1", "1,000,000", "1.5.5", "1_0.5", "."])
def test_input_that_is_no_number_is_refused(value: str) -> None:
    assert read_number(value, whole=False) == (None, f"Enter a number from 0 to 10, not “{value}”.")


def test_large_bounds_are_written_out() -> None:
    assert read_number("2000001", maximum=2_000_000)[1] == "Enter a number from 0 to 2000000, not 2000001."
    assert read_number("0.05", minimum=0.1, maximum=0.7, whole=False)[1] == "Enter a number from 0.1 to 0.7, not 0.05."


def test_options_that_were_not_offered_are_refused() -> None:
    answers, fields = read_fields(FIELDS, typed(gender="martian", devices=["phone", "tablet"], **{"courses-1-course": "alchemy"}))
    assert answers == {}
    assert errors_of(fields) == [
        {"field": "gender", "message": "What is your gender? Choose one from the list."},
        {"field": "devices", "message": "On what do you usually watch lectures? Choose from the list."},
        {"field": "courses-1-course", "message": "Which statistics courses have you taken? Course: Choose one from the list."},
    ]


def test_typed_text_comes_back_beside_the_errors() -> None:
    _answers, fields = read_fields(FIELDS, typed(gender="man", year="many", devices=["room"]))
    by_name = {field.name: field for field in fields}
    assert (by_name["gender"].value, by_name["gender"].error) == ("man", "")
    assert (by_name["year"].value, by_name["year"].error) == ("many", "Enter a whole number from 1 to 8, not “many”.")
    assert by_name["devices"].value == ("room",)


def test_a_choice_sent_twice_counts_as_the_last_one() -> None:
    answers, _fields = read_fields(FIELDS, typed(gender=["man", "woman"]))
    assert answers == {"gender": "woman"}


def test_rows_beyond_the_offered_ones_are_not_read() -> None:
    course = SingleChoice(
        kind="single_choice",
        name="c",
        text="C",
        role="auxiliary",
        options=({"name": "a", "text": "A"}, {"name": "b", "text": "B"}),
    )
    group = field_view(Group(kind="group", name="g", text="G", fields=(course,), at_most=2), "en")
    answers, _fields = read_fields([group], typed(**{"g-0-c": "a", "g-1-c": "b", "g-2-c": "a"}))
    assert answers == {"g": [{"c": "a"}, {"c": "b"}]}


YES_NO = (("1", "Yes"), ("0", "No"))
ASKED = tuple(SensitiveQuestionView(id=name, text=f"{name}?", hint="", options=YES_NO, epsilon=1.0) for name in QUESTIONS)


def test_all_sensitive_answers_are_read_together() -> None:
    data = typed(**{f"answer-{name}": "1" if name == "retention" else "0" for name in QUESTIONS})
    assert read_responses(ASKED, data) == ({"attention": "0", "retention": "1", "judgement": "0", "comprehension": "0"}, [])


@pytest.mark.parametrize("value", [None, "", "2", "yes", "true", "01", "1 "])
def test_an_answer_that_is_missing_or_odd_is_asked_for_again(value: str | None) -> None:
    answers = {f"answer-{name}": "1" for name in QUESTIONS if name != "judgement"}
    _reported, errors = read_responses(ASKED, typed(**answers, **({} if value is None else {"answer-judgement": value})))
    assert errors == [{"field": "answer-judgement", "message": "Choose an answer: judgement?"}]


def read_words(value: str, *, longest: int = 20) -> tuple[Any, str]:
    """The stored words (None: nothing) and the message about them."""
    question = ShortText(kind="short_text", name="w", text="What?", longest=longest)
    answers, (field,) = read_fields([field_view(question, "en")], typed(w=value))
    return answers.get("w"), field.error


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("  Media\tand \r\n art ", "Media and art"),
        ("Bio\0lo\u202egy\u200b", "Biology"),
        ("\ud800x", "x"),
        ("Übersetzen 2025", "Übersetzen 2025"),
        ("   ", None),
        ("", None),
    ],
)
def test_words_are_stored_on_one_line_without_what_nobody_can_see(value: str, words: str | None) -> None:
    assert read_words(value) == (words, "")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("x" * 21, "Write at most 20 characters; these are 21."),
        ("x" * 5000, "Write at most 20 characters; these are 5,000."),
        ("me@uni.example", "Leave out e-mail addresses and long numbers: they could tell who you are."),
        ("no. 907 312-8", "Leave out e-mail addresses and long numbers: they could tell who you are."),
    ],
    ids=["one too many", "thousands", "an address", "a number"],
)
def test_words_that_are_too_many_or_name_somebody_are_not_stored(value: str, message: str) -> None:
    assert read_words(value) == (None, message)


def test_a_scale_takes_its_options_and_nothing_else() -> None:
    options = [{"name": name, "text": name} for name in ("low", "high")]
    view = field_view(OrdinalScale(kind="ordinal_scale", name="s", text="?", role="auxiliary", options=options), "en")
    assert read_fields([view], typed(s="high"))[0] == {"s": "high"}
    answers, (field,) = read_fields([view], typed(s="2"))
    assert (answers, field.error) == ({}, "Choose one from the list.")
