"""Read design documents and answer files, and say exactly where something is wrong."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from operator import itemgetter

import numpy as np

from candor.cli.group import InputError
from candor.cli.inputs import Input
from candor.designs.design import Design
from candor.designs.sources import design_in
from candor.errors import MethodError
from candor.studies.answers import ANSWERS, ASSIGNMENT, MISSING, AnswerColumns, AnswerCounts, chosen_columns, mostly_answers

ROWS_PER_CHUNK = 50_000
OUTCOMES_PER_PASS = 6

Advance = Callable[[int], object]
Row = list[str]


def read_design(source: Input) -> Design:
    """The design in a file that may be standard input; a complaint names the file and, where it is known, the place."""
    return design_in(source.read_bytes(), name=str(source))


class AnswerFile:
    """A CSV file with columns ``arm``, ``subsample``, outcomes and covariates.

    Parameters
    ----------
    path : Path or StandardInput
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

    def __init__(self, path: Input, *, design: Design, outcomes: Sequence[str] = (), covariates: Sequence[str] = ()) -> None:
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
        with self.named():
            self.outcomes = chosen_columns(
                self.header,
                outcomes=outcomes,
                covariates=self.covariates,
                holds_answers=lambda name: mostly_answers([row[self.header.index(name)].strip() for row in rows]),
                have="row 1 has",
            )

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
    def named(self) -> Iterator[None]:
        """Name the file in what is said about its columns."""
        try:
            yield
        except MethodError as error:
            raise InputError(f"{self.path}: {error}") from None

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
