"""Whether a journey costs more among a million people and a thousand studies than among a thousand people and one study.

    python -m tests.services python -m benchmarks.scale_journeys [people] [rounds]

Two databases of one server are filled by SQL. Whole journeys go through the application's own stack, in turns of ten in each. Counted is
processor time, of the process with the application and of its database connection, so that other programs on the machine hardly matter.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "platform")]
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.test")

from benchmarks.scale import on_processor  # noqa: E402
from benchmarks.scale_data import fill, put_beside  # noqa: E402

IN_A_TURN = 10
LINES = """
INSERT INTO surveys_allocationslot (study_id, list_id, stratum, position, subsample, arm, status)
SELECT %(study)s, %(list)s, '', i, (ARRAY['1', '2'])[1 + i %% 2], (ARRAY['slides', 'instructor'])[1 + (i / 2) %% 2], 'taken'
FROM generate_series(1, %(people)s) AS i
"""


def serve(end: Connection, name: str, people: int, beside: int) -> None:
    """Fill a database; then walk whenever somebody asks, and tell the processor milliseconds of a journey: of the application, of both."""
    import django

    django.setup()
    from django.db import connection
    from django.db.models import F
    from django.test import Client
    from django.test.utils import setup_test_environment

    from surveys.batches.services import count_again, keep_shown_numbers
    from tests.factories import recruiting_study, walk

    setup_test_environment(debug=False)
    connection.settings_dict["TEST"]["NAME"] = name
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    study = recruiting_study(allocation={"planned_participants": 4_000})
    study.allocation_slots.update(position=F("position") + 10_000_000)
    with connection.cursor() as cursor:
        cursor.execute(LINES, {"study": study.pk, "list": study.allocation_lists.get().pk, "people": people})
    put_beside(study, beside)
    fill(study, people)
    count_again(study)
    keep_shown_numbers(study)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        server = int(cursor.fetchone()[0])
    walk(Client(), study)
    end.send("ready")
    while end.recv():
        own, database = time.process_time(), on_processor(server)
        for _ in range(IN_A_TURN):
            walk(Client(), study)
        own, database = time.process_time() - own, on_processor(server) - database
        end.send((1000 * own / IN_A_TURN, 1000 * (own + database) / IN_A_TURN))


def main(people: int, rounds: int) -> None:
    context, ends = multiprocessing.get_context("spawn"), []
    for name, size, beside in (("test_small", 1_000, 0), ("test_large", people, 1_000)):
        here, there = context.Pipe()
        context.Process(target=serve, args=(there, name, size, beside), daemon=True).start()
        ends.append(here)
    for end in ends:
        end.recv()
    ask: Callable[[Connection], tuple[float, float]] = lambda end: (end.send(True), end.recv())[1]  # noqa: E731
    turns = [[ask(end) for end in ends] for _ in range(rounds)]
    for end in ends:
        end.send(False)
    for place, what in enumerate(("application", "application and database")):
        small, large = ([turn[which][place] for turn in turns] for which in (0, 1))
        ratio = statistics.median(b / a for a, b in zip(small, large, strict=True))
        few, many = statistics.median(small), statistics.median(large)
        print(f"{what}: {few:.1f} ms a journey among 1,000 people, {many:.1f} ms among {people:,} and 1,000 studies")
        print(f"  large over small, median of {rounds} turns: {ratio:.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, int(sys.argv[2]) if len(sys.argv) > 2 else 30)
