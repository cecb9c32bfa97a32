"""Heartbeats of long work: when they stop, another worker takes over."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from django.db import DatabaseError, connection

BEAT_SECONDS = 3.0

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
                    logger.warning("The heartbeat of a worker was lost")

    thread = threading.Thread(target=beat_until_done, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
