"""Reading the log."""

from dataclasses import dataclass

from django.db import models

from audit import chain
from audit.models import Entry, Head


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What checking the chain found: how many entries hold, and, if one does not, the first that is broken and why."""

    intact: int
    broken_at: int | None = None
    reason: str = ""


def verify() -> Verification:
    """Walk the whole chain from its beginning; it may grow meanwhile."""
    before = _head()
    intact, previous_hash = 0, chain.GENESIS
    for entry in Entry.objects.order_by("sequence").iterator(chunk_size=1000):
        expected = intact + 1
        if entry.sequence != expected:
            return Verification(intact=intact, broken_at=expected, reason=f"it is missing; the next one is {entry.sequence}")
        if entry.previous_hash != previous_hash:
            return Verification(intact=intact, broken_at=expected, reason="it does not follow from the entry before it")
        if entry.hash != entry.expected_hash():
            return Verification(intact=intact, broken_at=expected, reason="its content is not what was recorded")
        if entry.sequence == before.sequence and entry.hash != before.hash:
            return Verification(intact=intact, broken_at=expected, reason="it is not the entry that was recorded last")
        intact, previous_hash = entry.sequence, entry.hash
    if intact < before.sequence:
        return Verification(intact=intact, broken_at=intact + 1, reason=f"entries {intact + 1} to {before.sequence} are missing")
    if intact > (recorded := _head().sequence):
        return Verification(intact=recorded, broken_at=recorded + 1, reason="it was added past the log's end")
    return Verification(intact=intact)


def entries_about(subject: models.Model) -> models.QuerySet[Entry]:
    """What was done to one thing, latest first."""
    return Entry.objects.filter(subject_kind=subject._meta.label_lower, subject_id=str(subject.pk)).order_by("-sequence")


def _head() -> Head:
    return Head.objects.filter(id=1).first() or Head()
