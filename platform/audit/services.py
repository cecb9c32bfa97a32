"""Writing to the log."""

import secrets
from collections.abc import Iterator, Mapping
from datetime import datetime

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import models, transaction
from django.utils import timezone

from audit import actions, chain
from audit.events import recorded
from audit.models import Entry, Head, PublishedHead
from audit.selectors import Asked, entries_about, exported_log, verify


@transaction.atomic
def record(
    *,
    actor: AbstractBaseUser | None,
    action: str,
    subject: models.Model | None,
    details: Mapping[str, object] | None = None,
    of_the_day: bool = False,
) -> Entry:
    """Append one entry in the caller's transaction, so that a rollback removes it too.

    `actor` is None when the platform itself acts. `of_the_day`: the entry has the day's midnight for its time, because its second would be
    that of a participant. Call it last in a service: the log stays locked until the transaction ends.
    """
    actions.description_of(action)
    head, _ = Head.objects.select_for_update().get_or_create(id=1)
    entry = Entry(
        sequence=head.sequence + 1,
        at=_midnight() if of_the_day else timezone.now(),
        actor_id=actor.pk if actor is not None else None,
        actor_name=actor.get_username() if actor is not None else "",
        action=action,
        subject_kind=subject._meta.label_lower if subject is not None else "",
        subject_id=str(subject.pk) if subject is not None else "",
        details=chain.plain(details or {}),
        salt=secrets.token_hex(16),
        previous_hash=head.hash,
    )
    entry.hash = entry.expected_hash()
    entry.full_clean(exclude=("actor",), validate_unique=False, validate_constraints=False)
    entry.save()
    head.sequence, head.hash = entry.sequence, entry.hash
    head.save()
    recorded.send(sender=Entry, action=action, subject=subject)
    return entry


def record_once_a_day(*, actor: AbstractBaseUser, action: str, subject: models.Model) -> None:
    """Record at most once a day for each person and subject; for reads that programs and open pages repeat."""
    if not entries_about(subject).filter(actor_id=actor.pk, action=action, at__gte=_midnight()).exists():
        record(actor=actor, action=action, subject=subject)


def _midnight() -> datetime:
    return timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)


def verify_and_record(*, actor: AbstractBaseUser | None) -> Entry:
    """Check the whole chain and record the result, where everybody who may read the log finds it."""
    verification = verify()
    details = {"intact": verification.intact, "broken_at": verification.broken_at, "finding": verification.sentence}
    return record(actor=actor, action=actions.VERIFIED, subject=None, details=details)


def publish_head() -> None:
    """Once a day, note the log's end for everybody to read. The platform's own day begins at midnight UTC."""
    head, today = Head.objects.filter(id=1).first(), timezone.now().date()
    if head is not None and head.sequence and not PublishedHead.objects.filter(day=today).exists():
        PublishedHead.objects.bulk_create([PublishedHead(day=today, sequence=head.sequence, hash=head.hash)], ignore_conflicts=True)


def export(asked: Asked, *, part: str = "", actor: AbstractBaseUser) -> Iterator[str]:
    """A file of the log, or of a selection, called `part`. The log records who took it."""
    details = {"entries": asked.entries().count(), **({"part": part} if part else {})}
    record(actor=actor, action=actions.EXPORTED, subject=asked.subject, details=details)
    return exported_log(asked, part=part)
