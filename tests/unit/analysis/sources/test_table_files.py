"""The first line of a file from outside names its columns, even if a spreadsheet broke a name in two."""

import io
import itertools

import pytest

from analysis.sources.table_files import names_of, opened
from surveys.reading.words import UnreadableError


def rows_of(text: str, expected: list[str]) -> list[tuple[int, list[str]]]:
    return list(opened(io.BytesIO(text.encode()), expected)[1])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_name_in_quotes_may_have_a_line_break(end: str) -> None:
    text = f'id,"grade{end}of the  exam",q1{end}s1,2,1{end}s2,3,0{end}'
    names = ["id", "grade of the  exam", "q1"]
    assert names_of(text.split(f"{end}s1")[0]) == (names, ",")
    assert rows_of(text, names) == [(3, ["s1", "2", "1"]), (4, ["s2", "3", "0"])], "lines are those of the file"


def test_quotes_that_never_end_are_refused_without_reading_the_rest() -> None:
    with pytest.raises(UnreadableError):
        opened(io.BytesIO(b'id,"grade\ns1,2\n'), ["id", "grade"])
    endless = (b'id,"grade\n' if line == 0 else b"x" * 1000 for line in itertools.count())
    with pytest.raises(UnreadableError):
        opened(endless, ["id", "grade"])


def test_a_quote_within_a_name_begins_nothing() -> None:
    assert rows_of('id,5" tall\ns1,1\n', ["id", '5" tall']) == [(2, ["s1", "1"])]
