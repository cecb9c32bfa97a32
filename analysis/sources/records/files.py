"""Reads files of students, which are joined on their numbers: what comes out is a tree for each student, without any number.

This module reads files from outside and does without Django; `surveys.reading` runs it. No sentence repeats a number or a value.
"""

import io
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING

from analysis.sources.records.joining import DeclaredFile, Joined, Packed, Row, naming, wrong_at
from analysis.sources.records.statements import STATEMENT, documents, statement_of
from analysis.sources.records.values import HOME, checked
from analysis.sources.table_files import DECIMAL_COMMA, opened, refused
from candor.written_keys import key_in
from surveys.reading.words import Sentence
from surveys.reading.words import sentence as _

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class _Slice(io.RawIOBase):
    """The next bytes of a file that holds several."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self.file, self.left = file, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        chunk = self.file.read(min(len(view), self.left))
        self.left -= len(chunk)
        view[: len(chunk)] = chunk
        return len(chunk)


def read(file: IO[bytes], *, files: Sequence[DeclaredFile]) -> Packed:
    """The number of students, the attributes, and the packed records.

    `files` stand one after another in `file`, each behind the one to whose rows its own belong: with `size`, `name`, `kind` (csv, xapi or
    json), `group` (what its rows are called; empty: a row is a student), `below` (the group of the rows above; empty: students) and `on`,
    the columns that say to which row above a row belongs. CSV has `key`, the `columns` and their `roles`. The last part of the address of
    its object names a statement, and that of its parent the row above.
    """
    joined = Joined()
    for one in files:
        part = io.BufferedReader(_Slice(file, one["size"]))
        if one["kind"] == "json":
            joined.take_records(part, one)
        else:
            named_by = next((sorted(below["on"]) for below in files if one["group"] and below["below"] == one["group"]), [])
            rows = _rows(part, one, named_by) if one["kind"] == "csv" else _statements(part, one)
            joined.take(rows, one, named_by=named_by)
        while part.read(1 << 20):  # what a reader left would be the beginning of the next file
            pass
    return joined.packed()


def _rows(part: IO[bytes], one: DeclaredFile, named_by: Sequence[str]) -> Iterator[Row]:
    with naming(one["name"]):
        names, rows, delimiter = opened(part, one["columns"])
    place, kept = names.index(one["key"]), [(at, name) for at, name in enumerate(names) if one["roles"].get(name) in HOME]
    above, own = ([(names.index(name), name) for name in columns] for columns in (sorted(one["on"]), named_by))
    for line, row in _naming_each(rows, one["name"]):
        found = {}
        for at, name in kept:
            value = checked(row[at], decimal_comma=delimiter == DECIMAL_COMMA)
            if isinstance(value, Sentence):
                with naming(one["name"]):
                    raise refused(line, name, value)
            found[name] = value
        for at, name in (*above, *own):
            if not row[at].strip():
                raise wrong_at(one, line, _("expected a value in “%(column)s”, by which rows are found, found nothing", column=name))
        its_above, its_own = (tuple(row[at].strip() for at, _name in columns) for columns in (above, own))
        yield Row(line, key_in(row[place]), found, its_above, its_own)


def _naming_each(rows: Iterator[tuple[int, list[str]]], file: str) -> Iterator[tuple[int, list[str]]]:
    with naming(file):
        yield from rows


def _statements(part: IO[bytes], one: DeclaredFile) -> Iterator[Row]:
    for number, document in documents(part, one["name"]):
        found = statement_of(document, has_parent=bool(one["below"]))
        if isinstance(found, Sentence):
            raise wrong_at(one, number, found)
        told = {name: found.told[name] for name in STATEMENT if one["roles"].get(name) in HOME}
        yield Row(number, key_in(found.key), told, (found.above,), (found.own,), found.named_as)
