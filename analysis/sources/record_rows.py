"""Student records that somebody brings, as rows of a source: read from files, kept, and read again. No Django."""

import base64
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from tempfile import TemporaryFile
from typing import IO, Any, Self

from analysis.answers.record_schemas import SENSITIVE, RecordSchema
from analysis.answers.study_records import NOT_ANSWERED, ROOT, halving
from analysis.sources.record_files import Record, packed_records
from analysis.sources.record_values import CHILDREN, ENTRY, HOME, LABELS, VALUES, are_numbers, bins_of, in_order, in_roles
from surveys.reading.apart import read_apart
from surveys.reading.readers import RECORDS

CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtFile:
    """A file of a registrar or a department, as somebody declared it. `group`: what its rows are called below a student; empty: a row is
    a student. `roles` leave out the column `key`, which holds the student's number.
    """

    name: str
    kind: str
    group: str = ""
    key: str = ""
    columns: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRows:
    """Records in an order drawn by chance: the place of a record is its random key. No number of a student is among them."""

    n: int
    attributes: Sequence[Mapping[str, Any]]
    data: bytes

    @property
    def document(self) -> dict[str, Any]:
        """Everything that may be told of them beside their number."""
        return {"attributes": list(self.attributes)}

    def to_bytes(self) -> bytes:
        return self.data

    def records(self) -> Iterator[Record]:
        return records_in(self.data)

    def with_roles(self, roles: Mapping[str, str]) -> Self:
        """The same records with other roles. An identifier is dropped for ever, and so is the precision of a sensitive number."""
        counts: dict[str, Counter[str]] = {str(one["name"]): Counter() for one in self.attributes}
        for record in self.records():
            _count(record, counts)
        wanted = {str(one["name"]): roles.get(one["name"], one["role"]) for one in self.attributes}
        bins = {name: bins_of(counts[name]) for name, role in wanted.items() if role == SENSITIVE}
        attributes = [
            {
                **one,
                "role": wanted[one["name"]],
                "values": in_order({bins.get(one["name"], {}).get(value, value) for value in one["values"]}),
            }
            for one in self.attributes
            if wanted[one["name"]] in HOME
        ]
        data = packed_records(in_roles(record, wanted, bins) for record in self.records())
        return type(self)(n=self.n, attributes=attributes, data=data)


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtRecords:
    """Files that are joined on the number of the student, the one of the students before the others."""

    files: Sequence[BroughtFile]

    def read(self, parts: Sequence[IO[bytes]]) -> RecordRows:
        """Raises NotReadError, naming files, lines and columns. The parts stand in a file without a name, and only while they are read."""
        order = sorted(range(len(self.files)), key=lambda at: bool(self.files[at].group))
        with TemporaryFile() as whole:
            files = []
            for at in order:
                begin = whole.tell()
                parts[at].seek(0)
                while chunk := parts[at].read(CHUNK):
                    whole.write(chunk)
                files.append({**asdict(self.files[at]), "size": whole.tell() - begin})
            whole.flush()
            found = read_apart(whole, reader=RECORDS, files=files)
        return RecordRows(n=found["n"], attributes=found["attributes"], data=base64.b64decode(found["records"]))


def records_in(data: bytes) -> Iterator[Record]:
    """The records that `packed_records` wrote."""
    for line in zlib.decompress(data).splitlines():
        yield json.loads(line)


def schema_in(document: Mapping[str, Any]) -> RecordSchema:
    """The attributes of records that somebody brought. Numbers are halved, all else has one level up to `*`."""
    attributes = {one["name"]: one for one in document["attributes"]}
    kept = {name: one for name, one in attributes.items() if one["values"] != [ENTRY]}
    return RecordSchema(
        roles={name: one["role"] for name, one in kept.items()},
        words={name: name for name in kept},
        hierarchies={name: _suggested(one["values"]) for name, one in attributes.items() if one["role"] != SENSITIVE},
        nested=frozenset(name for name, one in kept.items() if one["nested"]),
        values={name: list(one["values"]) for name, one in kept.items() if one["role"] == SENSITIVE},
    )


def _suggested(values: Sequence[str]) -> dict[str, list[str]]:
    if list(values) == [ENTRY]:
        return {ENTRY: [ENTRY, ROOT]}
    if are_numbers(values):
        return halving(values)
    return {value: [value, ROOT] for value in [*values, NOT_ANSWERED]}


def _count(record: Record, counts: Mapping[str, Counter[str]]) -> None:
    for name, value in (*record[LABELS].items(), *record[VALUES].items()):
        counts[name][value] += 1
    for child in record[CHILDREN]:
        _count(child, counts)
