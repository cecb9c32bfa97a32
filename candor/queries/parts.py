"""The parts of questions: conditions on people, and cuts of a column into cells."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from candor.errors import QuestionError
from candor.queries.columns import MISSING, Category, Schema, listed

CELLS_AT_MOST = 1000
# Up to so many chosen values are compared one by one, which is faster than looking codes up.
COMPARED = 4
LARGEST = sys.float_info.max
FARTHEST, NEAREST = 1e100, 1e-9
NOT_GIVEN = "not given"

Document = Mapping[str, object]
Rows = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A column has one of these values, or lies between two numbers, both included. A value that is not given never fits."""

    column: str
    values: tuple[str, ...] | None = None
    between: tuple[float, float] = (-math.inf, math.inf)

    @classmethod
    def read(cls, written: object, where: str) -> Condition:
        """``{"column": "year", "in": ["1", "2"]}`` or ``{"column": "age", "from": 18, "to": 25}``."""
        part = mapping(written, where, ("column", "in", "from", "to"))
        column = text(part.get("column"), f"{where}.column")
        if ("in" in part) == bool({"from", "to"} & set(part)):
            raise QuestionError(f"{where}: expected either values (in) or bounds (from, to), found {listed(part)}")
        if "in" in part:
            values = tuple(sorted({text(value, f"{where}.in") for value in several(part["in"], f"{where}.in")}))
            return cls(column=column, values=values)
        low, high = number(part.get("from"), f"{where}.from"), number(part.get("to"), f"{where}.to")
        if low > high:
            raise QuestionError(f"{where}: expected bounds in order, found from {low:g} to {high:g}")
        return cls(column=column, between=(low, high))

    def document(self) -> dict[str, object]:
        """As `read` takes it."""
        if self.values is not None:
            return {"column": self.column, "in": list(self.values)}
        return {"column": self.column, "from": self.between[0], "to": self.between[1]}

    def check(self, schema: Schema) -> None:
        """Raises QuestionError for values that are not declared, and bounds beyond those of the column."""
        if self.values is not None:
            declared = schema.category(self.column).values
            if unknown := [value for value in self.values if value not in declared]:
                raise QuestionError(f"expected values of {self.column}, which are {listed(declared)}; found {listed(unknown)}")
        else:
            column = schema.number(self.column)
            low, high = self.between
            if low > column.maximum or high < column.minimum:
                raise QuestionError(
                    f"expected bounds between {column.minimum:g} and {column.maximum:g}, as {self.column} declares; "
                    f"found {low:g} to {high:g}"
                )

    def known(self, rows: Rows) -> NDArray[np.bool_]:
        """For each row whether the value is given at all."""
        array = rows[self.column]
        return ~np.isnan(array.astype(np.float64, copy=False)) if array.dtype.kind == "f" else np.asarray(array != MISSING)

    def fits(self, rows: Rows, schema: Schema) -> NDArray[np.bool_]:
        """For each row whether it fits."""
        array = rows[self.column]
        if self.values is None:
            column = schema.number(self.column)
            # Values outside the declared bounds count as the bound; comparisons with NaN are false.
            low = -math.inf if self.between[0] <= column.minimum else self.between[0]
            high = math.inf if self.between[1] >= column.maximum else self.between[1]
            numbers = array.astype(np.float64, copy=False)
            return np.asarray((numbers >= low) & (numbers <= high))
        declared = schema.category(self.column).values
        codes = [declared.index(value) for value in self.values]
        if len(codes) <= COMPARED:
            found = np.asarray(array == codes[0])
            for code in codes[1:]:
                found |= array == code
            return found
        chosen = np.zeros(len(declared) + 1, dtype=bool)  # the last place is that of `MISSING`
        chosen[codes] = True
        return chosen[array.astype(np.intp)]

    def share(self, schema: Schema) -> float:
        """The share of people that would fit if all declared values were as common as each other: a guess that needs no data."""
        if self.values is not None:
            return len(self.values) / len(schema.category(self.column).values)
        column = schema.number(self.column)
        inside = min(self.between[1], column.maximum) - max(self.between[0], column.minimum)
        return max(inside / (column.maximum - column.minimum), 0.0)


@dataclass(frozen=True, kw_only=True)
class Cut:
    """A column cut into cells: its declared values, or intervals of numbers. Numbers beyond the outer edges are in the outer cells.

    The last cell is for those who gave nothing.
    """

    column: str
    edges: tuple[float, ...] | None = None

    @classmethod
    def read(cls, written: object, where: str) -> Cut:
        """``"major"``, or ``{"column": "gpa", "edges": [0, 1, 2, 3, 4]}``."""
        if isinstance(written, str):
            return cls(column=written)
        part = mapping(written, where, ("column", "edges"))
        column = text(part.get("column"), f"{where}.column")
        if part.get("edges") is None:
            return cls(column=column)
        edges = tuple(number(edge, f"{where}.edges") for edge in several(part["edges"], f"{where}.edges"))
        if len(edges) < 3 or any(low >= high for low, high in pairwise(edges)):
            raise QuestionError(f"{where}.edges: expected at least three edges, each above the one before; found {listed(map(str, edges))}")
        return cls(column=column, edges=edges)

    def document(self) -> dict[str, object]:
        """As `read` takes it."""
        return {"column": self.column, "edges": None if self.edges is None else list(self.edges)}

    def labels(self, schema: Schema) -> tuple[str, ...]:
        """The cells in words. Raises QuestionError for edges of names, and for numbers without edges."""
        column = schema.column(self.column)
        if isinstance(column, Category):
            if self.edges is not None:
                raise QuestionError(f"expected no edges for {self.column}, which has declared values; found {listed(map(str, self.edges))}")
            return (*column.values, NOT_GIVEN)
        if self.edges is None:
            raise QuestionError(f"expected edges that cut the numbers of {self.column} into cells, found none")
        names = [f"{low:g} to {high:g}" for low, high in pairwise(self.edges)]
        return (*names, NOT_GIVEN)

    def codes(self, rows: Rows, schema: Schema) -> NDArray[np.intp]:
        """The cell of each row."""
        array, last = rows[self.column], len(self.labels(schema)) - 1
        if self.edges is None:
            codes = array.astype(np.intp)
            codes[codes == MISSING] = last
            return codes
        numbers = array.astype(np.float64)
        places = np.searchsorted(np.array(self.edges[1:-1]), numbers, side="right")
        return np.where(np.isnan(numbers), last, places)


def cells(cuts: Sequence[Cut], schema: Schema) -> tuple[int, ...]:
    """The numbers of cells of each cut. Raises QuestionError where they are too many together."""
    shape = tuple(len(cut.labels(schema)) for cut in cuts)
    if (total := math.prod(shape)) > CELLS_AT_MOST:
        raise QuestionError(f"expected at most {CELLS_AT_MOST:,} cells, found {' × '.join(map(str, shape))} = {total:,}")
    return shape


def mapping(written: object, where: str, known: Sequence[str]) -> Document:
    """An object with no other names than these."""
    if not isinstance(written, Mapping):
        raise QuestionError(f"{where}: expected an object with {listed(known)}, found {_shown(written)}")
    if unknown := [str(name) for name in written if name not in known]:
        raise QuestionError(f"{where}: expected {listed(known)}; found {listed(unknown)}")
    return written


def several(written: object, where: str) -> Sequence[object]:
    """A list with something in it."""
    if not isinstance(written, list | tuple) or not written:
        raise QuestionError(f"{where}: expected a list with something in it, found {_shown(written)}")
    return written


def text(written: object, where: str) -> str:
    """A text that is not empty."""
    if not isinstance(written, str) or not written:
        raise QuestionError(f"{where}: expected a text, found {_shown(written)}")
    return written


def number(written: object, where: str) -> float:
    """A finite number."""
    if isinstance(written, bool) or not isinstance(written, int | float) or not -LARGEST <= written <= LARGEST:
        raise QuestionError(f"{where}: expected a number, found {_shown(written)}")
    return float(written) + 0.0  # −0 becomes 0: one question has one form


def in_order(low: float, high: float) -> None:
    """Raises QuestionError for bounds reversed, and for those between which a million steps, or the sum of many people, have no double."""
    if not low < high:
        raise QuestionError(f"expected bounds in order, found low {low:g} and high {high:g}")
    farther = max(abs(low), abs(high))
    if farther > FARTHEST or high - low < max(NEAREST * farther, 1 / FARTHEST):
        raise QuestionError(
            f"expected bounds between ±{FARTHEST:g} that are apart by a billionth of the farther one; found low {low!r} and high {high!r}"
        )


def whole(written: object, where: str) -> int:
    """A whole number of at least 1."""
    if isinstance(written, bool) or not isinstance(written, int) or written < 1:
        raise QuestionError(f"{where}: expected a whole number of at least 1, found {_shown(written)}")
    return int(written)


def _shown(written: object) -> str:
    return "nothing" if written is None else repr(written)[:60]
