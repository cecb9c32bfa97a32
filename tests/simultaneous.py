"""Acts that start at the same moment, each on its own thread and database connection."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connections

T = TypeVar("T")


def at_once(*acts: Callable[[], T]) -> list[T]:
    """The return values of the acts. If some fail, the first one's error is raised after all have ended."""
    return [future.result() for future in _ended(acts)]


def outcomes_at_once(*acts: Callable[[], T]) -> list[T | BaseException]:
    """The return value or exception of each act."""
    return [future.exception() or future.result() for future in _ended(acts)]


def _ended(acts: tuple[Callable[[], T], ...]) -> list[Future[T]]:
    barrier = Barrier(len(acts))

    def perform(act: Callable[[], T]) -> T:
        try:
            connections["default"].ensure_connection()
            barrier.wait(30)
            return act()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(acts)) as pool:
        return [pool.submit(perform, act) for act in acts]
