"""Heartbeats: the worker and beat write one to the cache every few seconds, and /healthz looks for it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from celery import beat, bootsteps
from celery.schedules import schedstate
from django.conf import settings
from django.core.cache import cache

from jobs.queues import Queue

if TYPE_CHECKING:
    from celery.worker.consumer import Consumer
    from kombu.asynchronous.timer import Entry

EVERY_SECONDS = 5
SILENT_AFTER_SECONDS = 30
ASK_AGAIN_SECONDS = 2.0


def leave_sign(part: str) -> None:
    """Record that `part` ("worker:first", "beat") is alive."""
    cache.set(f"heartbeat:{part}", 1, SILENT_AFTER_SECONDS)


def leave_signs_of_worker() -> None:
    """Record that somebody takes the queues that this process takes."""
    for queue in settings.WORKER_QUEUES:
        leave_sign(f"worker:{queue}")


def queues_without_worker() -> list[Queue]:
    """The queues of which no worker was heard for half a minute."""
    return [queue for queue in Queue if not is_alive(f"worker:{queue}")]


def is_alive(part: str) -> bool:
    """Whether `part` wrote a heartbeat within the last half minute."""
    return cache.get(f"heartbeat:{part}") is not None


def reason_for_silence() -> str:
    """The complaint about the cache that carries the heartbeats from one process to another; empty if it answers."""
    complaint: Callable[[], str] = getattr(cache, "complaint", str)
    return complaint()


class WorkerHeartbeat(bootsteps.StartStopStep):
    """Beats beside the tasks, so that a long task does not look like silence, and only while the worker is connected to its broker."""

    requires = ("celery.worker.consumer.tasks:Tasks",)
    timer: "Entry | None" = None

    def start(self, parent: "Consumer") -> None:
        leave_signs_of_worker()
        self.timer = parent.timer.call_repeatedly(EVERY_SECONDS, leave_signs_of_worker)

    def stop(self, parent: "Consumer") -> None:
        if self.timer is not None:
            self.timer.cancel()


class SweepAtStart(bootsteps.StartStopStep):
    """A starting worker takes over a killed one's work at once, without waiting for beat's next minute, and does what a start asks for."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, parent: "Consumer") -> None:
        parent.app.send_task("jobs.tasks.sweep", kwargs={"at_start": True})


class Scheduler(beat.Scheduler):
    """Celery's plain scheduler with a heartbeat, for one beat or several. It keeps nothing on disk: beat starts only a sweep, which may run
    at any time.

    Each message has a lease in the cache, as long as its period: the beat that comes first takes it and sends. The others ask again every
    few seconds, so that the next period has its message whichever beat is gone. Where nobody can say who came first, all send: two sweeps
    are harmless.
    """

    def is_due(self, entry: beat.ScheduleEntry) -> schedstate:
        due, after = super().is_due(entry)
        if due and not cache.add(f"beat:{entry.name}", 1, max(1, int(after) - 1)):
            return schedstate(is_due=False, next=ASK_AGAIN_SECONDS)
        return schedstate(is_due=due, next=after)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        leave_sign("beat")
        return min(super().tick(*args, **kwargs), EVERY_SECONDS)
