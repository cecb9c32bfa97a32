"""Read design documents and answer files, and say exactly where something is wrong."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import BadZipFile

import click
import numpy as np

from candor.cli.group import InputError
from candor.cli.inputs import Input
from candor.designs.design import Design
from candor.designs.sources import ALONE, Beside, design_in
from candor.errors import MethodError, what_came
from candor.studies.answers import AnswerColumns, AnswerCounts
from candor.studies.columns import ASSIGNMENT, chosen_columns
from candor.studies.written_values import MISSING, answer_words, background_values, group_names

ZIP = b"PK\x03\x04"
ROWS_PER_CHUNK = 50_000
OUTCOMES_PER_PASS = 6
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}

Advance = Callable[[int], object]
Row = list[str]


def read_design(source: Input) -> Design:
    """The design in a file that may be standard input; a complaint names the file and, where it is known, the place."""
    return design_in(source.read_bytes(), name=str(source))


def answers_and_design(data: Input, design: Input | None) -> tuple[Input, Input]:
    """The file of answers and that of the design. The ZIP file of a data package holds both, and is unpacked until the command ends."""
    with data.open("rb") as file:
        is_package = file.read(len(ZIP)) == ZIP
    if is_package:
        from candor.packages.archive import files_in

        folder = Path(click.get_current_context().with_resource(TemporaryDirectory(prefix="candor-")))
        try:
            files = files_in(data.read_bytes())
        except BadZipFile as error:
            raise InputError(f"{data}: no data package: {error}") from None
        if missing := {"data.csv", "protocol.json"} - set(files):
            raise InputError(f"{data}: no data package: {min(missing)} is missing")
        for name in ("data.csv", *(one for one in files if one.endswith(".json") and Path(one).name == one)):
            (folder / name).write_bytes(files[name])
        data, design = folder / "data.csv", design or folder / "protocol.json"
    if design is None:
        raise InputError(f"--design: expected the design of the study, which {data} does not bring as the ZIP file of a data package would")
    return data, design


class AnswerFile:
    """A table with columns ``arm``, ``subsample``, outcomes and covariates, set apart by commas, semicolons or tabs.

    Parameters
    ----------
    path : Path or Stream
        The file; its first row names the columns.
    design : Design
        Whose arms and subsamples may occur.
    outcomes, covariates, subgroups : sequence of str
        Columns to read. Without outcomes every other column counts whose answers, in the first chunk, are mostly 0 and 1.
    beside : Beside
        Designs that other columns have.

    Raises
    ------
    InputError
        When the file is empty, lacks a column, or names one twice.
    """

    def __init__(
        self,
        path: Input,
        *,
        design: Design,
        outcomes: Sequence[str] = (),
        covariates: Sequence[str] = (),
        subgroups: Sequence[str] = (),
        beside: Beside = ALONE,
    ) -> None:
        self.path = path
        self.covariates, self.subgroups = tuple(dict.fromkeys(covariates)), tuple(dict.fromkeys(subgroups))
        self.arms = {name.strip(): index for index, name in enumerate(design.arms)}
        self.subsamples = {name.strip(): index for index, name in enumerate(design.subsample_names)}
        self.shape, self.answers, self.words = design.shape, len(design.categories), answer_words(design.categories)
        self.delimiter, self.header = self._first_row()
        rows, _ = next(self._chunks(lambda done: None), ([], []))
        if not rows:
            raise InputError(f"{path}: a header but no rows of answers")
        with self.named():
            self.choice = chosen_columns(
                self.header,
                outcomes=outcomes,
                covariates=tuple(dict.fromkeys((*self.covariates, *self.subgroups))),
                values_of=lambda name: [row[self.header.index(name)].strip() for row in rows],
                have="row 1 has",
                categories=design.categories,
                beside=beside,
            )
        self.outcomes = self.choice.outcomes

    def counts(self, advance: Advance) -> AnswerCounts:
        """Count the answers in every cell; memory does not grow with the number of rows."""
        counts = {outcome: np.zeros((*self.shape, self.answers), dtype=np.int64) for outcome in self.outcomes}
        missing = {outcome: np.zeros(self.shape, dtype=np.int64) for outcome in self.outcomes}
        for rows, numbers in self._chunks(advance):
            for first in range(0, len(self.outcomes), OUTCOMES_PER_PASS):
                outcomes = self.outcomes[first : first + OUTCOMES_PER_PASS]
                for pattern, people in Counter(map(self._picker(*ASSIGNMENT, *outcomes), rows)).items():
                    arm, subsample, *answers = self._codes(pattern, outcomes, rows=rows, numbers=numbers)
                    for outcome, answer in zip(outcomes, answers, strict=True):
                        if answer == MISSING:
                            missing[outcome][arm, subsample] += people
                        else:
                            counts[outcome][arm, subsample, answer] += people
        return AnswerCounts(counts=counts, missing=missing, choice=self.choice)

    def columns(self, advance: Advance) -> AnswerColumns:
        """Read everything, one entry per participant."""
        codes: list[list[int]] = []
        background: dict[str, list[str]] = {name: [] for name in (*self.covariates, *self.subgroups)}
        places: list[int] = []
        known: dict[tuple[str, ...], list[int]] = {}
        for rows, numbers in self._chunks(advance):
            places.extend(numbers)
            for pattern in map(self._picker(*ASSIGNMENT, *self.outcomes), rows):
                if pattern not in known:
                    known[pattern] = self._codes(pattern, self.outcomes, rows=rows, numbers=numbers)
                codes.append(known[pattern])
            for name in background:
                background[name].extend(map(itemgetter(self.header.index(name)), rows))
        arm, subsample, *reported = np.array(codes, dtype=np.intp).T
        return AnswerColumns(
            arm=arm,
            subsample=subsample,
            reported=dict(zip(self.outcomes, reported, strict=True)),
            covariates={name: self._background(name, background[name], places=places) for name in self.covariates},
            choice=self.choice,
            shape=self.shape,
            groups={name: group_names(background[name]) for name in self.subgroups},
        )

    def _background(self, name: str, written: Sequence[str], *, places: Sequence[int]) -> list[float | str | None]:
        def refused(row: int, what: str) -> InputError:
            return InputError(f"{self.path}: row {places[row]}, column {name!r}: {what}")

        return background_values(written, refused=refused)

    @contextmanager
    def named(self) -> Iterator[None]:
        """Name the file in what is said about its columns."""
        try:
            yield
        except MethodError as error:
            raise InputError(f"{self.path}: {error}") from None

    def _open(self) -> io.TextIOWrapper[io.BufferedReader]:
        return io.TextIOWrapper(self.path.open("rb"), encoding="utf-8-sig", newline="")

    def _first_row(self) -> tuple[str, list[str]]:
        """The delimiter and the names of the columns: whichever delimiter gives a column for the arm and one for the subsample."""
        widest: tuple[str, list[str]] = (",", [])
        for delimiter in DELIMITERS:
            with self._open() as text, self._reading():
                header = [name.strip() for name in next(csv.reader(text, delimiter=delimiter), [])]
            if set(ASSIGNMENT) <= set(header):
                widest = delimiter, header
                break
            widest = max(widest, (delimiter, header), key=lambda one: len(one[1]))
        delimiter, header = widest
        if not any(header):
            raise InputError(f"{self.path}: the file is empty; expected a header with arm, subsample and the outcomes")
        repeated = sorted(name for name, times in Counter(header).items() if times > 1)
        if repeated:
            raise InputError(f"{self.path}: row 1 names the column {repeated[0]!r} twice")
        for name in ASSIGNMENT:
            if name not in header:
                hint = f" (are the columns separated by {', '.join(DELIMITERS.values())}?)" if len(header) == 1 else ""
                raise InputError(f"{self.path}: there is no column {name!r}; row 1 has {', '.join(header)}{hint}")
        return delimiter, header

    def _picker(self, *names: str) -> Callable[[Row], tuple[str, ...]]:
        return itemgetter(*(self.header.index(name) for name in names))

    def _codes(self, pattern: Sequence[str], outcomes: Sequence[str], *, rows: Sequence[Row], numbers: Sequence[int]) -> list[int]:
        """Positions of arm and subsample, then the answers; explains the first row in which they make no sense."""
        codes_of: tuple[Callable[[str], int | None], ...] = (self.arms.get, self.subsamples.get, *[self.words.code] * len(outcomes))
        codes = [code_of(cell.strip()) for code_of, cell in zip(codes_of, pattern, strict=True)]
        known = [code for code in codes if code is not None]
        if len(known) == len(codes):
            return known
        names = (*ASSIGNMENT, *outcomes)
        row = numbers[list(map(self._picker(*names), rows)).index(tuple(pattern))]
        name, cell, _ = next(told for told in zip(names, pattern, codes, strict=True) if told[2] is None)
        expected = {"arm": " or ".join(self.arms), "subsample": " or ".join(self.subsamples)}.get(name, self.words.expected)
        raise InputError(f"{self.path}: row {row}, column {name!r}: expected {expected}, found {what_came(cell)}")

    def _chunks(self, advance: Advance) -> Iterator[tuple[list[Row], Sequence[int]]]:
        """All rows, told in bytes to `advance`."""
        with self._open() as text:
            told = 0
            for chunk in self._rows_in_chunks(text):
                yield chunk
                read = text.buffer.tell()
                advance(read - told)
                told = read

    def _rows_in_chunks(self, text: io.TextIOWrapper[io.BufferedReader]) -> Iterator[tuple[list[Row], Sequence[int]]]:
        """Rows that are not blank, with their numbers in the file (the header is row 1); refuses rows of another length."""
        reader = csv.reader(text, delimiter=self.delimiter)
        with self._reading():
            next(reader, None)
        first = 2
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
