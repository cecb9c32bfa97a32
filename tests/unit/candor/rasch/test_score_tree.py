"""The tree of scores against plain enumeration and exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candor.rasch.score_tree import ScoreTree, item_leaves, score_chances, score_slopes


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=9), st.floats(-3, 3))
def test_the_chances_of_scores_are_sums_over_all_answers(difficulties, ability):
    right = 1 / (1 + np.exp(np.array(difficulties) - ability))
    expected = np.zeros(len(difficulties) + 1)
    for answers in product((0, 1), repeat=len(difficulties)):
        expected[sum(answers)] += np.prod(np.where(answers, right, 1 - right))
    np.testing.assert_allclose(score_chances(np.array(difficulties), np.array([ability]))[0], expected, rtol=1e-12)


@pytest.mark.parametrize("m", [1, 2, 5, 8])
def test_slopes_are_those_of_the_chances(m):
    rng, step = np.random.default_rng(m), 1e-5
    difficulties, abilities = rng.normal(size=m), np.linspace(-3, 3, 7)
    for item, moved in enumerate(step * np.eye(m)):
        across = score_chances(difficulties + moved, abilities) - score_chances(difficulties - moved, abilities)
        np.testing.assert_allclose(score_slopes(difficulties, abilities)[:, :, item], across / (2 * step), atol=1e-9)


def test_products_without_items_are_products_of_the_others():
    rng = np.random.default_rng(0)
    difficulties, given_items = rng.normal(size=6), rng.random((3, 6)) < 0.7
    leaves = item_leaves(difficulties, given_items)
    tree = ScoreTree(leaves)
    weights = rng.random(tree.scores.shape)
    pairs = tree.without_two(weights)

    def product_without(row, *items):
        found = np.ones(1)
        for place, (wrong, right) in enumerate(leaves[row]):
            if place not in items:
                found = np.convolve(found, [wrong, right])
        return found

    for row, first, second in product(range(3), range(8), range(8)):
        np.testing.assert_allclose(tree.without[row, first], product_without(row, first), rtol=1e-12, atol=0)
        expected = weights[row, 2:] @ product_without(row, first, second) if first != second else 0.0
        assert pairs[row, first, second] == pytest.approx(expected, rel=1e-12)


def exact_scores(leaves):
    """The chance of every score. The doubles of a leaf are whole numbers after a power of two."""
    found, scale = [1], 1
    for leaf in leaves.tolist():
        power = max(chance.as_integer_ratio()[1] for chance in leaf)
        wrong, right = (int(Fraction(chance) * power) for chance in leaf)
        found = [wrong * same + right * lower for same, lower in zip([*found, 0], [0, *found], strict=True)]
        scale *= power
    return [Fraction(one, scale) for one in found]


@pytest.mark.parametrize("spread", [0.0, 3.0, 6.0])
def test_two_hundred_items_keep_all_digits(spread):
    """Against exact fractions of the same leaves: every score, and the chance of the first item at every score."""
    leaves = item_leaves(np.linspace(-spread, spread, 200), np.ones((1, 200), dtype=bool))
    scores, others, right = exact_scores(leaves[0, :200]), exact_scores(leaves[0, 1:200]), Fraction(leaves[0, 0, 1])
    tree = ScoreTree(leaves)
    found = tree.scores[0, :201]
    assert max(abs(float(Fraction(value) / truth - 1)) for value, truth in zip(found, scores, strict=True)) < 1e-13
    for score in (1, 2, 100, 198, 199):
        chance = leaves[0, 0, 1] * tree.without[0, 0, score - 1] / found[score]
        assert float(Fraction(chance) / (right * others[score - 1] / scores[score]) - 1) == pytest.approx(0, abs=1e-12)


def test_equal_items_give_binomial_coefficients():
    found = score_chances(np.zeros(200), np.zeros(1))[0]
    np.testing.assert_allclose(found, [comb(200, score) / 2**200 for score in range(201)], rtol=1e-13)
