"""The tree of scores against plain enumeration and exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candor.rasch.score_tree import ScoreTree, item_leaves, score_chances


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=9), st.floats(-3, 3))
def test_the_chances_of_scores_are_sums_over_all_answers(difficulties, ability):
    right = 1 / (1 + np.exp(np.array(difficulties) - ability))
    expected = np.zeros(len(difficulties) + 1)
    for answers in product((0, 1), repeat=len(difficulties)):
        expected[sum(answers)] += np.prod(np.where(answers, right, 1 - right))
    np.testing.assert_allclose(score_chances(np.array(difficulties), np.array([ability]))[0], expected, rtol=1e-12)


def test_the_slopes_are_derivatives():
    rng = np.random.default_rng(0)
    leaves = item_leaves(rng.normal(size=6), rng.random((3, 6)) < 0.7)
    tree = ScoreTree(leaves)
    weights = rng.random(tree.scores.shape)
    slopes = tree.slopes(weights)
    for place in np.ndindex(*leaves.shape):
        moved = leaves.copy()
        moved[place] += 1.0
        # The polynomial is linear in each leaf, so one step of any length is exact.
        assert slopes[place] == pytest.approx(float((weights * (ScoreTree(moved).scores - tree.scores)).sum()), rel=1e-10)


@pytest.mark.parametrize("spread", [0.0, 3.0, 6.0])
def test_two_hundred_items_keep_all_digits(spread):
    """Against exact fractions of the same leaves: every score, and the chance of the first item at every score."""
    difficulties = np.linspace(-spread, spread, 200)
    leaves = item_leaves(difficulties, np.ones((1, 200), dtype=bool))
    exact = [Fraction(1)]
    for wrong, right in leaves[0, 1:200]:
        exact = [
            Fraction(wrong) * low + Fraction(right) * high for low, high in zip([*exact, Fraction(0)], [Fraction(0), *exact], strict=True)
        ]
    wrong, right = (Fraction(value) for value in leaves[0, 0])
    scores = [wrong * low + right * high for low, high in zip([*exact, Fraction(0)], [Fraction(0), *exact], strict=True)]
    tree = ScoreTree(leaves)
    found = tree.scores[0, :201]
    assert max(abs(float(Fraction(value) / truth - 1)) for value, truth in zip(found, scores, strict=True)) < 1e-13
    for score in (1, 2, 100, 198, 199):
        weights = np.zeros_like(tree.scores)
        weights[0, score] = 1 / found[score]
        chance = leaves[0, 0, 1] * tree.slopes(weights)[0, 0, 1]
        assert float(Fraction(chance) / (right * exact[score - 1] / scores[score]) - 1) == pytest.approx(0, abs=1e-12)


def test_equal_items_give_binomial_coefficients():
    found = score_chances(np.zeros(200), np.zeros(1))[0]
    np.testing.assert_allclose(found, [comb(200, score) / 2**200 for score in range(201)], rtol=1e-13)
