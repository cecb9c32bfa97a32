"""Records by column: the shape of all trees, and for each attribute the values of all vertices. No Django.

A role is applied when a record is read. To change one writes no record again: a column is dropped, or its values get other names.
"""

import json
import secrets
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from analysis.sources.records.values import AUXILIARY, CHILDREN, HOMES, LABELS, VALUES, Vertex
from candor.records.schema import Record

Renamed = Mapping[str, Mapping[str, str]]
"""Other names of values, by attribute."""
ABSENT = "\0"
"""The letter of a vertex that has no such attribute. Values have the letters after it; a depth has the letter of its number."""
KEPT = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """`letters`: one for each vertex, packed. `values`: that of the first letter, of the second, and so on."""

    values: list[str]
    letters: bytes

    @property
    def by_letter(self) -> dict[str, str]:
        return {chr(code): value for code, value in enumerate(self.values, start=1)}

    def counts(self) -> Counter[str]:
        """How often each value occurs."""
        found = Counter(_unpacked(self.letters))
        return Counter({value: found[letter] for letter, value in self.by_letter.items()})

    def renamed(self, names: Mapping[str, str]) -> Self:
        values = list(dict.fromkeys(names.get(value, value) for value in self.values))
        moved = {code: values.index(names.get(value, value)) + 1 for code, value in enumerate(self.values, start=1)}
        return type(self)(values=values, letters=_packed(_unpacked(self.letters).translate(moved)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordColumns:
    """`depths`: the letter of the depth of each vertex, packed; a vertex stands behind the one that it belongs to."""

    depths: bytes
    columns: Mapping[str, Column]

    @classmethod
    def of(cls, records: Iterable[Vertex], renamed: Renamed) -> Self:
        """Siblings come into an order drawn by chance: that of the files is not kept."""
        depths: list[str] = []
        columns: dict[str, _Growing] = {}
        shuffle = secrets.SystemRandom().shuffle

        def put(vertex: Vertex, depth: int) -> None:
            place = len(depths)
            depths.append(chr(depth))
            for home in HOMES:
                for name, value in vertex[home].items():
                    if name not in columns:
                        columns[name] = _Growing()
                    columns[name].put(place, renamed[name].get(value, value) if name in renamed else value)
            if len(vertex[CHILDREN]) > 1:
                shuffle(vertex[CHILDREN])
            for child in vertex[CHILDREN]:
                put(child, depth + 1)

        for record in records:
            put(record, 0)
        written = {name: column.ended(len(depths)) for name, column in columns.items()}
        return cls(depths=_packed("".join(depths)), columns=written)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The columns that `to_bytes` wrote."""
        first, _line, rest = data.partition(b"\n")
        written = json.loads(first)
        at = written["depths"]
        depths, columns = rest[:at], {}
        for name, values, size in written["columns"]:
            columns[name] = Column(values=values, letters=rest[at : at + size])
            at += size
        return cls(depths=depths, columns=columns)

    def to_bytes(self) -> bytes:
        columns = self.columns.items()
        first = {"depths": len(self.depths), "columns": [[name, one.values, len(one.letters)] for name, one in columns]}
        return b"".join([json.dumps(first).encode(), b"\n", self.depths, *(one.letters for _name, one in columns)])

    def changed(self, *, dropped: Collection[str], renamed: Renamed) -> Self:
        """Without some columns, and with other names of some values; nothing else is read."""
        kept = {name: one for name, one in self.columns.items() if name not in dropped}
        named = {name: one.renamed(renamed[name]) if renamed.get(name) else one for name, one in kept.items()}
        return type(self)(depths=self.depths, columns=named)

    def records(self, homes: Mapping[str, str]) -> Iterator[Record]:
        """The trees, each attribute in the field that `homes` names."""
        names = [name for name in self.columns if name in homes]
        fields_of = _reader([(homes[name], name, self.columns[name].by_letter) for name in names])
        lines = [_unpacked(self.columns[name].letters) for name in names]
        above: list[Record] = []
        for depth, *letters in zip(_unpacked(self.depths), *lines, strict=True):
            labels, values, confirmed = fields_of("".join(letters))
            vertex: Record = {"quasi_identifiers": dict(labels), "sensitive": dict(values), "children": []}
            if confirmed:
                vertex["auxiliary"] = dict(confirmed)
            if (level := ord(depth)) == 0 and above:
                yield above[0]
            del above[level:]
            if above:
                above[-1][CHILDREN].append(vertex)
            above.append(vertex)
        if above:
            yield above[0]


class _Growing:
    """A column to which values are added in the order of the vertices."""

    def __init__(self) -> None:
        self.letters: dict[str, str] = {}
        self.parts: list[str] = []
        self.length = 0

    def put(self, place: int, value: str) -> None:
        letter = self.letters.setdefault(value, chr(len(self.letters) + 1))
        self.parts += (ABSENT * (place - self.length), letter)
        self.length = place + 1

    def ended(self, length: int) -> Column:
        return Column(values=list(self.letters), letters=_packed("".join([*self.parts, ABSENT * (length - self.length)])))


Told = tuple[tuple[str, str], ...]
Fields = tuple[Told, Told, Told]
"""Labels, sensitive values, and auxiliary attributes that are published as they are."""


def _reader(columns: list[tuple[str, str, dict[str, str]]]) -> Callable[[str], Fields]:
    """From the letters of a vertex to its fields. Vertices with the same letters, such as the same course and grade, are many."""

    @lru_cache(maxsize=KEPT)
    def fields_of(letters: str) -> Fields:
        found: dict[str, list[tuple[str, str]]] = {LABELS: [], VALUES: [], AUXILIARY: []}
        for letter, (home, name, by_letter) in zip(letters, columns, strict=True):
            if letter != ABSENT:
                found[home].append((name, by_letter[letter]))
        return tuple(found[LABELS]), tuple(found[VALUES]), tuple(found[AUXILIARY])

    return fields_of


def _packed(letters: str) -> bytes:
    return zlib.compress(letters.encode(), 6)


def _unpacked(packed: bytes) -> str:
    return zlib.decompress(packed).decode()
