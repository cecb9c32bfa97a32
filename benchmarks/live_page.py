"""How long the live page takes to open, and the first results to be recomputed, when very many people have finished.

python -m tests.services python benchmarks/live_page.py [people]
"""

import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "platform")]
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.test")
PEOPLE = 100_000
REPEATS = 7


def seconds_of(work: Callable[[], object]) -> list[float]:
    """How long each repeat took; the first one, which fills caches, is left out."""
    found = []
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return found[1:]


def main(people: int) -> None:
    """Build the study, put the people there, measure."""
    import django

    django.setup()
    from django.db import connection
    from django.test.utils import setup_test_environment
    from django.urls import reverse

    setup_test_environment(debug=False)
    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        from analysis.models import Run
        from analysis.runs import runner
        from jobs.registry import job_of
        from jobs.tasks import attempt
        from surveys.protocols import protocol_in_force
        from tests.factories import logged_in, recruiting_study
        from tests.finished_people import add_finished_people

        start = time.perf_counter()
        study = recruiting_study(allocation={"planned_participants": people})
        for seed in range(10):
            add_finished_people(study, people // 10, seed=seed)
            run = runner.queue_run(study.pk)
            if run and (claimed := Run.claim(run.pk)):
                attempt(job_of(claimed), claimed)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        print(f"{connection.vendor}: {people:,} people finished (put there in {time.perf_counter() - start:.0f} s)", flush=True)
        definition = protocol_in_force(study).definition
        counting = seconds_of(lambda: runner.first_results(study, definition))
        client, address = logged_in(study.owner), reverse("analysis:results", args=[study.slug])
        opening = seconds_of(lambda: client.get(address))
        state = client.get(address).context["state"]
        polling = seconds_of(lambda: client.get(address, {"state": state}))
        full = runner.queue_run(study.pk, kind=runner.RunKind.FULL_RESULTS)
        claimed = Run.claim(full.pk) if full else None
        start = time.perf_counter()
        if claimed:
            runner.compute_full_results(claimed)
        begun = time.perf_counter() - start
        for what, times, wanted in (
            ("counting again", counting, 1.0),
            ("opening the live page", opening, 0.5),
            ("a poll without news", polling, 0.05),
        ):
            print(f"  {what}: median {statistics.median(times):.3f} s, slowest {max(times):.3f} s (wanted: under {wanted:g} s)")
        chunks = Run.objects.get(pk=full.pk).chunks.count() if full else 0
        print(f"  full results, before the bootstrap's {chunks} chunks: {begun:.1f} s")
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else PEOPLE)
