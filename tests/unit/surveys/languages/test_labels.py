"""A message of the library stands on a page as a sentence; names keep their letters."""

import pytest

from surveys.languages.labels import whole_sentence


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("expected at least 20 students, found 1", "Expected at least 20 students, found 1."),
        ("line 3: expected a number, found “x”", "Line 3: expected a number, found “x”."),
        ("k: expected at least 2, found 1", "k: expected at least 2, found 1."),
        ("k = 61 students cannot share a record", "k = 61 students cannot share a record."),
        ("a data set needs rows", "A data set needs rows."),
        ("students.csv: not a CSV file.", "students.csv: not a CSV file."),
        ("Is this a file?", "Is this a file?"),
        ("选择一个文件。", "选择一个文件。"),
        ("", ""),
    ],
)
def test_a_message_begins_with_a_capital_letter_and_ends_with_a_full_stop(message: str, sentence: str) -> None:
    assert whole_sentence(message) == sentence
