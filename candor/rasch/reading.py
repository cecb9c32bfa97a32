"""A file of quiz answers: one row for each student, one column for each item."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence

import numpy as np

from candor.errors import DataError, what_came
from candor.rasch.answers import Omitted, QuizAnswers
from candor.studies.written_values import EXPECTED_ANSWER, MISSING, answer_code
from candor.written_keys import key_in

STUDENT = "student"
DELIMITERS = (",", ";", "\t")
OMITTED = 2


def read_answers(lines: Iterable[str], *, omitted: Omitted = Omitted.WRONG, student: str | None = None) -> QuizAnswers:
    """Read a CSV file with a row for each student; every column but that of student keys is an item with answers 0, 1 or nothing.

    Parameters
    ----------
    lines : iterable of str
        Of the file, with line ends. Commas, semicolons or tabs set the columns apart.
    omitted : Omitted
        The meaning of an empty answer.
    student : str, optional
        The column of keys. They are only compared with each other, and forgotten. Default: ``student``, if there is one.

    Raises
    ------
    DataError
        A column is named twice or has no name, the student column is not there, a key is empty or stands twice, a row is too short or
        too long, an answer is not 0, no, false, 1, yes, true, NA, NaN or nothing. The message names line and column; nothing is read.

    Examples
    --------
    >>> rows = [f"{key},1,0\\n" for key in range(20)]
    >>> quiz = read_answers(["student,first,second\\n", *rows])
    >>> quiz.items, quiz.totals().tolist()
    (('first', 'second'), [20, 0])
    """
    whole, keys, codes, students = iter(lines), set[str](), bytearray(), 0
    try:
        first = next(whole, "").lstrip("\ufeff")
        reader = csv.reader(whole, delimiter=max(DELIMITERS, key=first.count))
        header = _header(first)
        place = _place_of_students(header, student)
        for row in reader:
            if row:
                codes += _codes(row, header, place=place, line=reader.line_num + 1, keys=keys)
                students += 1
    except UnicodeDecodeError as error:  # names no line: a file is decoded many lines ahead
        raise DataError(f"not a text file in UTF-8: {error.reason}") from None
    except csv.Error as error:
        raise DataError(f"line {reader.line_num + 1}: not a CSV file: {error}") from None
    items = [name for at, name in enumerate(header) if at != place]
    table = np.frombuffer(bytes(codes), dtype=np.uint8).reshape(students, len(items)).astype(np.float32)
    return QuizAnswers.of(np.where(table == OMITTED, np.nan, table), omitted=omitted, items=items)


def _header(first: str) -> list[str]:
    try:
        return [name.strip() for name in next(csv.reader([first], delimiter=max(DELIMITERS, key=first.count)), [])]
    except csv.Error as error:
        raise DataError(f"line 1: not a CSV file: {error}") from None


def _place_of_students(header: Sequence[str], student: str | None) -> int | None:
    """The place of the column of keys; None where there is none."""
    if "" in header:
        raise DataError(f"line 1, column {header.index('') + 1}: expected a name")
    for place, name in enumerate(header):
        if name in header[:place]:
            raise DataError(f"line 1 names the column {name!r} twice")
    if student is None:
        return header.index(STUDENT) if STUDENT in header else None
    if student not in header:
        raise DataError(f"line 1: expected a column {student!r}, found {', '.join(header) or 'nothing'}")
    return header.index(student)


def _codes(row: Sequence[str], header: Sequence[str], *, place: int | None, line: int, keys: set[str]) -> bytes:
    """The answers of one row as codes; its key, if there is one, joins the others."""
    if len(row) != len(header):
        raise DataError(f"line {line}: expected {len(header)} columns, found {len(row)}")
    if place is not None:
        key = key_in(row[place])
        if not key or key in keys:
            came = f"{key!r} again" if key else what_came(key)
            raise DataError(f"line {line}, column {header[place]!r}: expected a key of its own, found {came}")
        keys.add(key)
    found = []
    for at, (name, cell) in enumerate(zip(header, row, strict=True)):
        if at != place:
            if (code := answer_code(cell)) is None:
                raise DataError(f"line {line}, column {name!r}: expected {EXPECTED_ANSWER}, found {what_came(cell.strip()[:40])}")
            found.append(OMITTED if code == MISSING else code)
    return bytes(found)
