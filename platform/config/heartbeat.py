"""Heartbeats: the worker and beat write one to the cache every few seconds, and /healthz looks for it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from celery import beat, bootsteps
from django.core.cache import cache

if TYPE_CHECKING:
    from celery.worker.consumer import Consumer
    from kombu.asynchronous.timer import Entry

EVERY_SECONDS = 5
SILENT_AFTER_SECONDS = 30


def leave_sign(part: str) -> None:
    """Record that `part` ("worker", "beat") is alive."""
    cache.set(f"heartbeat:{part}", 1, SILENT_AFTER_SECONDS)


def is_alive(part: str) -> bool:
    """Whether `part` wrote a heartbeat within the last half minute."""
    return cache.get(f"heartbeat:{part}") is not None


def can_be_heard() -> bool:
    """Whether the cache answers that carries the heartbeats from one process to another."""
    answers: Callable[[], bool] = getattr(cache, "answers", lambda: True)
    return answers()


class WorkerHeartbeat(bootsteps.StartStopStep):
    """Beats beside the tasks, so that a long task does not look like silence, and only while the worker is connected to its broker."""

    requires = ("celery.worker.consumer.tasks:Tasks",)
    timer: "Entry | None" = None

    def start(self, parent: "Consumer") -> None:
        leave_sign("worker")
        self.timer = parent.timer.call_repeatedly(EVERY_SECONDS, leave_sign, ("worker",))

    def stop(self, parent: "Consumer") -> None:
        if self.timer is not None:
            self.timer.cancel()


class SweepAtStart(bootsteps.StartStopStep):
    """A starting worker takes over a killed one's work at once, without waiting for beat's next minute, and does what a start asks for."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, parent: "Consumer") -> None:
        parent.app.send_task("jobs.tasks.sweep", kwargs={"at_start": True})


class Scheduler(beat.Scheduler):
    """Celery's plain scheduler with a heartbeat. It keeps nothing on disk: beat starts only a sweep, which may run at any time."""

    def tick(self, *args: Any, **kwargs: Any) -> float:
        leave_sign("beat")
        return min(super().tick(*args, **kwargs), EVERY_SECONDS)
