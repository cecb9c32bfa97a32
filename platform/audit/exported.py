"""The log as a file that can be verified anywhere: JSON Lines, one entry each, and a last line with the log's end.

A file of part of the log begins with a line that identifies the part and states how little it proves alone.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from typing import TypeVar

from audit.chain import Verification, follow, follow_part, hash_of, past_the_end

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedEntry:
    sequence: int
    at: datetime
    actor_id: int | None
    actor_name: str
    action: str
    subject_kind: str
    subject_id: str
    details: object
    previous_hash: str
    hash: str
    salt: str = ""

    def expected_hash(self) -> str:
        """The `hash` that belongs to this content."""
        content = asdict(self)
        del content["hash"]
        return hash_of(**content)

    def line(self) -> str:
        content = {**asdict(self), "at": self.at.astimezone(UTC).isoformat()}
        if not self.salt:  # as files of entries from before there was one
            del content["salt"]
        return json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n"


FIELDS = frozenset(ExportedEntry.__dataclass_fields__)


class UnreadableLineError(ValueError):
    """A line of a file that is not an entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartHead:
    """The first line of a part identifies the part and the log's end at the time of export."""

    part: str
    end: int
    hash: str

    def line(self) -> str:
        return json.dumps({**asdict(self), "proves": WHAT_A_PART_PROVES}, ensure_ascii=False) + "\n"


WHAT_A_PART_PROVES = (
    "Each entry is as its own hash says. That no entry is left out, and that the log was not written anew, only a file of the whole log "
    "shows: the same entries must stand there with the same hashes."
)


def last_line(*, sequence: int, hash: str) -> str:
    """The end of the file: without it, or with fewer entries than it says, the file was cut."""
    return json.dumps({"end": sequence, "hash": hash}) + "\n"


def lines_of(entries: Iterable[ExportedEntry], *, sequence: int, hash: str) -> Iterator[str]:
    """The file, line by line, of a log that ends with this entry."""
    for entry in entries:
        yield entry.line()
    yield last_line(sequence=sequence, hash=hash)


def lines_of_part(entries: Iterable[ExportedEntry], *, head: PartHead) -> Iterator[str]:
    """The file of some of the entries; its last line has their number and the SHA-256 of all that stands above it."""
    digest, lines = hashlib.sha256(), 0
    for line in chain([head.line()], (entry.line() for entry in entries)):
        digest.update(line.encode())
        lines += 1
        yield line
    yield json.dumps({"entries": lines - 1, "sha256": digest.hexdigest()}) + "\n"


def verify_lines(lines: Iterable[str]) -> Verification:
    """Check an exported file by itself; nothing else is needed."""
    lines = iter(lines)
    first = next(lines, "")
    if head := part_head(first):
        return _verify_part(head, first, lines)
    entries: list[ExportedEntry] = []
    end: tuple[int, str] | None = None
    for number, line in enumerate(chain([first] if first else [], lines), 1):
        if end is not None:
            return Verification(intact=end[0], broken_at=number, reason="the file goes on after its last line")
        try:
            found = _read(line, last=("end", "hash"))
        except UnreadableLineError as error:
            before = follow(entries, last=len(entries), last_hash=entries[-1].hash if entries else "")
            return before if before.broken_at else Verification(intact=before.intact, broken_at=number, reason=str(error))
        if isinstance(found, ExportedEntry):
            entries.append(found)
        else:
            end = found
    if end is None:
        found_so_far = follow(entries, last=len(entries) + 1, last_hash="")
        if found_so_far.broken_at == len(entries) + 1:
            return Verification(intact=len(entries), broken_at=len(entries) + 1, reason="the file ends here, before its last line")
        return found_so_far
    verification = follow(entries, last=end[0], last_hash=end[1])
    return past_the_end(end[0]) if verification.broken_at is None and verification.intact > end[0] else verification


def part_head(line: str) -> PartHead | None:
    """The part that the first line describes; None for files of the whole log and for other files."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return None
    match document:
        case {"part": str(part), "end": int(end), "hash": str(hash)}:
            return PartHead(part=part, end=end, hash=hash)
    return None


def _verify_part(head: PartHead, first: str, lines: Iterator[str]) -> Verification:
    """By line of the file: the first one is the head."""
    digest = hashlib.sha256(_ended(first))
    entries: list[ExportedEntry] = []
    last: tuple[int, str] | None = None
    fault = ""
    for line in lines:
        try:
            found = _read(line, last=("entries", "sha256"))
        except UnreadableLineError as error:
            fault = str(error)
            break
        if not isinstance(found, ExportedEntry):
            last = found
            break
        entries.append(found)
        digest.update(_ended(line))
    verification = follow_part(entries, last=head.end, last_hash=head.hash)
    if verification.broken_at is not None:
        return replace(verification, broken_at=verification.broken_at + 1)
    if last is None:
        fault = fault or "the file ends here, before its last line"
    elif last[0] != len(entries):
        fault = f"by its last line the file has {last[0]} entries, and there are {len(entries)}"
    elif last[1] != digest.hexdigest():
        fault = "every entry is as its own hash says, but the file is not as it was written"
    elif next(lines, None) is not None:
        return Verification(intact=len(entries), broken_at=len(entries) + 3, reason="the file goes on after its last line")
    return Verification(intact=len(entries), broken_at=len(entries) + 2 if fault else None, reason=fault)


def _ended(line: str) -> bytes:
    return line.rstrip("\n").encode() + b"\n"


def hashes_in(lines: Iterable[str], sequences: Collection[int]) -> dict[int, str]:
    """The hashes of these entries in a file that was verified."""
    entries = (json.loads(line) for line in lines)
    return {entry["sequence"]: entry["hash"] for entry in entries if entry.get("sequence") in sequences}


def _read(line: str, *, last: tuple[str, str]) -> ExportedEntry | tuple[int, str]:
    """An entry, or a last line by the names of its number and hash. Only the export's exact spelling counts."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UnreadableLineError("its line is not JSON") from error
    match document:
        case {"sequence": int(), "at": str(at), "hash": str(), "previous_hash": str()} if {*document, "salt"} == FIELDS:
            try:
                entry = ExportedEntry(**{**document, "at": datetime.fromisoformat(at)})
                written = entry.line()
            except (ValueError, OverflowError) as error:
                raise UnreadableLineError("its line holds a time or a number that no log holds") from error
            return _as_written(line, written, entry)
        case dict() if tuple(document) == last:
            number, hash = document.values()
            if isinstance(number, int) and isinstance(hash, str):
                return _as_written(line, json.dumps(document), (number, hash))
    raise UnreadableLineError("its line is not an entry")


def _as_written(line: str, written: str, found: Found) -> Found:
    """JSON allows many spellings, and even contradictions; the export has one spelling."""
    if line.rstrip("\n") != written.rstrip("\n"):
        raise UnreadableLineError("its line is not written as the log's export writes it")
    return found
