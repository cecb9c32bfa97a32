"""Tests against margins: their meaning, their symmetry, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candor.equivalence.margin_tests import NO_VARIATION, NOBODY_HONEST, margin_tests
from candor.equivalence.margins import Margin
from candor.errors import MethodError
from candor.estimators.effects import estimate_outcome
from candor.estimators.multiplicity import holm
from tests.designs import DESIGNS, means_of

MIRRORED = DESIGNS["mirrored"]


def exact(design, *, honest=0.9, prevalence=(0.4, 0.45), q=0.5, n=40_000):
    yes = np.round(n * means_of(design, honest, prevalence, q)).astype(int)
    return np.stack([n - yes, yes], axis=-1)


def one(table, margin, *, design=MIRRORED, level=0.95):
    (test,) = margin_tests(table, design=design, margin=margin, level=level)
    return test


@settings(max_examples=40)
@given(
    yes=st.lists(st.integers(0, 60) | st.sampled_from([0, 60]), min_size=4, max_size=4),
    size=st.floats(0.02, 0.98),
    worse=st.sampled_from([None, "more_yes", "fewer_yes"]),
)
def test_a_test_rejects_exactly_when_its_interval_lies_inside_the_margin(yes, size, worse):
    table = np.array([[60 - one, one] for one in yes]).reshape(2, 2, 2)
    test = one(table, Margin(size=size, worse=worse), level=0.9)
    alike = bool((table.min(axis=-1).max(axis=-1) == 0).any())
    assert (NO_VARIATION in test.notes) == alike
    if test.p_value is None:
        assert alike or NOBODY_HONEST in test.notes
        return
    low, high = test.interval.low, test.interval.high
    inside = (worse == "more_yes" or low > -size) and (worse == "fewer_yes" or high < size)
    assert abs(test.p_value - 0.1) < 1e-6 or (test.p_value < 0.1) == inside


def test_equivalence_is_both_one_sided_tests_at_once():
    table = exact(MIRRORED, n=2000)
    both, more, fewer = (one(table, Margin(size=0.3, worse=worse)) for worse in (None, "more_yes", "fewer_yes"))
    assert both.p_value == max(more.p_value, fewer.p_value)
    assert more.p_value > fewer.p_value  # the estimate is 5 points above zero
    assert (both.kind, more.kind) == ("equivalence", "non_inferiority")
    assert (both.in_words, more.in_words, fewer.in_words) == ("|τ| < 0.3", "τ < 0.3", "τ > −0.3")


def test_exchanging_the_arms_exchanges_the_directions():
    table = exact(MIRRORED, n=900)
    more, fewer = one(table, Margin(size=0.2, worse="more_yes")), one(table[::-1], Margin(size=0.2, worse="fewer_yes"))
    assert more.p_value == pytest.approx(fewer.p_value, rel=1e-6)
    assert more.interval.low == pytest.approx(-fewer.interval.high, abs=1e-6)


def test_the_interval_holds_the_estimate_and_agrees_with_fieller_when_answers_are_many():
    table = exact(MIRRORED)
    interval = one(table, Margin(size=0.3)).interval
    effect = next(effect for effect in estimate_outcome(table, design=MIRRORED, level=0.9).effects if effect.method == "efficient")
    assert (interval.kind, interval.level) == ("score", 0.9)
    assert interval.low < effect.value < interval.high
    assert (interval.low, interval.high) == pytest.approx((effect.interval.low, effect.interval.high), abs=2e-3)


def test_where_the_effect_is_not_identified_the_margin_is_held_against_delta_and_the_result_says_so():
    design = DESIGNS["symmetric, unknown"]
    table = exact(design, honest=0.5, prevalence=(0.3, 0.7), q=0.0)
    test = one(table, Margin(size=0.3), design=design)  # Δ is .2, τ is .4
    assert test.quantity == "honest_times_effect"
    assert test.p_value < 0.001
    assert "the effect among honest people may still reach the margin" in test.notes[0]
    assert test.in_words == "|Δ| < 0.3"


def test_the_same_answers_leave_no_doubt_where_cheaters_are_known_and_some_where_nobody_is_honest():
    """With x̂ near zero no effect can be excluded, so no margin is met; a ratio of estimates would exclude most."""
    nobody = exact(MIRRORED, honest=0.02, prevalence=(0.4, 0.4), n=800)
    assert one(nobody, Margin(size=0.9)).p_value > 0.05


def test_several_arms_share_the_level_by_holm():
    design = DESIGNS["three arms"]
    yes = np.array([[60, 80], [70, 90], [50, 75]])
    tests = margin_tests(np.stack([200 - yes, yes], axis=-1), design=design, margin=Margin(size=0.9))
    assert [test.treatment for test in tests] == ["treatment", "other"]
    assert [test.adjusted_p_value for test in tests] == list(holm([test.p_value for test in tests]))


def test_answers_that_do_not_vary_give_no_test_and_the_reason():
    test = one([[[10, 0], [10, 0]], [[5, 5], [4, 6]]], Margin(size=0.2))
    assert (test.p_value, test.interval) == (None, None)
    assert "same answer" in test.notes[0]


@pytest.mark.parametrize("size", [0, 1, -0.1, float("nan")])
def test_an_impossible_margin_is_refused(size):
    with pytest.raises(MethodError, match="strictly between 0 and 1"):
        Margin(size=size)


def test_an_unknown_direction_is_refused():
    with pytest.raises(MethodError, match="more_yes or fewer_yes"):
        Margin(size=0.1, worse="down")
