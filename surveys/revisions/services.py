"""Keeping the versions of a draft."""

from collections.abc import Mapping
from datetime import timedelta

from django.utils import timezone

from accounts.models import User
from surveys.drafting.parts import PARTS
from surveys.models import DraftRevision, Study

SPELL = timedelta(minutes=10)
MOST_KEPT = 100


def keep_revision(
    study: Study, *, before: Mapping[str, object], author: User, page: str = "", reverts: int | None = None
) -> DraftRevision | None:
    """Keep the draft as it is now; `before` is what it was. The caller holds the study's lock and records the change.

    `page`: the address of a page that saves by itself while this person types. Returns None where the newest version could be renewed
    instead: the same person typed on the same page less than ten minutes ago, and no protocol was frozen since.
    """
    newest = study.revisions.last()
    now = timezone.now()
    if newest is None:
        newest = DraftRevision.objects.create(study=study, number=1, definition=before, at=now)
    is_same_spell = page and (newest.actor_id, newest.page) == (author.pk, page) and now - newest.at < SPELL
    if is_same_spell and not study.protocols.filter(definition=newest.definition).exists():
        newest.definition = study.definition
        newest.save(update_fields=["definition"])
        return None
    study.revisions.filter(number__lte=newest.number + 1 - MOST_KEPT).delete()
    return DraftRevision.objects.create(
        study=study,
        number=newest.number + 1,
        definition=study.definition,
        part=_changed_part(before, study.definition),
        page=page,
        reverts=reverts,
        actor=author,
        at=now,
    )


def _changed_part(before: Mapping[str, object], after: Mapping[str, object]) -> str:
    """The only part of the builder in which something changed, or nothing where there are several."""
    changed = {key for key in {*before, *after} - {"translations"} if before.get(key) != after.get(key)}
    parts = [part.name for part in PARTS if changed & set(part.keys)]
    return parts[0] if len(parts) == 1 else ""
