"""Read design documents and answer files, and say exactly where something is wrong."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candor.cli.group import InputError
from candor.designs.design import Design
from candor.errors import DesignError, MethodError

ROWS_PER_CHUNK = 50_000
OUTCOMES_PER_PASS = 6
ASSIGNMENT = ("arm", "subsample")
MISSING = -1
ANSWERS: Mapping[str, int] = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "": MISSING}

Advance = Callable[[int], object]
Row = list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCounts:
    """The counts of a file of answers without covariates.

    Attributes
    ----------
    counts : dict of str to ndarray of int, shape (arms, subsamples, 2)
        By outcome: answers "no" and "yes" in every cell.
    missing : dict of str to int
        By outcome: rows without an answer.
    """

    counts: Mapping[str, NDArray[np.int64]]
    missing: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerColumns:
    """A file of answers with covariates, one entry per participant.

    Attributes
    ----------
    arm, subsample : ndarray of int, shape (n,)
        Positions in the design.
    reported : dict of str to ndarray of int, shape (n,)
        By outcome: 0, 1, or −1 when missing.
    covariates : dict of str to list of str
        As they stand in the file, empty when missing.
    """

    arm: NDArray[np.intp]
    subsample: NDArray[np.intp]
    reported: Mapping[str, NDArray[np.intp]]
    covariates: Mapping[str, list[str]]


def read_design(path: Path) -> Design:
    """Read a DESIGN.json file.

    Raises
    ------
    InputError
        When it is not JSON, or not a design; names the file and, for JSON, row and column.
    """
    try:
        return Design.from_document(json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_without_repetition))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: not a JSON document: {error.msg} (row {error.lineno}, column {error.colno})") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file in UTF-8") from None
    except MethodError as error:
        raise InputError(f"{path}: {error}") from None


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, refused when a key stands in it twice: the standard library would keep the last and say nothing."""
    repeated = [key for key, times in Counter(key for key, _ in pairs).items() if times > 1]
    if repeated:
        raise DesignError(f"the key {repeated[0]!r} stands twice in one object")
    return dict(pairs)


class AnswerFile:
    """A CSV file with columns ``arm``, ``subsample``, outcomes and covariates.

    Parameters
    ----------
    path : Path
        The file; its first row names the columns.
    design : Design
        Whose arms and subsamples may occur.
    outcomes, covariates : sequence of str
        Columns to read. Without outcomes every other column counts whose answers, in the first chunk, are mostly 0 and 1.

    Raises
    ------
    InputError
        When the file is empty, lacks a column, or names one twice.
    """

    def __init__(self, path: Path, *, design: Design, outcomes: Sequence[str] = (), covariates: Sequence[str] = ()) -> None:
        self.path = path
        self.covariates = tuple(dict.fromkeys(covariates))
        self.arms = {name.strip(): index for index, name in enumerate(design.arms)}
        self.subsamples = {name.strip(): index for index, name in enumerate(design.subsample_names)}
        self.shape = design.shape
        with self._open() as text:
            self.header = self._read_header(text)
            rows, _ = next(self._rows_in_chunks(text, first=2), ([], []))
        if not rows:
            raise InputError(f"{path}: a header but no rows of answers")
        self.outcomes = tuple(dict.fromkeys(outcomes)) or self._columns_that_look_like_outcomes(rows)
        for name in (*self.outcomes, *self.covariates):
            if name not in self.header:
                raise InputError(f"{path}: there is no column {name!r}; row 1 has {', '.join(self.header)}")
            if name in ASSIGNMENT or name in set(self.outcomes) & set(self.covariates):
                raise InputError(f"{path}: column {name!r} cannot be {'an outcome or covariate' if name in ASSIGNMENT else 'both'}")

    def counts(self, advance: Advance) -> AnswerCounts:
        """Count the answers in every cell; memory does not grow with the number of rows."""
        counts = {outcome: np.zeros((*self.shape, 2), dtype=np.int64) for outcome in self.outcomes}
        missing = dict.fromkeys(self.outcomes, 0)
        for rows, numbers in self._chunks(advance):
            for first in range(0, len(self.outcomes), OUTCOMES_PER_PASS):
                outcomes = self.outcomes[first : first + OUTCOMES_PER_PASS]
                for pattern, people in Counter(map(self._picker(*ASSIGNMENT, *outcomes), rows)).items():
                    arm, subsample, *answers = self._codes(pattern, outcomes, rows=rows, numbers=numbers)
                    for outcome, answer in zip(outcomes, answers, strict=True):
                        if answer == MISSING:
                            missing[outcome] += people
                        else:
                            counts[outcome][arm, subsample, answer] += people
        return AnswerCounts(counts=counts, missing=missing)

    def columns(self, advance: Advance) -> AnswerColumns:
        """Read everything, one entry per participant."""
        codes: list[list[int]] = []
        covariates: dict[str, list[str]] = {name: [] for name in self.covariates}
        known: dict[tuple[str, ...], list[int]] = {}
        for rows, numbers in self._chunks(advance):
            for pattern in map(self._picker(*ASSIGNMENT, *self.outcomes), rows):
                if pattern not in known:
                    known[pattern] = self._codes(pattern, self.outcomes, rows=rows, numbers=numbers)
                codes.append(known[pattern])
            for name in self.covariates:
                covariates[name].extend(map(itemgetter(self.header.index(name)), rows))
        arm, subsample, *reported = np.array(codes, dtype=np.intp).T
        return AnswerColumns(arm=arm, subsample=subsample, reported=dict(zip(self.outcomes, reported, strict=True)), covariates=covariates)

    @contextmanager
    def about(self, outcome: str) -> Iterator[None]:
        """Name file and column when the answers of an outcome cannot be analysed."""
        try:
            yield
        except MethodError as error:
            raise InputError(f"{self.path}: column {outcome!r}: {error}") from None

    def _open(self) -> io.TextIOWrapper[io.BufferedReader]:
        return io.TextIOWrapper(self.path.open("rb"), encoding="utf-8-sig", newline="")

    def _read_header(self, text: io.TextIOWrapper[io.BufferedReader]) -> list[str]:
        with self._reading():
            header = [name.strip() for name in next(csv.reader(text), [])]
        if not header:
            raise InputError(f"{self.path}: the file is empty; expected a header with arm, subsample and the outcomes")
        repeated = sorted(name for name, times in Counter(header).items() if times > 1)
        if repeated:
            raise InputError(f"{self.path}: row 1 names the column {repeated[0]!r} twice")
        for name in ASSIGNMENT:
            if name not in header:
                hint = " (are the columns separated by commas?)" if len(header) == 1 else ""
                raise InputError(f"{self.path}: there is no column {name!r}; row 1 has {', '.join(header)}{hint}")
        return header

    def _columns_that_look_like_outcomes(self, rows: Sequence[Row]) -> tuple[str, ...]:
        found = []
        for index, name in enumerate(self.header):
            values = [row[index].strip() for row in rows]
            answered = sum(value != "" for value in values)
            if name not in (*ASSIGNMENT, *self.covariates) and 2 * sum(ANSWERS.get(value, MISSING) != MISSING for value in values) >= max(
                answered, 1
            ):
                found.append(name)
        if not found:
            raise InputError(f"{self.path}: no column holds answers 0 and 1; row 1 has {', '.join(self.header)}")
        return tuple(found)

    def _picker(self, *names: str) -> Callable[[Row], tuple[str, ...]]:
        return itemgetter(*(self.header.index(name) for name in names))

    def _codes(self, pattern: Sequence[str], outcomes: Sequence[str], *, rows: Sequence[Row], numbers: Sequence[int]) -> list[int]:
        """Positions of arm and subsample, then the answers; explains the first row in which they make no sense."""
        legal: list[Mapping[str, int]] = [self.arms, self.subsamples, *[ANSWERS] * len(outcomes)]
        try:
            return [codes[cell.strip()] for codes, cell in zip(legal, pattern, strict=True)]
        except KeyError:
            names = (*ASSIGNMENT, *outcomes)
            index = list(map(self._picker(*names), rows)).index(tuple(pattern))
            name, cell, codes = next(
                (name, cell, codes) for name, cell, codes in zip(names, pattern, legal, strict=True) if cell.strip() not in codes
            )
            expected = "0, 1 or nothing" if codes is ANSWERS else " or ".join(codes)
            found = repr(cell) if cell.strip() else "nothing"
            raise InputError(f"{self.path}: row {numbers[index]}, column {name!r}: expected {expected}, found {found}") from None

    def _chunks(self, advance: Advance) -> Iterator[tuple[list[Row], Sequence[int]]]:
        """All rows, told in bytes to `advance`."""
        with self._open() as text:
            self._read_header(text)
            told = 0
            for chunk in self._rows_in_chunks(text, first=2):
                yield chunk
                read = text.buffer.tell()
                advance(read - told)
                told = read

    def _rows_in_chunks(self, text: io.TextIOWrapper[io.BufferedReader], *, first: int) -> Iterator[tuple[list[Row], Sequence[int]]]:
        """Rows that are not blank, with their numbers in the file (the header is row 1); refuses rows of another length."""
        reader = csv.reader(text)
        while True:
            with self._reading():
                rows = list(islice(reader, ROWS_PER_CHUNK))
            if not rows:
                return
            numbers: Sequence[int] = range(first, first + len(rows))
            first += len(rows)
            if set(map(len, rows)) != {len(self.header)}:
                numbered = [(number, row) for number, row in zip(numbers, rows, strict=True) if row]
                for number, row in numbered:
                    if len(row) != len(self.header):
                        raise InputError(f"{self.path}: row {number}: expected {len(self.header)} columns as in row 1, found {len(row)}")
                numbers, rows = [number for number, _ in numbered], [row for _, row in numbered]
            if rows:
                yield rows, numbers

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Say plainly when the file is no text or no CSV."""
        try:
            yield
        except UnicodeDecodeError:
            raise InputError(f"{self.path}: not a text file in UTF-8") from None
        except csv.Error as error:
            raise InputError(f"{self.path}: not a CSV file: {error}") from None
