"""Pages that are open, and the order in which they hear of news. Knows no network."""

import asyncio
import random
from collections import defaultdict, deque
from dataclasses import dataclass, field

EACH_SECOND = 20
"""How many pages hear of news in a second at most, so that a thousand open ones do not ask for the page at once."""
POLLS_EACH_SECOND = 2.5
"""How many pages ask for themselves in a second, all together, in case news got lost: half as many as ten pages that ask every two seconds.
The beats of a thousand pages cost the rest (`benchmarks/open_pages.py`).
"""
FASTEST_POLL = 2.0


@dataclass(eq=False)
class Listener:
    """One open page, and the version of the results that it shows."""

    study: int
    version: str
    woken: asyncio.Event = field(default_factory=asyncio.Event)


class Listeners:
    """All open pages, and the newest version of each of their studies."""

    def __init__(self) -> None:
        self._of: defaultdict[int, set[Listener]] = defaultdict(set)
        self._waiting: deque[Listener] = deque()
        self._there: set[Listener] = set()
        self._something = asyncio.Event()
        self.versions: dict[int, str] = {}
        self.count = 0

    @property
    def pace(self) -> float:
        """After how many seconds each page asks for itself, beside news."""
        return max(FASTEST_POLL, self.count / POLLS_EACH_SECOND)

    def of_study(self, study: int) -> int:
        """How many pages of a study are open."""
        return len(self._of.get(study, ()))

    def add(self, listener: Listener) -> None:
        """A page opens. It hears at once of what is newer than what it shows."""
        self._of[listener.study].add(listener)
        self.count += 1
        if self.versions.get(listener.study, listener.version) != listener.version:
            self._wake_in_turn([listener])

    def remove(self, listener: Listener) -> None:
        """A page is closed."""
        self._of[listener.study].discard(listener)
        self._there.discard(listener)
        self.count -= 1
        if not self._of[listener.study]:
            del self._of[listener.study]
            self.versions.pop(listener.study, None)

    def hear(self, study: int, version: str) -> None:
        """A study has another version. Its pages hear of it in random order."""
        if study in self._of and self.versions.get(study) != version:
            self.versions[study] = version
            late = [one for one in self._of[study] if one.version != version]
            random.shuffle(late)
            self._wake_in_turn(late)

    def forget(self) -> None:
        """Nothing is known any more: every page asks for itself, in turn."""
        self.versions.clear()
        self._wake_in_turn([one for some in self._of.values() for one in some])

    async def wake(self) -> None:
        """Wake those who have news, one after the other, for ever."""
        while True:
            await self._something.wait()
            while self._waiting:
                listener = self._waiting.popleft()
                if listener in self._there:
                    self._there.discard(listener)
                    listener.woken.set()
                    await asyncio.sleep(1 / EACH_SECOND)
            self._something.clear()

    def _wake_in_turn(self, listeners: list[Listener]) -> None:
        new = [one for one in listeners if one not in self._there]
        self._waiting.extend(new)
        self._there.update(new)
        self._something.set()
