"""Raw covariates become regression columns without losing anybody."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from candor.adjustment.covariates import FEWEST_PER_LEVEL, MOST_LEVELS, model_matrix, notes_about_balance
from candor.errors import MethodError


def labels(matrix):
    return [label for term in matrix.terms for label in term.labels]


def test_the_most_frequent_level_is_the_reference_and_the_others_are_indicators():
    matrix = model_matrix({"region": ["north"] * 10 + ["south"] * 6 + ["west"] * 5}, participants=21)
    assert labels(matrix) == ["region: south", "region: west"]
    assert matrix.values.sum(axis=0).tolist() == [21.0, 6.0, 5.0]
    assert matrix.notes == ()


def test_numeric_covariates_are_standardised():
    matrix = model_matrix({"age": [18, 20, 22, 24]}, participants=4)
    assert matrix.values[:, 1] == pytest.approx(np.array([-3, -1, 1, 3]) / np.sqrt(5))


def test_a_missing_number_becomes_the_mean_and_enough_of_them_an_indicator():
    ages = ["20", "30", "", "", "", "", "", "20", "30", "25"]
    matrix = model_matrix({"age": ages}, participants=10)
    assert labels(matrix) == ["age", "age: not answered"]
    assert matrix.values[2:7, 1] == pytest.approx(np.zeros(5))
    assert matrix.values[:, 2].tolist() == [float(age == "") for age in ages]
    assert matrix.notes == ("age: 5 missing answers replaced by the mean, with an indicator",)


def test_not_answered_is_a_level_of_a_categorical_covariate():
    matrix = model_matrix({"country": ["A"] * 7 + [None] * 5}, participants=12)
    assert labels(matrix) == ["country: not answered"]


@pytest.mark.parametrize("missing", [None, "", "  ", float("nan")])
def test_every_way_of_not_answering_is_missing(missing):
    numeric = model_matrix({"age": ["1", "2", missing, "3"]}, participants=4)
    assert numeric.values[2, 1] == pytest.approx(0.0)
    categorical = model_matrix({"c": ["x"] * 6 + [missing] * 5}, participants=11)
    assert labels(categorical) == ["c: not answered"]


def test_rare_levels_are_pooled_and_the_pool_is_reported():
    matrix = model_matrix({"c": ["x"] * 20 + ["y"] * 3 + ["z"] * 2}, participants=25)
    assert labels(matrix) == ["c: other"]
    assert matrix.notes == ("c: 2 rare levels (5 of 25 participants) pooled into one level",)


def test_a_pool_that_is_itself_too_small_joins_the_most_frequent_level():
    matrix = model_matrix({"c": ["x"] * 20 + ["y"] * 10 + ["z"] * 2}, participants=32)
    assert labels(matrix) == ["c: y"]
    assert matrix.notes == ("c: 1 rare level (2 of 32 participants) pooled into the most frequent one",)


def test_a_covariate_with_very_many_levels_keeps_the_most_frequent_ones():
    values = [f"level {i:02d}" for i in range(30) for _ in range(6 + (i < 3))]
    matrix = model_matrix({"c": values}, participants=len(values))
    assert len(labels(matrix)) == MOST_LEVELS - 1
    assert labels(matrix)[:2] == ["c: level 01", "c: level 02"]
    assert labels(matrix)[-1] == "c: other"


@pytest.mark.parametrize(
    ("values", "note"),
    [
        (["x"] * 6, "c: the same for everyone, left out"),
        ([3] * 6, "c: the same for everyone, left out"),
        ([None] * 6, "c: nobody answered, left out"),
        (list("abcdef"), "c: every level but one is rare, left out"),
        (["", "", "7", "7", "7", "7"], "c: the same for everyone, left out"),
    ],
)
def test_a_covariate_that_says_nothing_is_left_out_with_a_note(values, note):
    matrix = model_matrix({"c": values}, participants=6)
    assert matrix.values.tolist() == [[1.0]] * 6
    assert matrix.notes == (note,)


def test_a_constant_that_some_did_not_answer_leaves_only_its_indicator():
    matrix = model_matrix({"c": ["7"] * 6 + [""] * 6}, participants=12)
    assert labels(matrix) == ["c: not answered"]


def test_the_columns_of_terms_come_with_the_intercept():
    matrix = model_matrix({"a": [1, 2, 3, 4, 5], "b": [5, 3, 3, 3, 1]}, participants=5).with_category("subsample", [1, 2, 1, 2, 2])
    assert matrix.columns_of(["subsample", "a"]) == (0, 1, 3)
    assert matrix.values[:, 3].tolist() == [0.0, 1.0, 0.0, 1.0, 1.0]


def test_a_covariate_cannot_take_the_name_of_the_subsample():
    with pytest.raises(MethodError, match="may not be called 'subsample'"):
        model_matrix({"subsample": [1, 2]}, participants=2).with_category("subsample", [1, 2])


def test_the_wrong_number_of_values_and_infinite_ones_are_refused():
    with pytest.raises(MethodError, match=r"'age' needs 3 values, got an array of shape \(2,\)"):
        model_matrix({"age": [1, 2]}, participants=3)
    with pytest.raises(MethodError, match=r"infinite value \(participant 2\)"):
        model_matrix({"age": [1, float("inf"), 3]}, participants=3)


@pytest.mark.parametrize("numbers", [[1e300, -1e300, 5e299, 1e-300], [1.7e308, -1.7e308, 1.7e308, 0.0], [5e-324, 0.0, 0.0, 5e-324]])
def test_numbers_of_any_size_do_not_overflow(numbers):
    matrix = model_matrix({"x": numbers}, participants=4)
    assert np.isfinite(matrix.values).all()


def test_the_balance_of_a_category_is_pearsons_and_of_a_number_the_analysis_of_variance():
    rng = np.random.default_rng(3)
    groups = rng.integers(0, 4, 400)
    region = np.where((groups == 2) & (rng.random(400) < 0.5), "south", rng.choice(["north", "south", "west"], 400))
    age = rng.normal(size=400) + 0.8 * (groups == 1)
    table = np.array([[np.sum((region == level) & (groups == group)) for level in np.unique(region)] for group in range(4)])
    by_region = stats.chi2_contingency(table, correction=False).pvalue
    between = sum((groups == group).mean() * (age[groups == group].mean() - age.mean()) ** 2 for group in range(4))
    by_age = stats.chi2.sf(400 * between / age.var(), 3)
    found = notes_about_balance(model_matrix({"region": region, "age": age}, participants=400), groups)
    assert [note.split(" explains ")[1].split(";")[0] for note in found] == [f"(p = {by_region:.1g})", f"(p = {by_age:.1g})"]


answers = st.lists(st.sampled_from(["", "1", "2.5", "red", "blue", "green"]), min_size=1, max_size=60)


@given(values=answers, seed=st.integers(0, 1000))
def test_the_order_of_participants_only_permutes_the_rows(values, seed):
    order = np.random.default_rng(seed).permutation(len(values))
    matrix = model_matrix({"c": values}, participants=len(values))
    shuffled = model_matrix({"c": [values[i] for i in order]}, participants=len(values))
    np.testing.assert_allclose(shuffled.values, matrix.values[order], atol=1e-12)
    assert shuffled.terms == matrix.terms
    assert shuffled.notes == matrix.notes


@given(values=answers)
def test_nobody_is_dropped_and_no_indicator_is_rare(values):
    matrix = model_matrix({"c": values}, participants=len(values))
    assert len(matrix.values) == len(values)
    assert np.isfinite(matrix.values).all()
    indicators = [column for column in matrix.values.T[1:] if set(column) <= {0.0, 1.0}]
    assert all(column.sum() >= FEWEST_PER_LEVEL for column in indicators)
