"""Reads a list of personal codes out of a file, and says what it understood. It refuses a file that can be read in two ways.

The file may come from any spreadsheet: comma, semicolon or tab; UTF-8, UTF-16 or Windows-1252; with headings or without. Nothing is stored
here, and the time to read a file grows with its size only. This module reads files from outside and does without Django;
`surveys.reading` runs it.
"""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import IO, TypedDict

from surveys.reading.words import MOST_PROBLEMS, Sentence, SentenceDocument, UnreadableError, digits
from surveys.reading.words import sentence as _

MAXIMUM_BYTES = 5 * 1024 * 1024
"""Size limit of a file with codes."""
MAXIMUM_CODES = 100_000
MAXIMUM_CHARACTERS = 2_000_000
"""Limit of all codes together: the page that shows them carries them to the click that adds them."""
MAXIMUM_LINES = 200_000
SHORTEST, LONGEST = 8, 64
MOST_LINES = 100
"""The most lines that a complaint lists."""
SAMPLE_ROWS, SAMPLE_COLUMNS = 500, 50
"""The part of a file from which its delimiter and its column are found."""

CODE = re.compile(f"[A-Z0-9]{{{SHORTEST},{LONGEST}}}")
SIGNS = re.compile(r"[A-Z0-9]*")
# Spaces and dashes, also as word processors change them. A tab is no space: it stands between columns.
IGNORED = re.compile(r"[ \u00a0\u2007\u2009\u202f\u2010-\u2015\u2212-]")
DELIMITERS = {",": _("comma"), ";": _("semicolon"), "\t": _("tab")}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """A sample of the file as one delimiter cuts it, and the column in which the codes would be."""

    delimiter: str
    column: int | None
    several: tuple[int, ...] = ()
    columns: int
    has_headings: bool
    named: bool
    share: float
    """The share of the column's cells that can be codes."""


class ReadCodes(TypedDict):
    """The codes of a file in their order, and how the file was understood."""

    codes: list[str]
    encoding: str
    delimiter: SentenceDocument | None
    column: int
    columns: int
    headings: list[str]
    refused: list[SentenceDocument]
    refused_count: int


def read(file: IO[bytes], *, source: str) -> ReadCodes:
    """The codes of a file and how it was understood, as `CodeList` names it, in plain values. A file without codes, or with two columns
    that could hold them, is an UnreadableError; its first problem is about the file, the others about lines.
    """
    text, encoding = _decoded(file.read(), source=source)
    first_line, _newline, rest = text.partition("\n")
    told = re.fullmatch(r"sep=([,;\t])\r?", first_line, re.IGNORECASE)  # Excel's way to name the delimiter
    skipped = 1 if told else 0
    text = rest if told else text
    try:
        readings = [_reading(text, delimiter) for delimiter in ([told[1]] if told else DELIMITERS)]
        best = max(readings, key=lambda one: (one.share, one.named, one.columns))
        if best.column is None:
            raise _without_column(best, text, source=source, skipped=skipped)
        return _list_of(best, text, source=source, skipped=skipped, encoding=encoding)
    except csv.Error as error:
        raise UnreadableError(_("%(source)s: not readable as a table: %(error)s", source=source, error=str(error))) from error


def tidied(cell: str) -> str:
    """A code without spaces and dashes, in capitals where the letters have them without changing."""
    bare = IGNORED.sub("", cell.strip())
    return bare.upper() if bare.isascii() else bare


def problem_of(code: str) -> Sentence | None:
    """Why a tidied cell cannot be a code; None if it can."""
    if CODE.fullmatch(code):
        return None
    odd = SIGNS.sub("", code)
    if odd:
        return _("expected letters A–Z and digits, found “%(odd)s”", odd=odd[0])
    return _("expected %(least)s to %(most)s letters and digits, found %(found)s", least=SHORTEST, most=LONGEST, found=len(code))


def _decoded(content: bytes, *, source: str) -> tuple[str, str]:
    """The text, and the name of its encoding."""
    if content.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise UnreadableError(_("%(source)s: this is a workbook, not a text file. Save it as CSV and choose that file.", source=source))
    try:
        if content.startswith(codecs.BOM_UTF8):
            text, encoding = content.decode("utf-8-sig"), "UTF-8"
        elif content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            text, encoding = content.decode("utf-16"), "UTF-16"
        else:
            text, encoding = _without_mark(content)
    except UnicodeDecodeError as error:
        raise UnreadableError(
            _(
                "%(source)s: expected text in UTF-8, UTF-16 or Windows-1252; byte %(position)s belongs to none of them",
                source=source,
                position=error.start + 1,
            )
        ) from error
    if "\0" in text:
        raise UnreadableError(_("%(source)s: expected a text file, found zero bytes", source=source))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if (lines := text.count("\n")) > MAXIMUM_LINES:
        raise UnreadableError(
            _(
                "%(source)s: expected at most %(most)s lines, found %(found)s",
                source=source,
                most=digits(MAXIMUM_LINES),
                found=digits(lines),
            )
        )
    return text, encoding


def _without_mark(content: bytes) -> tuple[str, str]:
    try:
        return content.decode("utf-8"), "UTF-8"
    except UnicodeDecodeError:
        return content.decode("cp1252"), "Windows-1252"


def _rows(text: str, delimiter: str, *, skipped: int = 0) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, each with the number of its first line."""
    reader, first = csv.reader(io.StringIO(text), delimiter=delimiter), 1
    for row in reader:
        if any(cell.strip() for cell in row):
            yield first + skipped, row
        first = reader.line_num + 1


def _cells(rows: Iterable[Sequence[str]], column: int) -> list[str]:
    """The tidied cells of a column, without blanks."""
    return [cell for row in rows if column < len(row) and (cell := tidied(row[column]))]


def _reading(text: str, delimiter: str) -> _Reading:
    rows = [row[:SAMPLE_COLUMNS] for _line, row in islice(_rows(text, delimiter), SAMPLE_ROWS)]
    columns = max((len(row) for row in rows), default=1)
    named = _named_columns(rows[0]) if rows else []
    data = rows[1:] if named else rows
    shares = [_share_of_codes(_cells(data, column)) for column in range(columns)]
    if named or columns == 1:
        found = named or [0]
    else:  # Without a heading only digits tell a column of codes from a column of names.
        found = [column for column in range(columns) if shares[column] >= 0.5 and _mostly_with_digits(_cells(data, column))]
    column = found[0] if len(found) == 1 else None
    return _Reading(
        delimiter=delimiter,
        column=column,
        several=tuple(found) if len(found) > 1 else (),
        columns=columns,
        has_headings=bool(named) or (column is not None and _looks_like_heading(_cells(data, column))),
        named=bool(named),
        share=max((shares[column] for column in found), default=0.0),
    )


def _named_columns(first: Sequence[str]) -> list[int]:
    """The columns whose heading says code: one that says nothing else goes before “course code” and its like."""
    names = [" ".join(re.split(r"[\W_]+", cell.casefold())).strip() for cell in first]
    exact = [column for column, name in enumerate(names) if name in ("code", "codes")]
    return exact or [column for column, name in enumerate(names) if "code" in name and not re.search(r"\d", name)]


def _share_of_codes(cells: Sequence[str]) -> float:
    return sum(map(bool, map(CODE.fullmatch, cells))) / len(cells) if cells else 0.0


def _mostly_with_digits(cells: Sequence[str]) -> bool:
    return 2 * sum(any(character.isdigit() for character in cell) for cell in cells) >= len(cells)


def _looks_like_heading(cells: Sequence[str]) -> bool:
    """A first cell of letters alone, above codes that all have digits."""
    first, *others = cells or [""]
    return first.isalpha() and bool(others) and all(any(character.isdigit() for character in cell) for cell in others)


def _without_column(reading: _Reading, text: str, *, source: str, skipped: int) -> UnreadableError:
    if reading.several:
        return UnreadableError(
            _(
                "%(source)s: columns %(columns)s could all hold the codes. Write “code” above the right one, and above no other.",
                source=source,
                columns=", ".join(str(column + 1) for column in reading.several),
            )
        )
    lines = (
        _line(line, problem_of(tidied(row[0])) or _("letters without a digit may be a name"))
        for line, row in islice(_rows(text, reading.delimiter, skipped=skipped), MOST_PROBLEMS - 1)
    )
    return UnreadableError(
        _("%(source)s: no column holds codes. Write “code” above the right one.", source=source),
        *lines,
    )


def _list_of(reading: _Reading, text: str, *, source: str, skipped: int, encoding: str) -> ReadCodes:
    assert reading.column is not None
    rows = _rows(text, reading.delimiter, skipped=skipped)
    headings = next(rows)[1] if reading.has_headings else []
    codes: dict[str, int] = {}
    refused: list[Sentence] = []
    refused_count = characters = 0
    for line, row in rows:
        code = tidied(row[reading.column]) if reading.column < len(row) else ""
        if code not in codes and CODE.fullmatch(code):
            codes[code] = line
            characters += len(code)
            continue
        refused_count += 1
        if len(refused) < MOST_LINES:
            refused.append(_line(line, problem_of(code) or _repeated(codes[code])))
    if not 1 <= len(codes) <= MAXIMUM_CODES or characters > MAXIMUM_CHARACTERS:
        raise UnreadableError(
            _(
                "%(source)s: expected 1 to %(most)s codes of at most %(characters)s characters together, found %(found)s codes",
                source=source,
                most=digits(MAXIMUM_CODES),
                characters=digits(MAXIMUM_CHARACTERS),
                found=digits(len(codes)),
            ),
            *refused[: MOST_PROBLEMS - 1],
        )
    return {
        "codes": list(codes),
        "encoding": encoding,
        "delimiter": DELIMITERS[reading.delimiter].document() if reading.columns > 1 else None,
        "column": reading.column + 1,
        "columns": reading.columns,
        "headings": [heading.strip() for heading in headings[:SAMPLE_COLUMNS]],
        "refused": [one.document() for one in refused],
        "refused_count": refused_count,
    }


def _line(number: int, problem: Sentence) -> Sentence:
    return _("line %(line)s: %(problem)s", line=number, problem=problem)


def _repeated(first: int) -> Sentence:
    return _("the code stands in line %(first)s already (case, spaces and dashes do not count)", first=first)
