"""Every kind of background question keeps the same promises: built, asked, answered by bots, read, counted, protected, explained."""

import random
from typing import Any, get_args

import numpy as np
import pytest
from django.http import QueryDict
from django.template.loader import get_template, render_to_string

from analysis.answers.background import columns_of
from analysis.answers.study_records import NOT_ANSWERED, as_published, records_of, suggested_hierarchies, values_of
from analysis.packages.background_counts import background_cells
from analysis.packages.codebook import OF_THE_KIND
from analysis.packages.protocol_document import protocol_document
from analysis.records.invented import invented_people
from analysis.sources.study_tables import schema_of
from surveys.bots.population import Habits, Population
from surveys.builder.lists import OUTSIDE_GROUPS
from surveys.definition import StudyDefinition
from surveys.drafting.categories import can_be_privatised, privatised, typed_faces
from surveys.drafting.forms import DraftForm
from surveys.drafting.questions import read_background, read_sensitive, typed_item
from surveys.journey.fields import field_view
from surveys.journey.forms import errors_of, read_fields
from surveys.questions.background import BackgroundQuestion
from surveys.study_file import define, document_of
from tests.factories import document

OPTIONS = [{"name": name, "text": name.upper()} for name in ("low", "middle", "high")]
EARLIER = {"kind": "single_choice", "name": "asked", "text": "Shall we ask?", "role": "auxiliary", "options": OPTIONS}
YEARS = {"precision": "year", "earliest": "2020", "latest": "2024"}
EXAMPLES: dict[str, dict[str, Any]] = {
    "single_choice": {"role": "quasi_identifier", "options": OPTIONS, "shuffle": True},
    "multiple_choice": {"role": "quasi_identifier", "options": OPTIONS},
    "ordinal_scale": {"role": "quasi_identifier", "options": OPTIONS},
    "matrix": {
        "role": "sensitive",
        "options": OPTIONS,
        "rows": [{"name": "books", "text": "Books"}, {"name": "films", "text": "Films"}],
        "shuffle": True,
    },
    "number": {"role": "quasi_identifier", "minimum": 0, "maximum": 40},
    "slider": {"role": "quasi_identifier", "minimum": -1, "maximum": 1, "step": 0.25, "low": "Not at all", "high": "Very"},
    "date": {"role": "quasi_identifier", "earliest": "2004-09", "latest": "2008-02"},
    "short_text": {"longest": 30},
    "circle": {"role": "sensitive"},
    "group": {
        "fields": [
            {
                "kind": "date",
                "name": "taken",
                "text": "When?",
                "role": "quasi_identifier",
                "precision": "year",
                "earliest": "2020",
                "latest": "2024",
            },
            {"kind": "slider", "name": "liked", "text": "How much?", "role": "sensitive", "minimum": 0, "maximum": 100, "step": 10},
        ]
    },
}
KINDS = {get_args(kind.model_fields["kind"].annotation)[0] for kind in get_args(get_args(BackgroundQuestion)[0])}
every_kind = pytest.mark.parametrize("kind", sorted(KINDS))


def study_with(kind: str, **changes: Any) -> StudyDefinition:
    question = {"kind": kind, "name": "one", "text": "How is it?", **EXAMPLES[kind], **changes}
    return define(document(languages=["en"], background=[EARLIER, question]))


def answered(definition: StudyDefinition, sent: dict[str, Any]) -> dict[str, object]:
    data = QueryDict(mutable=True)
    for name, value in sent.items():
        data.setlist(name, value if isinstance(value, list) else [value])
    answers, fields = read_fields([field_view(question, "en") for question in definition.background], data)
    assert errors_of(fields) == []
    return answers


def people(definition: StudyDefinition, *, n: int = 60) -> list[dict[str, object]]:
    """Answers of bots, as the participants' page reads them."""
    population = Population.of(
        definition, prevalence=0.3, effect=0.1, cheater_proportion=0.1, behaviour="always_no", habits=Habits(leaves_blank=0.2)
    )
    rng = np.random.default_rng(1)
    return [answered(definition, dict(population.draw(rng).answers)) for _one in range(n)]


def test_there_is_an_example_of_every_kind() -> None:
    assert set(EXAMPLES) == KINDS


@every_kind
def test_a_page_of_the_builder_gives_back_the_question_as_it_was(kind: str) -> None:
    definition = study_with(kind, show_if=[{"question": "asked", "any_of": ["low", "high"]}])
    question = definition.background[1].model_dump(mode="json", exclude_defaults=True)
    form = DraftForm(typed_item(question, definition.languages), languages=definition.languages)
    read = read_background(form, question, taken=["asked"])
    assert form.summary == []
    assert define(document(languages=["en"], background=[EARLIER, read])) == definition
    assert kind == "group" or kind in dict(OUTSIDE_GROUPS)


@every_kind
def test_bots_answer_it_and_the_answers_are_what_the_protocol_declares(kind: str) -> None:
    definition = study_with(kind)
    given = people(definition)
    names = {question.name for question in definition.asked} - {"asked"}
    assert all(any(name in one for one in given) for name in names)
    assert set().union(*given) <= names | {"asked"}
    assert len({repr(one.get(min(names))) for one in given}) > 2, "they differ, and some leave it out"


@every_kind
def test_nothing_is_read_for_a_question_that_was_not_displayed(kind: str) -> None:
    definition = study_with(kind, show_if=[{"question": "asked", "any_of": ["high"]}])
    population = Population.of(
        definition, prevalence=0.3, effect=0.1, cheater_proportion=0.1, behaviour="always_no", habits=Habits(leaves_blank=0)
    )
    rng = np.random.default_rng(2)
    sent = [dict(population.draw(rng).answers) | {"asked": asked} for asked in ("low", "high") for _times in range(20)]
    read = [answered(definition, one) for one in sent]
    assert all(set(one) == {"asked"} for one in read[:20])
    assert any(len(one) > 1 for one in read[20:])


@every_kind
def test_it_is_counted_once_for_everybody_or_not_at_all(kind: str) -> None:
    definition = study_with(kind)
    given = people(definition)
    cells = background_cells(definition.asked, given, smallest=0, secret="s")
    for question in definition.asked:
        own = {cell.answer: cell.count for cell in cells if cell.question == question.name}
        if kind == "short_text" and question.name == "one":
            assert own == {}
        elif kind == "multiple_choice" and question.name == "one":
            assert own.pop(NOT_ANSWERED) is None, "beside the sum of all options it would tell how many chose several"
            assert own == {option: sum(option in one.get("one", []) for one in given) for option in own}
        else:
            assert sum(count for count in own.values() if count is not None) == len(given)
            assert own[NOT_ANSWERED] == sum(question.name not in one for one in given)


@every_kind
def test_it_is_a_covariate_of_numbers_or_of_declared_categories_or_none(kind: str) -> None:
    definition = study_with(kind)
    columns = columns_of(definition.asked, people(definition))
    own = {name: column for name, column in columns.items() if name != "asked"}
    if kind == "short_text":
        assert own == {}
        return
    assert own
    for column in own.values():
        assert len(column) == 60
        assert column.dtype.kind == "f" or set(column) <= {"low", "middle", "high", ""}


@every_kind
@pytest.mark.parametrize("role", ["quasi_identifier", "sensitive"])
def test_records_hold_it_under_labels_that_lead_to_nothing_told(kind: str, role: str) -> None:
    changed = {} if kind in ("short_text", "group") else {"role": role}
    questions = as_published(study_with(kind, **changed).asked, {})
    hierarchies, values = suggested_hierarchies(questions), values_of(questions)
    given = [*people(study_with(kind, **changed)), *invented_people(questions, random.Random(3))]
    for record in records_of(questions, given):
        for vertex in (record, *record["children"]):
            for name, label in vertex["quasi_identifiers"].items():
                chain = hierarchies[name][label]
                assert (chain[0], chain[-1]) == (label, "*")
            for name, value in vertex["sensitive"].items():
                assert value in (*values[name], NOT_ANSWERED)
    if kind == "short_text":
        assert set(hierarchies) == {"asked"}


@every_kind
def test_tables_for_questions_under_a_budget_declare_what_it_can_hold(kind: str) -> None:
    names = [column.name for column in schema_of(study_with(kind)).columns if column.name.startswith("background.one")]
    assert bool(names) == (kind != "short_text")


@every_kind
def test_people_can_read_what_is_asked(kind: str) -> None:
    definition = study_with(kind, show_if=[{"question": "asked", "any_of": ["high"]}])
    view = field_view(definition.background[1], "en")
    page = get_template(view.template).render({"field": view})
    assert "How is it?" in page
    assert all(f'name="{name}"' in page for name in view.inputs - {view.name} if kind != "group")
    assert kind == "group" or "<p" in (packet := render_to_string("surveys/irb/_field.html", {"field": view})) or "<li>" in packet
    frozen = protocol_document(definition, opened_with=definition, version=1, sha256="", questions=[], consents=[])
    listed = [one for one in frozen["background_questions"] if one["name"].startswith("one")]
    assert all(OF_THE_KIND[one["kind"]] for one in listed)
    assert all(one["shown_after"] == ["asked: high"] for one in listed)


PRIVATISED = ("single_choice", "ordinal_scale")
"""The kinds that can be privatised in the browser."""
OUTCOME = {"name": "outcome", "text": "Did you?"}


def privatised_study(kind: str) -> StudyDefinition:
    """The question as it is once the builder's button was pressed."""
    asked = study_with(kind)
    item = asked.background[1].model_dump(mode="json", exclude_defaults=True)
    return define(document(languages=["en"], background=[EARLIER], questions=[OUTCOME, privatised(item, asked.die)]))


@every_kind
def test_what_the_builder_offers_to_privatise_keeps_the_promises_of_a_kind(kind: str) -> None:
    assert can_be_privatised(study_with(kind).background[1]) == (kind in PRIVATISED)
    assert not can_be_privatised(study_with(kind, show_if=[{"question": "asked", "any_of": ["high"]}]).background[1])
    if kind not in PRIVATISED:
        return
    definition = privatised_study(kind)
    (question,) = definition.privatised_background
    assert (question.answers, question.ordered) == (("low", "middle", "high"), kind == "ordinal_scale")
    stored = document_of(definition)["questions"][1]
    form = DraftForm(typed_item(stored, definition.languages) | typed_faces(stored, ["1", "2"]), languages=definition.languages)
    assert read_sensitive(form, stored, taken=["outcome"], die=definition.die) == stored
    assert definition.epsilon_total == definition.epsilons["outcome"] + definition.epsilons["one"]
    assert set(columns_of(definition.asked, people(definition))) == {"asked"}
    assert "background.one" not in {column.name for column in schema_of(definition).columns}
    frozen = protocol_document(definition, opened_with=definition, version=1, sha256="", questions=["outcome", "one"], consents=[])
    assert [one["purpose"] for one in frozen["category_questions"]] == ["background"]
    assert [one["name"] for one in frozen["background_questions"]] == ["asked"]
