"""Standardised differences by hand."""

import numpy as np
import pytest

from analysis.answers.balance import answered_by_arm, in_steps
from analysis.stored_results import Balance
from candor.adjustment.balance import SMALLEST_GROUP, standardised_differences

ARM = np.array([0, 0, 0, 1, 1, 1])


def differences(**covariates: np.ndarray) -> dict[str, float | None]:
    rows = standardised_differences(covariates, ARM, arms=["slides", "face"], control="slides")
    return {row.variable: row.difference for row in rows}


def test_a_number_is_compared_in_standard_deviations() -> None:
    # Means 2 and 4, both variances 1.
    assert differences(year=np.array([1.0, 2.0, 3.0, 3.0, 4.0, 5.0])) == {"year": pytest.approx(2.0)}


def test_people_without_a_number_are_left_out() -> None:
    assert differences(year=np.array([1.0, 3.0, np.nan, 3.0, 5.0, np.nan])) == {"year": pytest.approx(2 / np.sqrt(2))}


def test_every_level_is_a_share_and_no_answer_is_a_level() -> None:
    found = differences(gender=np.array(["woman", "woman", "", "man", "woman", ""]))
    assert list(found) == ["gender: man", "gender: woman", "gender: not answered"]
    # Shares 2/3 and 1/3, both variances 1/3.
    assert found["gender: woman"] == pytest.approx(-1 / np.sqrt(3))
    assert found["gender: not answered"] == 0


def test_constant_or_unanswered_covariates_have_no_difference() -> None:
    assert differences(year=np.full(6, 2.0), age=np.array([np.nan] * 3 + [1.0, 2.0, 3.0])) == {"year": None, "age": None}


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e154, 1.7e307])
def test_the_unit_of_a_number_does_not_matter(unit: float) -> None:
    year = np.array([1.0, 2.0, 3.0, 3.0, 4.0, 5.0])
    assert differences(year=year * unit) == {"year": pytest.approx(2.0)}


def test_means_of_numbers_whose_sum_no_double_holds_are_given() -> None:
    (row,) = standardised_differences({"grade": np.full(10, 1.5e308)}, np.repeat([0, 1], 5), arms=["slides", "face"], control="slides")
    assert (row.control_mean, row.treatment_mean, row.difference) == (1.5e308, 1.5e308, None)


def test_a_constant_that_no_double_holds_exactly_has_no_difference() -> None:
    """Means of 3 and of 7 tenths differ in their last digit, and so does each tenth from the mean of its arm."""
    for people in range(2, 40):
        arm = np.repeat([0, 1], [people, 40])
        (row,) = standardised_differences({"share": np.full(len(arm), 0.1)}, arm, arms=["slides", "face"], control="slides")
        assert row.difference is None


def test_every_treatment_is_compared_with_the_control() -> None:
    rows = standardised_differences(
        {"year": np.array([1.0, 2.0, 3.0, 3.0, 5.0, 6.0])}, np.array([0, 0, 1, 1, 2, 2]), arms=["a", "b", "c"], control="b"
    )
    assert [(row.treatment, row.control) for row in rows] == [("a", "b"), ("c", "b")]


def test_the_mean_of_a_few_people_is_not_given() -> None:
    arm = np.array([0] * 5 + [1] * 4)
    grades = np.array([50.0, 60.0, 70.0, 80.0, 90.0, 50.0, 60.0, 70.0, 86.7])
    (row,) = standardised_differences({"grade": grades}, arm, arms=["slides", "face"], control="slides")
    assert (row.control_mean, row.treatment_mean) == (70.0, None)


def balance(grades: list[list[float]], genders: list[list[str]]) -> Balance:
    """The numbers of people in two arms."""
    arm = np.repeat([0, 1], [len(grades[0]), len(grades[1])])
    covariates = {"grade": np.concatenate(grades), "gender": np.concatenate(genders)}
    arms = ["slides", "face"]
    return Balance(
        differences=standardised_differences(covariates, arm, arms=arms, control="slides"),
        answered=answered_by_arm(covariates, arm, arms=arms),
    )


def test_two_moments_never_differ_by_fewer_than_five_people_of_an_arm() -> None:
    """People come one by one, in any order of arms: every change is by at least five more people in every arm."""
    rng = np.random.default_rng(7)
    grades: list[list[float]] = [[], []]
    genders: list[list[str]] = [[], []]
    shown: Balance | None = None
    steps = {"grade": 0, "gender": 0}
    for _person in range(200):
        arm = int(rng.integers(2))
        grades[arm].append(float("nan") if rng.random() < 0.5 else float(rng.normal(70, 10)))
        genders[arm].append(str(rng.choice(["woman", "man", ""])))
        before, shown = shown, in_steps(balance(grades, genders), shown)
        for name in steps:
            rows, earlier = ([row for row in one.differences if row.variable.startswith(name)] if one else [] for one in (shown, before))
            if rows == earlier:
                continue
            steps[name] += 1
            for one in ("slides", "face"):
                then = before.answered[name].get(one, 0) if before else 0
                assert shown.answered[name][one] >= then + SMALLEST_GROUP
    assert steps["gender"] > steps["grade"] > 3, "of what few answer there is news less often"


def test_shown_differences_stay_when_somebody_leaves_or_is_exchanged() -> None:
    first = in_steps(balance([[1.0, 2, 3, 4, 5], [2.0, 3, 4, 5, 6]], [["a"] * 5, ["b"] * 5]), None)
    assert len(first.differences) == 3
    left = in_steps(balance([[1.0, 2, 3, 4], [2.0, 3, 4, 5, 6]], [["a"] * 4, ["b"] * 5]), first)
    exchanged = in_steps(balance([[1.0, 2, 3, 4, 9], [2.0, 3, 4, 5, 6]], [["c"] * 5, ["b"] * 5]), left)
    assert first.differences == left.differences == exchanged.differences


def test_nothing_is_shown_before_every_arm_has_five() -> None:
    assert in_steps(balance([[1.0] * 9, [2.0] * 4], [["a"] * 9, ["b"] * 4]), None).differences == ()
