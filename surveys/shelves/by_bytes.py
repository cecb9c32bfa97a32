"""Results that are kept for the next request: those asked for last, up to so many bytes in each process."""

import pickle
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Made = TypeVar("Made")


def pickled_bytes(made: object) -> int:
    """How large something is, without what it shares with others; in memory it takes about three times as much."""
    return len(pickle.dumps(made))


class Shelf(Generic[Made]):
    """A function whose results are kept by its arguments. The result that nobody asked for longest goes first."""

    def __init__(self, make: Callable[..., Made], *, most_bytes: int, size: Callable[..., int]) -> None:
        self.make, self.most_bytes, self.size = make, most_bytes, size
        self.bytes = 0
        self._kept: OrderedDict[Hashable, tuple[Made, int]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, *arguments: object) -> Made:
        with self._lock:
            if found := self._kept.get(arguments):
                self._kept.move_to_end(arguments)
                return found[0]
        made = self.make(*arguments)  # without the lock: two requests may both make it, and one is kept
        size = self.size(made)
        with self._lock:
            if arguments not in self._kept:
                self._kept[arguments] = made, size
                self.bytes += size
            while self.bytes > self.most_bytes:
                _arguments, (_made, size) = self._kept.popitem(last=False)
                self.bytes -= size
        return made

    def __len__(self) -> int:
        return len(self._kept)

    def cache_clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self.bytes = 0


def kept(*, most_bytes: int, size: Callable[..., int] = pickled_bytes) -> Callable[[Callable[..., Made]], Shelf[Made]]:
    """Decorate a function of hashable arguments whose results never change."""
    return lambda make: Shelf(make, most_bytes=most_bytes, size=size)
