"""Questions that are answered by counts: how many fit, and how many are in each cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from candor.errors import QuestionError
from candor.privacy.noise import Noisy, within_its_range
from candor.privacy.sensitivity import Whole
from candor.queries.columns import Schema, Table
from candor.queries.histogram.release import SENSITIVITY, histogram, private_histogram
from candor.queries.parts import Cut, Rows, cells
from candor.queries.questions import Answer, Cell, Question, in_words, one_or_more, part
from candor.queries.total.release import private_total, sensitivity, total


@dataclass(frozen=True, kw_only=True)
class Count(Question):
    """How many people (or entries) fit all conditions."""

    kind: ClassVar[str] = "count"

    about = ()
    sensitivity_of_one = sensitivity(0, 1)

    def check(self, schema: Schema) -> None:
        """Raises QuestionError also without a condition: the number of all is public."""
        super().check(schema)
        if not self.where:
            raise QuestionError("expected at least one condition: how many there are in all is public, and no question")

    def exact(self, table: Table) -> Whole:
        """One number."""
        _, inside = self.selected(table)
        return total(inside if inside is not None else np.ones(table.n, dtype=bool), low=0, high=1)

    def noisy(self, exact: Whole) -> Noisy:
        """Sensitivity 1."""
        return private_total(exact, low=0, high=1, rho=self.spending.rho, epsilon=self.spending.epsilon, entries=self.entries or 1)

    def error(self, schema: Schema, n: int) -> float:
        """± people."""
        return self.spending.half_width(self.sensitivity)

    def explain(self, released: Sequence[int], schema: Schema, n: int) -> Answer:
        """A whole number that is not negative."""
        return Answer(unit=self.unit, cells=(count_cell(self, released[0], (), n),))

    def sentence(self) -> str:
        """In words."""
        return f"How many {self.unit} there are {in_words(self.where)}"


class CountsOfCells(Question):
    """A question about how many people (or entries) are in each of some disjoint cells."""

    sensitivity_of_one = SENSITIVITY

    def noisy(self, exact: Whole) -> Noisy:
        """A histogram."""
        return private_histogram(exact, rho=self.spending.rho, epsilon=self.spending.epsilon, entries=self.entries or 1)


@dataclass(frozen=True, kw_only=True)
class Histogram(CountsOfCells):
    """How many people (or entries) are in each cell of one column, or of several together; a cell without anybody is answered too."""

    kind: ClassVar[str] = "histogram"
    by: tuple[Cut, ...] = part(one_or_more(Cut.read))

    @property
    def about(self) -> tuple[str, ...]:
        """The columns of the cells."""
        return tuple(cut.column for cut in self.by)

    def check(self, schema: Schema) -> None:
        """Raises QuestionError also for too many cells."""
        super().check(schema)
        cells(self.by, schema)

    def exact(self, table: Table) -> Whole:
        """One number for each cell."""
        rows, inside = self.selected(table)
        codes, shape = joint_codes(self.by, rows, table.schema)
        return histogram(codes if inside is None else codes[inside], cells=math.prod(shape))

    def error(self, schema: Schema, n: int) -> float:
        """± people in each cell."""
        return self.spending.half_width(self.sensitivity)

    def typical(self, schema: Schema, n: int) -> float:
        """People in a cell."""
        return self.people(schema, n) / math.prod(cells(self.by, schema))

    def explain(self, released: Sequence[int], schema: Schema, n: int) -> Answer:
        """A whole number for each cell."""
        labels = joint_labels(self.by, schema)
        found = tuple(count_cell(self, count, names, n) for count, names in zip(released, labels, strict=True))
        return Answer(unit=self.unit, cells=found, notes=("Each interval holds with 95 % for its own cell.",))

    def sentence(self) -> str:
        """In words."""
        return f"How many {self.unit} there are by {' and '.join(self.about)}, {in_words(self.where)}"


def count_cell(question: Question, count: int, labels: tuple[str, ...], n: int) -> Cell:
    """A count rounded to what a count can be, from 0 to all; its interval, of whole numbers as the noise is, lies around it."""
    half = math.floor(question.spending.half_width(question.sensitivity))
    value, low, high = within_its_range(count, half, low=0, high=n * (question.entries or 1))
    return Cell(labels=labels, value=float(value), low=float(low), high=float(high))


def joint_codes(cuts: Sequence[Cut], rows: Rows, schema: Schema) -> tuple[NDArray[np.intp], tuple[int, ...]]:
    """The cell of each row among all combinations, and how many cells each cut has."""
    shape = cells(cuts, schema)
    codes = cuts[0].codes(rows, schema)
    for cut, size in zip(cuts[1:], shape[1:], strict=True):
        codes = codes * size + cut.codes(rows, schema)
    return codes, shape


def joint_labels(cuts: Sequence[Cut], schema: Schema) -> list[tuple[str, ...]]:
    """The cells of `joint_codes` in words."""
    found: list[tuple[str, ...]] = [()]
    for cut in cuts:
        found = [(*names, label) for names in found for label in cut.labels(schema)]
    return found
