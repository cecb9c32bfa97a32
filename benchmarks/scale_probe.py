"""A participant beside the work: walks the steps of a study, or takes data out, again and again, and notes each wait.

It is a process of its own. Its connection gives up a lock after 50 ms, so that waits for locks are counted apart from a machine that
has too much to do. Somebody who takes data out returns in the same moment: locks are taken, nothing changes.
"""

from __future__ import annotations

import multiprocessing
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

LONGEST_WAIT = 50
"""Milliseconds."""
PAUSE = 0.01
"""Seconds between two acts, so that the machine is left to the work."""


@dataclass(frozen=True, slots=True)
class Waits:
    """The waits of one kind of participant: how many, the longest in milliseconds, and how many waited 50 ms for a lock."""

    several: int
    longest: float
    p99: float
    for_locks: int


class Probe:
    """Participants of each kind, who act when they are told to."""

    def __init__(self, database: str) -> None:
        context = multiprocessing.get_context("spawn")
        self.ends: dict[str, Connection] = {}
        self.processes = []
        for kind in ACTS:
            here, there = context.Pipe()
            process = context.Process(target=serve, args=(there, database, kind), daemon=True)
            process.start()
            self.ends[kind] = here
            self.processes.append(process)

    @contextmanager
    def acting(self) -> Iterator[Probe]:
        try:
            yield self
        finally:
            for process in self.processes:
                process.kill()
                process.join()

    @contextmanager
    def beside(self, kind: str, study: int, into: dict[str, Waits]) -> Iterator[None]:
        """Have them act in this study during the block."""
        self.ends[kind].send(study)
        self.ends[kind].recv()  # they have begun
        try:
            yield
        finally:
            self.ends[kind].send(None)
            into[kind] = self.ends[kind].recv()


def serve(end: Connection, database: str, kind: str) -> None:
    root = Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(root), str(root / "platform")]
    import django

    django.setup()
    from django.db import connection

    connection.settings_dict["NAME"] = database
    connection.settings_dict["OPTIONS"]["options"] = f"-c lock_timeout={LONGEST_WAIT}"
    with suppress(EOFError):
        while True:
            act = ACTS[kind](end.recv())
            act()  # connections, plans and modules are there
            end.send("begun")
            end.send(waits_until(end, act))


def waits_until(end: Connection, act: Callable[[], Iterator[Callable[[], object]] | None]) -> Waits:
    from django.db import OperationalError

    waits, for_locks = [], 0
    while not end.poll():
        begun = time.perf_counter()
        try:
            act()
        except OperationalError:
            for_locks += 1
        waits.append(1000 * (time.perf_counter() - begun))
        time.sleep(PAUSE)
    end.recv()
    waits.sort()
    return Waits(len(waits), waits[-1], waits[int(0.99 * (len(waits) - 1))], for_locks)


def one_who_comes(study_id: int) -> Callable[[], None]:
    """The next step of somebody's journey; after the last one somebody else comes."""
    from surveys.batches.selectors import batch_is_complete
    from surveys.errors import JourneyError
    from surveys.events import somebody_finished
    from surveys.journey import services
    from surveys.journey.participant_store import read_participant
    from surveys.models import Study
    from surveys.tokens import hash_of_token

    somebody_finished.receivers = []  # the message to the workers; the question before it is asked below
    here: dict[str, Any] = {"token": ""}
    reported = dict.fromkeys(("attention", "retention", "judgement", "comprehension"), True)

    def act() -> None:
        try:
            if not here["token"]:
                token = secrets.token_urlsafe(24)
                services.enrol(Study.objects.get(pk=study_id), visit=services.Visit(token=token, language="en"))
                here["token"] = token
                return
            person = read_participant(hash_of_token(here["token"]))
            if person is None:
                here["token"] = ""
                return
            match person.step:
                case "background":
                    services.record_background(person, token=here["token"], answers={"gender": "woman", "year": 2})
                case "video":
                    services.finish_stimulus(person, page=person.page)
                case "quiz":
                    services.record_quiz(person, answers={})
                case "die":
                    services.finish_die(person, understood_at_once=True)
                case "questions":
                    services.record_responses(person, reported=reported)
                    batch_is_complete(person.study)
                case _:
                    here["token"] = ""
        except JourneyError:  # the study is closed
            here["token"] = ""

    return act


def one_who_leaves(study_id: int) -> Callable[[], None]:
    """A withdrawal that is undone in the same transaction."""
    from django.db import transaction

    from surveys.batches.order_of_arrival import drawn
    from surveys.errors import JourneyError
    from surveys.events import answers_changed
    from surveys.journey.services import _withdraw
    from surveys.models import Participant, Study

    answers_changed.receivers = []
    keys = drawn(Participant.objects.filter(study=study_id, step="finished"), 500)
    hashes = list(Participant.objects.filter(pk__in=keys).values_list("withdrawal_hash", flat=True))

    def act() -> None:
        study = Study.objects.get(pk=study_id)
        with suppress(JourneyError), transaction.atomic():
            _withdraw(study, withdrawal_hash=secrets.choice(hashes), panel_number="")
            transaction.set_rollback(True)

    return act


ACTS: dict[str, Callable[[int], Callable[[], None]]] = {"comes": one_who_comes, "leaves": one_who_leaves}
