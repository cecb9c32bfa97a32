"""The log as a file that can be verified anywhere: JSON Lines, one entry each, and a last line that says where the log ended."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from audit.chain import Link, Verification, follow, hash_of, past_the_end


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedEntry:
    sequence: int
    at: datetime
    actor_id: int | None
    actor_name: str
    action: str
    subject_kind: str
    subject_id: str
    details: Any
    previous_hash: str
    hash: str

    def expected_hash(self) -> str:
        """What `hash` must be for this content."""
        content = asdict(self)
        del content["hash"]
        return hash_of(**content)

    def line(self) -> str:
        return json.dumps({**asdict(self), "at": self.at.isoformat()}, ensure_ascii=False, allow_nan=False) + "\n"


FIELDS = frozenset(ExportedEntry.__dataclass_fields__)


class UnreadableLineError(ValueError):
    """A line of a file that is no entry."""


def last_line(*, sequence: int, hash: str) -> str:
    """The end of the file: without it, or with fewer entries than it says, the file was cut."""
    return json.dumps({"end": sequence, "hash": hash}) + "\n"


def verify_lines(lines: Iterable[str]) -> Verification:
    """Check an exported file by itself; nothing else is needed."""
    entries: list[Link] = []
    end: tuple[int, str] | None = None
    for number, line in enumerate(lines, 1):
        try:
            found = _read(line)
        except UnreadableLineError as error:
            before = follow(entries, last=len(entries), last_hash=entries[-1].hash if entries else "")
            return before if before.broken_at else Verification(intact=before.intact, broken_at=number, reason=str(error))
        if end is not None:
            return Verification(intact=end[0], broken_at=number, reason="the file goes on after its last line")
        if isinstance(found, tuple):
            end = found
        else:
            entries.append(found)
    if end is None:
        found_so_far = follow(entries, last=len(entries) + 1, last_hash="")
        if found_so_far.broken_at == len(entries) + 1:
            return Verification(intact=len(entries), broken_at=len(entries) + 1, reason="the file ends here, before its last line")
        return found_so_far
    verification = follow(entries, last=end[0], last_hash=end[1])
    return past_the_end(end[0]) if verification.broken_at is None and verification.intact > end[0] else verification


def _read(line: str) -> ExportedEntry | tuple[int, str]:
    try:
        document = json.loads(line)
    except ValueError as error:
        raise UnreadableLineError("its line is not JSON") from error
    match document:
        case {"end": int(sequence), "hash": str(hash)} if len(document) == 2:
            return sequence, hash
        case {"sequence": int(), "at": str(at), "hash": str(), "previous_hash": str()} if set(document) == FIELDS:
            try:
                return ExportedEntry(**{**document, "at": datetime.fromisoformat(at)})
            except ValueError as error:
                raise UnreadableLineError("its time cannot be read") from error
        case _:
            raise UnreadableLineError("its line is not an entry")


def lines_of(entries: Iterable[ExportedEntry], *, sequence: int, hash: str) -> Iterator[str]:
    """The file, line by line, of a log that ends with this entry."""
    for entry in entries:
        yield entry.line()
    yield last_line(sequence=sequence, hash=hash)
