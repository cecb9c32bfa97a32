"""Questions that are answered by shares: a conditional probability, and recommendations, which are a table of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from candor.errors import QuestionError
from candor.privacy.sensitivity import Whole
from candor.queries.columns import Schema, Table
from candor.queries.counting import CountsOfCells, joint_codes, joint_labels
from candor.queries.histogram.release import histogram
from candor.queries.intervals import share_cell
from candor.queries.parts import CELLS_AT_MOST, Condition, Cut, Rows, cells
from candor.queries.questions import Answer, conditions, in_words, part


@dataclass(frozen=True, kw_only=True)
class Share(CountsOfCells):
    """The share of people who also fit the event, among those who fit `where` and gave what the event asks for: P(event | where)."""

    kind: ClassVar[str] = "share"
    event: tuple[Condition, ...] = part(conditions)

    @property
    def about(self) -> tuple[str, ...]:
        """The columns of the event."""
        return tuple(condition.column for condition in self.event)

    def check(self, schema: Schema) -> None:
        """Raises QuestionError also for an event without conditions."""
        super().check(schema)
        if not self.event:
            raise QuestionError("event: expected at least one condition, found none")
        for condition in self.event:
            condition.check(schema)

    def exact(self, table: Table) -> Whole:
        """Two disjoint cells: with the event, and without it."""
        rows, inside = self.selected(table)
        happened, known = fitting(self.event, rows, table.schema)
        inside = known if inside is None else inside & known
        with_event = int(np.count_nonzero(inside & happened))
        return np.array([with_event, int(np.count_nonzero(inside)) - with_event])

    def error(self, schema: Schema, n: int) -> float:
        """± of a share near 0 or 1, where it is largest."""
        return min(self.spending.half_width(self.sensitivity) / max(self.people(schema, n), 1), 1.0)

    def typical(self, schema: Schema, n: int) -> float:
        """A half."""
        return 0.5

    def explain(self, released: Sequence[int], schema: Schema, n: int) -> Answer:
        """The ratio, with Fieller's interval."""
        cell = share_cell(
            *released, labels=(), sd=self.spending.sd(self.sensitivity), multiplier=self.spending.multiplier(self.sensitivity)
        )
        return Answer(
            unit="share", cells=(cell,), notes=("The interval is Fieller's, for the share among these people, and has the noise.",)
        )

    def sentence(self) -> str:
        """In words."""
        return f"The share {in_words(self.event)}, among those {in_words(self.where, otherwise='of all')}"


@dataclass(frozen=True, kw_only=True)
class Recommendation(CountsOfCells):
    """For every option, such as a major, and every band, such as a grade in a first course: the share of successful people. One table."""

    kind: ClassVar[str] = "recommendation"
    option: Cut = part(Cut.read)
    band: Cut = part(Cut.read)
    success: tuple[Condition, ...] = part(conditions)

    @property
    def about(self) -> tuple[str, ...]:
        """All columns of the table."""
        return (self.option.column, self.band.column, *(condition.column for condition in self.success))

    def check(self, schema: Schema) -> None:
        """Raises QuestionError also for too many cells, or no condition of success."""
        super().check(schema)
        if not self.success:
            raise QuestionError("success: expected at least one condition, found none")
        for condition in self.success:
            condition.check(schema)
        options, bands = cells((self.option, self.band), schema)
        if (found := 2 * options * bands) > CELLS_AT_MOST:
            raise QuestionError(f"expected at most {CELLS_AT_MOST:,} cells, found {options} × {bands} × 2 = {found:,}")

    def exact(self, table: Table) -> Whole:
        """For each option and band, how many succeeded and how many did not."""
        rows, inside = self.selected(table)
        happened, known = fitting(self.success, rows, table.schema)
        codes, shape = joint_codes((self.option, self.band), rows, table.schema)
        inside = known if inside is None else inside & known
        return histogram((2 * codes + ~happened)[inside], cells=2 * math.prod(shape))

    def error(self, schema: Schema, n: int) -> float:
        """± of the share in one option and band."""
        people = self.people(schema, n) / math.prod(cells((self.option, self.band), schema))
        return min(self.spending.half_width(self.sensitivity) / max(people, 1), 1.0)

    def typical(self, schema: Schema, n: int) -> float:
        """A half."""
        return 0.5

    def explain(self, released: Sequence[int], schema: Schema, n: int) -> Answer:
        """A share with Fieller's interval for each option and band."""
        sd, multiplier = self.spending.sd(self.sensitivity), self.spending.multiplier(self.sensitivity)
        pairs = zip(joint_labels((self.option, self.band), schema), released[::2], released[1::2], strict=True)
        found = tuple(share_cell(yes, no, labels=labels, sd=sd, multiplier=multiplier) for labels, yes, no in pairs)
        return Answer(unit="share", cells=found, notes=("Each interval is Fieller's and holds with 95 % for its own cell.",))

    def sentence(self) -> str:
        """In words."""
        return f"The share {in_words(self.success)}, for each {self.option.column} and {self.band.column}, {in_words(self.where)}"


def fitting(wanted: Sequence[Condition], rows: Rows, schema: Schema) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each row whether it fits all conditions, and whether it gave all that they ask for."""
    fits: NDArray[np.bool_] = np.logical_and.reduce([condition.fits(rows, schema) for condition in wanted])
    known: NDArray[np.bool_] = np.logical_and.reduce([condition.known(rows) for condition in wanted])
    return fits, known
