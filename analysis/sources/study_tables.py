"""A closed study as a frozen table: its participants' background, quiz and reported answers, one row each, in an order drawn by chance."""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from django.db.models import Case, Max, QuerySet, Value, When

from analysis.answers.letter_grades import points_of
from analysis.sources.tables import MISSING, Array, Column, Kind, Role, Schema, Table, order_by_chance
from analysis.sources.tables import Value as Declared
from surveys.definition import DIRECT, StudyDefinition
from surveys.models import CategoryResponse, Participant, Step, Study
from surveys.questions.background import (
    MOST_FRIENDS,
    Circle,
    Date,
    Group,
    MultipleChoice,
    Number,
    Option,
    OrdinalScale,
    Question,
    ShortText,
    SingleChoice,
    Slider,
    pairs_among,
)
from surveys.questions.conditions import spelled_out_text
from surveys.questions.parts import Text

CHUNK = 20_000
NO, YES = "no", "yes"
CIRCLE = {"friends": MOST_FRIENDS, "pairs": pairs_among(MOST_FRIENDS)}
"""The two columns of a circle, and the most of each."""
PARTS_OF_CIRCLE = {"friends": Text({"en": "friends", "de": "Freunde"}), "pairs": Text({"en": "pairs", "de": "Paare"})}
"""The words for each, in the languages of staff."""
_entropy = secrets.SystemRandom()

Person = tuple[Any, ...]
Write = Callable[[Array, int, object], None]


def schema_of(definition: StudyDefinition) -> Schema:
    """The columns of a study with this definition. Short texts are in no table."""
    arms = tuple(Declared(name=arm.name, label=arm.label) for arm in definition.arms)
    subsamples = (*definition.die.subsamples, *((DIRECT,) if definition.direct_group else ()))
    columns = [
        Column(name="arm", label=Text("Arm"), role=Role.DESIGN, kind=Kind.CATEGORY, values=arms),
        Column(name="subsample", label=Text("Subsample"), role=Role.DESIGN, kind=Kind.CATEGORY, values=_named(subsamples)),
    ]
    for question in definition.asked:
        columns += _columns_of(question)
    columns += [
        Column(
            name=f"quiz.{item.name}",
            label=item.text,
            # Difficulties and scores are of what everybody was asked: a person who was not asked is not wrong.
            role=Role.BACKGROUND if item.show_if else Role.QUIZ,
            kind=Kind.CATEGORY,
            values=_declared(item.options),
            right=None if item.show_if else item.answer,
        )
        for item in definition.quiz
    ]
    columns += [
        Column(
            name=f"answer.{asked.name}",
            label=asked.text,
            role=Role.REPORTED,
            kind=Kind.CATEGORY,
            values=tuple(Declared(name=one.name, label=one.text) for one in asked.categories)
            or (Declared(name=NO, label=asked.no), Declared(name=YES, label=asked.yes)),
        )
        for asked in definition.questions
    ]
    earlier = {question.name: question.text for question in definition.background}
    return Schema(columns=tuple(one.model_copy(update={"label": spelled_out_text(one.label, earlier)}) for one in columns))


def people_in_table(study: Study) -> "QuerySet[Participant]":
    """Everybody in the shown numbers who finished. Where nobody but bots came, these are the rows; never both together."""
    finished = Participant.objects.filter(study=study, step=Step.FINISHED, counted=True)
    people = finished.filter(is_bot=False)
    return people if people.exists() else finished


def table_of_study(study: Study, definition: StudyDefinition, *, tell: Callable[[int], None]) -> Table:
    """Read the study's rows, a chunk at a time. `tell` hears how many were read.

    A value that the protocol in force does not declare, of somebody who answered an earlier version, counts as not given; numbers are
    brought within their bounds.
    """
    schema, people = schema_of(definition), people_in_table(study)
    expected = people.count()
    arrays = {column.name: column.empty(expected) for column in schema.columns}
    writers = {column.name: _writer(column) for column in schema.columns}
    groups = [question for question in definition.asked if isinstance(question, Group)]
    n = 0
    for person in _rows(people, definition):
        if n == expected:  # somebody was let in again meanwhile; there will be a newer snapshot
            break
        for name, given in _values(person, definition, groups):
            writers[name](arrays[name], n, given)
        n += 1
        if n % CHUNK == 0:
            tell(n)
    order = order_by_chance(n)
    for name in arrays:  # one after the other, so that there are never two copies of all
        arrays[name] = arrays[name][:n][order]
    return Table(schema=schema, n=n, arrays=arrays)


def _rows(people: "QuerySet[Participant]", definition: StudyDefinition) -> Iterator[Person]:
    answers = {
        f"answer_{place}": Max(
            Case(
                When(responses__question=question.name, responses__reported_yes=True, then=Value(1)),
                When(responses__question=question.name, then=Value(0)),
            )
        )
        for place, question in enumerate(definition.yes_no_questions)
    }
    columns = ("pk", "arm", "subsample", "background", "quiz", *answers)
    named = {question.name: [one.name for one in question.categories] for question in definition.category_questions}
    chosen: dict[object, dict[str, str]] = {}
    if named:
        responses = CategoryResponse.objects.filter(participant__in=people, question__in=named)
        for person, question, category in responses.values_list("participant", "question", "category").iterator(chunk_size=CHUNK):
            if category < len(named[question]):
                chosen.setdefault(person, {})[question] = named[question][category]
    for person, *values in people.annotate(**answers).values_list(*columns).iterator(chunk_size=CHUNK // 10):
        yield *values, chosen.get(person, {})


def _values(person: Person, definition: StudyDefinition, groups: Sequence[Group]) -> Iterator[tuple[str, object]]:
    """The given values, by column."""
    arm, subsample, background, quiz, *reported, chosen = person
    yield "arm", arm
    yield "subsample", subsample
    for question in definition.asked:
        if question.name in background and not isinstance(question, ShortText | Circle | Group):
            yield f"background.{question.name}", _as_number(question, background[question.name])
        elif isinstance(question, Circle) and isinstance(given := background.get(question.name), dict):
            for key in CIRCLE:
                yield f"background.{question.name}.{key}", given.get(key)
    for group in groups:
        entries = background.get(group.name)
        if isinstance(entries, list):
            yield f"background.{group.name}", len(entries)
            drawn = _entropy.sample(entries, len(entries))
            for field in group.fields:
                yield f"background.{group.name}.{field.name}", [_as_number(field, entry.get(field.name)) for entry in drawn]
    for item in definition.quiz:
        yield f"quiz.{item.name}", quiz.get(item.name)
    for place, asked in enumerate(definition.yes_no_questions):
        yield f"answer.{asked.name}", None if reported[place] is None else (NO, YES)[reported[place]]
    for name, category in chosen.items():
        yield f"answer.{name}", category


def _as_number(question: Question, given: object) -> object:
    """The answer, in years if it is a date."""
    return question.number(given) if isinstance(question, Date) and isinstance(given, str) else given


def _columns_of(question: Question) -> list[Column]:
    name = f"background.{question.name}"
    if isinstance(question, Group):
        number = {"minimum": 0, "maximum": question.at_most, "whole": True}
        entries = Column(name=name, label=question.text, role=Role.BACKGROUND, kind=Kind.NUMBER, **number)
        return [entries, *(_column(field, f"{name}.{field.name}", entries=question.at_most) for field in question.fields)]
    if isinstance(question, Circle):
        common: dict[str, object] = {"role": Role.BACKGROUND, "kind": Kind.NUMBER, "minimum": 0, "whole": True}
        return [
            Column(name=f"{name}.{key}", label=_about(question.text, PARTS_OF_CIRCLE[key]), maximum=most, **common)
            for key, most in CIRCLE.items()
        ]
    return [] if isinstance(question, ShortText) else [_column(question, name)]


def _column(question: Question, name: str, *, entries: int | None = None) -> Column:
    common: dict[str, object] = {"name": name, "label": question.text, "role": Role.BACKGROUND, "entries": entries}
    match question:
        case Number() | Slider():
            bounds = {"minimum": question.minimum, "maximum": question.maximum, "whole": question.whole}
            return Column(kind=Kind.NUMBER, **bounds, **common)
        case Date():
            low, high = question.number(question.earliest), question.number(question.latest)
            return Column(kind=Kind.NUMBER, minimum=low, maximum=high, whole=question.precision == "year", **common)
        case MultipleChoice():
            return Column(kind=Kind.CHOICES, values=_declared(question.options), **common)
        case OrdinalScale():
            return Column(kind=Kind.CATEGORY, values=_declared(question.options, question.scores), **common)
        case SingleChoice():
            return Column(kind=Kind.CATEGORY, values=_declared(question.options, points_of(question) or {}), **common)
    raise TypeError(f"expected a kind of background question that has a column, found {type(question).__name__}")


def _about(text: Text, part: Text) -> Text:
    """The words of a question of which this column holds one part."""
    codes = dict.fromkeys(code for one in (text, part) if isinstance(one.root, dict) for code in one.root)
    return Text({code: f"{text.in_language(code)} ({part.in_language(code)})" for code in codes})


def _declared(options: Sequence[Option], scores: Mapping[str, float] | None = None) -> tuple[Declared, ...]:
    return tuple(Declared(name=option.name, label=option.text, score=(scores or {}).get(option.name)) for option in options)


def _named(names: Sequence[str]) -> tuple[Declared, ...]:
    return tuple(Declared(name=name, label=Text(name)) for name in names)


def _writer(column: Column) -> Write:
    """A writer of one participant's value into the column's array."""
    one = _one_writer(column)
    return one if column.entries is None else partial(_write_entries, one, column.entries)


def _write_entries(one: Write, most: int, array: Array, row: int, given: object) -> None:
    for place, entry in enumerate(given[:most] if isinstance(given, list) else ()):
        one(array[row], place, entry)


def _one_writer(column: Column) -> Write:
    codes: dict[object, int] = {name: place for place, name in enumerate(column.names)}
    low, high = column.minimum or 0.0, column.maximum or 0.0

    def category(array: Array, place: int, given: object) -> None:
        array[place] = codes.get(given, MISSING) if isinstance(given, str) else MISSING

    def choices(array: Array, place: int, given: object) -> None:
        if isinstance(given, list):
            array[place] = 0
            array[place, [codes[name] for name in given if name in codes]] = 1

    def number(array: Array, place: int, given: object) -> None:
        if isinstance(given, int | float):
            array[place] = min(max(float(given), low), high)

    return {Kind.CATEGORY: category, Kind.CHOICES: choices, Kind.NUMBER: number}[column.kind]
