"""Quizzes small enough to try every row: what the contracts of the mechanisms enumerate and attack."""

from __future__ import annotations

from itertools import product

import numpy as np

from candor.privacy.sensitivity import Whole
from candor.rasch.answers import Omitted, QuizAnswers

NO_ANSWER = -1


def all_rows(m: int) -> Whole:
    """Every row of m answers, shape (3^m, m): 1 is right, 0 is wrong, −1 is omitted."""
    return np.array(list(product((NO_ANSWER, 0, 1), repeat=m)))


def complete_rows(m: int) -> Whole:
    """Every row of m answers without an omission, shape (2^m, m)."""
    return np.array(list(product((0, 1), repeat=m)))


def quiz(table: Whole, omitted: Omitted = Omitted.WRONG) -> QuizAnswers:
    """A table of such rows, however few they are."""
    given = table != NO_ANSWER if omitted is Omitted.NOT_GIVEN else np.ones(table.shape, dtype=bool)
    items = tuple(f"item {place}" for place in range(1, table.shape[1] + 1))
    return QuizAnswers(items=items, right=table == 1, given=given, omitted=omitted)


def class_with(row: list[int]) -> Whole:
    """A class of 21 people, of whom the last has this row; the others solved this or that item."""
    m = len(row)
    return np.array([[(person + item) % 2 for item in range(m)] for person in range(20)] + [row])
