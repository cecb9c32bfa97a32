"""Connections to PostgreSQL that processes keep, with the statements that are prepared on them."""

from pathlib import Path

import psycopg
import pytest
from django.db import connection
from django.db.models import QuerySet

from analysis.runs.runner import queue_run
from tests.crowds import results_settle, wait_until
from tests.factories import recruiting_study
from tests.processes import Site, built

OTHERS = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
COMPUTE = "from analysis.services import request_refresh as ask; ask(1)"


def kept_after_work(site: Site) -> set[int]:
    """The connections at rest after a computation. Nothing but a worker runs on this site."""
    site.manage("shell", "--no-imports", "--command", COMPUTE)
    results_settle(site, 0)
    looks: list[dict[int, str]] = [{}]

    def at_rest() -> bool:
        """Twice the same: the shell's own connection ends a moment after the shell."""
        looks.append(dict(site.rows(f"SELECT pid, state {OTHERS} AND state IS NOT NULL")))
        return looks[-1] == looks[-2] and {*looks[-1].values()} <= {"idle"}

    wait_until(at_rest, seconds=30)
    return set(looks[-1])


def test_a_worker_keeps_its_connection_until_an_outage_ends_it(tmp_path: Path, built_study: Site) -> None:
    with built(tmp_path, like=built_study) as site:
        site.commands["worker"] += ["--concurrency", "1"]
        site.launch("worker")
        first = kept_after_work(site)
        assert first
        assert kept_after_work(site) == first
        with psycopg.connect(site.environment["DATABASE_URL"]) as administrator:
            administrator.execute(f"SELECT pg_terminate_backend(pid) {OTHERS}".encode())
        anew = kept_after_work(site)
        assert anew
        assert not anew & first
        assert "Traceback" not in site.log("worker")


def prepared() -> int:
    """How many statements PostgreSQL keeps prepared on this connection."""
    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE NOT from_sql")
        return int(cursor.fetchone()[0])


@pytest.mark.django_db
def test_people_who_ask_for_results_at_once_ask_for_one_run_and_forget_no_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    study = recruiting_study()
    monkeypatch.setattr(QuerySet, "exists", lambda rows: False)  # the other one's run cannot be seen yet
    assert queue_run(study.pk) is not None
    before = prepared()
    assert queue_run(study.pk) is None
    assert prepared() >= before
