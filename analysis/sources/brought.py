"""Files that somebody brings, as frozen tables: what was declared about them, and the rows without keys and without texts. No Django."""

import base64
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import IO

import numpy as np

from analysis.sources.tables import Array, Column, Kind, Role, Schema, Table, Value, order_by_chance
from surveys.questions.parts import Text
from surveys.reading.apart import read_apart
from surveys.reading.readers import TABLE, TEXTS

WRONG, RIGHT = "0", "1"
AFFECTS = ("positive", "negative", "none")
"""In the order of `candor.texts.labelling.Affect`."""


class ColumnRole(StrEnum):
    """The role of a column of a brought table."""

    STUDENT = "student"
    ITEM = "item"
    CATEGORY = "category"
    NUMBER = "number"
    LEFT_OUT = "left_out"


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtColumn:
    """A column as somebody declared it. `several`: a student has a value in each of several rows."""

    name: str
    role: ColumnRole
    values: tuple[str, ...] = ()
    minimum: float = 0.0
    maximum: float = 0.0
    several: bool = False

    @property
    def is_kept(self) -> bool:
        return self.role not in (ColumnRole.STUDENT, ColumnRole.LEFT_OUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtTable:
    """Quiz answers, background, or both: one row for each student, or up to `entries` of them."""

    columns: Sequence[BroughtColumn]
    entries: int = 1

    def read(self, file: IO[bytes]) -> Table:
        """The rows, in an order drawn by chance. Raises NotReadError, naming lines and columns."""
        found = read_apart(file, reader=TABLE, columns=[asdict(column) for column in self.columns], entries=self.entries)
        n, schema = found["n"], self.schema()
        order = order_by_chance(n)
        arrays = {
            column.name: unpacked(cells, np.float64 if column.kind == Kind.NUMBER else np.int16, column.shape(n))[order].astype(
                column.dtype
            )
            for column, cells in zip(schema.columns, found["columns"], strict=True)
        }
        return Table(schema=schema, n=n, arrays=arrays, simulated=found["simulated"])

    def schema(self) -> Schema:
        return Schema(columns=tuple(self._column(column) for column in self.columns if column.is_kept))

    def _column(self, column: BroughtColumn) -> Column:
        entries = self.entries if column.several else None
        common: dict[str, object] = {"label": Text(column.name), "entries": entries}
        match column.role:
            case ColumnRole.ITEM:
                values = (Value(name=WRONG, label=Text("wrong")), Value(name=RIGHT, label=Text("right")))
                return Column(name=f"quiz.{column.name}", role=Role.QUIZ, kind=Kind.CATEGORY, values=values, right=RIGHT, **common)
            case ColumnRole.NUMBER:
                bounds = {"minimum": column.minimum, "maximum": column.maximum}
                return Column(name=f"background.{column.name}", role=Role.BACKGROUND, kind=Kind.NUMBER, **bounds, **common)
        declared = tuple(Value(name=value, label=Text(value)) for value in column.values)
        return Column(name=f"background.{column.name}", role=Role.BACKGROUND, kind=Kind.CATEGORY, values=declared, **common)


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtTexts:
    """Texts of students over a term: of each week the topics, from a list fixed before, at most `cap`, each with its affect."""

    names: Sequence[str]
    roles: Mapping[str, str]
    topics: Mapping[str, Sequence[str]]
    weeks: int
    cap: int

    def read(self, file: IO[bytes]) -> Table:
        """The labels, in an order drawn by chance. Raises NotReadError, naming lines and columns."""
        found = read_apart(file, reader=TEXTS, **asdict(self))
        n, schema = found["n"], self.schema()
        labels = unpacked(found["labels"], np.int8, (n, self.weeks, len(self.topics)))[order_by_chance(n)]
        arrays = {column.name: labels[:, :, place] for place, column in enumerate(schema.columns)}
        return Table(schema=schema, n=n, arrays=arrays, simulated=found["simulated"])

    def schema(self) -> Schema:
        affects = tuple(Value(name=affect, label=Text(affect)) for affect in AFFECTS)
        common: dict[str, object] = {"role": Role.TOPIC, "kind": Kind.CATEGORY, "values": affects, "entries": self.weeks}
        columns = [Column(name=f"topic.{topic}", label=Text(topic), words=tuple(words), **common) for topic, words in self.topics.items()]
        return Schema(columns=tuple(columns), cap=self.cap)


Brought = BroughtTable | BroughtTexts


def unpacked(cells: str, dtype: type[np.generic], shape: tuple[int, ...]) -> Array:
    """The values that a reader packed; as many as announced, and no more."""
    most = int(np.prod(shape)) * np.dtype(dtype).itemsize
    written = zlib.decompressobj().decompress(base64.b64decode(cells), most + 1)
    return np.frombuffer(written, dtype=dtype).reshape(shape)
