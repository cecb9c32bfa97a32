"""Numbers are read alike wherever somebody types one."""

from decimal import Decimal

import pytest

from candor.written_numbers import number_in_digits, number_or_fraction, typed_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,5", "1.5"),
        ("1.5", "1.5"),
        ("-0,25", "-0.25"),
        (".5", "0.5"),
        ("3.", "3"),
        ("+007", "7"),
        ("−2,5", "-2.5"),
        ("٢٠", "20"),
        ("۲٫۵", "2.5"),
        ("－２．５", "-2.5"),
    ],
)
def test_a_typed_number_has_a_decimal_comma_or_point(text: str, number: str) -> None:
    assert typed_number(text) == Decimal(number)


@pytest.mark.parametrize(
    "text", ["", "many", "nan", "inf", "1e1", "1_0", "1,000.0", "²", "٣٬٠٠٠", "三", "0x1", "--1", "−-1", "–1", "1 0", "5\n5", "9" * 400]
)
def test_what_is_no_number_is_none(text: str) -> None:
    assert typed_number(text) is None


@pytest.mark.parametrize("text", ["1.0", "1,000", "1.000"])
def test_a_whole_number_has_neither_comma_nor_point(text: str) -> None:
    assert typed_number(text, whole=True) is None


@pytest.mark.parametrize(("written", "number"), [("2/8", 0.25), (" 0.25 ", 0.25), (0.25, 0.25), (1, 1.0), ("1e-2", 0.01), (".5", 0.5)])
def test_programs_may_write_fractions(written: str | float, number: float) -> None:
    assert number_or_fraction(written, low=0, high=1) == number


@pytest.mark.parametrize("written", ["1/0", "2/1", "-0.1", "nan", float("nan"), float("inf"), "1e999999999", 10**400, "1,5", "", "1_0"])
def test_what_lies_outside_the_limits_is_none(written: str | float) -> None:
    assert number_or_fraction(written, low=0, high=1) is None


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("999999999", 999_999_999)])
def test_digits_name_a_number(text: str, number: int) -> None:
    assert number_in_digits(text) == number


@pytest.mark.parametrize("text", ["", " 1", "+1", "-1", "1.0", "²", "٢", "1000000000", "1\n"])
def test_anything_but_a_few_western_digits_names_none(text: str) -> None:
    assert number_in_digits(text) is None
