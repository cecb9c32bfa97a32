"""Quiz answers: the rule for omitted ones, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from candor.errors import DataError, TooFewResponsesError
from candor.rasch.answers import Omitted, QuizAnswers


def test_the_rule_decides_what_an_omitted_answer_is():
    table = np.array([[1, np.nan, 0]] * 30)
    wrong, not_given = QuizAnswers.of(table), QuizAnswers.of(table, omitted=Omitted.NOT_GIVEN)
    assert wrong.answered().tolist() == [30, 30, 30]
    assert not_given.answered().tolist() == QuizAnswers.of(table, omitted="not_given").answered().tolist() == [30, 0, 30]
    assert wrong.totals().tolist() == not_given.totals().tolist() == [30, 0, 0]
    assert wrong.solved_first_not_second().tolist() == [[0, 30, 30], [0, 0, 0], [0, 0, 0]]
    assert not_given.solved_first_not_second().tolist() == [[0, 0, 30], [0, 0, 0], [0, 0, 0]]


def test_nobody_and_no_item_is_dropped():
    quiz = QuizAnswers.of([[np.nan, np.nan, np.nan]] * 20 + [[1, 1, 0]] * 5, omitted=Omitted.NOT_GIVEN)
    assert (quiz.n, quiz.m) == (25, 3)
    assert quiz.score_counts().sum() == 25


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ([[1, 2]] * 20, "answers must be 0, 1 or empty, found 2 in row 1, column 2"),
        ([[1, 0]] * 20 + [[np.inf, 0]], "found inf in row 21, column 1"),
        ([["yes", "no"]] * 20, "could not convert string"),
        ([[1, 0], [1]], "expected a table"),
        ([1, 0, 1], "found 1 dimensions"),
        (np.zeros((30, 1)), "a quiz must have 2 to 200 items, found 1"),
        (np.zeros((30, 201)), "a quiz must have 2 to 200 items, found 201"),
    ],
)
def test_other_tables_are_refused(table, said):
    with pytest.raises(DataError, match=said):
        QuizAnswers.of(table)


def test_a_class_of_nineteen_is_too_small():
    with pytest.raises(TooFewResponsesError, match="needed at least 20, found 19"):
        QuizAnswers.of(np.zeros((19, 5)))


@pytest.mark.parametrize("names", [["a"], ["a", "a"], ["a", "b", "c"]])
def test_items_have_one_name_each(names):
    with pytest.raises(DataError, match="expected 2 different names"):
        QuizAnswers.of(np.zeros((30, 2)), items=names)
