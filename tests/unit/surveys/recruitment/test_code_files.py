"""Lists of codes from any spreadsheet: understood rightly, or refused."""

import codecs
import csv
import io
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surveys.reading.words import UnreadableError
from surveys.recruitment import code_files, code_lists
from surveys.recruitment.code_files import tidied
from surveys.recruitment.code_lists import CodeList, CodesError, checked_codes

NO_COLUMN = "course.csv: no column holds codes. Write “code” above the right one."
SEVERAL = "course.csv: columns 1, 2 could all hold the codes. Write “code” above the right one, and above no other."
NONE = "course.csv: expected 1 to 100,000 codes of at most 2,000,000 characters together, found 0 codes"
TWO = ("KXTF4M9P", "HDRN7Q2W")
pytestmark = pytest.mark.usefixtures("limit_of_a_cell")


def read_codes(content: bytes, *, source: str = "file") -> CodeList:
    """As a page reads them, in this process."""
    try:
        return CodeList.of(code_files.read(io.BytesIO(content), source=source))
    except UnreadableError as error:
        message, *lines = map(str, error.problems)
        raise CodesError(message, lines=lines) from error


@pytest.mark.parametrize(
    "content",
    [
        b"code\nKXTF4M9P\nHDRN7Q2W\n",
        b"KXTF4M9P\nHDRN7Q2W",
        b"\xef\xbb\xbfCode,name\r\nkxtf-4m9p,Ada Lovelace\r\n\r\nHDRN 7Q2W,Bob\r\n",
        b"KXTF4M9P;ANN\nHDRN7Q2W;BOB\n",
        b"ANN\tKXTF4M9P\nBOB\tHDRN7Q2W\n",
        b"Lovelace, Ada;KXTF4M9P\nBabbage, Charles;HDRN7Q2W\n",
        b'"Lovelace; Ada",KXTF4M9P\n"Babbage; Charles",HDRN7Q2W\n',
        b"sep=;\nname;code\nAda;KXTF4M9P\nBob;HDRN7Q2W\n",
        b"student number;entry_code\n11112222;KXTF4M9P\n33334444;HDRN7Q2W\n",
        b"course code;code\nSTAT1234;KXTF4M9P\nSTAT1234;HDRN7Q2W\n",
        b"Name;Kennwort\nAda;KXTF4M9P\nBob;HDRN7Q2W\n",
        b"code\rKXTF4M9P\rHDRN7Q2W\r",
        "Zugangscode;Name\nKXTF4M9P;Jörg\nHDRN7Q2W;Zoë\n".encode("cp1252"),
        codecs.BOM_UTF16_LE + "code\tname\r\nKXTF4M9P\tJörg\r\nHDRN7Q2W\tZoë\r\n".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "code\nKXTF4M9P\nHDRN7Q2W\n".encode("utf-16-be"),
        "code\nKXTF–4M9P\nHDRN\u00a07Q2W\n".encode(),
    ],
)
def test_each_way_to_save_a_list_gives_the_same_codes(content: bytes) -> None:
    found = read_codes(content)
    assert (found.codes, found.refused) == (TWO, ())


def test_it_says_how_the_file_was_understood() -> None:
    found = read_codes("Name;Code;Note\nJörg;KXTF4M9P;\nZoë;HDRN7Q2W;late\n".encode("cp1252"))
    assert (found.encoding, found.delimiter, found.column, found.columns) == ("Windows-1252", "semicolon", 2, 3)
    assert found.headings == ("Name", "Code", "Note")


def test_lines_that_are_left_out_are_listed_with_their_numbers_and_without_their_words() -> None:
    found = read_codes(b"code;name\nKXTF4M9P;Ann\nA1;Bob\n;Cy\n\nkxtf-4m9p;Dan\nK#TF4M9PX;Eve\n" + b"X" * 65 + b";Flo\nHDRN7Q2W;Gil\n")
    assert found.codes == TWO
    assert found.refused == (
        "line 3: expected 8 to 64 letters and digits, found 2",
        "line 4: expected 8 to 64 letters and digits, found 0",
        "line 6: the code stands in line 2 already (case, spaces and dashes do not count)",
        "line 7: expected letters A–Z and digits, found “#”",
        "line 8: expected 8 to 64 letters and digits, found 65",
    )


def test_at_most_a_hundred_lines_are_listed_and_all_are_counted() -> None:
    found = read_codes(b"code\nKXTF4M9P\n" + b"A1\n" * 300)
    assert (len(found.refused), found.refused_count) == (100, 300)


def test_umlauts_are_no_letters_of_a_code() -> None:
    with pytest.raises(CodesError) as raised:
        read_codes("code\nÄÖÜßÄÖÜß\n".encode())
    assert raised.value.lines == ("line 2: expected letters A–Z and digits, found “Ä”",)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"XYZA1;ANN\nXYZB2;BOB\n", NO_COLUMN),
        (b"XYZA1\tANN\nXYZB2\tBOB\n", NO_COLUMN),
        (b"Ada Lovelace;1815\nCharles Babbage;1791\n", NO_COLUMN),
        (b"11112222;KXTF4M9P\n33334444;HDRN7Q2W\n", SEVERAL),
        (b"course code;entry code\nSTAT1234;KXTF4M9P\n", SEVERAL),
        (b"", NONE),
        (b"code\n\n\n", NONE),
        (b'"' + b"x" * 200_000, "course.csv: not readable as a table: field larger than field limit (131072)"),
        (b"PK\x03\x04rest of a workbook", "course.csv: this is a workbook, not a text file. Save it as CSV and choose that file."),
        ("code\nKXTF4M9P".encode("utf-16-le"), "course.csv: expected a text file, found zero bytes"),
        (b"code\n\x81\x8d\n", "course.csv: expected text in UTF-8, UTF-16 or Windows-1252; byte 6 belongs to none of them"),
    ],
    ids=[
        "semicolons",
        "tabs",
        "names",
        "two columns",
        "two headings",
        "empty",
        "a heading alone",
        "a long cell",
        "workbook",
        "zeros",
        "no text",
    ],
)
def test_a_file_that_can_be_read_in_two_ways_or_in_none_is_refused(content: bytes, sentence: str) -> None:
    with pytest.raises(CodesError) as raised:
        read_codes(content, source="course.csv")
    assert raised.value.message == sentence


@pytest.mark.parametrize("size", [100_001, 40_000])
def test_more_codes_than_a_page_carries_are_refused(size: int) -> None:
    length = 9 if size > 100_000 else 60
    content = b"\n".join(f"K{number:0{length}}".encode() for number in range(size))
    with pytest.raises(CodesError, match="of at most 2,000,000 characters together"):
        read_codes(content)


@pytest.mark.parametrize(
    "content",
    [b"," * 5_000_000, b"\n" * 199_000, b"\n" * 5_000_000, b";\t,\n" * 1_000_000, b'"a"' * 1_000_000, b"A1\n" * 199_000],
    ids=["commas", "lines", "millions of lines", "delimiters", "quotes", "short codes"],
)
def test_a_malicious_file_takes_seconds_at_most(content: bytes) -> None:
    begun = time.process_time()
    with pytest.raises(CodesError):
        read_codes(content)
    assert time.process_time() - begun < 5


@given(st.binary(max_size=300))
def test_any_bytes_give_codes_or_a_refusal(content: bytes) -> None:
    try:
        found = read_codes(content)
    except CodesError:
        return
    assert checked_codes(found.codes) == list(found.codes)
    assert all(tidied(code) == code and 8 <= len(code) <= 64 and code.isascii() and code.isalnum() for code in found.codes)


@pytest.mark.parametrize("content", [b"code;name\nKXTF4M9P;Ann\nA1;Bob\nHDRN7Q2W;Cy\n", b"A1;ANN\nB2;BOB\n"], ids=["a list", "no list"])
def test_a_process_of_its_own_reads_the_same(content: bytes) -> None:
    def outcome(reader: Callable[..., CodeList]) -> object:
        try:
            return reader(content, source="course.csv")
        except CodesError as error:
            return error.message, error.lines

    assert outcome(code_lists.read_codes) == outcome(read_codes)


def test_no_byte_of_a_list_is_parsed_in_the_web_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """On main it was, and a hostile file held a thread and its memory."""

    def in_this_process(*arguments: object, **options: object) -> None:
        raise AssertionError

    monkeypatch.setattr(csv, "reader", in_this_process)
    monkeypatch.setattr(code_files, "read", in_this_process)
    assert code_lists.read_codes(b"code\nKXTF4M9P\nHDRN7Q2W\n").codes == TWO
    with pytest.raises(AssertionError):
        read_codes(b"code\nKXTF4M9P\nHDRN7Q2W\n")
