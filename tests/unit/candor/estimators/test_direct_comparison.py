"""Direct shares of yes against statsmodels, and beside the die against formulas written out again and against a simulated truth."""

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from candor.errors import DataError, MethodError
from candor.estimators.direct_comparison import EVERYBODY_FOLLOWS, direct_comparison, newcombe_interval, wilson_interval
from candor.estimators.effects import estimate_outcome
from candor.results import to_json
from tests.designs import DESIGNS

MIRRORED, SAY_NO = DESIGNS["mirrored"], DESIGNS["mirrored, cheaters say no"]
WITH_DIE = np.array([[[104, 56], [88, 72]], [[72, 88], [56, 104]]])
people = st.integers(1, 400)


@given(people, st.floats(0, 1), st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_against_statsmodels(n: int, share: float, level: float) -> None:
    yes = round(n * share)
    found = wilson_interval(yes, n, level=level)
    low, high = proportion_confint(yes, n, alpha=1 - level, method="wilson")
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-12), pytest.approx(high, abs=1e-12))


@given(people, people, st.floats(0, 1), st.floats(0, 1))
def test_newcombe_against_statsmodels(n: int, m: int, share: float, other: float) -> None:
    yes = round(n * share), round(m * other)
    # statsmodels divides by zero variances in what it computes beside the interval
    assume(0 < yes[0] < n and 0 < yes[1] < m)
    found = newcombe_interval(yes, (n, m))
    low, high = confint_proportions_2indep(yes[0], n, yes[1], m, method="newcomb", compare="diff")
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-10), pytest.approx(high, abs=1e-10))


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
