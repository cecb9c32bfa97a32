"""A few checks of passwords at a time: each takes a third of a second of a processor, and participants need it too."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from accounts.errors import TooManyLoginsError

WAIT_SECONDS = 2.0


class Places:
    """So many checks at once in this process, so many people who wait for a moment; all others are asked to come again."""

    def __init__(self, *, at_once: int, waiting: int) -> None:
        self._within = BoundedSemaphore(at_once + waiting)
        self._turn = BoundedSemaphore(at_once)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Hold a place, or raise at once when too many wait: a thread that waits serves nobody."""
        if not self._within.acquire(blocking=False):
            raise TooManyLoginsError
        try:
            if not self._turn.acquire(timeout=WAIT_SECONDS):
                raise TooManyLoginsError
            try:
                yield
            finally:
                self._turn.release()
        finally:
            self._within.release()


FOR_STRANGERS = Places(at_once=1, waiting=2)
FOR_KNOWN_DEVICES = Places(at_once=1, waiting=2)
"""Apart, so that no crowd of strangers stands in the way."""
