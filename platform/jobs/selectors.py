"""Waiting, running and failed work, for people who look after the server. No clock times: ages of what is there, days of what ended."""

import re
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How much work of one kind there is."""

    waiting: int
    oldest: timedelta
    later: int
    next_in: timedelta
    running: int
    failed: int


def all_work() -> list[Work]:
    return [_work(job) for job in JOBS.values()]


def load_by_kind() -> dict[str, Load]:
    return {job.kind: _load(job) for job in JOBS.values()}


def _failed(job: Job[Lease]) -> Q:
    return ~Q(error="") if job.model is Routine else ~Q(error="") & Q(due_at=None)


def _load(job: Job[Lease]) -> Load:
    now = timezone.now()
    due, later = (Q(holder=None) & Q(**{f"due_at__{when}": now}) for when in ("lte", "gt"))
    found = job.rows().aggregate(
        waiting=Count("pk", filter=due),
        since=Min("due_at", filter=due),
        later=Count("pk", filter=later),
        next=Min("due_at", filter=later),
        running=Count("holder"),
        failed=Count("pk", filter=_failed(job)),
    )
    oldest, next_in = now - (found.pop("since") or now), (found.pop("next") or now) - now
    return Load(oldest=oldest, next_in=next_in, **found)


def _work(job: Job[Lease]) -> Work:
    load, day = _load(job), job.model.ENDED_ON or job.model.ASKED_ON
    failures = job.rows().filter(_failed(job)).order_by(*([f"-{day}"] if day else []), "-pk")[:NEWEST] if load.failed else ()
    return Work(
        name=job.kind.replace("_", " ").capitalize(),
        slug=job.kind,
        waiting=load.waiting,
        oldest=_in_words(load.oldest),
        later=load.later,
        next_in=_in_words(load.next_in),
        running=load.running,
        progress=[lease.progress for lease in job.rows().filter(holder__isnull=False)[:NEWEST] if lease.progress] if load.running else (),
        failed=load.failed,
        failures=[Failure(day=getattr(lease, day) if day else None, error=_told(job, lease)) for lease in failures],
    )


def _told(job: Job[Lease], lease: Lease) -> str:
    """The reason of a failure, for people who look after the server. They read the kind of a bug alone if its words may quote records."""
    if not job.of_its_owner or lease.error == lease.GIVEN_UP.format(attempts=lease.MOST_ATTEMPTS):
        return lease.error
    bug = re.match(r"\w+(?=: )", lease.error)
    return bug[0] if bug else "Its owner reads why."


def _in_words(time: timedelta) -> str:
    now = timezone.now()
    return timesince(now - time, now) if time >= timedelta(minutes=1) else _("less than a minute")
