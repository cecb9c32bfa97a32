"""Attack: a file from two programs writes one student in two ways that look alike, who would count twice, for twice the loss."""

import pytest

from candor.errors import DataError
from candor.queries.reading import read_schema, read_table
from candor.rasch.reading import read_answers
from candor.written_keys import key_in

OTHERS = range(20)


@pytest.mark.parametrize(
    "written", ["Anna  Berg", "Anna\u00a0Berg", "Anna Berg\x08", "\u200b Anna Berg", "Anna\tBerg", "\u3164Anna Be\ufe0frg"], ids=ascii
)
def test_keys_that_look_alike_are_one(written: str) -> None:
    assert key_in(written) == "Anna Berg" != key_in("AnnaBerg")


def test_no_command_counts_such_a_student_twice() -> None:
    answers = ["student,first\n", *(f"{key},1\n" for key in (*OTHERS, "Mu\u0308ller", "M\u00fcl\u200bler"))]
    with pytest.raises(DataError, match="line 23, column 'student': expected a key of its own, found 'M\u00fcller' again"):
        read_answers(answers)
    schema, student = read_schema({"student": "student", "columns": [{"name": "first", "values": ["0", "1"]}]})
    with pytest.raises(DataError, match="row 23: expected one row for each student, found 'M\u00fcller' a second time"):
        read_table("".join(answers).encode(), schema=schema, student=student, secret=b"s")
