"""Values as files write them: numbers where more than half are numbers, words elsewhere, and nothing guessed."""

from __future__ import annotations

import pytest

from candor.errors import DataError
from candor.studies.written_values import background_values, group_names


def refused(row: int, what: str) -> DataError:
    return DataError(f"row {row}: {what}")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (["1", "2", "law", "art", "", None], ["1", "2", "law", "art", None, None]),
        (["1", "law", "NA", "nan", " "], ["1", "law", None, None, None]),
        (["1 ", 2.5, None, "NA"], [1.0, 2.5, None, None]),
        ([" law", "art"], ["law", "art"]),
        (["", "NA"], [None, None]),
        (["1,250", "1,5", "3"], [1.25, 1.5, 3.0]),
        (["1.250", "2.5", "3"], [1.25, 2.5, 3.0]),
    ],
)
def test_a_column_is_of_numbers_when_more_than_half_are(written: list[object], read: list[object]) -> None:
    assert background_values(written, refused=refused) == read


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (["1", "2", "law", ""], "row 2: expected a number as in most rows, or nothing, found 'law'"),
        (["1", "2", "1e999"], "row 2: expected a number as in most rows, or nothing, found '1e999'"),
        (["law", "art", "NA", "1'000"], "row 3: expected a number without separators"),
        (["", "1,250", "3"], "row 1: expected a number that can be read in one way, found '1,250'"),
        (["1.5", "NA", "2,5"], "row 2: expected a decimal point as in other rows, found '2,5'"),
    ],
)
def test_what_can_be_read_in_two_ways_is_named_by_its_row(written: list[object], said: str) -> None:
    with pytest.raises(DataError, match=said):
        background_values(written, refused=refused)


def test_names_of_groups_are_texts_and_empty_where_missing() -> None:
    assert group_names([" first ", "NaN", "", "2", "none"]) == ["first", "", "", "2", "none"]
