"""Messages of the queue: attempts at work, and the sweep that finds work that the queue forgot or killed workers left behind."""

import logging
from datetime import datetime, timedelta
from typing import TypedDict

from celery import shared_task
from django.conf import settings
from django.utils import timezone
from kombu.exceptions import OperationalError

from jobs.errors import ExpectedError, TakenError
from jobs.models import Lease, Routine
from jobs.queues import Queue
from jobs.registry import JOBS, Job, job_of

AGAIN = timedelta(seconds=1)
"""The delay before work excluded by other work is tried again."""
LOOK_AGAIN = timedelta(seconds=5)
"""The delay before somebody checks whether a part of others was left behind."""
SOON = timedelta(minutes=1)
AT_MOST = 1000

logger = logging.getLogger(__name__)


def send(lease: Lease) -> None:
    """Tell the workers about waiting work. An unreachable broker does no harm: the sweep will find the row."""
    if lease.due_at is not None:
        _send(job_of(lease), lease.pk, after=lease.due_at - timezone.now())


def send_now(kind: str) -> None:
    """Do a routine at once, without waiting for its time."""
    Routine.objects.get_or_create(name=kind, defaults={"due_at": timezone.now()})
    Routine.waiting().filter(pk=kind).update(due_at=timezone.now())
    _send(JOBS[kind], kind)


@shared_task(name="jobs.tasks.work")
def work(kind: str, key: str | int) -> None:
    """One attempt at a piece of work; harmless when delivered twice.

    Work of a kind that only a newer version knows is left to workers of that version: the sweep sends it again.
    """
    job = JOBS.get(kind)
    if job is None:
        logger.warning("Work of the kind %s is left to workers of another version", kind)
    elif job.part_of:
        _work_on_a_part(job, key)
    elif (lease := job.model.claim(key)) is not None:
        attempt(job, lease)
    elif job.model.waiting().filter(pk=key, due_at__lte=timezone.now() + AGAIN).exists():
        _take_over(job.model, expired_by=timezone.now())
        _send(job, key, after=AGAIN)


@shared_task(name="jobs.tasks.sweep")
def sweep(*, at_start: bool = False) -> None:
    """Take over from silent workers, and resend all waiting work: the broker may have lost the messages.

    Work whose time a wrong clock wrote is due now.
    """
    now = timezone.now()
    if at_start:
        Routine.waiting().filter(pk__in=Routine.AT_START).update(due_at=now)
    there = set(Routine.objects.values_list("pk", flat=True))
    missing = [Routine(name=name, due_at=now) for name in Routine.EVERY if name not in there]
    Routine.objects.bulk_create(missing, ignore_conflicts=True)
    for model in {job.model for job in JOBS.values()}:
        model._default_manager.filter(model.of_a_clock_ahead(now)).update(due_at=now)
        _take_over(model, expired_by=now)
    routines = Routine.waiting().filter(due_at__lte=now + SOON).order_by("due_at").values_list("pk", "due_at")
    for name, due_at in routines:  # all of them at once: they are half of all kinds
        if name in JOBS:
            _send(JOBS[name], name, after=(due_at or now) - now)
    for job in JOBS.values():
        if job.model is Routine:
            continue
        if job.part_of:
            for key in job.whole.spread_out().values_list("pk", flat=True):
                if not job.parts_of(key).filter(holder__isnull=False).exists():
                    _send(job, key, times=job.lanes)
            continue
        waiting = job.model.waiting().filter(**job.where, due_at__lte=now + SOON).order_by("due_at")
        for key, due_at in waiting.values_list("pk", "due_at")[:AT_MOST]:
            _send(job, key, after=(due_at or now) - now)


def take_over_everything() -> None:
    """Take work away from all workers, for the start of a server that has none but its own."""
    for model in {job.model for job in JOBS.values()}:
        _take_over(model, expired_by=timezone.now() + model.TERM)


def attempt(job: Job[Lease], lease: Lease) -> None:
    """Do a piece of work that this worker holds. Failures are recorded; work taken away is left alone; bugs are recorded and raised."""
    expected: tuple[type[Exception], ...] = (ExpectedError, *job.expects)
    try:
        with lease.beating():
            job.do(lease)
            if lease.holder is not None:
                lease.finish()
    except TakenError:
        # Somebody who withdraws ends what is computed: a line would tell when. Work of a silent worker has one elsewhere.
        logger.debug("Work of kind %s was taken away from its worker", job.kind)
    except expected as error:
        _fail(lease, f"{error} {getattr(error, 'advice', '')}".strip())
    except Exception as error:
        _fail(lease, f"{type(error).__name__}: {error}")
        raise
    if lease.holder is None and lease.due_at is not None and lease.due_at <= timezone.now():
        send(lease)
    if lease.is_spread:
        for parts in JOBS.values():
            if parts.part_of and isinstance(lease, parts.whole):
                _send(parts, lease.pk, times=parts.lanes)


def _work_on_a_part(job: Job[Lease], key: object) -> None:
    """Do the first waiting part, and queue up for the next, so that other work comes in between; after the last, end the whole.

    A worker that takes no first results keeps no place free for them: as many such workers as there are come to the parts.
    """
    parts = job.parts_of(key)
    waiting = parts.filter(holder=None).order_by("pk").values_list("pk", flat=True)
    is_free = Queue.FIRST not in settings.WORKER_QUEUES
    if is_free or parts.filter(holder__isnull=False, due_at__gt=timezone.now()).count() < job.lanes:
        while (first := waiting.first()) is not None:
            if (part := job.model.claim(first)) is not None:
                if is_free and waiting.exists():
                    _send(job, key)  # whichever other worker is free joins in
                attempt(job, part)
                break
    elif waiting.exists():
        return  # enough workers are at it
    if waiting.exists():
        _send(job, key)
    elif parts.exists():
        _take_over(job.model, expired_by=timezone.now())
        _send(job, key, after=LOOK_AGAIN)
    elif (whole := job.whole.claim_spread(key)) is not None:
        attempt(job_of(whole), whole)


def _take_over(model: type[Lease], *, expired_by: datetime) -> None:
    """Take work away from workers whose term has ended by then."""
    for lease in model._default_manager.filter(holder__isnull=False, due_at__lte=expired_by).only("holder", "due_at", "attempts"):
        if lease.take_over():
            logger.warning("A %s was left by its worker and has been taken over", model._meta.verbose_name)


def _fail(lease: Lease, error: str) -> None:
    try:
        lease.fail(error)
    except TakenError:
        logger.debug("What failed was taken away from its worker: %s", error)


class Limit(TypedDict, total=False):
    """The option of a message whose work may take so long at most."""

    soft_time_limit: int


def _send(job: Job[Lease], key: object, *, after: timedelta = timedelta(0), times: int = 1) -> None:
    limit = Limit() if job.most_seconds is None else Limit(soft_time_limit=job.most_seconds)
    try:
        for _one in range(times):
            work.apply_async(
                args=(job.kind, str(key)),
                countdown=max(after.total_seconds(), 0.0),
                queue=job.queue,
                priority=job.priority,
                retry=False,
                **limit,
            )
    except OperationalError:
        # The database holds the row; the sweep will find it when the broker is back. A participant may have caused this, so that only
        # somebody who looks for it gets a line: workers tell of an absent broker in any case.
        logger.debug("The broker is away; %s waits for the sweep", job.kind)
