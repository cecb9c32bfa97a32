"""Joins files of students on their number, and throws the number away: what comes out is a tree for each, in an order drawn by chance.

This module reads files from outside and does without Django; `surveys.reading` runs it. No sentence repeats a number or a value.
"""

import base64
import io
import json
import secrets
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import IO, Any

from analysis.sources.record_statements import STATEMENT, documents, roles_in, statement_of
from analysis.sources.record_values import (
    CHILDREN,
    ENTRY,
    HOME,
    LABELS,
    MOST_VALUES,
    NOT_GIVEN,
    VALUES,
    are_numbers,
    bins_of,
    checked,
    in_order,
    in_roles,
)
from analysis.sources.table_files import FEWEST, MOST_KEPT, opened, refused
from candor.records.schema import MOST_CHILDREN
from surveys.reading.words import Sentence, UnreadableError
from surveys.reading.words import sentence as _

FEWEST_DIGITS = 5
"""Whole numbers with so many digits, all different, are numbers of people."""
Record = dict[str, Any]


class _Slice(io.RawIOBase):
    """The next bytes of a file that holds several."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self.file, self.left = file, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self.file.read(min(len(buffer), self.left))
        self.left -= len(chunk)
        buffer[: len(chunk)] = chunk
        return len(chunk)


def read(file: IO[bytes], *, files: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The number of students, the attributes, and the packed records, one in each line.

    `files` stand one after another in `file`, that of the students first, each with `size`, `name`, `kind` (csv, xapi or json), `group`
    (what its rows are called below a student; empty: a row is a student), and for CSV `key` and the `columns` with their `roles`.
    """
    joined = _Joined()
    for one in files:
        part = io.BufferedReader(_Slice(file, one["size"]))
        if one["kind"] == "json":
            joined.take_records(part, one)
        else:
            joined.take(_rows(part, one) if one["kind"] == "csv" else _statements(part, one), one)
        while part.read(1 << 20):  # what a reader left would be the beginning of the next file
            pass
    return joined.packed()


def _rows(part: IO[bytes], one: Mapping[str, Any]) -> Iterator[tuple[int, str, dict[str, str]]]:
    """The line, the number of the student, and the attributes of each row."""
    names, rows = opened(part, one["columns"])
    place, kept = names.index(one["key"]), [(at, name) for at, name in enumerate(names) if one["roles"].get(name) in HOME]
    for line, row in rows:
        found = {}
        for at, name in kept:
            value = checked(row[at])
            if isinstance(value, Sentence):
                raise refused(line, name, value)
            found[name] = value
        yield line, row[place].strip(), found


def _statements(part: IO[bytes], one: Mapping[str, Any]) -> Iterator[tuple[int, str, dict[str, str]]]:
    for number, document in documents(part, one["name"]):
        found = statement_of(document)
        if isinstance(found, Sentence):
            raise UnreadableError(_("statement %(number)s: %(problem)s", number=number, problem=found))
        yield number, found[0], {name: found[1][name] for name in STATEMENT if one["roles"].get(name) in HOME}


class _Joined:
    """Students as they come together."""

    def __init__(self) -> None:
        self.students: dict[str, int] = {}
        self.records: list[Record] = []
        self.roles: dict[str, str] = {}
        self.nested: set[str] = set()
        self.values: dict[str, dict[str, int]] = {}
        """How often each value of an attribute occurs."""
        self.texts: dict[str, str] = {}
        """Equal values are one text in memory."""
        self.has_roots = False

    def take(self, rows: Iterator[tuple[int, str, dict[str, str]]], one: Mapping[str, Any]) -> None:
        """Students, or what belongs to them."""
        group, first = one["group"], array("l")
        names = {name: f"{group}.{name}" if group else name for name in one["roles"]}
        self._declare({names[name]: role for name, role in one["roles"].items() if role in HOME}, nested=bool(group))
        if group:
            self._declare({group: "quasi_identifier"}, nested=True)
        for line, key, found in rows:
            if not key:
                raise _at(one, line, _("expected the number of a student, found nothing"))
            at = self.students.get(key)
            if not group:
                if at is not None:
                    raise _at(one, line, _("the student of line %(first)s stands here again", first=first[at]))
                first.append(line)
            elif at is None and self.has_roots:
                raise _at(one, line, _("this student is not in the file of students"))
            if at is None:
                at = self.students[key] = len(self.records)
                self.records.append({LABELS: {}, VALUES: {}, CHILDREN: []})
            told = {names[name]: value for name, value in found.items()}
            if group:
                if len(self.records[at][CHILDREN]) >= MOST_CHILDREN:
                    raise _at(one, line, _("expected at most %(most)s rows of one student", most=MOST_CHILDREN))
                self.records[at][CHILDREN].append(self._vertex({group: ENTRY, **told}))
            else:
                self.records[at] = self._vertex(told)
        self.has_roots = self.has_roots or not group

    def take_records(self, part: IO[bytes], one: Mapping[str, Any]) -> None:
        """Records as docs/records.md describes them. They have no number, so nothing can be joined with them."""
        for number, document in documents(part, one["name"]):
            told: dict[str, str] = dict(self.roles)
            record = roles_in(document, told, where=_("record %(number)s", number=number))
            self._declare(told, nested=None)
            self.records.append(self._interned(record, depth=0))

    def _declare(self, roles: Mapping[str, str], *, nested: bool | None) -> None:
        for name, role in roles.items():
            if self.roles.setdefault(name, role) != role:
                raise UnreadableError(_("“%(name)s” has two roles: %(roles)s", name=name, roles=f"{self.roles[name]}, {role}"))
            self.values.setdefault(name, {})
            if nested:
                self.nested.add(name)

    def _vertex(self, told: Mapping[str, str]) -> Record:
        vertex: Record = {LABELS: {}, VALUES: {}, CHILDREN: []}
        for name, value in told.items():
            vertex[HOME[self.roles[name]]][name] = self._counted(name, value)
        return vertex

    def _interned(self, record: Record, *, depth: int) -> Record:
        for home in (LABELS, VALUES):
            for name, value in record[home].items():
                record[home][name] = self._counted(name, value)
                if depth:
                    self.nested.add(name)
        for child in record[CHILDREN]:
            self._interned(child, depth=depth + 1)
        return record

    def _counted(self, name: str, value: str) -> str:
        counts = self.values[name]
        counts[value] = counts.get(value, 0) + 1
        return self.texts.setdefault(value, value)

    def packed(self) -> dict[str, Any]:
        """Everything that is kept."""
        n = len(self.records)
        self.students.clear()
        if n < FEWEST:
            raise UnreadableError(_("expected at least %(fewest)s students, found %(found)s", fewest=FEWEST, found=n))
        if not self.values:
            raise UnreadableError(_("expected at least one attribute that is kept, found none"))
        for name, counts in self.values.items():
            self._require_no_identifier(name, counts, n)
        bins = {name: bins_of(counts) for name, counts in self.values.items() if self.roles[name] == "sensitive"}
        secrets.SystemRandom().shuffle(self.records)
        written = packed_records(in_roles(record, self.roles, bins) for record in self.records)
        if len(written) > MOST_KEPT:
            raise UnreadableError(_("this is more than can be kept: leave out columns, or bring it in parts"))
        attributes = [
            {
                "name": name,
                "role": self.roles[name],
                "nested": name in self.nested,
                "values": in_order({bins.get(name, {}).get(value, value) for value in counts}),
            }
            for name, counts in self.values.items()
        ]
        return {"n": n, "attributes": attributes, "records": base64.b64encode(written).decode()}

    def _require_no_identifier(self, name: str, counts: Mapping[str, int], n: int) -> None:
        """Refuse what looks like the name or the number of a person, and what has too many values to be protected."""
        given = {value: times for value, times in counts.items() if value != NOT_GIVEN}
        is_name = not are_numbers(given) or all("." not in value and len(value) >= FEWEST_DIGITS for value in given)
        if len(given) == n and is_name and set(given.values()) == {1}:
            problem = _("“%(name)s” has another value for every student, as a name has. Its role is: identifier", name=name)
            raise UnreadableError(problem)
        if len(given) > MOST_VALUES and not (self.roles[name] == "sensitive" and bins_of(given)):
            raise UnreadableError(_("“%(name)s” has more than %(most)s values: make them coarser", name=name, most=MOST_VALUES))


def packed_records(records: Iterable[Record]) -> bytes:
    """One record in each line; siblings in the order of their text, so that no order of the files is kept."""
    machine = zlib.compressobj(6)
    return b"".join([*(machine.compress(f"{_written(record)}\n".encode()) for record in records), machine.flush()])


def _written(record: Record) -> str:
    below = ",".join(sorted(map(_written, record[CHILDREN])))
    labels, values = _told(tuple(record[LABELS].items())), _told(tuple(record[VALUES].items()))
    return f'{{"{LABELS}":{labels},"{VALUES}":{values},"{CHILDREN}":[{below}]}}'


@lru_cache(maxsize=100_000)
def _told(items: tuple[tuple[str, str], ...]) -> str:
    return json.dumps(dict(items), separators=(",", ":"), ensure_ascii=False)


def _at(one: Mapping[str, Any], line: int, problem: Sentence) -> UnreadableError:
    if one["kind"] == "xapi":
        return UnreadableError(_("“%(file)s”, statement %(line)s: %(problem)s", file=one["name"], line=line, problem=problem))
    return UnreadableError(_("“%(file)s”, line %(line)s: %(problem)s", file=one["name"], line=line, problem=problem))
