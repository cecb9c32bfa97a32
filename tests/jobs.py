"""Work done here and now, as a worker would do it, and the messages to the broker."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from jobs import tasks
from jobs.models import Lease
from jobs.registry import JOBS, job_of

Sent = list[dict[str, Any]]


def catch(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """Messages to the workers, collected instead of sent: kind, key and the seconds until they come."""
    sent: Sent = []

    def keep(args: tuple[str, str], *, countdown: float, **options: Any) -> None:
        sent.append({"kind": args[0], "key": args[1], "countdown": countdown, **options})

    monkeypatch.setattr(tasks.work, "apply_async", keep)
    return sent


def work_on(lease: Lease) -> None:
    """Deliver one message about this work to a worker."""
    tasks.work(job_of(lease).kind, str(lease.pk))


def claimed(lease: Lease) -> Any:
    """Claim the work as a worker would."""
    found = type(lease).claim(lease.pk)
    assert found is not None
    return found


def attempt(lease: Lease) -> None:
    """A worker's attempt at claimed work."""
    tasks.attempt(job_of(lease), lease)


def held(silent_for: float = 0) -> dict[str, Any]:
    """Columns of work whose worker gave its last heartbeat so many seconds ago."""
    return {"holder": uuid4(), "due_at": timezone.now() + Lease.TERM - timedelta(seconds=silent_for), "attempts": 1}


def fall_silent(lease: Lease, *, seconds: float = Lease.TERM.total_seconds() + 1) -> None:
    """As if its worker had been silent for so long."""
    due_at = timezone.now() + Lease.TERM - timedelta(seconds=seconds)
    type(lease)._default_manager.filter(pk=lease.pk, holder__isnull=False).update(due_at=due_at)


def swept(sent: Sent, *kinds: str) -> list[str]:
    """The keys of the work that the sweep sends now."""
    del sent[:]
    tasks.sweep()
    return keys(sent, *kinds)


def keys(sent: Sent, *kinds: str) -> list[str]:
    """The sent messages of these kinds."""
    return [message["key"] for message in sent if message["kind"] in kinds]


def work_off(lease: Lease) -> None:
    """Do the work to its end, with all of its parts."""
    while is_unfinished(lease):
        if lease.is_spread:
            work_on_part(lease)
        else:
            work_on(lease)


def work_on_part(lease: Lease) -> None:
    """Deliver a message about one of the parts into which this work is split."""
    [kind] = [job.kind for job in JOBS.values() if job.part_of and isinstance(lease, job.whole)]
    tasks.work(kind, str(lease.pk))


def is_unfinished(lease: Lease) -> bool:
    lease.refresh_from_db(fields=("due_at", "holder", *lease.HELD))
    return lease.due_at is not None or lease.is_spread
