"""The first line of a file from outside names its columns, even if a spreadsheet broke a name in two."""

import base64
import io
import itertools
import time
import zlib

import pytest

from analysis.sources.table_files import LONGEST_LINE, Declared, names_of, opened, read
from surveys.reading.words import UnreadableError


def rows_of(text: str, expected: list[str]) -> list[tuple[int, list[str]]]:
    return list(opened(io.BytesIO(text.encode()), expected)[1])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_name_in_quotes_may_have_a_line_break(end: str) -> None:
    text = f'id,"grade{end}of the  exam",q1{end}s1,2,1{end}s2,3,0{end}'
    names = ["id", "grade of the  exam", "q1"]
    assert names_of(text.split(f"{end}s1")[0]) == (names, ",")
    assert rows_of(text, names) == [(3, ["s1", "2", "1"]), (4, ["s2", "3", "0"])], "lines are those of the file"


def test_a_first_line_of_spaces_is_read_in_no_time() -> None:
    began = time.process_time()
    with pytest.raises(UnreadableError):
        names_of(f"a{' ' * (LONGEST_LINE - 2)}b")
    assert time.process_time() - began < 1


def test_quotes_that_never_end_are_refused_without_reading_the_rest() -> None:
    with pytest.raises(UnreadableError):
        opened(io.BytesIO(b'id,"grade\ns1,2\n'), ["id", "grade"])
    endless = (b'id,"grade\n' if line == 0 else b"x" * 1000 for line in itertools.count())
    with pytest.raises(UnreadableError):
        opened(endless, ["id", "grade"])


def test_a_quote_within_a_name_begins_nothing() -> None:
    assert rows_of('id,5" tall\ns1,1\n', ["id", '5" tall']) == [(2, ["s1", "1"])]


def grades_of(written: str, delimiter: str) -> list[float]:
    """The grades of 20 students as they are read."""
    lines = [f"id{delimiter}grade", *(f"s{row}{delimiter}{written}" for row in range(20))]
    columns: list[Declared] = [
        {"name": "id", "role": "student", "several": False},
        {"name": "grade", "role": "number", "several": False, "minimum": 0, "maximum": 4000},
    ]
    found = read(io.BytesIO("\n".join(lines).encode()), columns=columns, entries=1)["columns"]
    assert isinstance(found, list)
    (packed,) = found
    return list(memoryview(zlib.decompress(base64.b64decode(packed))).cast("d"))


def test_a_decimal_comma_is_read_where_semicolons_stand_between_columns() -> None:
    assert grades_of("1,3", ";") == grades_of("1.3", ";") == grades_of("1.3", ",") == [1.3] * 20


@pytest.mark.parametrize(("written", "delimiter"), [('"1,000"', ","), ("1,000", "\t"), ("1,0,0", ";")])
def test_a_comma_that_may_stand_between_thousands_is_refused(written: str, delimiter: str) -> None:
    said = (
        "a number from 0" if delimiter == ";" else "a number with a point, found one with a comma; beside semicolons it is a decimal comma"
    )
    with pytest.raises(UnreadableError, match=f"line 2, column “grade”: expected {said}"):
        grades_of(written, delimiter)
