"""Turns participants' background answers into covariates, of the kinds that the study's definition states."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surveys.definition import BackgroundQuestion, Group, MultipleChoice, Number, SingleChoice

Covariates = dict[str, NDArray[Any]]
TAKEN = "subsample"  # the methods give the design's own column this name


def covariates_of(questions: Sequence[BackgroundQuestion], answers: Sequence[Mapping[str, Any]]) -> Covariates:
    """One array for each covariate, in the order of `answers`. Missing answers are "" in text and NaN in numbers.

    A single choice is a category, a multiple choice one 0/1 for each option, a number itself, a group of fields the number of its entries
    and the mean of each of its numbers.
    """
    columns: Covariates = {}
    for question in questions:
        name = f"background {TAKEN}" if question.name == TAKEN else question.name
        given = [answer.get(question.name) for answer in answers]
        match question:
            case SingleChoice():
                columns[name] = np.array([value or "" for value in given], dtype=str)
            case Number():
                columns[name] = _numbers(given)
            case MultipleChoice():
                for option in question.options:
                    columns[f"{name}: {option.name}"] = _numbers([None if value is None else option.name in value for value in given])
            case Group():
                columns[f"{name}: entries"] = _numbers([None if value is None else len(value) for value in given])
                for field in question.fields:
                    if isinstance(field, Number):
                        columns[f"{name}: mean {field.name}"] = _numbers([_mean(value, field.name) for value in given])
    return columns


def _numbers(values: Sequence[Any]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else float(value) for value in values], dtype=float)


def _mean(entries: Sequence[Mapping[str, Any]] | None, field: str) -> float | None:
    numbers = [entry[field] for entry in entries or () if entry.get(field) is not None]
    return sum(numbers) / len(numbers) if numbers else None
