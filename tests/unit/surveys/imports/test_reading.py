"""Files of every kind come in, and every attribute of them has one outcome: taken, changed or lost."""

import copy
import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from surveys.imports.reading import MOST_LINES, Proposal, read
from surveys.reading.words import UnreadableError
from tests.import_files import FILES, LANGUAGES, attributes_in

BY_NAME = {path.name: path for path in FILES}
MANY = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def proposal_of(content: bytes, *, languages: list[str] | None = None, present: tuple[str, ...] = ()) -> Proposal:
    return read(io.BytesIO(content), source="file", languages=languages or LANGUAGES, present=list(present))


def proposal_in(name: str) -> Proposal:
    return proposal_of(BY_NAME[name].read_bytes())


def said(proposal: Proposal, *place: str) -> tuple[str, str]:
    """Outcome and notes of the attribute whose place ends so."""
    (line,) = [one for one in proposal["lines"] if one["place"].split(" › ")[-len(place) :] == list(place)]
    return line["outcome"], " ".join(note["words"] % note["values"] if note["values"] else note["words"] for note in line["notes"])


def documents(proposal: Proposal) -> dict[str, Any]:
    return {question["name"]: question["document"] for question in proposal["questions"]}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_attribute_of_a_real_file_has_one_outcome(path: Path) -> None:
    content = path.read_bytes()
    proposal = proposal_of(content)
    require_sum(proposal, content)
    outcomes = {line["outcome"] for line in proposal["lines"]}
    assert {"taken", "lost"} <= outcomes <= {"taken", "changed", "lost"}
    assert all(line["notes"] for line in proposal["lines"] if line["outcome"] != "taken"), "no loss without a reason"
    assert sum(question["document"] is not None for question in proposal["questions"]) >= 7


def require_sum(proposal: Proposal, content: bytes) -> None:
    assert {line["outcome"] for line in proposal["lines"]} <= {"taken", "changed", "lost"}
    assert sum(line["count"] for line in proposal["lines"]) == attributes_in(content)


def test_the_count_of_attributes_tells_a_lost_one() -> None:
    """The negative control: one cell more or less is another number."""
    assert attributes_in(b"name,text\na,Why?\nb,\n") == 3
    assert attributes_in(b'{"a": [1, "", {"b": false, "c": null}]}') == 2
    assert attributes_in(b"<a x='1'>b<c/>d<e>f</e></a>") == 3


WORDS = ["", "x", "1", "Yes", "on", "A1", "QID1", "{diet} = 'all'", "({a} > 1 or {b} = 2) and {c} < 3", "<b>bold</b>", "{a|b}", "random"]
WORDS += ["0, No | 1, Yes", "radio", "MC", "Matrix", "boolean", "rating", "matrix", "1e9", "2004-09-01", "\x00\ud800", "x" * 300]
KEYS = st.sampled_from(["1", "2", "value", "text", "Display", "de", "default", "type", "name", "Type", "ID", "Flow"])
LEAF = st.one_of(st.none(), st.booleans(), st.integers(-5, 200), st.sampled_from(WORDS))
VALUE = st.recursive(LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6)
CELL = st.sampled_from(["", " ", "x", "1", "radio", "slider", "yesno", "1, A | 2, B", "| |", "a=b|c", "[days] > 1", "((", "y", "9" * 30])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, one in below for place in places(one, (*path, key)))]


def changed(root: Any, path: tuple[Any, ...], value: Any) -> None:
    holder = root
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value


@pytest.mark.parametrize("name", ["canteen.qsf", "canteen.surveyjs.json"])
@MANY
@given(data=st.data())
def test_the_sum_holds_for_every_json_file(name: str, data: st.DataObject) -> None:
    root = copy.deepcopy(json.loads(BY_NAME[name].read_text()))
    for _change in range(data.draw(st.integers(1, 6))):
        path = data.draw(st.sampled_from(places(root)[1:]))
        if data.draw(st.booleans()) and isinstance(path[-1], str):
            path = (
                *path[:-1],
                data.draw(st.sampled_from(["new", "Choices", "Answers", "RecodeValues", "DisplayLogic", "visibleIf"])),
            )
        changed(root, path, data.draw(VALUE))
    content = json.dumps(root).encode()
    try:
        proposal = proposal_of(content)
    except UnreadableError:
        return
    require_sum(proposal, content)


@pytest.mark.parametrize("name", ["canteen.redcap.csv", "canteen.questions.csv"])
@MANY
@given(data=st.data())
def test_the_sum_holds_for_every_table(name: str, data: st.DataObject) -> None:
    delimiter = ";" if name == "canteen.questions.csv" else ","
    encoding = "cp1252" if delimiter == ";" else "utf-8"
    rows = list(csv.reader(io.StringIO(BY_NAME[name].read_text(encoding)), delimiter=delimiter))
    for _change in range(data.draw(st.integers(1, 8))):
        row = data.draw(st.integers(1, len(rows) - 1))
        cell = data.draw(CELL)
        rows[row][data.draw(st.integers(0, len(rows[row]) - 1))] = cell
    if data.draw(st.booleans()):
        rows = [[*row, data.draw(st.sampled_from(["", "new"]))] for row in rows]
        rows[0][-1] = "Another column"
    written = io.StringIO()
    csv.writer(written, delimiter=delimiter, lineterminator="\n").writerows(rows)
    content = written.getvalue().encode()
    require_sum(proposal_of(content), content)


@MANY
@given(data=st.data())
def test_the_sum_holds_for_every_database_dump(data: st.DataObject) -> None:
    root = etree.fromstring(BY_NAME["canteen.lss"].read_bytes())
    elements = [one for one in root.iter() if isinstance(one.tag, str) and one is not root and one.tag != "questions"]
    for _change in range(data.draw(st.integers(1, 6))):
        one = data.draw(st.sampled_from(elements))
        match data.draw(st.integers(0, 3)):
            case 0:
                one.text = data.draw(
                    st.sampled_from(["", "x", "1", "F", "M", "Y", "11", '(a == "b"', "days.NAOK > 1 and diet == 'A1'", "-1e5"])
                )
            case 1:
                etree.SubElement(one, data.draw(st.sampled_from(["new", "row", "qid", "type", "question"]))).text = "more"
            case 2:
                one.set("kind", "x")
            case _:
                if one.getparent() is not None and one.getparent() is not root:
                    one.getparent().remove(one)
    content = etree.tostring(root, encoding="utf-8")
    require_sum(proposal_of(content), content)


def test_a_dictionary_of_redcap_comes_in() -> None:
    proposal = proposal_in("canteen.redcap.csv")
    found = documents(proposal)
    assert found["diet"]["options"][1]["name"] == "no_meat"
    assert [option["name"] for option in found["trays"]["options"]] == ["soup", "main", "sweet"], "codes that are names stay"
    assert found["room"]["kind"] == "matrix"
    assert [option["score"] for option in found["room"]["options"]] == [0, 1, 2], "codes in an order are scores"
    assert found["room"]["show_if"] == [
        {"question": "diet", "any_of": ["everything", "no_meat"]},
        {"question": "days", "at_least": 2.0},
    ]
    assert (found["hunger"]["minimum"], found["hunger"]["maximum"]) == (0, 100)
    assert (found["since"]["earliest"], found["since"]["latest"]) == ("2015-10", "2026-11")
    assert [question["die"] for question in proposal["questions"] if question["name"] == "paid"] == [{"yes": "yes", "no": "no"}]
    assert [name for name, document in found.items() if document is None] == ["record_id", "card", "story", "price"]
    assert said(proposal, "row 3", "Section Header") == ("lost", "The heading above it was not taken over.")
    assert said(proposal, "row 3", "Required Field?")[0] == "lost"
    assert said(proposal, "row 3", "Choices, Calculations, OR Slider Labels") == (
        "changed",
        "Codes became names: 1 → everything, 2 → no_meat, 3 → nothing_of_animals",
    )
    assert said(proposal, "row 3", "Field Note") == ("taken", "")
    assert said(proposal, "row 3", "Custom Alignment")[0] == "lost"
    assert said(proposal, "row 4", "Field Annotation") == ("lost", "Candor knows no action tags.")
    assert said(proposal, "row 6", "Section Header") == ("taken", "")
    assert "<i>" in said(proposal, "row 8", "Field Label")[1]
    assert "Candor never asks who somebody is" in said(proposal, "row 12", "Identifier?")[1]


def test_a_dictionary_in_utf_16_with_semicolons_says_the_same() -> None:
    wide, plain = proposal_in("canteen-utf16.redcap.csv"), proposal_in("canteen.redcap.csv")
    assert wide["encoding"] == "utf-16-le"
    assert documents(wide)["diet"]["text"]["en"] == "Welche Ernährung passt am besten?"
    assert [line["outcome"] for line in wide["lines"]] == [line["outcome"] for line in plain["lines"]]


def test_a_survey_of_qualtrics_comes_in_and_its_flow_and_loops_are_told() -> None:
    proposal = proposal_in("canteen.qsf")
    found = documents(proposal)
    assert [option["name"] for option in found["diet"]["options"]] == ["all", "no_meat", "nothing_of_animals"]
    assert found["diet"]["shuffle"]
    assert found["trays"]["show_if"] == [{"question": "diet", "any_of": ["all", "no_meat"]}, {"question": "days", "at_least": 2.0}]
    assert found["room"]["text"] == {"en": "How is the room?", "de": "Wie ist der Raum?"}
    assert [option.get("score") for option in found["room"]["options"]] == [0, 5]
    assert [row["name"] for row in found["room"]["rows"]] == ["loud", "light"]
    assert (found["hunger"]["step"], found["hunger"]["high"]["en"]) == (0.5, "very")
    assert found["Days"]["name"] == "days"
    assert [name for name, document in found.items() if document is None] == ["hello", "story", "old"]
    assert "loop" in said(proposal, "Options", "LoopingOptions", "Static", "1", "1")[1]
    assert "branch" in said(proposal, "BranchLogic", "Type")[1]
    assert "by chance" in said(proposal, "Payload", "Flow[3]", "SubSet")[1]
    assert "embedded data" in said(proposal, "EmbeddedData[0]", "Field")[1]
    assert said(proposal, "Payload", "QuestionJS")[0] == "lost"


def test_a_survey_of_limesurvey_comes_in_by_group_and_in_both_languages() -> None:
    proposal = proposal_in("canteen.lss")
    found = documents(proposal)
    assert list(found) == ["diet", "days", "trays", "room", "paid", "since", "colour", "story", "taste"]
    assert found["diet"]["text"] == {"en": "Which diet fits you best?", "de": "Welche Ernährung passt am besten?"}
    assert found["trays"]["shuffle"]
    assert found["trays"]["show_if"] == [
        {"question": "diet", "any_of": ["everything", "no_meat"]},
        {"question": "days", "at_least": 2.0},
    ]
    assert [row["name"] for row in found["room"]["rows"]] == ["light", "loud"], "in their order"
    assert found["paid"]["show_if"] == [{"question": "trays", "any_of": ["soup"]}]
    assert found["colour"] == found["colour"] | {"longest": 40, "show_if": [{"question": "diet", "any_of": ["no_meat"]}]}
    assert "show_if" not in found["taste"]
    assert [option["text"] for option in found["taste"]["options"]] == ["1", "2", "3", "4", "5"], "a number needs no translation"
    assert "in own words" in said(proposal, "questions", "rows", "row[0]", "other")[1]


def test_a_survey_of_surveyjs_comes_in() -> None:
    proposal = proposal_in("canteen.surveyjs.json")
    found = documents(proposal)
    assert [option["name"] for option in found["diet"]["options"]] == ["all", "no_meat", "plants"]
    assert found["trays"]["show_if"] == [{"question": "days", "at_least": 1.0}, {"question": "diet", "any_of": ["all"]}]
    assert [option["score"] for option in found["taste"]["options"]] == [0, 1, 2, 3, 4]
    assert found["taste"]["options"][4]["text"]["en"] == "4 (Great)"
    assert (found["since"]["earliest"], found["colour"]["longest"]) == ("2015-10", 40)
    assert said(proposal, "pages[1]", "visibleIf")[0] == "lost"
    assert said(proposal, "elements[0]", "choices[1]", "value") == ("changed", "Codes became names: No-Meat → no_meat")
    assert "repeats" in said(proposal, "templateElements[0]", "name")[1]


def test_a_table_of_questions_comes_in_from_an_old_spreadsheet() -> None:
    proposal = proposal_in("canteen.questions.csv")
    found = documents(proposal)
    assert proposal["encoding"] == "cp1252"
    assert found["hunger"]["step"] == 0.5
    assert [(option["name"], option["score"]) for option in found["room"]["options"]] == [("gut", 0), ("mittel", 1), ("schlecht", 3)]
    assert found["odd"] is None
    assert "drawing" in said(proposal, "row 9", "kind")[1]


def test_a_language_that_the_study_does_not_speak_is_lost_and_a_foreign_file_stands_in_the_first() -> None:
    content = BY_NAME["canteen.surveyjs.json"].read_bytes()
    german = proposal_of(content, languages=["de"])
    assert documents(german)["diet"]["text"] == "Welche Ernährung passt am besten?"
    assert said(german, "pages[0]", "elements[0]", "title", "default")[0] == "lost"
    assert documents(german)["days"]["text"] == "On how many days a week?"
    assert "is written in en" in said(german, "pages[0]", "elements[1]", "title")[1]


def test_a_question_that_is_there_already_is_left_out_with_all_that_it_says() -> None:
    proposal = proposal_of(BY_NAME["canteen.redcap.csv"].read_bytes(), present=("diet",))
    assert documents(proposal)["diet"] is None
    assert {line["outcome"] for line in proposal["lines"] if line["place"].startswith("row 3 ")} == {"lost"}


@pytest.mark.parametrize(
    ("logic", "conditions"),
    [
        ("[kind] = '2'", [{"question": "kind", "any_of": ["often"]}]),
        ("[kind]='1' or [kind] = \"2\"", [{"question": "kind", "any_of": ["never", "often"]}]),
        ("[age] >= 18 AND [age] < 30", [{"question": "age", "at_least": 18, "at_most": 29}]),
        (
            "[tools(1)] = '1' and ([kind] = '1')",
            [{"question": "tools", "any_of": ["never"]}, {"question": "kind", "any_of": ["never"]}],
        ),
        ("[age] > 17.5 and [age] < 29.5", [{"question": "age", "at_least": 18, "at_most": 29}]),
        ("[age] > 17.5", [{"question": "age", "at_least": 18}]),
        ("[kind] = '9'", None),
        ("[kind] <> '1'", None),
        ("[later] = '1'", None),
        ("[age] > 200", None),
        ("[kind] = '1' or [age] > 20", None),
        ("[kind] = '1' or [kind] = '2' and [age] > 20", None),
        ("datediff([born], 'today', 'y') > 18", None),
        ("[began] >= '2020-03-01' and [began] <= '2021-02-28'", [{"question": "began", "at_least": "2020-03", "at_most": "2021-02"}]),
        ("[began] > '2019-12-31' and [began]<\"2021-01-01\"", [{"question": "began", "at_least": "2020-01", "at_most": "2020-12"}]),
        ("[began] >= '2020-03-02'", None),
        ("[began] <= '2020-03-30'", None),
        ("[began] = '2020-03-01'", None),
        ("[began] <= '2018-09-30'", None),
        ("[began] >= '2020-13-01'", None),
        ("[began] >= 2020", None),
        ("(" * 900 + "[kind] = '1'" + ")" * 900, [{"question": "kind", "any_of": ["never"]}]),
        ("(" * 5000, None),
    ],
)
def test_branching_logic_becomes_conditions_where_they_can_say_it(logic: str, conditions: list[dict[str, Any]] | None) -> None:
    columns = ["Variable / Field Name", "Field Type", "Field Label", "Choices, Calculations, OR Slider Labels"]
    columns += ["Text Validation Type OR Show Slider Number", "Text Validation Min", "Text Validation Max"]
    choices = "1, Never | 2, Often"
    rows = [
        [*columns, "Branching Logic (Show field only if...)"],
        ["kind", "radio", "K?", choices],
        ["tools", "checkbox", "T?", choices],
        ["age", "text", "A?", "", "integer", "0", "99"],
        ["began", "text", "B?", "", "date_dmy", "2018-10-01", "2026-11-30"],
        ["asked", "radio", "Q?", choices, "", "", "", logic],
        ["later", "radio", "L?", choices],
    ]
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    proposal = proposal_of(written.getvalue().encode(), languages=["en"])
    assert documents(proposal)["asked"].get("show_if") == conditions
    assert said(proposal, "row 6", "Branching Logic (Show field only if...)")[0] == ("lost" if conditions is None else "taken")


BROKEN: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "found nothing"),
    "another table": (b"a,b\n1,2\n", "with the columns a, b"),
    "an open quotation mark": (b'text,b\nx,"b', "not readable as CSV"),
    "half of JSON": (b'{"SurveyElements": [', "not readable as JSON: line 1, column"),
    "JSON of another kind": (b'{"a": 1}', "JSON with a"),
    "an empty object": (b"{}", "JSON with nothing"),
    "a list": (b"[1, 2]", "JSON with list"),
    "a name twice": (b'{"pages": [], "pages": []}', "“pages” stands twice"),
    "no number": (b'{"pages": [NaN]}', "NaN is no number"),
    "too many digits": (b'{"pages": [' + b"9" * 5000 + b"]}", "too many digits"),
    "lists without end": (b'{"pages": ' + b"[" * 90_000, "stand more than 60 deep"),
    "70 lists": (b'{"pages": ' + b"[" * 70 + b"]" * 70 + b"}", "stand more than 60 deep"),
    "half of XML": (b"<document><questions>", "not readable as XML: line 1, column"),
    "XML of another kind": (b"<document><a/></document>", "XML without a table of questions"),
    "elements without end": (b"<a>" * 90_000, "stand more than 60 deep"),
    "an entity bomb": (
        b'<!DOCTYPE b [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><document><questions>&b;</questions></document>',
        "DOCTYPE",
    ),
    "a file of the server": (
        b'<!DOCTYPE b [<!ENTITY a SYSTEM "file:///etc/passwd">]><document><questions>&a;</questions></document>',
        "DOCTYPE",
    ),
    "a zero byte": (b"name,text\nx,a\0b\n", "found a zero byte at position 13"),
    "half of UTF-16": (b"\xff\xfea\0b", "expected text in utf-16-le"),
    "too many rows": (b"text\n" + b"x\n" * 5001, "at most 5,000 rows, found 5,001"),
    "too many columns": (b"text" + b",x" * 101 + b"\n", "at most 100 columns"),
    "too many cells": (b"text,name\na,b,c,d\n", "row 2: expected at most 2 cells, found 4"),
    "a doubled column": (b"text,name,name\na,b,c\n", "more than once: name"),
    "too large": (b"x" * (25 * 1024**2 + 1), "at most 25 MB"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "expected"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_read_is_refused_with_the_reason(content: bytes, expected: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        proposal_of(content)
    assert expected in str(refused.value)


def test_a_large_survey_shares_lines_and_counts_every_attribute() -> None:
    survey = json.loads(BY_NAME["canteen.qsf"].read_text())
    survey["SurveyElements"].append({"Element": "XX", "Payload": [{"a": number, "b": "x"} for number in range(MOST_LINES)]})
    content = json.dumps(survey).encode()
    proposal = proposal_of(content)
    require_sum(proposal, content)
    assert len(proposal["lines"]) < 300
