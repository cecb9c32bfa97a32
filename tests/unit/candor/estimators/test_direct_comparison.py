"""Direct shares of yes and their intervals by hand, beside the die against formulas written out again and a simulated truth."""

from dataclasses import asdict
from decimal import Decimal
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candor.errors import DataError, MethodError
from candor.estimators.direct_comparison import EVERYBODY_FOLLOWS, direct_comparison
from candor.estimators.effects import estimate_outcome
from candor.results import to_json
from tests.designs import DESIGNS

MIRRORED, SAY_NO = DESIGNS["mirrored"], DESIGNS["mirrored, cheaters say no"]
WITH_DIE = np.array([[[104, 56], [88, 72]], [[72, 88], [56, 104]]])
people = st.integers(1, 400)


def both_intervals(yes: tuple[int, int], n: tuple[int, int], *, level: float = 0.95) -> tuple[list[float], list[float], list[float]]:
    """Wilson's limits of the treatment's and of the control's share, and Newcombe's of their difference, as the results show them."""
    table = [[n[1] - yes[1], yes[1]], [n[0] - yes[0], yes[0]]]
    compared = direct_comparison(table, WITH_DIE, design=MIRRORED, level=level, smallest_cell=0)
    control, treatment = (one.interval for one in compared.prevalence)
    found = [(one.low, one.high) for one in (treatment, control, compared.differences[0].interval) if one is not None]
    limits = [[end for end in ends if end is not None] for ends in found]
    return limits[0], limits[1], limits[2]


def score_roots(yes: int, n: int, *, level: float) -> tuple[float, float]:
    """The shares π whose score test just rejects: (p̂ − π)² = z²π(1 − π)/n, solved in whole fractions but for z² and the root."""
    square = Fraction(NormalDist().inv_cdf((1 + level) / 2)) ** 2
    share = Fraction(yes, n)
    a, b, c = 1 + square / n, -(2 * share + square / n), share**2
    root = Fraction(Decimal((b**2 - 4 * a * c).numerator).sqrt() / Decimal((b**2 - 4 * a * c).denominator).sqrt())
    return float((-b - root) / (2 * a)), float((-b + root) / (2 * a))


@given(people, people, st.floats(0, 1), st.floats(0, 1), st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_and_newcombe_by_hand(n: int, m: int, share: float, other: float, level: float) -> None:
    yes = round(n * share), round(m * other)
    treatment, control, difference = both_intervals(yes, (n, m), level=level)
    by_hand = score_roots(yes[0], n, level=level), score_roots(yes[1], m, level=level)
    assert treatment == pytest.approx(by_hand[0], abs=1e-12)
    assert control == pytest.approx(by_hand[1], abs=1e-12)
    (low, high), (other_low, other_high) = by_hand
    p, q = yes[0] / n, yes[1] / m
    expected = p - q - ((p - low) ** 2 + (other_high - q) ** 2) ** 0.5, p - q + ((high - p) ** 2 + (q - other_low) ** 2) ** 0.5
    assert difference == pytest.approx(expected, abs=1e-7)  # a root doubles what rounding does to (p − low)² near zero


@pytest.mark.parametrize(
    ("yes", "n", "limits"),
    [(81, 263, (0.2553, 0.3662)), (15, 148, (0.0624, 0.1605)), (0, 20, (0, 0.1611)), (1, 29, (0.0061, 0.1718))],
)
def test_wilson_as_newcombe_printed_it(yes: int, n: int, limits: tuple[float, float]) -> None:
    """Newcombe (1998), Two-sided confidence intervals for the single proportion, Statistics in Medicine 17, 857–872, table I."""
    assert both_intervals((yes, yes), (n, n))[0] == pytest.approx(limits, abs=5e-5)


@pytest.mark.parametrize(
    ("yes", "n", "limits"),
    [((56, 48), (70, 80), (0.0524, 0.3339)), ((9, 3), (10, 10), (0.1705, 0.8090)), ((5, 0), (56, 29), (-0.0381, 0.1926))],
)
def test_newcombe_as_he_printed_it(yes: tuple[int, int], n: tuple[int, int], limits: tuple[float, float]) -> None:
    """Newcombe (1998), Interval estimation for the difference between independent proportions, table II, method 10."""
    assert both_intervals(yes, n)[2] == pytest.approx(limits, abs=5e-5)


def test_differences_are_treatment_minus_control_in_the_order_of_the_design() -> None:
    compared = direct_comparison([[60, 40], [90, 10], [50, 50]], np.full((3, 2, 2), 50), design=DESIGNS["three arms"])
    assert [(one.treatment, one.control, one.value) for one in compared.differences] == [
        ("treatment", "control", pytest.approx(0.3)),
        ("other", "control", pytest.approx(0.4)),
    ]


def test_where_the_die_gives_the_prevalence_it_is_that_of_the_estimates() -> None:
    compared = direct_comparison([[80, 20], [70, 30]], WITH_DIE, design=SAY_NO)
    outcome = estimate_outcome(WITH_DIE, design=SAY_NO)
    assert [one.with_die for one in compared.under_reporting] == [one.value for one in outcome.prevalence]
    assert compared.assumption == outcome.assumption
    first, by_die = compared.under_reporting[0], outcome.prevalence[0]
    assert by_die.value is not None
    assert by_die.standard_error is not None
    assert first.value == pytest.approx(by_die.value - 0.2)
    assert first.standard_error == pytest.approx((by_die.standard_error**2 + 0.2 * 0.8 / 100) ** 0.5)


def test_otherwise_it_is_what_answers_mean_if_everybody_follows() -> None:
    compared = direct_comparison([[80, 20], [70, 30]], WITH_DIE, design=MIRRORED)
    # Arm 0: 56 of 160 where 1/6 are forced to yes, 72 of 160 where 2/6 are; half are asked for the truth.
    shares = np.array([56 / 160, 72 / 160])
    expected = np.mean((shares - np.array([1 / 6, 2 / 6])) / 0.5)
    error = np.sqrt(np.sum(0.25 * shares * (1 - shares) / 160) / 0.25)
    assert compared.assumption == EVERYBODY_FOLLOWS
    first = compared.under_reporting[0]
    assert (first.with_die, first.with_die_standard_error) == (pytest.approx(expected), pytest.approx(error))
    assert first.p_value is not None
    assert (first.p_value < 0.05) == (first.interval is not None and not first.interval.contains(0))


def test_under_reporting_is_found_where_it_was_put() -> None:
    """Truth .5 and .7, of which a third is denied directly; within four standard errors of that."""
    rng = np.random.default_rng(4)
    truth, forced = np.array([0.5, 0.7]), np.array([1 / 6, 2 / 6])
    direct = np.array([[3000 - yes, yes] for yes in rng.binomial(3000, truth * 2 / 3)])
    shares = 0.5 * truth[:, None] + forced[None, :]
    yes = rng.binomial(10_000, shares)
    compared = direct_comparison(direct, np.stack([10_000 - yes, yes], axis=-1), design=MIRRORED)
    for one, expected in zip(compared.under_reporting, truth / 3, strict=True):
        assert one.interval is not None
        assert one.standard_error is not None
        assert abs((one.value or 0) - expected) < 4 * one.standard_error
        assert one.standard_error < 0.02


@pytest.mark.parametrize("row", [[4, 60], [60, 4], [0, 0], [5, 4]])
def test_an_arm_with_a_small_cell_is_withheld_altogether(row: list[int]) -> None:
    compared = direct_comparison([[50, 50], row], WITH_DIE, design=MIRRORED)
    withheld = compared.prevalence[1]
    assert (withheld.n, withheld.yes, withheld.value, withheld.interval) == (None, None, None, None)
    assert (compared.differences[0].value, compared.differences[0].interval) == (None, None)
    assert (compared.under_reporting[1].value, compared.under_reporting[1].standard_error) == (None, None)
    assert "arm 'treatment'" in compared.notes[0]
    assert compared.prevalence[0].value == 0.5
    assert direct_comparison([[50, 50], [5, 5]], WITH_DIE, design=MIRRORED).notes == ()


def test_too_few_answers_with_the_die_leave_the_direct_ones() -> None:
    compared = direct_comparison([[50, 50], [60, 40]], np.zeros((2, 2, 2), dtype=int), design=MIRRORED)
    assert compared.prevalence[0].value == 0.5
    assert compared.under_reporting[0].with_die is None
    assert compared.notes[0].startswith("With the die: too few answers")


@pytest.mark.parametrize("direct", [[[1, 2]], [[1, 2], [3, -1]], [[1.5, 2], [3, 1]], [1, 2]])
def test_counts_that_are_none_are_refused(direct: Any) -> None:
    with pytest.raises(DataError, match="direct counts must be whole numbers"):
        direct_comparison(direct, WITH_DIE, design=MIRRORED)


def test_levels_are_checked_and_results_are_json() -> None:
    with pytest.raises(MethodError, match="level"):
        direct_comparison([[9, 9], [9, 9]], WITH_DIE, design=MIRRORED, level=1.0)
    compared = direct_comparison([[50, 50], [1, 0]], WITH_DIE, design=MIRRORED)
    assert '"with_die"' in to_json(compared)
    assert asdict(compared)["prevalence"][1]["n"] is None
