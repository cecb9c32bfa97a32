"""One interface to every source: a frozen table, whose schema declares each value that can occur. No Django.

One row is one participant. A column of entries, such as the courses of a student, has a further axis: place among the student's
entries. Entries stand in an order drawn by chance, so the first c of them are c drawn at random: a question so bounds what one adds.
"""

import io
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from surveys.questions.parts import NonEmpty, Part, Text, some

if TYPE_CHECKING:
    from numpy.lib.npyio import NpzFile

Codes = NDArray[np.int8 | np.int16]
Array = NDArray[np.generic]
MISSING = -1
"""The code of a value that is not given. For numbers it is NaN."""


class Role(StrEnum):
    """The origin of a column. `DESIGN` and `REPORTED` need no budget: chance made them, or the die protects them."""

    DESIGN = "design"
    REPORTED = "reported"
    BACKGROUND = "background"
    QUIZ = "quiz"
    TOPIC = "topic"


FREE = frozenset((Role.DESIGN, Role.REPORTED))


class Kind(StrEnum):
    CATEGORY = "category"  # one of `values`: int8 or int16 codes, the place in `values`, or `MISSING`
    CHOICES = "choices"  # several of `values`: int8, one more axis of their number, 1 chosen, 0 not, `MISSING` not answered
    NUMBER = "number"  # float64 from `minimum` to `maximum`, NaN not given


class Value(Part):
    """A declared value of a category. `score`: the number that stands for it, where values have an order."""

    name: NonEmpty
    label: Text
    score: float | None = None


class Column(Part):
    """A declared column. `right`: the value that solves a quiz item. `entries`: at most so many for one participant; None: just one.
    A column of a topic has an entry for each week of the term, and `words` that tell the topic.
    """

    name: NonEmpty
    label: Text
    role: Role
    kind: Kind
    values: tuple[Value, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    whole: bool = False
    right: str | None = None
    entries: int | None = None
    words: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _declares_what_can_occur(self) -> Self:
        if self.kind == Kind.NUMBER and (self.minimum is None or self.maximum is None or not self.minimum < self.maximum):
            raise ValueError(f"{self.name}: expected bounds, the minimum below the maximum, found {self.minimum} and {self.maximum}")
        if self.kind != Kind.NUMBER and not self.values:
            raise ValueError(f"{self.name}: expected the values that can occur, found none")
        if len(self.names) > np.iinfo(np.int16).max:
            raise ValueError(f"{self.name}: expected at most {np.iinfo(np.int16).max:,} values, found {len(self.names):,}")
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"{self.name}: values must differ")
        if self.right is not None and self.right not in self.names:
            raise ValueError(f"{self.name}: the right value must be one of {some(self.names)}, found {self.right}")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The declared values, by whose places codes go."""
        return tuple(value.name for value in self.values)

    @property
    def dtype(self) -> type[np.generic]:
        if self.kind == Kind.NUMBER:
            return np.float64
        return np.int8 if self.kind == Kind.CHOICES or len(self.values) <= np.iinfo(np.int8).max else np.int16

    def shape(self, n: int) -> tuple[int, ...]:
        entries = () if self.entries is None else (self.entries,)
        return (n, *entries, *((len(self.values),) if self.kind == Kind.CHOICES else ()))

    def empty(self, n: int) -> Array:
        """The array of `n` participants who gave nothing."""
        return np.full(self.shape(n), np.nan if self.kind == Kind.NUMBER else MISSING, dtype=self.dtype)


class Schema(Part):
    """The columns of a source, by unique names. `cap`: at most so many topics of one student in one week."""

    columns: tuple[Column, ...]
    cap: int | None = None

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [column.name for column in self.columns]
        if len(set(names)) < len(names):
            raise ValueError(f"names of columns must differ; found {some(sorted({name for name in names if names.count(name) > 1}))} twice")
        return self

    def with_role(self, role: Role) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.role == role)

    def column(self, name: str) -> Column:
        """Raises KeyError with the names that there are."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"expected one of the columns {some([column.name for column in self.columns])}, found {name}")


class Kept(Protocol):
    """Unpacked columns, some of which may be gone again."""

    def get(self, name: str, /) -> Array | None: ...

    def __setitem__(self, name: str, array: Array, /) -> None: ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """The rows of a source: for each column of the schema an array whose first axis are the `n` participants."""

    schema: Schema
    n: int
    arrays: Mapping[str, Array]
    simulated: bool = False
    """Whether the keys of what somebody brought said so, as it was read."""

    @property
    def document(self) -> dict[str, object]:
        """The schema as JSON."""
        return self.schema.model_dump(mode="json")

    def __getitem__(self, name: str) -> Array:
        self.schema.column(name)
        return self.arrays[name]

    def right_answers(self, name: str) -> NDArray[np.int8]:
        """1 where participants solved the quiz item, 0 where they did not, `MISSING` where they left it out."""
        column, codes = self.schema.column(name), self[name]
        if column.right is None:
            raise KeyError(f"expected a quiz item, found {name}")
        return np.where(codes == MISSING, MISSING, codes == column.names.index(column.right)).astype(np.int8)

    def to_bytes(self) -> bytes:
        """The arrays as `npz`, the same bytes that `from_bytes` reads; the schema is stored beside them."""
        buffer = io.BytesIO()
        arrays = {f"column_{place}": self.arrays[column.name] for place, column in enumerate(self.schema.columns)}
        np.savez_compressed(buffer, allow_pickle=False, **arrays)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, stored: Callable[[], bytes], *, schema: Schema, n: int, kept: Kept) -> "Table":
        """`stored` gives the bytes, and is called for columns alone that are not among those that are `kept` from earlier questions."""
        return cls(schema=schema, n=n, arrays=_Lazy(stored, schema, kept))


def order_by_chance(n: int) -> Array:
    """A permutation from the operating system's entropy: nobody can undo it."""
    return np.argsort(np.frombuffer(secrets.token_bytes(8 * n), dtype=np.uint64), kind="stable")


class _Lazy(Mapping[str, Array]):
    """Columns that are unpacked when they are asked for: a question reads two or three of many."""

    def __init__(self, stored: Callable[[], bytes], schema: Schema, kept: Kept) -> None:
        self._stored, self._kept = stored, kept
        self._places = {column.name: place for place, column in enumerate(schema.columns)}

    @cached_property
    def _file(self) -> "NpzFile":
        file: NpzFile = np.load(io.BytesIO(self._stored()), allow_pickle=False)
        return file

    def __getitem__(self, name: str) -> Array:
        array = self._kept.get(name)
        if array is None:
            array = self._file[f"column_{self._places[name]}"]
            self._kept[name] = array
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
