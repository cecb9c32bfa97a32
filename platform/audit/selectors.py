"""Reading the log."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.apps import apps
from django.db import models

from audit.actions import VERIFIED
from audit.chain import Verification, follow, past_the_end
from audit.exported import ExportedEntry, PartHead, lines_of, lines_of_part
from audit.models import Entry, Head, PublishedHead

PAGE_SIZE = 50
EXPORTED = ("sequence", "at", "actor_id", "actor_name", "action", "subject_kind", "subject_id", "details", "previous_hash", "hash", "salt")


def verify() -> Verification:
    """Walk the whole chain from its beginning, past all ends that were published; it may grow meanwhile."""
    before, published = _head(), dict(PublishedHead.objects.values_list("sequence", "hash"))
    links = Entry.objects.order_by("sequence").iterator(chunk_size=1000)
    verification = follow(links, last=before.sequence, last_hash=before.hash, published=published)
    if verification.broken_at is None and verification.intact > (recorded := _head().sequence):
        return past_the_end(recorded)
    return verification


def number_of_entries() -> int:
    return _head().sequence


def last_verification() -> Entry | None:
    """The newest entry with the result of checking the chain."""
    return Entry.objects.filter(action=VERIFIED).order_by("-sequence").first()


def published_heads() -> list[dict[str, object]]:
    """The log's end on each day, as anybody may read it; the latest last."""
    return [{"day": one.day.isoformat(), "entries": one.sequence, "hash": one.hash} for one in PublishedHead.objects.order_by("day")]


def hashes_at(sequences: Collection[int]) -> dict[int, str]:
    """The hashes of these entries, as far as they are there."""
    return dict(Entry.objects.filter(sequence__in=sequences).values_list("sequence", "hash"))


def entries_about(subject: models.Model) -> models.QuerySet[Entry]:
    """The entries about one subject, latest first."""
    return Entry.objects.filter(subject_kind=subject._meta.label_lower, subject_id=str(subject.pk)).order_by("-sequence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A reader's filter on the log, which excludes entries about `hidden` subjects.

    `kind` is an action ("study.launched") or the beginning of several ("study.").
    """

    kind: str = ""
    person: str = ""
    subject: models.Model | None = None
    hidden: Collection[models.Model] = ()
    since: date | None = None
    until: date | None = None

    def entries(self) -> models.QuerySet[Entry]:
        found = entries_about(self.subject) if self.subject else Entry.objects.order_by("-sequence")
        for kind in {one._meta.label_lower for one in self.hidden}:
            keys = [str(one.pk) for one in self.hidden if one._meta.label_lower == kind]
            found = found.exclude(subject_kind=kind, subject_id__in=keys)
        if self.kind:
            found = found.filter(action__startswith=self.kind) if self.kind.endswith(".") else found.filter(action=self.kind)
        if self.person:
            found = found.filter(actor_name=self.person)
        if self.since:
            found = found.filter(at__gte=_midnight(self.since))
        if self.until and self.until < date.max:
            found = found.filter(at__lt=_midnight(self.until + timedelta(days=1)))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of entries, latest first; `older` and `newer` are the keys where its neighbours start, if there are any."""

    entries: list[Entry]
    older: int | None
    newer: int | None


def page_of(asked: Asked, *, before: int | None = None, after: int | None = None) -> Page:
    """Paged by key, never by offset: the thousandth page is as quick as the first."""
    entries = asked.entries()
    if after is not None:
        found = list(entries.filter(sequence__gt=after).order_by("sequence")[: PAGE_SIZE + 1])
        shown, more_newer = found[:PAGE_SIZE][::-1], len(found) > PAGE_SIZE
        more_older = bool(shown) and entries.filter(sequence__lt=shown[-1].sequence).exists()
    else:
        found = list((entries if before is None else entries.filter(sequence__lt=before))[: PAGE_SIZE + 1])
        shown, more_older = found[:PAGE_SIZE], len(found) > PAGE_SIZE
        more_newer = before is not None and bool(shown) and entries.filter(sequence__gt=shown[0].sequence).exists()
    return Page(
        entries=shown,
        older=shown[-1].sequence if more_older else None,
        newer=shown[0].sequence if more_newer else None,
    )


def names_of_subjects(entries: Iterable[Entry]) -> dict[tuple[str, str], str]:
    """The names of these entries' subjects, where they still exist; one query for each kind."""
    wanted: dict[str, set[str]] = {}
    for entry in entries:
        if entry.subject_kind:
            wanted.setdefault(entry.subject_kind, set()).add(entry.subject_id)
    names = {}
    for kind, keys in wanted.items():
        try:
            model = apps.get_model(kind)
        except LookupError:  # of an application that has gone since
            continue
        names.update({(kind, str(key)): str(found) for key, found in model._default_manager.in_bulk(list(keys)).items()})
    return names


def exported_log(asked: Asked | None = None, *, part: str = "") -> Iterator[str]:
    """The log as a file, line by line, as it is now: all of it, or a selection, called `part`."""
    head = _head()
    entries = (asked or Asked()).entries().filter(sequence__lte=head.sequence).order_by("sequence")
    exported = (ExportedEntry(**row) for row in entries.values(*EXPORTED).iterator(chunk_size=1000))
    if part:
        return lines_of_part(exported, head=PartHead(part=part, end=head.sequence, hash=head.hash))
    return lines_of(exported, sequence=head.sequence, hash=head.hash)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, tzinfo=UTC)


def _head() -> Head:
    return Head.objects.filter(id=1).first() or Head()
