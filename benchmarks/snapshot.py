"""How much memory and time the table of a closed study takes with very many participants. At most 300 MB at the peak of the worker.

python -m tests.services python -m benchmarks.snapshot [participants]
"""

import os
import re
import sys
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "platform")]
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.test")
PEOPLE = 1_000_000
TEMPLATE = 10_000
"""So many are made by the tests' own services; the others are their copies."""
MOST_MEGABYTES = 300


def megabytes(name: str) -> float:
    """A line of this process' status: `VmRSS` now, `VmHWM` at its peak."""
    [kilobytes] = re.findall(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(kilobytes) / 1024


def copied(times: int) -> None:
    """Copy every participant with their answers."""
    from django.db import connection

    from surveys.models import Participant

    own = {"id": "m.new", "token_hash": "m.new::text", "withdrawal_hash": "m.new::text"}
    columns = [field.column for field in Participant._meta.concrete_fields]
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TEMP TABLE m AS SELECT id AS old, gen_random_uuid() AS new FROM surveys_participant, generate_series(1, {times})"
        )
        cursor.execute(
            f"INSERT INTO surveys_participant ({', '.join(columns)}) SELECT {', '.join(own.get(name, f'p.{name}') for name in columns)} "
            "FROM m JOIN surveys_participant p ON p.id = m.old"
        )
        cursor.execute(
            "INSERT INTO surveys_response (id, participant_id, question, reported_yes) "
            "SELECT gen_random_uuid(), m.new, r.question, r.reported_yes FROM m JOIN surveys_response r ON r.participant_id = m.old"
        )


def analysed() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def measured(key: int, results: Any) -> None:
    """In a process of its own: do the work as a worker does, then load the table and one column."""
    from analysis.models import Snapshot
    from analysis.sources.selectors import table_of
    from jobs.registry import job_of
    from jobs.tasks import attempt

    Path("/proc/self/clear_refs").write_text("5")
    before, start = megabytes("VmRSS"), time.perf_counter()
    claimed = Snapshot.claim(key)
    assert claimed is not None
    attempt(job_of(claimed), claimed)
    seconds, peak = time.perf_counter() - start, megabytes("VmHWM")
    claimed.refresh_from_db()
    assert claimed.status == "ready", claimed.error
    start = time.perf_counter()
    table = table_of(claimed.source, claimed.number)
    assert table is not None
    table["quiz.groups"].sum()
    results.put((claimed.n, seconds, before, peak, len(bytes(claimed.data)) / 2**20, time.perf_counter() - start))


def main(people: int) -> int:
    import django

    django.setup()
    from django.db import connection, connections
    from django.test.utils import setup_test_environment

    setup_test_environment(debug=False)
    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        from analysis.models import Snapshot, Source
        from surveys.models import Study
        from tests.factories import recruiting_study
        from tests.finished_people import add_finished_people
        from tests.ledgers import register

        register()
        study = recruiting_study(allocation={"planned_participants": min(people, TEMPLATE)}, privacy_budget={"epsilon": 1.0, "delta": 1e-8})
        add_finished_people(study, min(people, TEMPLATE))
        copied(people // TEMPLATE - 1)
        analysed()
        Study.objects.filter(pk=study.pk).update(status="closed")
        source = Source.objects.create(study=study)
        from analysis.sources.services import take_snapshot

        snapshot = take_snapshot(source)
        assert isinstance(snapshot, Snapshot)
        connections.close_all()
        fork = get_context("fork")
        results = fork.Queue()
        process = fork.Process(target=measured, args=(snapshot.pk, results))
        process.start()
        n, seconds, before, peak, stored, loading = results.get(timeout=3600)
        process.join()
        print(f"{n:,} participants: {seconds:.0f} s; {before:.0f} MB before, {peak:.0f} MB at the peak; {stored:.1f} MB stored")
        print(f"loading it and one column: {1000 * loading:.0f} ms")
        return 0 if peak <= MOST_MEGABYTES else 1
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else PEOPLE))
