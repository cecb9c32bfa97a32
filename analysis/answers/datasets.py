"""A study's answers as the methods take them: counts as they are kept, and rows only where background answers are needed."""

import json
from dataclasses import dataclass, field
from functools import cache
from uuid import UUID

import numpy as np
from django.db.models import Case, Max, TextField, Value, When
from django.db.models.functions import Cast
from numpy.typing import NDArray

from analysis.answers.background import Covariates, covariates_of
from surveys.batches.tally import tally_of
from surveys.definition import DIRECT, StudyDefinition
from surveys.models import AttritionCount, CategoryResponse, Participant, Step, Study
from surveys.questions.sections import SECTION

NOT_REPORTED = -1


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


def _reported(
    study: Study, definition: StudyDefinition, questions: dict[str, int], *, only_who_agreed_to_direct: bool
) -> dict[str, NDArray[np.int64]]:
    """The kept counts of these questions, which have so many answers."""
    arms = {arm.name: index for index, arm in enumerate(definition.arms)}
    subsamples = {name: index for index, name in enumerate(definition.die.subsamples)}
    counts = {name: np.zeros((len(arms), len(subsamples), answers), dtype=np.int64) for name, answers in questions.items()}
    for one, people in tally_of(study.pk).answers.items() if counts else ():
        if one.question in counts and (one.agreed or not only_who_agreed_to_direct):
            counts[one.question][arms[one.arm], subsamples[one.subsample], one.answer] += people
    return counts


def assigned_counts(study: Study, definition: StudyDefinition) -> NDArray[np.int64]:
    """The number of people by arm and subsample who are in the shown numbers and were assigned to the die, as in `people_of`; also those
    who stopped on the way and of whom only a count is kept.
    """
    arms = {arm.name: index for index, arm in enumerate(definition.arms)}
    subsamples = {name: index for index, name in enumerate(definition.die.subsamples)}
    counts = np.zeros((len(arms), len(subsamples)), dtype=np.int64)
    present = ((one.arm, one.subsample, people) for one, people in tally_of(study.pk).people.items())
    departed = AttritionCount.objects.filter(study=study).values_list("arm", "subsample", "count")
    for arm, subsample, count in (*present, *departed):
        if arm and subsample != DIRECT:
            counts[arms[arm], subsamples[subsample]] += count
    return counts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class People:
    """Everybody in the shown numbers who was assigned to the die, without names, keys or order.

    `reported` by question is 0, 1, … or `NOT_REPORTED`; `groups` by planned subgroup is the chosen option, or "";
    where sections are assigned as a whole it has the sections.

    The rows are sorted by content, so that they tell nothing about the order of arrival, and the same people always make the same arrays.
    """

    arm: NDArray[np.intp]
    subsample: NDArray[np.intp]
    reported: dict[str, NDArray[np.int8]]
    covariates: Covariates
    groups: dict[str, NDArray[np.str_]] = field(default_factory=dict)

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


def people_of(study: Study, definition: StudyDefinition) -> People:
    """Everybody who was assigned to the die, is in a whole batch and has not withdrawn, in one query and one for questions with
    categories. After the end also people who did not finish.
    """
    arms = {arm.name: index for index, arm in enumerate(definition.arms)}
    subsamples = {name: index for index, name in enumerate(definition.die.subsamples)}
    questions = [question.name for question in definition.yes_no_questions]
    answers = {
        f"answer_{index}": Max(
            Case(
                When(step=Step.FINISHED, responses__question=name, responses__reported_yes=True, then=Value(1)),
                When(step=Step.FINISHED, responses__question=name, then=Value(0)),
            )
        )
        for index, name in enumerate(questions)
    }
    named = [question.name for question in definition.category_questions]
    chosen: dict[tuple[UUID, str], int] = {}
    if named:
        responses = CategoryResponse.objects.filter(participant__study=study, participant__step=Step.FINISHED, participant__counted=True)
        rows_of_them = responses.values_list("participant", "question", "category")
        chosen = {(person, question): category for person, question, category in rows_of_them.iterator(chunk_size=20_000)}
    found = (
        Participant.objects.filter(study=study, counted=True)
        .exclude(arm="")
        .exclude(subsample=DIRECT)
        .annotate(written=Cast("background", TextField()), **answers)
        .values_list("pk", "arm", "subsample", "written", *answers)
    )
    # Many people say the same: it is kept once, until this call ends.
    sortable, read = cache(_sortable), cache(json.loads)
    rows = sorted(
        (
            (
                *(arms[arm], subsamples[subsample]),
                *(NOT_REPORTED if value is None else value for value in values),
                *(chosen.get((person, name), NOT_REPORTED) for name in named),
            ),
            sortable(written),
        )
        for person, arm, subsample, written, *values in found.iterator(chunk_size=20_000)
    )
    numbers = np.array([numbers for numbers, _background in rows], dtype=np.intp).reshape(len(rows), 2 + len(questions) + len(named))
    backgrounds = [read(background) for _numbers, background in rows]
    return People(
        arm=numbers[:, 0],
        subsample=numbers[:, 1],
        reported={name: numbers[:, 2 + index].astype(np.int8) for index, name in enumerate((*questions, *named))},
        covariates=covariates_of(definition.asked, backgrounds),
        groups={
            name: np.array([answers.get(name) or "" for answers in backgrounds], dtype=str)
            for name in (*definition.subgroups, *([SECTION] if definition.in_sections else []))
        },
    )


def _sortable(written: str) -> str:
    """The same text for the same background answers, in whatever order a database wrote them."""
    return json.dumps(json.loads(written), sort_keys=True)
