"""The cost of hiding the order of arrival: each hour, which must not grow with the study, and each night.

python -m tests.services python -m benchmarks.order_of_arrival
"""

import os
import sys
import time
from collections.abc import Callable
from datetime import timedelta

import click
import django

SIZES = (1_000, 100_000)
WAITING = 100
REPEATED = 5


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.test")
    sys.path.insert(0, "platform")
    django.setup()
    from django.db import connection
    from django.test.utils import setup_databases, teardown_databases
    from django.utils import timezone

    from surveys.batches.order_of_arrival import forget_order_of_days, forget_recent_order
    from surveys.models import Participant
    from tests.factories import recruiting_study
    from tests.finished_people import add_finished_people

    databases = setup_databases(verbosity=0, interactive=False)
    try:
        for size in SIZES:
            study = recruiting_study(slug=f"of-{size}", allocation={"planned_participants": size})
            add_finished_people(study, size, unfinished=0.2)
            # Those who did not finish came long ago; a batch waits.
            Participant.objects.filter(step="video").update(counted=False, consented_on=timezone.localdate() - timedelta(days=30))
            waiting = list(Participant.objects.filter(study=study, step="finished").values_list("pk", flat=True)[:WAITING])
            Participant.objects.filter(pk__in=waiting).update(counted=False)
            with connection.cursor() as cursor:
                cursor.execute("VACUUM ANALYZE")
            forget_recent_order()
            click.echo(f"{size:>8,} people, {WAITING} of them waiting: each hour {1000 * _median_seconds(forget_recent_order):.0f} ms")
            click.echo(f"{size:>8,} people: the night after somebody came {_seconds(forget_order_of_days):.1f} s")
            click.echo(f"{size:>8,} people: a night after which nobody came {_seconds(forget_order_of_days):.1f} s")
            Participant.objects.filter(pk__in=waiting).update(counted=True)
    finally:
        teardown_databases(databases, verbosity=0)


def _seconds(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def _median_seconds(act: Callable[[], object]) -> float:
    return sorted(_seconds(act) for _ in range(REPEATED))[REPEATED // 2]


if __name__ == "__main__":
    main()
