"""A frozen table and its declared columns: every value that can occur is public before anybody asks.

One row is one participant. A column of entries, such as the courses of a student, has a second axis; which entry stands first was chosen by
chance, so the first c of them are c chosen by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candor.errors import QuestionError, what_came

MISSING = -1
"""The code of a category that is not given. A number that is not given is NaN."""


def listed(names: Iterable[str], *, most: int = 8) -> str:
    """Names for a message, the first few of many."""
    found = list(names)
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")


@dataclass(frozen=True, kw_only=True)
class Category:
    """A column of names.

    Parameters
    ----------
    name : str
        Of the column.
    values : tuple of str
        All that can occur; arrays hold places in it, or `MISSING`.
    entries : int, optional
        At most so many for one participant; None: just one.
    """

    name: str
    values: tuple[str, ...]
    entries: int | None = None

    def __post_init__(self) -> None:
        if not self.values or len(set(self.values)) < len(self.values):
            raise QuestionError(f"column {self.name}: expected different values that can occur, found {listed(self.values) or 'none'}")


@dataclass(frozen=True, kw_only=True)
class Number:
    """A column of numbers.

    Parameters
    ----------
    name : str
        Of the column.
    minimum, maximum : float
        Declared bounds; values outside them are moved to them.
    entries : int, optional
        At most so many for one participant; None: just one.
    """

    name: str
    minimum: float
    maximum: float
    entries: int | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.minimum) and math.isfinite(self.maximum) and self.minimum < self.maximum):
            raise QuestionError(f"column {self.name}: expected bounds, the minimum below the maximum, found {self.minimum}, {self.maximum}")


Column = Category | Number


@dataclass(frozen=True)
class Schema:
    """The columns of a table, by unique names."""

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise QuestionError(f"names of columns must differ; found {listed(twice)} twice")

    def column(self, name: str) -> Column:
        """Raises QuestionError with the names that there are."""
        for column in self.columns:
            if column.name == name:
                return column
        raise QuestionError(f"expected one of the columns {listed(one.name for one in self.columns)}; found {what_came(name)}")

    def category(self, name: str) -> Category:
        """A column of names. Raises QuestionError for a number."""
        if isinstance(column := self.column(name), Category):
            return column
        raise QuestionError(f"expected a column with declared values; {name} holds numbers")

    def number(self, name: str) -> Number:
        """A column of numbers. Raises QuestionError for names."""
        if isinstance(column := self.column(name), Number):
            return column
        raise QuestionError(f"expected a column of numbers; {name} holds one of {listed(column.values)}")

    def entries(self, names: Iterable[str]) -> int | None:
        """How many entries of one participant a question about these columns sees at most; None where it is about participants."""
        numbers = {entries for name in names if (entries := self.column(name).entries) is not None}
        if len(numbers) > 1:
            raise QuestionError(f"expected columns of one kind of entries, found up to {listed(map(str, sorted(numbers)))} a participant")
        return numbers.pop() if numbers else None


@dataclass(frozen=True, eq=False)
class Table:
    """The rows: for each column an array of shape (n,) or (n, entries), codes of categories or float numbers."""

    schema: Schema
    n: int
    arrays: Mapping[str, NDArray[np.generic]]

    def rows(self, names: Iterable[str], *, entries: int | None) -> dict[str, NDArray[np.generic]]:
        """Flat arrays: one item for each participant, or, of columns of entries, the first so many of each participant."""
        flat = {}
        for name in dict.fromkeys(names):
            array = self.arrays[name]
            if entries is not None:
                array = array[:, :entries].ravel() if array.ndim > 1 else np.repeat(array, entries)
            flat[name] = array
        return flat
