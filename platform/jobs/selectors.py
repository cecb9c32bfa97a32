"""Waiting, running and failed work, for people who look after the server. No clock times: ages of what is there, days of what ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from django.db.models import Count, Min, Q
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext as _

from jobs.models import Lease, Routine
from jobs.registry import JOBS, Job

NEWEST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    day: date | None
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """All work of one kind. `oldest` is how long the first waiting row has been due, `next_in` the time until the next one is."""

    name: str
    slug: str
    waiting: int
    oldest: str
    later: int
    next_in: str
    running: int
    progress: Sequence[str]
    failed: int
    failures: Sequence[Failure]


def all_work() -> list[Work]:
    return [_work(job) for job in JOBS.values()]


def _work(job: Job[Lease]) -> Work:
    now, failed = timezone.now(), ~Q(error="")
    if job.model is not Routine:
        failed &= Q(due_at=None)
    due, later = (Q(holder=None) & Q(**{f"due_at__{when}": now}) for when in ("lte", "gt"))
    found = job.rows().aggregate(
        waiting=Count("pk", filter=due),
        since=Min("due_at", filter=due),
        later=Count("pk", filter=later),
        next=Min("due_at", filter=later),
        running=Count("holder"),
        failed=Count("pk", filter=failed),
    )
    day = job.model.DAY_OF_THE_END
    failures = job.rows().filter(failed).order_by(*([f"-{day}"] if day else []), "-pk")[:NEWEST] if found["failed"] else ()
    return Work(
        name=job.kind.replace("_", " ").capitalize(),
        slug=job.kind,
        waiting=found["waiting"],
        oldest=_in_words(now - (found["since"] or now)),
        later=found["later"],
        next_in=_in_words((found["next"] or now) - now),
        running=found["running"],
        progress=[lease.progress for lease in job.rows().filter(holder__isnull=False)[:NEWEST] if lease.progress]
        if found["running"]
        else (),
        failed=found["failed"],
        failures=[Failure(day=getattr(lease, day) if day else None, error=lease.error) for lease in failures],
    )


def _in_words(time: timedelta) -> str:
    now = timezone.now()
    return timesince(now - time, now) if time >= timedelta(minutes=1) else _("less than a minute")
