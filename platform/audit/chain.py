"""The audit log's hash chain: each entry's hash covers its own content and the hash of the one before."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Protocol

from django.core.serializers.json import DjangoJSONEncoder

GENESIS = "0" * 64
"""The `previous_hash` of the first entry."""


class Link(Protocol):
    """An entry, in the database or in a file."""

    @property
    def sequence(self) -> int: ...
    @property
    def previous_hash(self) -> str: ...
    @property
    def hash(self) -> str: ...
    def expected_hash(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of checking the chain: how many entries hold and, if one is broken, the first one and why."""

    intact: int
    broken_at: int | None = None
    reason: str = ""

    @property
    def sentence(self) -> str:
        """The finding in words."""
        if self.broken_at is not None:
            return f"Entry {self.broken_at:,} is not as it was written: {self.reason}. Intact before it: {self.intact:,}."
        return f"All {self.intact:,} entries are as they were written." if self.intact != 1 else "The only entry is as it was written."


NOTHING_PUBLISHED: Mapping[int, str] = MappingProxyType({})


def follow(links: Iterable[Link], *, last: int, last_hash: str, published: Mapping[int, str] = NOTHING_PUBLISHED) -> Verification:
    """Walk the chain from its beginning to entry `last`, whose hash is known; later entries are checked all the same.

    `published` are hashes of entries with which the log once ended, for everybody to read.
    """
    intact, previous_hash = 0, GENESIS
    for link in links:
        expected = intact + 1
        if link.sequence != expected:
            return Verification(intact=intact, broken_at=expected, reason=f"it is missing; the next one is {link.sequence}")
        if link.previous_hash != previous_hash:
            return Verification(intact=intact, broken_at=expected, reason="it does not follow from the entry before it")
        if link.hash != link.expected_hash():
            return Verification(intact=intact, broken_at=expected, reason="its content is not what was recorded")
        if link.sequence == last and link.hash != last_hash:
            return Verification(intact=intact, broken_at=expected, reason="it is not the entry that was recorded last")
        if published.get(link.sequence, link.hash) != link.hash:
            return Verification(intact=intact, broken_at=expected, reason="it is not the entry that was published as the log's end")
        intact, previous_hash = link.sequence, link.hash
    if intact < (end := max([last, *published])):
        return Verification(intact=intact, broken_at=intact + 1, reason=f"entries {intact + 1} to {end} are missing")
    return Verification(intact=intact)


def follow_part(links: Iterable[Link], *, last: int, last_hash: str) -> Verification:
    """Check entries with gaps between them: each by its own hash, neighbours also by the earlier hash that the later one holds.

    `intact` and `broken_at` count within the part.
    """
    intact, before, before_hash = 0, 0, GENESIS
    for link in links:
        reason = ""
        if not before < link.sequence <= last:
            reason = f"entry {link.sequence} is out of order"
        elif link.sequence == before + 1 and link.previous_hash != before_hash:
            reason = f"entry {link.sequence} does not follow from the entry before it"
        elif link.hash != link.expected_hash():
            reason = f"the content of entry {link.sequence} is not what was recorded"
        elif link.sequence == last and link.hash != last_hash:
            reason = f"entry {link.sequence} is not the entry that was recorded last"
        if reason:
            return Verification(intact=intact, broken_at=intact + 1, reason=reason)
        intact, before, before_hash = intact + 1, link.sequence, link.hash
    return Verification(intact=intact)


def compare_with_published(published: Iterable[tuple[str, int, str]], *, found: Mapping[int, str]) -> str:
    """How a log that was verified disagrees with what was published of it (day, number of entries, hash); empty if it does not."""
    for day, sequence, hash in published:
        if sequence and found.get(sequence) != hash:
            return f"on {day} it ended with entry {sequence} and the hash {hash}; found {found.get(sequence, 'no such entry')}"
    return ""


def past_the_end(last: int) -> Verification:
    """More entries were found than were recorded."""
    return Verification(intact=last, broken_at=last + 1, reason="it was added past the log's end")


def plain(details: Mapping[str, object]) -> object:
    """Details as JSON holds them: dates and decimals as text, no infinities."""
    return json.loads(json.dumps(details, cls=DjangoJSONEncoder, allow_nan=False))


def hash_of(
    *,
    sequence: int,
    at: datetime,
    actor_id: int | None,
    actor_name: str,
    action: str,
    subject_kind: str,
    subject_id: str,
    details: object,
    previous_hash: str,
    salt: str,
) -> str:
    """SHA-256, as hex, of one canonical JSON document of the entry. Entries from before there was a salt hold none."""
    content = [sequence, at.astimezone(UTC).isoformat(), actor_id, actor_name, action, subject_kind, subject_id, details, previous_hash]
    content += [salt] if salt else []
    document = json.dumps(_whole(content), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(document.encode()).hexdigest()


def _whole(value: object) -> object:
    """Whole floats as integers, as PostgreSQL gives them back: 1e23 comes out of jsonb as 1 and 23 zeros."""
    match value:
        case float() if value.is_integer():
            return int(Decimal(repr(value)))
        case list():
            return [_whole(item) for item in value]
        case dict():
            return {key: _whole(item) for key, item in value.items()}
        case _:
            return value
