"""Slows down people who try codes, for each study. No address is kept, so a right code waits like a wrong one, and then opens the study.

After too many refused codes in a minute, each further try waits for some seconds. The page holds the wait, bound to the code that was
typed, in a signed ticket; the server stores nothing. A list of tries would lock out the class that sits behind one address, and a lock on
the study would let anybody close it. The length of the codes protects against guessing; the wait makes it slower and louder.

The count lives in the memory of each web process, so that no outage of another part keeps anybody out.
"""

import math
import time
from dataclasses import dataclass
from threading import Lock

from django.core import signing

from surveys.tokens import hash_of_entry_code

FREE_A_MINUTE = 20
"""Refused codes in a minute after which tries wait: more than the typing errors of a lecture hall."""
LONGEST_SECONDS = 30
TICKET_SECONDS = 15 * 60
SALT = "surveys.recruitment.slowing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    seconds: int
    ticket: str


class RefusedCodes:
    """How many codes each study has refused of late: a level that rises by one and sinks by FREE_A_MINUTE a minute."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._levels: dict[int, tuple[float, float]] = {}

    def add(self, study_id: int) -> None:
        with self._lock:
            now = time.monotonic()
            self._levels = {one: level for one, level in self._levels.items() if self._sunk(level, now) > 0}
            level = self._sunk(self._levels.get(study_id, (0.0, now)), now)
            self._levels[study_id] = (min(level + 1, FREE_A_MINUTE + LONGEST_SECONDS), now)

    def seconds_to_wait(self, study_id: int) -> int:
        with self._lock:
            now = time.monotonic()
            level = self._sunk(self._levels.get(study_id, (0.0, now)), now)
        return min(math.ceil(max(level - FREE_A_MINUTE, 0)), LONGEST_SECONDS)

    def clear(self) -> None:
        with self._lock:
            self._levels.clear()

    @staticmethod
    def _sunk(level: tuple[float, float], now: float) -> float:
        height, since = level
        return max(height - (now - since) * FREE_A_MINUTE / 60, 0.0)


refused_codes = RefusedCodes()


def wait_before(study_id: int, slug: str, *, code: str, ticket: str) -> Wait | None:
    """The wait that lies before this try, if any. A person who has waited with this code is let through."""
    bound = hash_of_entry_code(code, slug)[:32]
    now = time.time()
    try:
        held, until = signing.loads(ticket, salt=SALT, max_age=TICKET_SECONDS)
    except (signing.BadSignature, ValueError, TypeError):
        held, until = "", 0.0
    if held == bound:
        return Wait(seconds=math.ceil(until - now), ticket=ticket) if until > now else None
    if seconds := refused_codes.seconds_to_wait(study_id):
        return Wait(seconds=seconds, ticket=signing.dumps([bound, now + seconds], salt=SALT))
    return None
