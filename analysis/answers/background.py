"""Turns participants' background answers into covariates, of the kinds that the study's definition states."""

from collections.abc import Mapping, Sequence
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from surveys.questions.background import BackgroundQuestion, Group, MultipleChoice, Number, OrdinalScale, ShortText, SingleChoice

Numbers = NDArray[np.float64]
Covariate = NDArray[np.float64 | np.str_]
Covariates = dict[str, Covariate]
TAKEN = "subsample"  # the methods give the design's own column this name


def covariates_of(questions: Sequence[BackgroundQuestion], answers: Sequence[Mapping[str, object]]) -> Covariates:
    """One array for each covariate, in the order of `answers`. Missing answers are "" in text and NaN in numbers.

    A single choice is a category, a multiple choice one 0/1 for each option, a number itself, an ordinal scale its score, a group of
    fields the number of its entries and the mean of each of its numbers and scores. Short texts are no covariates.
    """
    columns: Covariates = {}
    for question in questions:
        name = f"background {TAKEN}" if question.name == TAKEN else question.name
        given = [answer.get(question.name) for answer in answers]
        several = [value if isinstance(value, list) else None for value in given]
        match question:
            case SingleChoice():
                columns[name] = np.array([value or "" for value in given], dtype=str)
            case Number() | OrdinalScale():
                columns[name] = _numbers([_number_of(question, value) for value in given])
            case ShortText():
                continue
            case MultipleChoice():
                for option in question.options:
                    columns[f"{name}: {option.name}"] = _numbers([None if value is None else option.name in value for value in several])
            case Group():
                columns[f"{name}: entries"] = _numbers([None if value is None else len(value) for value in several])
                for field in question.fields:
                    if isinstance(field, Number | OrdinalScale):
                        columns[f"{name}: mean {field.name}"] = _numbers([_mean(value, field) for value in several])
    return columns


def is_numeric(values: Covariate) -> TypeGuard[Numbers]:
    """Whether a covariate holds numbers, and not the levels of a category."""
    return values.dtype.kind == "f"


def _numbers(values: Sequence[object]) -> Numbers:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _number_of(question: Number | OrdinalScale, answer: object) -> object:
    """The number behind an answer: itself, or the score of the chosen option; None for an option that an amendment took away."""
    return question.scores.get(str(answer)) if isinstance(question, OrdinalScale) else answer


def _mean(entries: Sequence[Mapping[str, object]] | None, field: Number | OrdinalScale) -> float | None:
    numbers = [float(str(number)) for entry in entries or () if (number := _number_of(field, entry.get(field.name))) is not None]
    return sum(numbers) / len(numbers) if numbers else None
