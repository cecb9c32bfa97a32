"""The content that a cell of a record may hold, and how sensitive numbers are binned."""

import pytest

from analysis.answers import study_records
from analysis.sources.records.statements import roles_in
from analysis.sources.records.values import ENTRY, NOT_GIVEN, are_numbers, bins_of, checked, in_order
from surveys.reading.words import Sentence


@pytest.mark.parametrize(("cell", "value"), [(" A ", "A"), ("", NOT_GIVEN), ("NA", NOT_GIVEN), ("0", "0"), ("Nan Müller", "Nan Müller")])
def test_a_cell_is_its_text_and_nothing_is_a_value(cell: str, value: str) -> None:
    assert checked(cell) == value


@pytest.mark.parametrize("cell", ["NaN", "-inf", "=A1", "@x", "*", "x" * 101, "a\x00b"])
def test_what_cannot_be_told_is_refused_and_not_repeated(cell: str) -> None:
    problem = checked(cell)
    assert isinstance(problem, Sentence)
    assert cell not in str(problem) or cell in ("NaN", "*")


def test_names_of_what_is_not_given_are_those_of_studies() -> None:
    assert (NOT_GIVEN, ENTRY) == (study_records.NOT_ANSWERED, study_records.ENTRY)


def test_a_scale_keeps_its_values_and_an_average_becomes_intervals() -> None:
    grades = dict.fromkeys(["1.0", "1.3", "1.7", "2.0"], 5)
    assert bins_of(grades) == {}
    averages = {f"{value / 100:.2f}": 1 for value in range(200, 400)}
    bins = bins_of(averages)
    assert (bins["3.97"], bins["3.98"], len(set(bins.values()))) == ("[3.8,4)", "[3.8,4)", 10)
    assert bins_of({"A": 1, "B": 1}) == {}
    assert bins_of({"7": 1, NOT_GIVEN: 3}) == {"7": "[7,8)"}


def test_a_word_among_numbers_hides_none_of_them() -> None:
    """One “ill” made a column of averages a column of words: 3.98 beside 3.97 passed for two different values."""
    averages = {f"{value / 100:.2f}": 1 for value in range(200, 400)}
    bins = bins_of({**averages, "ill": 9, NOT_GIVEN: 3})
    assert bins == bins_of(averages)
    assert bins_of({"ill": 1, "7": 5}) == {}, "a scale"


def test_a_number_that_begins_with_its_point_is_one() -> None:
    shares = [f".{value}" for value in range(20, 99)]
    assert are_numbers(shares)
    assert bins_of(dict.fromkeys(shares, 1))[".97"] == "[0.9,1)"


@pytest.mark.parametrize("cell", ["3,98", "1,000", "1.234,56", "-2,5", ",5"])
def test_a_number_with_a_comma_is_refused_where_commas_are_no_decimal_commas(cell: str) -> None:
    assert str(checked(cell)) == "expected a number with a point, found one with a comma; beside semicolons it is a decimal comma"
    assert str(checked("1.234,56", decimal_comma=True)).startswith("expected a number with a point")
    assert (checked("B1,2"), checked("1, 2 and 3")) == ("B1,2", "1, 2 and 3")


def test_numbers_stand_by_size() -> None:
    assert in_order(["10", "9", NOT_GIVEN]) == ["9", "10"]
    assert in_order(["b", "a", "10"]) == ["10", "a", "b"]
    assert not are_numbers([NOT_GIVEN])


def test_a_whole_number_in_json_keeps_its_digits_as_in_a_table() -> None:
    """Times in milliseconds had twelve digits and an exponent: words, of which neighbours were one."""
    times = {"begun": 1764547203789, "ended": 1764547203788.0, "grade": 0.1 + 0.2, "year": 3}
    found = roles_in({"quasi_identifiers": times, "sensitive": {}, "children": []}, {}, where="record 1")
    assert found["quasi_identifiers"] == {"begun": "1764547203789", "ended": "1764547203788", "grade": "0.3", "year": "3"}
    assert are_numbers(found["quasi_identifiers"].values())
