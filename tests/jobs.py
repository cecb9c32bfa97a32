"""Work that is done here and now, as a worker would, and what is given to the broker."""

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
    """Messages to the workers, in place of giving them to the broker: kind, key and the seconds until they come."""
    sent: Sent = []

    def keep(args: tuple[str, str], *, countdown: float, **options: Any) -> None:
        sent.append({"kind": args[0], "key": args[1], "countdown": countdown, **options})

    monkeypatch.setattr(tasks.work, "apply_async", keep)
    return sent


def work_on(lease: Lease) -> None:
    """One message about this work comes to a worker."""
    tasks.work(job_of(lease).kind, str(lease.pk))


def claimed(lease: Lease) -> Any:
    """The work as a worker has it who takes it now."""
    found = type(lease).claim(lease.pk)
    assert found is not None
    return found


def attempt(lease: Lease) -> None:
    """A worker's attempt at claimed work."""
    tasks.attempt(job_of(lease), lease)


def held(silent_for: float = 0) -> dict[str, Any]:
    """Columns of work whose worker was heard of so many seconds ago."""
    return {"holder": uuid4(), "due_at": timezone.now() + Lease.TERM - timedelta(seconds=silent_for), "attempts": 1}


def fall_silent(lease: Lease, *, seconds: float = Lease.TERM.total_seconds() + 1) -> None:
    """As if its worker had not been heard of for so long."""
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
    """A message about one of the parts over which this work is spread comes to a worker."""
    [kind] = [job.kind for job in JOBS.values() if job.part_of and isinstance(lease, job.whole)]
    tasks.work(kind, str(lease.pk))


def is_unfinished(lease: Lease) -> bool:
    lease.refresh_from_db(fields=("due_at", "holder", *lease.HELD))
    return lease.due_at is not None or lease.is_spread
