"""Turns participants' background answers into covariates, of the kinds that the study's definition states."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.answers.letter_grades import points_of
from candor.adjustment.balance import Covariate, Numbers
from surveys.questions.background import (
    Answered,
    Circle,
    Date,
    Group,
    MultipleChoice,
    Number,
    Numeric,
    OrdinalScale,
    ShortText,
    Simple,
    SingleChoice,
    Slider,
)

Covariates = dict[str, Covariate]
Entries = Sequence[Mapping[str, Any]]
FEWEST_PEOPLE = 5
MOST_CHOICES = 12
"""A choice within the entries of a group becomes a column when at least `FEWEST_PEOPLE` have it and as many have not, the commonest
`MOST_CHOICES` of a field: a column for one person is that person."""
TAKEN = "subsample"  # the methods give the design's own column this name


def columns_of(questions: Sequence[Answered], answers: Sequence[Mapping[str, object]]) -> Covariates:
    """One array for each covariate, in the order of `answers`. Missing answers are "" in text and NaN in numbers.

    A single choice is a category, or points where its options are letter grades; a multiple choice one 0/1 for each option, a number
    itself, an ordinal scale its score, a date its years. A group of fields is the number of its entries, the mean of each of its numbers,
    scores and letter grades, and for each other choice a 0/1 that says whether any entry has it: `without_rare_choices` leaves some of
    these out. A circle is its friends and its linked pairs. Short texts are no covariates.
    """
    columns: Covariates = {}
    for question in questions:
        name = _name(question)
        given = [answer.get(question.name) for answer in answers]
        several = [value if isinstance(value, list) else None for value in given]
        match question:
            case SingleChoice():
                points = points_of(question)
                columns[name] = np.array([value or "" for value in given], dtype=str) if points is None else _scores(given, points)
            case OrdinalScale():
                columns[name] = _scores(given, question.scores)
            case Number() | Slider():
                columns[name] = _numbers(given)
            case Date():
                columns[name] = _numbers([question.number(value) if isinstance(value, str) else None for value in given])
            case Circle():
                for key in ("friends", "pairs"):
                    columns[f"{name}: {key}"] = _numbers([value[key] if isinstance(value, dict) else None for value in given])
            case ShortText():
                continue
            case MultipleChoice():
                for option in question.options:
                    columns[f"{name}: {option.name}"] = _numbers([None if value is None else option.name in value for value in several])
            case Group():
                columns[f"{name}: entries"] = _numbers([None if value is None else len(value) for value in several])
                for field in question.fields:
                    columns |= _of_entries(name, field, several)
    return columns


def without_rare_choices(questions: Sequence[Answered], columns: Covariates, *, people: NDArray[np.intp]) -> Covariates:
    """Leave out the choices within groups that too few people have, or nearly all (see `MOST_CHOICES`); each row is so many people."""
    found = dict(columns)
    for question in questions:
        for field in question.fields if isinstance(question, Group) else ():
            choices = _choices(_name(question), field)
            times, usual = {}, []
            for column, choice in choices.items():
                has = columns[column].astype(float)
                times[choice], answered = int(people[has == 1].sum()), int(people[~np.isnan(has)].sum())
                if FEWEST_PEOPLE <= times[choice] <= answered - FEWEST_PEOPLE:
                    usual.append(choice)
            kept = sorted(usual, key=lambda choice: (-times[choice], choice))[:MOST_CHOICES]
            found = {name: values for name, values in found.items() if choices.get(name, None) in (None, *kept)}
    return found


def _numbers(values: Sequence[object]) -> Numbers:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _scores(given: Sequence[object], points: Mapping[str, float]) -> Numbers:
    return _numbers([points.get(value) if isinstance(value, str) else None for value in given])


def _name(question: Answered) -> str:
    return f"background {TAKEN}" if question.name == TAKEN else question.name


def _of_entries(group: str, field: Simple, several: Sequence[Entries | None]) -> Covariates:
    """The columns of one field of a group that everybody fills in as often as needed."""
    if isinstance(field, Numeric | Date):
        turned = field.number if isinstance(field, Date) else float
        return {f"{group}: mean {field.name}": _numbers([_mean([*map(turned, _values(one, field.name))]) for one in several])}
    if (points := _points(field)) is not None:
        scores = [[points[value] for value in _values(entries, field.name) if value in points] for entries in several]
        return {f"{group}: mean {field.name}": _numbers([_mean(found) for found in scores])}
    chosen = [None if entries is None else set(_values(entries, field.name)) for entries in several]
    return {
        column: _numbers([None if choices is None else choice in choices for choices in chosen])
        for column, choice in _choices(group, field).items()
    }


def _points(field: Simple) -> Mapping[str, float] | None:
    """The number that each option of a scale or of letter grades stands for."""
    return field.scores if isinstance(field, OrdinalScale) else points_of(field) if isinstance(field, SingleChoice) else None


def _choices(group: str, field: Simple) -> dict[str, str]:
    """The choice of each column of a field within a group; none if its options are numbers."""
    if isinstance(field, Numeric | Date) or _points(field) is not None:
        return {}
    return {f"{group}: {field.name} {option.name}": option.name for option in field.options}


def _values(entries: Entries | None, field: str) -> list[Any]:
    """The values of a field in all entries of one person, options of a multiple choice one by one."""
    found = [value for entry in entries or () if (value := entry.get(field)) is not None]
    return [choice for value in found for choice in (value if isinstance(value, list) else [value])]


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None
