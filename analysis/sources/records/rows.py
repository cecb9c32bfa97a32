"""Student records that somebody brings, as rows of a source: read from files, kept, and read again. No Django."""

import base64
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from tempfile import TemporaryFile
from typing import IO, Self

from analysis.answers.record_schemas import SENSITIVE, RecordSchema
from analysis.answers.study_records import NOT_ANSWERED, ROOT, halving
from analysis.sources.records.columns import RecordColumns
from analysis.sources.records.values import AUXILIARY, ENTRY, HOME, Attribute, are_numbers, bins_of, in_order
from candor.records.schema import Record
from surveys.reading.apart import read_apart
from surveys.reading.readers import RECORDS

CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtFile:
    """A file of a registrar or a department, as somebody declared it. `group`: what its rows are called below a student; empty: a row is
    a student. `roles` leave out the column `key`, which holds the student's number, and the columns `on`, which say to which row of the
    group `below` a row belongs.
    """

    name: str
    kind: str
    group: str = ""
    key: str = ""
    columns: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    below: str = ""
    on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRows:
    """Records in an order drawn by chance: the place of a record is its random key. No number of a student is among them."""

    n: int
    attributes: Sequence[Attribute]
    data: bytes
    simulated: bool = False
    """Whether their keys said so, as they were read."""

    @property
    def document(self) -> dict[str, list[Attribute]]:
        """Everything that may be told of them beside their number."""
        return {"attributes": list(self.attributes)}

    def to_bytes(self) -> bytes:
        return self.data

    def records(self, *, auxiliary: Collection[str] = ()) -> Iterator[Record]:
        """Each attribute in the field of its role. `auxiliary`: those that an officer confirmed to be published as they are."""
        homes = {one["name"]: HOME[one["role"]] for one in self.attributes} | dict.fromkeys(auxiliary, AUXILIARY)
        return RecordColumns.from_bytes(self.data).records(homes)

    def with_roles(self, roles: Mapping[str, str]) -> Self:
        """The same records with other roles. An identifier is dropped for ever, and so is the precision of a sensitive number."""
        columns = RecordColumns.from_bytes(self.data)
        wanted = {one["name"]: roles.get(one["name"], one["role"]) for one in self.attributes}
        newly = [one["name"] for one in self.attributes if wanted[one["name"]] == SENSITIVE != one["role"]]
        bins = {name: bins_of(columns.columns[name].counts()) for name in newly}
        attributes: list[Attribute] = [
            {
                **one,
                "role": wanted[one["name"]],
                "values": in_order({bins.get(one["name"], {}).get(value, value) for value in one["values"]}),
            }
            for one in self.attributes
            if wanted[one["name"]] in HOME
        ]
        dropped = [name for name, role in wanted.items() if role not in HOME]
        return type(self)(n=self.n, attributes=attributes, data=columns.changed(dropped=dropped, renamed=bins).to_bytes())


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtRecords:
    """Files that are joined on the number of the student, and rows of rows besides on the columns that name them."""

    files: Sequence[BroughtFile]

    def read(self, parts: Sequence[IO[bytes]]) -> RecordRows:
        """Raises NotReadError, naming files, lines and columns. The parts stand in a file without a name, and only while they are read."""
        order = sorted(range(len(self.files)), key=lambda at: len(way_up(self.files[at], self.files)))
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
        data = base64.b64decode(found["records"])
        return RecordRows(n=found["n"], attributes=found["attributes"], data=data, simulated=found["simulated"])


def way_up(file: BroughtFile, files: Sequence[BroughtFile]) -> list[str]:
    """The groups from the rows of a file up to the student, each once: a way that leads back to itself ends there."""
    above = {one.group: one.below for one in files if one.group}
    found: list[str] = []
    group = file.group
    while group and group not in found:
        found.append(group)
        group = above.get(group, "")
    return found


def schema_in(document: Mapping[str, Sequence[Attribute]]) -> RecordSchema:
    """The attributes of records that somebody brought. Numbers are halved, all else has one level up to `*`."""
    attributes = {one["name"]: one for one in document["attributes"]}
    kept = {name: one for name, one in attributes.items() if one["values"] != [ENTRY]}
    return RecordSchema(
        roles={name: one["role"] for name, one in kept.items()},
        words={name: name for name in kept},
        hierarchies={name: _suggested(one["values"]) for name, one in attributes.items() if one["role"] != SENSITIVE},
        nested=frozenset(name for name, one in kept.items() if one["nested"]),
        values={name: list(one["values"]) for name, one in kept.items() if one["role"] == SENSITIVE},
        auxiliary={name: name for name, one in kept.items() if one["role"] == "auxiliary"},
    )


def without_values(document: Mapping[str, Sequence[Attribute]]) -> dict[str, list[Attribute]]:
    """The attributes by name and role, without the values that occurred."""
    return {"attributes": [one if one["values"] == [ENTRY] else {**one, "values": []} for one in document["attributes"]]}


def _suggested(values: Sequence[str]) -> dict[str, list[str]]:
    if list(values) == [ENTRY]:
        return {ENTRY: [ENTRY, ROOT]}
    if are_numbers(values):
        return halving(values)
    return {value: [value, ROOT] for value in [*values, NOT_ANSWERED]}
