"""A study that goes to another program and comes back is the same; and all that is not the same is told."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from surveys.definition import StudyDefinition
from surveys.imports.choosing import chosen_of
from surveys.imports.exporting import PROGRAMS, exported
from surveys.imports.files import QUALTRICS, REDCAP
from surveys.questions.background import Date
from surveys.study_file import define, document_of
from tests.factories import document
from tests.unit.surveys.imports.test_reading import proposal_of

MANY = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SIGNS = st.characters(codec="utf-8", exclude_characters="|{}[]$", exclude_categories=("C", "Z"))
LETTERS = st.text(SIGNS, min_size=1, max_size=8)
TEXT = st.lists(LETTERS, min_size=1, max_size=3).map(" ".join).filter(lambda text: any(sign.isalpha() for sign in text))
ROLE = {"role": "quasi_identifier"}


def name_at(place: int) -> str:
    return f"asked_{'abcdefgh'[place]}"


@st.composite
def questions(draw: st.DrawFn, *, program: str, several_languages: bool) -> list[dict[str, Any]]:
    """Background questions that the program can say."""

    def text() -> Any:
        return {"en": draw(TEXT), "de": f"{draw(TEXT)} (de)"} if several_languages else draw(TEXT)

    def listed(kind: str) -> list[dict[str, Any]]:
        count = draw(st.integers(2, 4))
        return [{"name": f"{kind}_{'abcd'[number]}", "text": text()} for number in range(count)]

    found: list[dict[str, Any]] = []
    kinds = ["single_choice", "multiple_choice", "matrix", "number", "slider", "short_text"]
    for place in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(kinds + (["date"] if program == REDCAP else [])))
        one: dict[str, Any] = {"kind": kind, "name": name_at(place), "text": text()}
        if kind in ("single_choice", "multiple_choice", "matrix"):
            one |= {"options": listed("option"), **ROLE}
            if program == QUALTRICS and draw(st.booleans()):
                one["shuffle"] = True
        if kind == "matrix":
            one["rows"] = listed("row")
        elif kind == "number":
            low = draw(st.integers(-50, 50))
            one |= {"minimum": low, "maximum": low + draw(st.integers(1, 100)), **ROLE}
            one |= {"whole": False} if draw(st.booleans()) else {}
        elif kind == "slider":
            one |= {"minimum": 0, "maximum": 100, **ROLE} | ({"low": text(), "high": text()} if draw(st.booleans()) else {})
            one |= {"step": 0.5} if program == QUALTRICS and draw(st.booleans()) else {}
        elif kind == "date":
            one |= {"earliest": "2015-10", "latest": "2026-11", **ROLE}
        elif kind == "short_text":
            one["longest"] = draw(st.integers(1, 200)) if program == QUALTRICS else 200
        if kind != "matrix" and program == REDCAP and draw(st.booleans()):
            one["hint"] = text()
        if conditions := draw(several_of(conditions_on(found, program))):
            one["show_if"] = list({condition["question"]: condition for condition in conditions}.values())
        found.append(one)
    return found


def several_of(conditions: list[dict[str, Any]]) -> st.SearchStrategy[list[dict[str, Any]]]:
    return st.lists(st.sampled_from(conditions), max_size=2) if conditions else st.just([])


def conditions_on(earlier: list[dict[str, Any]], program: str) -> list[dict[str, Any]]:
    """Conditions that somebody can meet, on questions that hang on nothing themselves."""
    found: list[dict[str, Any]] = []
    for one in earlier:
        if "show_if" in one:
            continue
        if one["kind"] in ("single_choice", "multiple_choice"):
            names = [option["name"] for option in one["options"]]
            found += [{"question": one["name"], "any_of": names[:count]} for count in (1, 2)]
        elif one["kind"] in ("number", "slider"):
            found += [{"question": one["name"], "at_least": one["minimum"]}, {"question": one["name"], "at_most": one["maximum"]}]
            found.append({"question": one["name"], "at_least": one["minimum"], "at_most": one["maximum"]})
        elif one["kind"] == "matrix" and program == REDCAP:
            found.append({"question": f"{one['name']}.{one['rows'][1]['name']}", "any_of": [one["options"][0]["name"]]})
        elif one["kind"] == "date":
            found.append({"question": one["name"], "at_least": "2016-01", "at_most": "2020-12"})
    return found


def study_with(background: list[dict[str, Any]], *, languages: list[str]) -> StudyDefinition:
    """The sample with these background questions."""
    plain = {key: value for key, value in document().items() if key not in ("subgroups", "translations", "attention", "random_order")}
    allocation = {key: value for key, value in plain["allocation"].items() if key != "strata"}
    return define({**plain, "languages": languages, "background": background, "allocation": allocation})


def come_back(study: StudyDefinition, program: str) -> list[dict[str, Any]]:
    """The background questions after a journey to the program and back into the study without them."""
    proposal = proposal_of(exported(study, program).text.encode(), languages=list(study.languages))
    chosen = chosen_of(proposal, study.model_copy(update={"background": ()}))
    again = study_with(chosen.background, languages=list(study.languages))
    found: Any = document_of(again)["background"]
    return found


@pytest.mark.parametrize("program", [REDCAP, QUALTRICS])
@MANY
@given(data=st.data())
def test_what_the_program_can_say_comes_back_equal(program: str, data: st.DataObject) -> None:
    several = program == QUALTRICS and data.draw(st.booleans())
    background = data.draw(questions(program=program, several_languages=several))
    study = study_with(background, languages=["en", "de"] if several else ["en"])
    assert come_back(study, program) == document_of(study)["background"]
    told = {one.question for one in exported(study, program).lost}
    words = {one["name"] for one in background if one["kind"] in ("short_text", "date")}
    assert told <= words | {question.name for question in (*study.quiz, *study.questions)}


LOST: dict[str, tuple[str, dict[str, Any], str]] = {
    "a role": (REDCAP, {"kind": "number", "minimum": 0, "maximum": 9, "role": "sensitive"}, "role is quasi identifier there"),
    "a unit": (QUALTRICS, {"kind": "number", "minimum": 0, "maximum": 9, "unit": "km", **ROLE}, "unit is lost: km"),
    "a step": (REDCAP, {"kind": "slider", "minimum": 0, "maximum": 10, "step": 0.5, **ROLE}, "step is lost: 0.5"),
    "a month": (QUALTRICS, {"kind": "date", "earliest": "2020-01", "latest": "2021-01", **ROLE}, "cannot ask for a month"),
    "friends": (REDCAP, {"kind": "circle", **ROLE}, "no such question"),
    "a hint": (QUALTRICS, {"kind": "short_text", "hint": "Briefly"}, "hint is lost: Briefly"),
    "a bar": (
        REDCAP,
        {"kind": "single_choice", "options": [{"name": "a", "text": "One|two"}, {"name": "b", "text": "Three"}], **ROLE},
        "options 1.text is One/two there, not One|two",
    ),
    "a scale": (
        QUALTRICS,
        {"kind": "ordinal_scale", "options": [{"name": "a", "text": "A"}, {"name": "b", "text": "B"}], **ROLE},
        "kind is single choice there, not ordinal scale",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("program", "question", "sentence"), LOST.values(), ids=LOST)
def test_what_it_cannot_say_is_told(program: str, question: dict[str, Any], sentence: str) -> None:
    study = study_with([{"name": "asked", "text": "How?", **question}], languages=["en"])
    assert sentence in " ".join(one.sentence for one in exported(study, program).lost if one.question == "asked")


@pytest.mark.parametrize("program", PROGRAMS)
def test_sensitive_questions_never_leave_without_their_die(program: str) -> None:
    study = define(document())
    found = exported(study, program)
    for question in study.questions:
        assert question.text.in_language("en") not in found.text
        assert any(one.question == question.name and "no die there" in one.sentence for one in found.lost)


@pytest.mark.parametrize("program", PROGRAMS)
def test_two_names_that_a_program_writes_alike_stay_two_fields(program: str) -> None:
    number = {"kind": "number", "minimum": 0, "maximum": 9, "text": "How many?", **ROLE}
    study = study_with([{**number, "name": "a-b"}, {**number, "name": "a_b"}, {**number, "name": "record_id"}], languages=["en"])
    names = [question["name"] for question in proposal_of(exported(study, program).text.encode(), languages=["en"])["questions"]]
    assert len(names) == len(set(names))
    assert {one["text"] for one in come_back(study, program)} == {"How many?"}
    assert len(come_back(study, program)) == 3


MOVED = {"kind": "date", "name": "moved", "text": "When?", "earliest": "2010-01", "latest": "2020-12", "role": "auxiliary"}
BORN = {"kind": "date", "name": "born", "text": "When?", "precision": "year", "earliest": "1980", "latest": "2010", "role": "auxiliary"}


@pytest.mark.parametrize(
    ("ends", "on", "logic"),
    [
        ({"at_least": "2015-06", "at_most": "2016-02"}, MOVED, "[moved] >= '2015-06-01' and [moved] <= '2016-02-31'"),
        ({"at_most": 2015}, MOVED, "[moved] <= '2015-01-31'"),
        ({"at_least": 2015.1}, MOVED, "[moved] >= '2015-03-01'"),
        ({"at_least": 2012, "at_most": 1e9}, MOVED, "[moved] >= '2012-01-01' and [moved] <= '2199-12-31'"),
        ({"at_least": 1990, "at_most": 1999}, BORN, "[born] >= '1990-01-01' and [born] <= '1999-12-31'"),
        ({"at_least": "1990-06", "at_most": "1999-06"}, BORN, "[born] >= '1991-01-01' and [born] <= '1999-12-31'"),
    ],
)
def test_a_condition_on_a_date_is_met_by_the_same_answers_in_redcap_and_back(ends: dict[str, Any], on: dict[str, Any], logic: str) -> None:
    asked = {"kind": "short_text", "name": "asked", "text": "Where?", "show_if": [{"question": on["name"], **ends}]}
    study = study_with([on, asked], languages=["en"])
    assert logic in exported(study, REDCAP).text
    date, back = study_with(come_back(study, REDCAP), languages=["en"]).background
    assert isinstance(date, Date)
    for answer in date.answers:
        before = answer[:4] if on is BORN else answer
        met = all(one.holds({on["name"]: before}) for one in study.background[1].show_if)
        assert all(one.holds({on["name"]: answer}) for one in back.show_if) == met, answer
