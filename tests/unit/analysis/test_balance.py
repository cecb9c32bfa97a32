"""Standardised differences by hand."""

import numpy as np
import pytest

from analysis.balance import standardised_differences

ARM = np.array([0, 0, 0, 1, 1, 1])


def differences(**covariates: np.ndarray) -> dict[str, float | None]:
    rows = standardised_differences(covariates, ARM, arms=["slides", "face"], control="slides")
    return {row["variable"]: row["difference"] for row in rows}


def test_a_number_is_compared_in_standard_deviations() -> None:
    # Means 2 and 4, both variances 1.
    assert differences(year=np.array([1.0, 2.0, 3.0, 3.0, 4.0, 5.0])) == {"year": pytest.approx(2.0)}


def test_who_did_not_answer_a_number_is_left_out() -> None:
    assert differences(year=np.array([1.0, 3.0, np.nan, 3.0, 5.0, np.nan])) == {"year": pytest.approx(2 / np.sqrt(2))}


def test_every_level_is_a_share_and_no_answer_is_a_level() -> None:
    found = differences(gender=np.array(["woman", "woman", "", "man", "woman", ""]))
    assert list(found) == ["gender: man", "gender: woman", "gender: not answered"]
    # Shares 2/3 and 1/3, both variances 1/3.
    assert found["gender: woman"] == pytest.approx(-1 / np.sqrt(3))
    assert found["gender: not answered"] == 0


def test_what_does_not_vary_or_was_not_answered_has_no_difference() -> None:
    assert differences(year=np.full(6, 2.0), age=np.array([np.nan] * 3 + [1.0, 2.0, 3.0])) == {"year": None, "age": None}


def test_every_treatment_is_compared_with_the_control() -> None:
    rows = standardised_differences(
        {"year": np.array([1.0, 2.0, 3.0, 3.0, 5.0, 6.0])}, np.array([0, 0, 1, 1, 2, 2]), arms=["a", "b", "c"], control="b"
    )
    assert [(row["treatment"], row["control"]) for row in rows] == [("a", "b"), ("c", "b")]


def test_the_mean_of_a_few_people_is_not_given() -> None:
    arm = np.array([0] * 5 + [1] * 4)
    grades = np.array([50.0, 60.0, 70.0, 80.0, 90.0, 50.0, 60.0, 70.0, 86.7])
    (row,) = standardised_differences({"grade": grades}, arm, arms=["slides", "face"], control="slides")
    assert (row["control_mean"], row["treatment_mean"]) == (70.0, None)
