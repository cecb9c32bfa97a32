"""A table from a CSV file whose columns a schema declares; what is not declared is refused, by row and column."""

from __future__ import annotations

import csv
import hashlib
import hmac
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from candor.errors import DataError, QuestionError, what_came
from candor.queries.columns import MISSING, Category, Column, Number, Schema, Table, listed
from candor.queries.parts import mapping, number, several, text, whole
from candor.studies.written_values import background_values, is_missing, written_number
from candor.written_keys import key_in

DELIMITERS = (",", ";", "\t")
FEWEST = 20


def read_schema(document: object) -> tuple[Schema, str | None]:
    """The columns that a document declares, and the one that names students, if there is one.

    Parameters
    ----------
    document : mapping
        ``{"student": "id", "columns": [{"name": "major", "values": ["biology", …]}, {"name": "grade", "minimum": 0, "maximum": 4,
        "entries": 6}]}``. `entries` is for columns of which a student has several rows; `student` is needed then.

    Raises
    ------
    QuestionError
        Something is missing, unknown or of the wrong form.

    Examples
    --------
    >>> read_schema({"columns": [{"name": "gpa", "minimum": 0, "maximum": 4}]})[0].number("gpa").maximum
    4.0
    """
    whole_document = mapping(document, "schema", ("student", "columns"))
    schema = Schema(tuple(_column(one, f"columns.{place}") for place, one in enumerate(several(whole_document.get("columns"), "columns"))))
    student = whole_document.get("student")
    if student is None and any(column.entries for column in schema.columns):
        raise QuestionError("schema: expected student, the column that says whose entries a row holds; found nothing")
    return schema, None if student is None else text(student, "student")


def read_table(written: bytes, *, schema: Schema, student: str | None, secret: bytes) -> Table:
    """The table in a CSV file, one row for each student, or one for each entry of a student.

    Parameters
    ----------
    written : bytes
        UTF-8, columns set apart by commas, semicolons or tabs; the first row names them. Columns that are not declared are not read.
    schema, student : Schema, str or None
        By `read_schema`.
    secret : bytes
        Key of the hash by which students, and the entries of each, are put in order: stable, and known to nobody who asks. Where a
        student has more entries than declared, those that come first are kept.

    Raises
    ------
    DataError
        The file is no such table, a value is not declared, or there are fewer than 20 students.
    """
    header, rows = _rows(written, [column.name for column in schema.columns] + ([student] if student else []))
    place = {name: header.index(name) for name in header}
    codes = {column.name: _codes(column, [row[place[column.name]] for row in rows]) for column in schema.columns}
    people = _people([key_in(row[place[student]]) for row in rows] if student else None, rows, secret)
    entries = any(column.entries for column in schema.columns)
    for name, own in people.items():
        if not entries and len(own) > 1:
            raise DataError(f"row {max(own) + 2}: expected one row for each student, found {name!r} a second time")
    if len(people) < FEWEST:
        raise DataError(f"expected at least {FEWEST} students, found {len(people)}")
    theirs, order = list(people.values()), _order(len(people), secret)
    arrays = {column.name: _array(column, codes[column.name], theirs)[order] for column in schema.columns}
    return Table(schema, len(people), arrays)


def _column(written: object, where: str) -> Column:
    part = mapping(written, where, ("name", "values", "minimum", "maximum", "entries"))
    name = text(part.get("name"), f"{where}.name")
    entries = None if part.get("entries") is None else whole(part["entries"], f"{where}.entries")
    if ("values" in part) == ("minimum" in part or "maximum" in part):
        raise QuestionError(f"{where}: expected either values, or minimum and maximum; found {listed(part)}")
    if "values" in part:
        values = tuple(text(value, f"{where}.values") for value in several(part["values"], f"{where}.values"))
        return Category(name=name, values=values, entries=entries)
    low, high = number(part.get("minimum"), f"{where}.minimum"), number(part.get("maximum"), f"{where}.maximum")
    return Number(name=name, minimum=low, maximum=high, entries=entries)


def _rows(written: bytes, wanted: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Header and rows, by the delimiter that finds most of the columns."""
    try:
        decoded = written.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("expected a text in UTF-8, found another encoding") from None
    headers = {mark: _header(decoded, mark) for mark in DELIMITERS}
    delimiter = max(DELIMITERS, key=lambda mark: len(set(wanted) & set(headers[mark])))
    header = headers[delimiter]
    if absent := [name for name in wanted if name not in header]:
        raise DataError(f"expected the columns {listed(wanted)}; row 1 has no {listed(absent)}")
    if twice := [name for name, times in Counter(header).items() if times > 1]:
        raise DataError(f"row 1 names the column {twice[0]!r} twice")
    try:
        rows = [row for row in _cells(decoded, delimiter) if row][1:]
    except csv.Error as error:
        raise DataError(f"expected a CSV file: {error}") from None
    for place, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise DataError(f"row {place}: expected {len(header)} columns as in row 1, found {len(row)}")
    return header, rows


def _header(decoded: str, delimiter: str) -> list[str]:
    try:
        return [name.strip() for name in next(_cells(decoded, delimiter), [])]
    except csv.Error as error:
        raise DataError(f"expected a CSV file: row 1: {error}") from None


def _cells(decoded: str, delimiter: str) -> Iterator[list[str]]:
    """All rows, whichever line ends they have."""
    return csv.reader(io.StringIO(decoded, newline=""), delimiter=delimiter)


def _codes(column: Column, written: Sequence[str]) -> list[float]:
    def refused(row: int, what: str) -> DataError:
        return DataError(f"row {row + 2}, column {column.name!r}: {what}")

    if isinstance(column, Number):
        found = background_values(written, refused=refused)
        for row, value in enumerate(found):
            if isinstance(value, str) and written_number(value) is None:
                raise refused(row, f"expected a number or nothing, found {what_came(value)}")
        return [np.nan if value is None else float(value) for value in found]
    known = {value: code for code, value in enumerate(column.values)}
    codes = [known.get(value.strip(), MISSING if is_missing(value) else None) for value in written]
    if None in codes:
        row = codes.index(None)
        raise refused(row, f"expected one of {listed(column.values)}, or nothing; found {what_came(written[row])}")
    return [float(code) for code in codes if code is not None]


def _people(students: Sequence[str] | None, rows: Sequence[Sequence[str]], secret: bytes) -> Mapping[str, list[int]]:
    """The rows of each student. A student's rows are in the order of a keyed hash of their content, which no order of the file changes."""
    if students is None:
        return {str(row): [row] for row in range(len(rows))}
    found: dict[str, list[int]] = {}
    for row, name in enumerate(students):
        if is_missing(name):
            raise DataError(f"row {row + 2}: expected whose row this is, found nothing")
        found.setdefault(name, []).append(row)

    def order(row: int) -> bytes:
        return hmac.digest(secret, "\x1f".join(rows[row]).encode(), hashlib.sha256)

    return {name: sorted(own, key=order) for name, own in found.items()}


def _order(n: int, secret: bytes) -> NDArray[np.intp]:
    """The places of students in an order that tells nothing of them. In a sorted file another grade of one student moves all others."""
    drawn = hashlib.shake_256(b"the order of students " + secret).digest(8 * n)
    return np.argsort(np.frombuffer(drawn, dtype=np.uint64), kind="stable")


def _array(column: Column, codes: Sequence[float], people: Sequence[Sequence[int]]) -> NDArray[np.generic]:
    missing, kind = (np.nan, np.float64) if isinstance(column, Number) else (MISSING, np.int32)
    if column.entries is None:
        values = []
        for own in people:
            told = {codes[row]: row for row in sorted(own) if not (np.isnan(codes[row]) or (kind is np.int32 and codes[row] == MISSING))}
            if len(told) > 1:
                other = max(told.values())
                raise DataError(f"row {other + 2}, column {column.name!r}: expected one value in all rows of a student, found another")
            values.append(next(iter(told), missing))
        return np.array(values, dtype=kind)
    array = np.full((len(people), column.entries), missing, dtype=kind)
    for place, own in enumerate(people):
        kept = own[: column.entries]
        array[place, : len(kept)] = [codes[row] for row in kept]
    return array
