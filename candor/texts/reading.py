"""A file of texts becomes labels while it is read: no text and no student number outlives its student's turn."""

from __future__ import annotations

import csv
import secrets
from collections.abc import Iterable
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from candor.errors import DataError, what_came
from candor.texts.labelling import labels
from candor.texts.topic_table.release import NOTHING
from candor.texts.word_lists import WordList
from candor.written_keys import key_in

COLUMNS = ("student", "week", "text")
DELIMITERS = ",;\t"
LARGEST_CELL = 1_000_000
LONGEST_WEEK = 10


def read_labels(lines: Iterable[str], *, words: WordList, weeks: int, cap: int, language: str = "en") -> NDArray[np.int8]:
    """Label the texts of a CSV file with columns ``student``, ``week`` and ``text``.

    Parameters
    ----------
    lines : iterable of str
        Of the file, with line ends; commas, semicolons or tabs set columns apart. The first line names them; other columns are ignored.
    words, cap, language
        As in `candor.texts.labelling.labels`.
    weeks : int
        Weeks of the term: a week is a whole number from 1 to this.

    Returns
    -------
    int8 array, shape (students, weeks, topics)
        The affect of each student about each topic in each week, −1 for none; students in an order drawn from the system's randomness.

    Raises
    ------
    DataError
        A column is missing or named twice, a row is short, a student is empty, a week lies outside the term. The message names the line.
    """
    whole = iter(lines)
    before = csv.field_size_limit(LARGEST_CELL)
    written: dict[str, dict[int, list[str]]] = {}
    try:
        first = next(whole, "")
        reader = csv.reader(chain([first], whole), delimiter=max(DELIMITERS, key=first.count))
        places = _places(next(reader, []))
        for row in reader:
            if row:
                student, week, text = _row(row, places, line=reader.line_num, weeks=weeks)
                written.setdefault(student, {}).setdefault(week, []).append(text)
    except UnicodeDecodeError as error:  # names no line: a file is decoded many lines ahead
        raise DataError(f"not a text file in UTF-8: {error.reason}") from None
    except csv.Error as error:
        raise DataError(f"line {reader.line_num}: not a CSV file: {error}") from None
    finally:
        csv.field_size_limit(before)
    return label_students(written, words=words, weeks=weeks, cap=cap, language=language)


def label_students(
    written: dict[str, dict[int, list[str]]], *, words: WordList, weeks: int, cap: int, language: str = "en"
) -> NDArray[np.int8]:
    """Label what students wrote.

    Parameters
    ----------
    written : dict
        The texts by student and week. It is emptied: no text outlives its student's turn.
    words, weeks, cap, language
        As in `read_labels`.

    Returns
    -------
    int8 array, shape (students, weeks, topics)
        As of `read_labels`.

    Raises
    ------
    DataError
        The language is not English, or the cap is below 1.
    """
    students = list(written)
    secrets.SystemRandom().shuffle(students)
    topics = words.names
    table = np.full((len(students), weeks, len(topics)), NOTHING, dtype=np.int8)
    for place, student in enumerate(students):
        for week, texts in written.pop(student).items():
            for topic, affect in labels(texts, words=words, cap=cap, language=language).items():
                table[place, week - 1, topics.index(topic)] = affect
    return table


def _places(header: list[str]) -> tuple[int, ...]:
    names = [name.strip().lstrip("\ufeff").casefold() for name in header]
    for name in COLUMNS:
        if (times := names.count(name)) != 1:
            found = "twice" if times > 1 else f"not among {', '.join(names) or 'nothing'}"
            raise DataError(f"line 1: expected one column {name!r}, found it {found}")
    return tuple(names.index(name) for name in COLUMNS)


def _row(row: list[str], places: tuple[int, ...], *, line: int, weeks: int) -> tuple[str, int, str]:
    if len(row) <= max(places):
        raise DataError(f"line {line}: expected at least {max(places) + 1} columns, found {len(row)}")
    student, week, text = (row[place] for place in places)
    student = key_in(student)
    if not student:
        raise DataError(f"line {line}, column 'student': expected a student's number, found nothing")
    if not (week.strip().isdecimal() and len(week) < LONGEST_WEEK and 1 <= int(week) <= weeks):
        raise DataError(f"line {line}, column 'week': expected a whole number from 1 to {weeks}, found {what_came(week)}")
    return student, int(week), text
