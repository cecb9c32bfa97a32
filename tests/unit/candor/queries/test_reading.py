"""A table from a CSV file holds what the file says, also with more values than two bytes can tell apart."""

from __future__ import annotations

import numpy as np
import pytest

from candor.errors import DataError, QuestionError
from candor.queries.kinds import read_question
from candor.queries.reading import read_schema, read_table

MANY = 70_000
"""Postal codes of a country."""


@pytest.mark.parametrize("entries", [None, 2])
def test_a_column_may_declare_as_many_values_as_there_are_postal_codes(entries: int | None) -> None:
    """Beyond 32,767 a code of two bytes was another value, or none: place 65,535 was “not given”, place 65,536 the first one."""
    places = [0, 40_000, 65_535, 65_536, *range(100, 120)]
    column: dict[str, object] = {"name": "code", "values": [f"{place:05d}" for place in range(MANY)]}
    declared: dict[str, object] = {"columns": [column if entries is None else column | {"entries": entries}]}
    schema, student = read_schema(declared if entries is None else declared | {"student": "id"})
    written = "id,code\n" + "".join(f"s{row},{place:05d}\n" for row, place in enumerate(places))
    table = read_table(written.encode(), schema=schema, student=student, secret=b"s")
    read = table.arrays["code"] if entries is None else table.arrays["code"][:, 0]
    assert sorted(read.tolist()) == sorted(places)
    for place in places[:4]:
        asked: dict[str, object] = {"kind": "count", "epsilon": 1, "where": [{"column": "code", "in": [f"{place:05d}"]}]}
        question = read_question(asked if entries is None else asked | {"entries": 1})
        assert np.asarray(question.exact(table)).tolist() == [1]


GPA = {"name": "gpa", "minimum": 0, "maximum": 4}
COURSE = {"name": "course", "values": ["A", "B"], "entries": 2}


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ([GPA | {"values": ["1", "2"]}], "columns.0: expected either values, or minimum and maximum; found"),
        ([{"name": "gpa", "values": ["1", "2"], "minimum": 0}], "columns.0: expected either values, or minimum and maximum; found"),
        ([{"name": "gpa"}], "columns.0: expected either values, or minimum and maximum; found"),
        ([GPA, COURSE], "schema: expected student, the column that says whose entries a row holds"),
    ],
)
def test_columns_that_a_schema_leaves_unclear_are_refused(columns: list[dict[str, object]], what: str) -> None:
    with pytest.raises(QuestionError, match=what):
        read_schema({"columns": columns})


def test_an_entry_of_nobody_is_refused() -> None:
    """All such entries would be those of one student, and most of them left out."""
    schema, student = read_schema({"student": "id", "columns": [COURSE]})
    written = "id,course\n" + "".join(f"s{row},A\n" for row in range(20)) + "NA,B\n"
    with pytest.raises(DataError, match="row 22: expected whose row this is, found nothing"):
        read_table(written.encode(), schema=schema, student=student, secret=b"s")


@pytest.mark.parametrize("numbers", [0, 5, 10, 15])
def test_a_word_in_a_column_of_numbers_is_named_however_many_there_are(numbers: int) -> None:
    schema, student = read_schema({"columns": [GPA]})
    written = "gpa\n" + "2.5\n" * numbers + "good\n" * (20 - numbers)
    with pytest.raises(DataError, match=f"row {numbers + 2}, column 'gpa': expected a number.* or nothing, found 'good'"):
        read_table(written.encode(), schema=schema, student=student, secret=b"s")


def test_a_sorted_file_does_not_choose_the_rows_of_a_test() -> None:
    """Attack: a file is sorted by grade, and every fifth student passed. Another grade of one student moved all others by a row, and a
    count that one student changes by 1 went from 0 to 20.
    """
    schema, _student = read_schema(
        {"columns": [{"name": "grade", "minimum": 0, "maximum": 200}, {"name": "passed", "values": ["yes", "no"]}]}
    )
    features = [{"column": "grade", "edges": [0, 100, 200]}]
    question = read_question({"kind": "naive_bayes", "target": "passed", "features": features, "epsilon": 1})
    before = [(grade, "yes" if grade % 5 == 0 else "no") for grade in range(100)]
    after = [*before[1:], (150, "yes")]

    def trained(rows: list[tuple[int, str]], secret: int) -> int:
        """How many who passed are in the tables."""
        written = "grade,passed\n" + "".join(f"{grade},{passed}\n" for grade, passed in rows)
        table = read_table(written.encode(), schema=schema, student=None, secret=bytes([secret]))
        return int(question.exact(table)["tables"][:3].sum())

    means = [np.mean([trained(rows, secret) for secret in range(60)]) for rows in (before, after)]
    assert means == pytest.approx([16, 16], abs=0.7), "four fifths of 20, wherever they stand in the file"
