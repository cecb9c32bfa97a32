"""Difficulties without noise against R's psychotools and eRm, and against a general optimiser."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from candor.errors import DataError, NotIdentifiedError
from candor.rasch import conditional_likelihood
from candor.rasch.answers import Omitted, QuizAnswers
from candor.rasch.conditional_likelihood import ScoreGroups, most_likely_difficulties
from candor.rasch.item_difficulties import CONDITIONAL, SPECTRAL, hardest_items, item_difficulties
from tests.unit.candor.rasch.quizzes import PROGRAMS, lsat6, simulated, with_omissions

LSAT6 = QuizAnswers.of(lsat6())
QUIZZES = {"LSAT6": LSAT6, "LSAT6 with omissions": QuizAnswers.of(with_omissions(lsat6()), omitted=Omitted.NOT_GIVEN)}


def numbers(found, field):
    return np.array([getattr(item, field) for item in found.items])


def test_the_published_totals():
    assert LSAT6.totals().tolist() == [924, 709, 553, 763, 870]


@pytest.mark.parametrize(
    "entry", [entry for entry in PROGRAMS if entry["data"] in QUIZZES], ids=lambda entry: f"{entry['data']}, {entry['program']}"
)
def test_conditional_likelihood_against_r(entry):
    found = item_difficulties(QUIZZES[entry["data"]])
    np.testing.assert_allclose(numbers(found, "difficulty"), entry["difficulties"], atol=1e-5)
    np.testing.assert_allclose(numbers(found, "standard_error"), entry["standard_errors"], atol=1e-5)
    assert found.log_likelihood == pytest.approx(entry["log_likelihood"], abs=1e-4)


@pytest.mark.parametrize("data", ["MathExam14W", "raschdat1"])
def test_conditional_likelihood_against_r_from_totals(data):
    """These data are not repeated here; their totals and scores, which R printed too, are all that complete answers tell."""
    for entry in (entry for entry in PROGRAMS if entry["data"] == data):
        counts = np.array(entry["score_counts"])
        m = len(entry["totals"])
        score = np.flatnonzero(counts[1:m]) + 1
        groups = ScoreGroups(
            given=np.ones((1, m), dtype=bool),
            pattern=np.zeros(len(score), dtype=np.int64),
            score=score,
            people=counts[score],
            totals=np.array(entry["totals"]) - counts[m],
        )
        difficulties, found = most_likely_difficulties(groups)
        np.testing.assert_allclose(difficulties, entry["difficulties"], atol=1e-4)
        assert found.log_likelihood == pytest.approx(entry["log_likelihood"], abs=1e-4)


def conditional_log_likelihood(answers, difficulties):
    """By its definition: every way to reach the same score with the same items."""
    total = 0.0
    for row in answers:
        there = ~np.isnan(row)
        ways = np.array(list(product((0, 1), repeat=int(there.sum()))), dtype=float)
        ways = ways[ways.sum(axis=1) == row[there].sum()]
        total += -row[there] @ difficulties[there] - np.log(np.exp(-ways @ difficulties[there]).sum())
    return total


@pytest.mark.parametrize("at_once", [1000, 3])
def test_conditional_likelihood_against_its_definition_with_many_patterns(at_once, monkeypatch):
    """All patterns at once, or three of them after the other, as those of a long quiz are."""
    monkeypatch.setattr(conditional_likelihood, "NUMBERS_AT_ONCE", at_once * 4**2)
    rng = np.random.default_rng(3)
    answers = simulated(rng, abilities=rng.normal(size=60), difficulties=np.array([-1.0, -0.3, 0.1, 1.2]))
    answers[rng.random(answers.shape) < 0.2] = np.nan
    quiz = QuizAnswers.of(answers, omitted=Omitted.NOT_GIVEN)
    found = item_difficulties(quiz)

    def misfit(free):
        return -conditional_log_likelihood(answers, np.append(free, -free.sum()))

    best = minimize(misfit, np.zeros(3), method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(numbers(found, "difficulty")[:3], best.x, atol=1e-5)
    assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-8)
    step, base = 1e-3, numbers(found, "difficulty")[:3]
    hessian = np.array(
        [
            [
                sum(
                    sign * misfit(base + a * step * np.eye(3)[i] + b * step * np.eye(3)[j])
                    for a, b, sign in ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))
                )
                / (4 * step**2)
                for j in range(3)
            ]
            for i in range(3)
        ]
    )
    np.testing.assert_allclose(numbers(found, "standard_error")[:3], np.sqrt(np.diag(np.linalg.inv(hessian))), rtol=1e-4)


@pytest.mark.parametrize("method", [CONDITIONAL, SPECTRAL])
def test_the_order_of_items_and_people_does_not_matter(method):
    rng = np.random.default_rng(1)
    order = np.array([3, 0, 4, 1, 2])
    there, back = (
        item_difficulties(LSAT6, method=method),
        item_difficulties(QuizAnswers.of(rng.permutation(lsat6())[:, order]), method=method),
    )
    np.testing.assert_allclose(numbers(back, "difficulty"), numbers(there, "difficulty")[order], atol=1e-9)
    np.testing.assert_allclose(numbers(back, "standard_error"), numbers(there, "standard_error")[order], atol=1e-9)


@pytest.mark.parametrize("second", [10, 1])
def test_two_items_are_apart_by_the_logarithm_of_their_pairs(second):
    """By hand: only people who solved one of two items say anything, 30 to 10, with standard error √(1/30 + 1/10)."""
    quiz = QuizAnswers.of([[1, 0]] * 30 + [[0, 1]] * second + [[1, 1]] * 7 + [[0, 0]] * 3)
    for method in (CONDITIONAL, SPECTRAL):
        found = item_difficulties(quiz, method=method)
        np.testing.assert_allclose(numbers(found, "difficulty"), np.log(30 / second) * np.array([-0.5, 0.5]), atol=1e-9)
        np.testing.assert_allclose(numbers(found, "standard_error"), [np.sqrt(1 / 30 + 1 / second) / 2] * 2, rtol=1e-9)


@pytest.mark.parametrize("method", [CONDITIONAL, SPECTRAL])
def test_an_item_that_everybody_solved_stays_in_without_a_number(method):
    everybody = np.column_stack([lsat6(), np.ones(1000)])
    found = item_difficulties(QuizAnswers.of(everybody), method=method)
    alone = item_difficulties(LSAT6, method=method)
    assert (found.items[5].difficulty, found.items[5].standard_error, found.items[5].right) == (None, None, 1000)
    np.testing.assert_allclose(numbers(found, "difficulty")[:5].astype(float), numbers(alone, "difficulty"), atol=1e-9)
    assert alone.notes == ()
    assert found.notes == ("no finite difficulty, because all or none solved it: item 6",)


def test_groups_of_items_that_nothing_connects_are_named():
    answers = [[1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]] * 10
    with pytest.raises(NotIdentifiedError, match="2 groups, one always easier than another: item 1, item 2 cannot be compared"):
        item_difficulties(QuizAnswers.of(answers))
    with pytest.raises(NotIdentifiedError, match="no two items can be compared"):
        item_difficulties(QuizAnswers.of([[1, 0]] * 20))


def test_the_hardest_items():
    found = hardest_items(LSAT6, k=2)
    spectral = item_difficulties(LSAT6, method=SPECTRAL)
    assert found.items == ("item 3", "item 2")
    assert found.gap == pytest.approx(spectral.items[1].difficulty - spectral.items[3].difficulty)
    assert 0.05 < found.gap_standard_error < 0.2
    assert hardest_items(LSAT6, k=1).items == ("item 3",)
    everybody = QuizAnswers.of(np.column_stack([np.ones(1000), lsat6()]), items=("easy", *LSAT6.items))
    assert hardest_items(everybody, k=2) == found, "an item without a number is left out"
    for k in (0, 5):
        with pytest.raises(DataError, match=f"expected 1 to 4 of 5 items with a difficulty, found {k}"):
            hardest_items(LSAT6, k=k)


def test_another_method_is_refused():
    with pytest.raises(DataError, match="expected the method conditional_ml or spectral, found joint"):
        item_difficulties(LSAT6, method="joint")


def test_two_hundred_items_converge():
    rng = np.random.default_rng(4)
    truth = rng.normal(0, 2, size=200)
    answers = simulated(rng, abilities=rng.normal(size=400), difficulties=truth)
    found = item_difficulties(QuizAnswers.of(answers))
    there = np.array([item.difficulty is not None for item in found.items])
    error = numbers(found, "difficulty")[there].astype(float) - truth[there]
    assert np.sqrt(np.mean((error - error.mean()) ** 2)) < 0.25
