"""The versions of a draft, and the changes that one person can take back or make again."""

from dataclasses import dataclass

from django.db.models import QuerySet

from accounts.models import User
from surveys.models import RUNNING, DraftRevision, Study


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """A person's last change that can be taken back, and the last one that they took back and can make again."""

    undo: DraftRevision | None = None
    redo: DraftRevision | None = None


def versions_of(study: Study) -> QuerySet[DraftRevision]:
    """All that are kept, the newest first, without their documents."""
    return study.revisions.select_related("actor").defer("definition").order_by("-number")


def steps_of(study: Study, person: User) -> Steps:
    """The changes that this person can take back and make again. A new change forgets what could be made again.

    In a running study these are changes of the amendment, not of the protocol with which people take part.
    """
    done: list[DraftRevision] = []
    undone: list[DraftRevision] = []
    frozen = study.protocol.definition if study.status in RUNNING and study.protocol else None
    first = frozen and study.revisions.filter(definition=frozen, reverts=None).last()
    for revision in versions_of(study).filter(number__gte=first.number if first else 0).reverse():
        if first is None:
            first = revision  # nothing is known of what was before it
        elif revision.actor_id == person.pk and revision.number > first.number:
            if revision.reverts is not None and undone and undone[-1].number == revision.reverts:
                undone.pop()
                done.append(revision)
            elif revision.reverts is not None and done and done[-1].number == revision.reverts:
                done.pop()
                undone.append(revision)
            else:
                done.append(revision)
                undone.clear()
    return Steps(undo=done[-1] if done else None, redo=undone[-1] if undone else None)
