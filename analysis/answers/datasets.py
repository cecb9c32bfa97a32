"""A study's answers as the methods take them: counts as they are kept, and rows only where background answers are needed."""

import json
from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count as counting
from typing import Self, TypeVar
from uuid import UUID

import numpy as np
from django.db.models import Case, Max, TextField, Value, When
from django.db.models.functions import Cast
from numpy.typing import NDArray

from analysis.answers.background import Covariates, columns_of, without_rare_choices
from candor.adjustment.balance import Covariate
from surveys.batches.tally import tally_of
from surveys.definition import DIRECT, StudyDefinition
from surveys.models import AttritionCount, CategoryResponse, Participant, Step, Study
from surveys.questions.sections import SECTION

NOT_REPORTED = -1
AT_ONCE = 20_000
"""Rows that are read, and backgrounds that are taken apart, before what they hold becomes numbers."""
Column = TypeVar("Column", bound=Covariate)


def cell_counts(study: Study, definition: StudyDefinition, *, only_who_agreed_to_direct: bool = False) -> dict[str, NDArray[np.int64]]:
    """Per yes/no question the number of people by arm, subsample and reported answer, shape (arms, subsamples, 2); last axis no, yes.

    Counts people of whole batches who answered with the die; on request only those who had agreed to be asked directly.
    """
    questions = {question.name: 2 for question in definition.yes_no_questions}
    return _reported(study, definition, questions, only_who_agreed_to_direct=only_who_agreed_to_direct)


def category_counts(study: Study, definition: StudyDefinition, *, only_who_agreed_to_direct: bool = False) -> dict[str, NDArray[np.int64]]:
    """Per question with categories the same, shape (arms, subsamples, categories), in the order of the definition."""
    questions = {question.name: len(question.categories) for question in definition.category_questions}
    return _reported(study, definition, questions, only_who_agreed_to_direct=only_who_agreed_to_direct)


def _places(definition: StudyDefinition) -> tuple[dict[str, int], dict[str, int]]:
    """The places of arms and subsamples in tables of counts, by name."""
    arms = {arm.name: index for index, arm in enumerate(definition.arms)}
    return arms, {name: index for index, name in enumerate(definition.die.subsamples)}


def _reported(
    study: Study, definition: StudyDefinition, questions: dict[str, int], *, only_who_agreed_to_direct: bool
) -> dict[str, NDArray[np.int64]]:
    """The kept counts of these questions, which have so many answers."""
    arms, subsamples = _places(definition)
    counts = {name: np.zeros((len(arms), len(subsamples), answers), dtype=np.int64) for name, answers in questions.items()}
    for one, people in tally_of(study.pk).answers.items() if counts else ():
        if one.question in counts and (one.agreed or not only_who_agreed_to_direct):
            counts[one.question][arms[one.arm], subsamples[one.subsample], one.answer] += people
    return counts


def assigned_counts(study: Study, definition: StudyDefinition) -> NDArray[np.int64]:
    """The number of people by arm and subsample who are in the shown numbers and were assigned to the die, as in `people_of`; also those
    who stopped on the way and of whom only a count is kept.
    """
    arms, subsamples = _places(definition)
    counts = np.zeros((len(arms), len(subsamples)), dtype=np.int64)
    present = ((one.arm, one.subsample, people) for one, people in tally_of(study.pk).people.items())
    departed = AttritionCount.objects.filter(study=study).values_list("arm", "subsample", "count")
    for arm, subsample, count in (*present, *departed):
        if arm and subsample != DIRECT:
            counts[arms[arm], subsamples[subsample]] += count
    return counts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Backgrounds:
    """The different backgrounds that people have, as covariates and as planned subgroups, sorted by content."""

    covariates: Covariates
    groups: dict[str, NDArray[np.str_]] = field(default_factory=dict)

    @classmethod
    def of(cls, definition: StudyDefinition, written: Sequence[str], *, people: NDArray[np.intp]) -> tuple[Self, NDArray[np.intp]]:
        """From background answers as a database writes them, each of so many people, and the place of each of them."""
        planned = (*definition.subgroups, *([SECTION] if definition.in_sections else []))
        answered: list[Covariates] = []
        chosen: list[dict[str, NDArray[np.str_]]] = []
        for begin in range(0, max(len(written), 1), AT_ONCE):
            answers = [json.loads(text) for text in written[begin : begin + AT_ONCE]]
            answered.append(columns_of(definition.asked, answers))
            chosen.append({name: np.array([one.get(name) or "" for one in answers], dtype=str) for name in planned})
        covariates, groups = without_rare_choices(definition.asked, _joined(answered), people=people), _joined(chosen)
        columns = [np.unique(values, return_inverse=True)[1] for values in (*covariates.values(), *groups.values())]
        codes = np.column_stack(columns) if columns else np.zeros((len(written), 1), dtype=np.intp)
        _, first, place = np.unique(codes, axis=0, return_index=True, return_inverse=True)
        found = cls(
            covariates={name: values[first] for name, values in covariates.items()},
            groups={name: values[first] for name, values in groups.items()},
        )
        return found, place.reshape(-1)


def _joined(parts: Sequence[dict[str, Column]]) -> dict[str, Column]:
    """One column from its parts, which are given up one by one."""
    return {name: np.concatenate([part.pop(name) for part in parts]) for name in list(parts[0])}  # type: ignore[misc]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Alike:
    """The people who answered one question, those who are alike in assignment, answer and covariates in one row.

    `frequencies` says how many people each row stands for, `row` in which row everybody is, or `NOT_REPORTED`.
    """

    reported: NDArray[np.intp]
    arm: NDArray[np.intp]
    subsample: NDArray[np.intp]
    covariates: Covariates
    frequencies: NDArray[np.intp]
    row: NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class People:
    """Everybody in the shown numbers who was assigned to the die, without names, keys or order.

    `reported` by question is 0, 1, … or `NOT_REPORTED`; `background` is everybody's place among the different `backgrounds`. There a
    planned subgroup is the chosen option, or ""; where sections are assigned as a whole they are a group, too.

    The rows are sorted by content, so that they tell nothing about the order of arrival, and the same people always make the same arrays.
    """

    arm: NDArray[np.intp]
    subsample: NDArray[np.intp]
    reported: dict[str, NDArray[np.int8]]
    background: NDArray[np.intp]
    backgrounds: Backgrounds

    @property
    def covariates(self) -> Covariates:
        """Everybody's."""
        return {name: values[self.background] for name, values in self.backgrounds.covariates.items()}

    @property
    def groups(self) -> dict[str, NDArray[np.str_]]:
        """Everybody's."""
        return {name: values[self.background] for name, values in self.backgrounds.groups.items()}

    def who_answered(self, question: str) -> NDArray[np.bool_]:
        return np.asarray(self.reported[question] != NOT_REPORTED)

    def counts(self, question: str, *, arms: int, subsamples: int, answers: int = 2) -> NDArray[np.int64]:
        """As in `cell_counts`, or in `category_counts`."""
        there = self.who_answered(question)
        cells = (self.arm[there] * subsamples + self.subsample[there]) * answers + self.reported[question][there]
        return np.bincount(cells, minlength=arms * subsamples * answers).reshape(arms, subsamples, answers)

    def assigned(self, *, arms: int, subsamples: int) -> NDArray[np.int64]:
        """As in `assigned_counts`."""
        return np.bincount(self.arm * subsamples + self.subsample, minlength=arms * subsamples).reshape(arms, subsamples)

    def alike(self, question: str, *, arms: int, subsamples: int) -> Alike:
        """The people who answered a yes/no question. Many say the same: what is computed from them costs as much as they differ."""
        there = self.who_answered(question)
        people = (self.background[there], self.arm[there], self.subsample[there], self.reported[question][there])
        shape = 1 + int(self.background.max(initial=0)), arms, subsamples, 2
        kinds, place, frequencies = np.unique(np.ravel_multi_index(people, shape), return_inverse=True, return_counts=True)
        background, arm, subsample, reported = np.unravel_index(kinds, shape)
        row = np.full(len(there), NOT_REPORTED, dtype=np.intp)
        row[there] = place
        return Alike(
            reported=reported,
            arm=arm,
            subsample=subsample,
            covariates={name: values[background] for name, values in self.backgrounds.covariates.items()},
            frequencies=frequencies,
            row=row,
        )


def people_of(study: Study, definition: StudyDefinition) -> People:
    """Everybody who was assigned to the die, is in a whole batch and has not withdrawn, in one query and one for questions with
    categories. After the end also people who did not finish.
    """
    arms, subsamples = _places(definition)
    questions = [question.name for question in definition.yes_no_questions]
    answers = {
        f"answer_{index}": Max(
            Case(
                When(step=Step.FINISHED, responses__question=name, responses__reported_yes=True, then=Value(1)),
                When(step=Step.FINISHED, responses__question=name, then=Value(0)),
                default=Value(NOT_REPORTED),
            )
        )
        for index, name in enumerate(questions)
    }
    named = [question.name for question in definition.category_questions]
    chosen: dict[tuple[UUID, str], int] = {}
    if named:
        responses = CategoryResponse.objects.filter(participant__study=study, participant__step=Step.FINISHED, participant__counted=True)
        rows_of_them = responses.values_list("participant", "question", "category")
        chosen = {(person, question): category for person, question, category in rows_of_them.iterator(chunk_size=AT_ONCE)}
    found = (
        Participant.objects.filter(study=study, counted=True)
        .exclude(arm="")
        .exclude(subsample=DIRECT)
        .annotate(written=Cast("background", TextField()), **answers)
        .values_list("pk", "arm", "subsample", "written", *answers)
    )
    # Millions of people fit into memory as numbers; many of them say the same, which is kept once.
    numbers, said, place_of = array("h"), array("l"), defaultdict[str, int](counting().__next__)
    for person, arm, subsample, written, *values in found.iterator(chunk_size=AT_ONCE):
        numbers.extend((arms[arm], subsamples[subsample], *values, *(chosen.get((person, name), NOT_REPORTED) for name in named)))
        said.append(place_of[written])
    places = np.asarray(said, dtype=np.intp)
    backgrounds, place = Backgrounds.of(definition, list(place_of), people=np.bincount(places, minlength=len(place_of)))
    columns = np.asarray(numbers).reshape(len(places), 2 + len(questions) + len(named))
    background = place[places]
    order = np.lexsort((background, *columns.T[::-1]))
    columns = columns[order]
    return People(
        arm=columns[:, 0].astype(np.intp),
        subsample=columns[:, 1].astype(np.intp),
        reported={name: columns[:, 2 + index].astype(np.int8) for index, name in enumerate((*questions, *named))},
        background=background[order],
        backgrounds=backgrounds,
    )
