"""A data dictionary comes in, and everything that is lost of it is told."""

import csv
import io
from dataclasses import asdict
from typing import Any

import pytest
from pydantic import TypeAdapter

from surveys.drafting.redcap.holding import require_conditions_that_hold
from surveys.drafting.redcap.reading import KNOWN, Report, read_dictionary
from surveys.drafting.redcap.writing import dictionary_of
from surveys.questions.background import BackgroundQuestion
from surveys.reading.apart import in_words
from surveys.reading.words import UnreadableError

COLUMNS = (*KNOWN[:13], "Custom Alignment", "Question Number (surveys only)", "Matrix Group Name", "Matrix Ranking?", "Field Annotation")
FULL = {
    "Variable / Field Name": "bmi_ok",
    "Form Name": "health",
    "Section Header": "About your <b>body</b>",
    "Field Type": "radio",
    "Field Label": "BMI < 25 and your age > 18?",
    "Choices, Calculations, OR Slider Labels": "1, Yes | 2, No | 9, No | 10,",
    "Field Note": "For [name] only",
    "Branching Logic (Show field only if...)": "[age] > 18",
    "Required Field?": "y",
    "Custom Alignment": "RH",
    "Question Number (surveys only)": "3a",
    "Matrix Group Name": "body",
    "Matrix Ranking?": "y",
    "Text Validation Type OR Show Slider Number": "autocomplete",
    "Text Validation Min": "4",
    "Field Annotation": "@HIDDEN-SURVEY @DEFAULT='1'",
}


def dictionary(*fields: dict[str, str], delimiter: str = ",") -> str:
    written = io.StringIO()
    writer = csv.DictWriter(written, COLUMNS, delimiter=delimiter)
    writer.writeheader()
    writer.writerows(fields)
    return written.getvalue()


def field(**cells: str) -> dict[str, str]:
    short = {"name": COLUMNS[0], "kind": "Field Type", "label": "Field Label", "choices": COLUMNS[5], "form": "Form Name",
             "validation": COLUMNS[7], "low": COLUMNS[8], "high": COLUMNS[9]}  # fmt: skip
    return {"Variable / Field Name": "q", "Field Type": "radio", "Field Label": "Q?", COLUMNS[5]: "1, A | 2, B"} | {
        short[name]: value for name, value in cells.items()
    }


def notes(report: Report) -> list[str]:
    return [in_words(note) for note in report.taken[0].notes]


def test_a_label_with_signs_of_inequality_stays_as_it_is() -> None:
    (question,) = read_dictionary(dictionary(FULL), source="d.csv").questions
    assert question["text"] == "BMI < 25 and your age > 18?"


def test_every_lost_attribute_is_a_line_of_the_report() -> None:
    assert notes(read_dictionary(dictionary(FULL), source="d.csv")) == [
        "The choice “No” stands twice and came over once; left out: 9",
        "A choice without a text was left out: 10",
        "The codes of its choices became names: 1 → yes, 2 → no",
        "Its text lost its formatting: <b>.",
        "The heading above it was not taken over: About your body",
        "It was shown only if [age] > 18; now it is always shown.",
        "It had to be answered; here nobody has to answer it.",
        "Its action tags and annotation were not taken over: @HIDDEN-SURVEY @DEFAULT='1'",
        "Its text refers to other answers, which are not filled in: [name].",
        "Its “Text Validation Type OR Show Slider Number” was not taken over: autocomplete",
        "Its “Text Validation Min” was not taken over: 4",
        "Its “Custom Alignment” was not taken over: RH",
        "Its “Question Number (surveys only)” was not taken over: 3a",
        "Its “Matrix Group Name” was not taken over: body",
        "Its “Matrix Ranking?” was not taken over: y",
    ]


@pytest.mark.parametrize("column", [name for name in COLUMNS if name not in ("Form Name", "Identifier?")])
def test_no_column_can_vanish_without_a_word(column: str) -> None:
    """Each column is set to a value of its own; the value is in the question or in its notes."""
    values = {"Field Type": "radio", "Required Field?": "y", COLUMNS[5]: "1, Mark | 2, Other", "Variable / Field Name": "mark"}
    report = read_dictionary(dictionary(field() | {column: values.get(column, "Mark")}), source="d.csv")
    said = " ".join([str(report.questions[0]), *notes(report)]).lower()
    assert ("had to be answered" if column == "Required Field?" else "single_choice" if column == "Field Type" else "mark") in said


def test_a_column_that_nobody_knows_is_told_too() -> None:
    text = "Variable / Field Name,Field Type,Field Label,New Thing\nq,yesno,Q?,blue\n"
    assert "Its “New Thing” was not taken over: blue" in notes(read_dictionary(text, source="d.csv"))


def test_numbers_keep_their_limits_and_tell_their_decimal_places() -> None:
    report = read_dictionary(dictionary(field(kind="text", choices="", validation="number_2dp", low="0.5", high="2,5")), source="d.csv")
    assert (report.questions[0]["minimum"], report.questions[0]["maximum"], report.questions[0]["whole"]) == (0.5, 2.5, False)
    assert notes(report) == ["Its number of decimal places (number_2dp) was not taken over."]


def test_a_changed_name_and_the_instruments_are_told() -> None:
    report = read_dictionary(dictionary(field(name="Sex_At-Birth", form="one"), field(name="b", form="two")), source="d.csv")
    assert "Its name became sex_at_birth." in notes(report)
    assert report.forms == ["one", "two"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_the_one_of_the_heading(delimiter: str) -> None:
    assert len(read_dictionary(dictionary(FULL, delimiter=delimiter), source="d.csv").questions) == 1


BROKEN: dict[str, tuple[str, str]] = {
    "too many fields": (dictionary(*[field(name=f"q{number}") for number in range(5001)]), "at most 5,000 fields, found 5,001"),
    "too many columns": ("Variable / Field Name,Field Type,Field Label" + ",x" * 200 + "\na,b,c\n", "at most 100 columns"),
    "too many cells": ("Variable / Field Name,Field Type,Field Label\na,b,c,d,e\n", "row 2: expected at most 3 cells, found 5"),
    "a doubled column": ("Variable / Field Name,Field Type,Field Label,Field Type\na,b,c,d\n", "more than once: Field Type"),
    "an open quotation mark": ('Variable / Field Name,Field Type,Field Label\na,"b', "not readable as CSV"),
    "a field of the wrong kind of CSV": ("Variable / Field Name,Field Type,Field Label\n" + "x" * 200_000, "not readable as CSV"),
    "nothing": ("", "expected a REDCap data dictionary"),
}


@pytest.mark.parametrize(("text", "expected"), BROKEN.values(), ids=BROKEN)
def test_what_is_no_dictionary_is_refused_with_the_reason(text: str, expected: str) -> None:
    with pytest.raises(UnreadableError, match=expected):
        read_dictionary(text, source="d.csv")


def test_thousands_of_choices_are_counted_and_not_named() -> None:
    report = read_dictionary(dictionary(field(choices=" | ".join(f"{n}, c{n}" for n in range(2500)))), source="d.csv")
    words: dict[str, Any] = report.skipped[0].notes[0]
    assert in_words(words) == "It has 2500 different choices; from 2 to 100 can be used."


HEADER, MATRIX, BRANCHING = "Section Header", "Matrix Group Name", "Branching Logic (Show field only if...)"
SCALE = {COLUMNS[5]: "1, Never | 2, Often", MATRIX: "habits", "Field Type": "radio"}


def test_a_slider_a_month_words_and_a_matrix_come_in_and_tell_what_changed() -> None:
    report = read_dictionary(
        dictionary(
            field(name="stress", kind="slider", choices="none | some | much"),
            field(name="began", kind="text", choices="", validation="date_dmy", low="2018-10-01", high="2026-11-30"),
            field(name="subject", kind="text", choices=""),
            field(name="late", label="I am late") | SCALE | {HEADER: "How often?"},
            field(name="early", label="I am early") | SCALE,
            field(name="when", kind="text", choices="", validation="time"),
            field(name="day", kind="text", choices="", validation="date_ymd", low="2018-10-01"),
        ),
        source="d.csv",
    )
    stress, began, subject, habits = report.questions
    assert stress == {"name": "stress", "text": "Q?", "kind": "slider", "minimum": 0, "maximum": 100, "low": "none", "high": "much",
                      "role": "quasi_identifier"}  # fmt: skip
    assert (began["kind"], began["earliest"], began["latest"]) == ("date", "2018-10", "2026-11")
    assert subject["kind"] == "short_text"
    assert "role" not in subject
    assert (habits["name"], habits["text"], habits["kind"]) == ("habits", "How often?", "matrix")
    assert habits["rows"] == [{"name": "late", "text": "I am late"}, {"name": "early", "text": "I am early"}]
    said = {line.field: " ".join(in_words(note) for note in line.notes) for line in (*report.taken, *report.skipped)}
    assert "in the middle of its slider were not taken over: some" in said["stress"]
    assert "asked for a day (date_dmy)" in said["began"]
    assert "never released" in said["subject"]
    assert "row early of the matrix habits" in said["early"]
    assert "Free text and times" in said["when"]
    assert "needs an earliest and a latest answer" in said["day"]


@pytest.mark.parametrize(
    ("logic", "conditions"),
    [
        ("[kind] = '2'", [{"question": "kind", "any_of": ["often"]}]),
        ("[kind]='1' or [kind] = \"2\"", [{"question": "kind", "any_of": ["never", "often"]}]),
        ("[age] >= 18 AND [age] < 30", [{"question": "age", "at_least": 18}, {"question": "age", "at_most": 29}]),
        ("[tools(1)] = '1' and [kind] = '1'", [{"question": "tools", "any_of": ["never"]}, {"question": "kind", "any_of": ["never"]}]),
        (
            "[began] >= '2020-03-01' and [began] <= '2021-02-28'",
            [{"question": "began", "at_least": "2020-03"}, {"question": "began", "at_most": "2021-02"}],
        ),
        (
            "[began] > '2019-12-31' and [began]<\"2021-01-01\"",
            [{"question": "began", "at_least": "2020-01"}, {"question": "began", "at_most": "2020-12"}],
        ),
        ("[began] >= '2020-03-02'", None),
        ("[began] <= '2020-03-30'", None),
        ("[began] = '2020-03-01'", None),
        ("[began] <= '2018-09-30'", None),
        ("[began] >= '2020-13-01'", None),
        ("[began] >= 2020", None),
        ("[kind] = '9'", None),
        ("[kind] <> '1'", None),
        ("[later] = '1'", None),
        ("[age] > 200", None),
        ("[kind] = '1' or [age] > 20", None),
        ("([kind] = '1') and [age] > 20", None),
        ("datediff([born], 'today', 'y') > 18", None),
        ("[kind] = '1' and [kind] = '2'", None),
    ],
)
def test_branching_logic_becomes_conditions_where_they_can_say_it(logic: str, conditions: list[dict[str, Any]] | None) -> None:
    """The last logic contradicts itself, which only the questions together tell."""
    choices = "1, Never | 2, Often"
    report = read_dictionary(
        dictionary(
            field(name="kind", choices=choices),
            field(name="tools", kind="checkbox", choices=choices),
            field(name="age", kind="text", choices="", validation="integer", low="0", high="99"),
            field(name="began", kind="text", choices="", validation="date_dmy", low="2018-10-01", high="2026-11-30"),
            field(name="asked") | {BRANCHING: logic},
            field(name="later"),
        ),
        source="d.csv",
    )
    told = asdict(report)
    require_conditions_that_hold(told)
    assert told["questions"][4].get("show_if") == conditions
    said = " ".join(in_words(note) for note in told["taken"][4]["notes"])
    assert ("page after the others" in said) == bool(conditions)
    assert ("always shown" in said) == (conditions is None)


def test_what_goes_to_redcap_comes_back_as_it_was() -> None:
    options = [{"name": "never", "text": "Never"}, {"name": "often", "text": "Often"}]
    one = {"role": "quasi_identifier"}
    rows = [{"name": "a", "text": "A"}, {"name": "b", "text": "B"}]
    asked = [
        {"kind": "single_choice", "name": "kind", "text": "Which?", "hint": "One", "options": options, **one},
        {"kind": "multiple_choice", "name": "tools", "text": "Which tools?", "options": options, **one},
        {"kind": "number", "name": "age", "text": "How old?", "minimum": 0, "maximum": 99, **one},
        {"kind": "slider", "name": "stress", "text": "How much?", "minimum": 0, "maximum": 10, "low": "none", "high": "much", **one},
        {"kind": "date", "name": "began", "text": "Since when?", "earliest": "2018-10", "latest": "2026-11", **one},
        {"kind": "matrix", "name": "habits", "text": "How often?", "options": options, "rows": rows, **one},
        {"kind": "short_text", "name": "subject", "text": "Which subject?", "longest": 200,
         "show_if": [{"question": "habits.a", "any_of": ["never"]}, {"question": "age", "at_least": 18, "at_most": 30}]},
        {"kind": "circle", "name": "friends", "text": "Which friends?", **one},
    ]  # fmt: skip
    questions = TypeAdapter(tuple[BackgroundQuestion, ...]).validate_python(asked)
    sent = dictionary_of(questions, form="my-study", language="en")
    report = read_dictionary(sent.text, source="d.csv")
    back = {str(question["name"]): question for question in report.questions}
    assert [line.field for line in report.skipped] == ["record_id"]
    for question in asked[:5]:
        written = dict(TypeAdapter(BackgroundQuestion).validate_python(back[str(question["name"])]))
        assert written == dict(TypeAdapter(BackgroundQuestion).validate_python(question))
    assert back["habits"]["rows"] == [{"name": "habits_a", "text": "A"}, {"name": "habits_b", "text": "B"}]
    assert back["subject"]["show_if"] == [
        {"question": "habits.habits_a", "any_of": ["never"]},
        {"question": "age", "at_least": 18},
        {"question": "age", "at_most": 30},
    ]
    assert [name for name, _reason in sent.changed] == ["began", "subject", "friends"]


MOVED = {"kind": "date", "name": "moved", "text": "When?", "earliest": "2010-01", "latest": "2020-12", "role": "auxiliary"}
BORN = {"kind": "date", "name": "born", "text": "When?", "precision": "year", "earliest": "1980", "latest": "2010", "role": "auxiliary"}


@pytest.mark.parametrize(
    ("ends", "on", "logic"),
    [
        ({"at_least": "2015-06", "at_most": "2016-02"}, MOVED, "[moved] >= '2015-06-01' and [moved] <= '2016-02-31'"),
        ({"at_most": 2015}, MOVED, "[moved] <= '2015-01-31'"),
        ({"at_least": 2015.1}, MOVED, "[moved] >= '2015-03-01'"),
        ({"at_least": -1e9, "at_most": 1e9}, MOVED, "[moved] >= '1800-01-01' and [moved] <= '2199-12-31'"),
        ({"at_least": 1990, "at_most": 1999}, BORN, "[born] >= '1990-01-01' and [born] <= '1999-12-31'"),
        ({"at_least": "1990-06", "at_most": "1999-06"}, BORN, "[born] >= '1991-01-01' and [born] <= '1999-12-31'"),
    ],
)
def test_a_condition_on_a_date_is_met_by_the_same_answers_in_redcap_and_back(ends: dict[str, Any], on: dict[str, Any], logic: str) -> None:
    asked = {"kind": "short_text", "name": "asked", "text": "Where?", "show_if": [{"question": on["name"], **ends}]}
    questions = TypeAdapter(tuple[BackgroundQuestion, ...]).validate_python([on, asked])
    sent = dictionary_of(questions, form="my-study", language="en").text
    assert logic in sent
    report = read_dictionary(sent, source="d.csv")
    date, back = TypeAdapter(tuple[BackgroundQuestion, ...]).validate_python(report.questions)
    for answer in date.answers:
        before = answer[:4] if on is BORN else answer
        met = all(one.holds({on["name"]: before}) for one in questions[1].show_if)
        assert all(one.holds({on["name"]: answer}) for one in back.show_if) == met, answer
