"""Heartbeats of long computations: when they stop, another worker takes over."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta

from django.db import DatabaseError, connection

BEAT_SECONDS = 3.0
SILENCE = timedelta(seconds=15)
"""Silence after which a computing worker counts as dead."""

logger = logging.getLogger(__name__)


@contextmanager
def beating(beat: Callable[[], object]) -> Iterator[None]:
    """Call `beat`, which renews this worker's heartbeat in the database, every few seconds while the block runs."""
    done = threading.Event()

    def beat_until_done() -> None:
        with closing(connection):  # this thread's own
            while not done.wait(BEAT_SECONDS):
                try:
                    beat()
                except DatabaseError:  # if it lasts, another worker takes over, and computes the same numbers
                    logger.warning("The heartbeat of a computation was lost")

    thread = threading.Thread(target=beat_until_done, name="heartbeat of a computation", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
