"""Sums and means of numbers within declared bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from candor.privacy.noise import Noisy, within_its_range
from candor.privacy.sensitivity import Sensitivity, Whole
from candor.queries.columns import Schema, Table
from candor.queries.counting import joint_codes, joint_labels
from candor.queries.intervals import ratio
from candor.queries.mean.release import STEPS, private_sums, sums
from candor.queries.mean.release import sensitivity as sensitivity_of_sums
from candor.queries.parts import Cut, cells, in_order, number, text
from candor.queries.questions import Answer, Cell, Question, in_words, one_or_more, part
from candor.queries.total.release import private_total, total
from candor.queries.total.release import sensitivity as sensitivity_of_total


@dataclass(frozen=True, kw_only=True)
class _Numbers(Question):
    """A question about one column of numbers between bounds, to which values outside are moved."""

    column: str = part(text)
    low: float = part(number)
    high: float = part(number)

    @property
    def about(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def check(self, schema: Schema) -> None:
        """Raises QuestionError also for bounds between which numbers cannot be told apart."""
        super().check(schema)
        schema.number(self.column)
        in_order(self.low, self.high)


@dataclass(frozen=True, kw_only=True)
class Sum(_Numbers):
    """The sum of a column over people who fit; somebody who does not, or gave nothing, adds 0."""

    kind: ClassVar[str] = "sum"

    @property
    def step(self) -> float:
        """The unit to which each row is rounded: a millionth of what one person can add."""
        return (max(self.high, 0.0) - min(self.low, 0.0)) / STEPS

    @property
    def ends(self) -> tuple[int, int]:
        """Bounds of what one entry adds, in steps; 0 is within."""
        return round(min(self.low, 0.0) / self.step), round(max(self.high, 0.0) / self.step)

    @property
    def sensitivity_of_one(self) -> Sensitivity:
        """The range of what one entry adds."""
        return sensitivity_of_total(*self.ends)

    def exact(self, table: Table) -> Whole:
        """One number, in steps."""
        rows, inside = self.selected(table)
        values = rows[self.column].astype(np.float64)
        values = np.where(np.isnan(values) if inside is None else ~inside | np.isnan(values), 0.0, np.clip(values, self.low, self.high))
        low, high = self.ends
        return total(np.clip(np.rint(values / self.step), low, high).astype(np.int64), low=low, high=high)

    def noisy(self, exact: Whole) -> Noisy:
        """Noise in steps."""
        low, high = self.ends
        return private_total(exact, low=low, high=high, rho=self.spending.rho, epsilon=self.spending.epsilon, entries=self.entries or 1)

    def error(self, schema: Schema, n: int) -> float:
        """± in the unit of the column."""
        return self.spending.half_width(self.sensitivity) * self.step

    def typical(self, schema: Schema, n: int) -> float:
        """Everybody adds the middle of the bounds, or a quarter of their width where that is more."""
        return self.people(schema, n) * max(abs(self.low + self.high) / 2, (self.high - self.low) / 4)

    def explain(self, released: Sequence[int], schema: Schema, n: int) -> Answer:
        """In the unit of the column."""
        everybody = n * (self.entries or 1)
        least, most = everybody * min(self.low, 0.0), everybody * max(self.high, 0.0)
        value, low, high = within_its_range(released[0] * self.step, self.error(schema, n), low=least, high=most)
        return Answer(unit="number", cells=(Cell(labels=(), value=value, low=low, high=high),))

    def sentence(self) -> str:
        """In words."""
        return f"The sum of {self.column}, {in_words(self.where)}"


@dataclass(frozen=True, kw_only=True)
class Mean(_Numbers):
    """The mean of a column over people who fit and gave a number, of all or by groups."""

    kind: ClassVar[str] = "mean"
    by: tuple[Cut, ...] = part(one_or_more(Cut.read), default=())

    @property
    def about(self) -> tuple[str, ...]:
        """The column, and those of the groups."""
        return (self.column, *(cut.column for cut in self.by))

    def check(self, schema: Schema) -> None:
        """Raises QuestionError also for too many groups."""
        super().check(schema)
        cells(self.by, schema)

    @property
    def sensitivity_of_one(self) -> Sensitivity:
        """Sums and counts, in steps. L1 is twice as large where people can change between groups."""
        return sensitivity_of_sums(2 if self.by else 1)

    def exact(self, table: Table) -> Whole:
        """Sums of distances from the middle of the bounds, and counts."""
        rows, inside = self.selected(table)
        values = rows[self.column].astype(np.float64)
        outside = np.isnan(values) if inside is None else ~inside | np.isnan(values)
        groups, shape = joint_codes(self.by, rows, table.schema) if self.by else (np.zeros(len(values), dtype=np.intp), (1,))
        middle, width = (self.low + self.high) / 2, self.high - self.low
        distances = np.rint((np.clip(np.where(outside, middle, values), self.low, self.high) - middle) / width * STEPS).astype(np.int64)
        return sums(distances, np.where(outside, -1, groups), count=math.prod(shape))

    def noisy(self, exact: Whole) -> Noisy:
        """Noise on sums and counts."""
        return private_sums(exact, rho=self.spending.rho, epsilon=self.spending.epsilon, entries=self.entries or 1)

    def error(self, schema: Schema, n: int) -> float:
        """± of a mean near the middle of the bounds, in the unit of the column."""
        people = self.people(schema, n) / math.prod(cells(self.by, schema))
        width = self.high - self.low
        return min(self.spending.half_width(self.sensitivity) / STEPS * width / max(people, 1), width)

    def typical(self, schema: Schema, n: int) -> float:
        """Half of the width of the bounds."""
        return (self.high - self.low) / 2

    def explain(self, released: Sequence[Sequence[float]], schema: Schema, n: int) -> Answer:
        """The middle plus sum/count, with Fieller's interval."""
        variance, multiplier = self.spending.sd(self.sensitivity) ** 2, self.spending.multiplier(self.sensitivity)
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        found = []
        for labels, top, bottom in zip(joint_labels(self.by, schema), *released, strict=True):
            ends = ratio(top, bottom, variances=(variance, variance, 0.0), multiplier=multiplier, low=-1.0)
            value, low, high = (None if end is None else middle + half * end for end in ends)
            found.append(Cell(labels=labels, value=value, low=low, high=high))
        return Answer(
            unit="number", cells=tuple(found), notes=("The interval is Fieller's. It is for these people, and includes the noise.",)
        )

    def sentence(self) -> str:
        """In words."""
        by = f" by {' and '.join(cut.column for cut in self.by)}" if self.by else ""
        return f"The mean of {self.column}{by}, {in_words(self.where)}"
