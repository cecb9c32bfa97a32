"""PgBouncer in transaction mode: people finish while a worker is killed, and what is held at once or hidden stays so."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.db.backends.signals import connection_created

from config.outages.waits import LOCK_SECONDS, bound_waits
from tests.crowds import assert_all_finished_and_counted_once, bots_on_their_way, count_everybody, results_settle
from tests.pools import CONNECTIONS, pool_before, pooled
from tests.processes import ROOT, Site, built, fresh_database, name_of

PEOPLE = 40
# These lean on sessions and on locks: the order of rows and their ages, advisory locks, answers kept with their effects.
CORE = (
    "tests/integration/test_linkage.py::test_nothing_in_postgresql_leads_from_codes_and_panel_numbers_to_answers",
    "tests/integration/test_idempotency.py::test_twenty_at_once_are_done_once",
    "tests/integration/test_idempotency.py::test_while_a_request_is_being_done_the_same_one_gets_409",
    "tests/audits/test_differencing.py::test_any_two_releases_differ_by_nobody_or_ten_people",
)


@pytest.fixture
def site(tmp_path: Path, built_study: Site) -> Iterator[Site]:
    """A recruiting site that reaches its database by a pool."""
    with built(tmp_path, like=built_study) as site, pooled(site.environment["DATABASE_URL"]) as variables:
        site.environment |= variables
        yield site


def test_people_finish_by_a_pool_while_a_worker_is_killed(site: Site) -> None:
    site.start()
    with bots_on_their_way(site, PEOPLE) as crowd:
        crowd.wait_for_finished(10)
        site.kill("worker")
        site.start("worker")
        assert f"finished: {PEOPLE} " in crowd.wait_for_end()
    assert_all_finished_and_counted_once(site, PEOPLE)
    count_everybody(site)
    results_settle(site, PEOPLE)
    with psycopg.connect(os.environ["DATABASE_URL"]) as administrator:
        used = administrator.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = %s", [name_of(site.environment["DATABASE_URL"])]
        ).fetchone()
    assert used is not None
    assert 0 < used[0] <= CONNECTIONS
    assert site.rows("SELECT current_setting('lock_timeout'), current_setting('statement_timeout')") == [("0", "0")]
    for name in ("web", "worker", "beat"):
        assert "prepared statement" not in site.log(name)


def test_what_is_held_at_once_or_hidden_stays_so_by_a_pool(built_site: Site) -> None:
    with fresh_database(like=built_site.environment["DATABASE_URL"]) as made:
        own = made.rsplit("/", 1)[0] + f"/test_{name_of(made)}"
        with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as administrator:
            administrator.execute(f'CREATE DATABASE "{name_of(own)}" TEMPLATE "{name_of(made)}"'.encode())
        try:
            with pooled(made) as variables:
                command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--reuse-db", *CORE]
                kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
                done = subprocess.run(command, cwd=ROOT, env=kept | variables, capture_output=True, text=True, timeout=500, check=False)
            assert f"{len(CORE)} passed" in done.stdout, done.stdout[-4000:]
        finally:
            with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as administrator:
                administrator.execute(f'DROP DATABASE IF EXISTS "{name_of(own)}" WITH (FORCE)'.encode())


@pytest.mark.parametrize(("rules", "tells"), [({}, False), ({"log_connections = 0": "log_connections = 1"}, True)], ids=["ours", "its own"])
def test_the_log_of_the_pool_does_not_tell_when_somebody_came(rules: dict[str, str], tells: bool) -> None:
    """A connection is made when somebody comes, and PgBouncer's own lines have the millisecond."""
    with pool_before(os.environ["DATABASE_URL"], rules=rules) as pool:
        before = pool.log()
        for name in ("candor_web", "candor_work"):
            with psycopg.connect(pool.variables(name)["DATABASE_URL"], prepare_threshold=None) as asked:
                [bound] = asked.execute("SELECT current_setting('lock_timeout')").fetchone() or [None]
                assert bound == (f"{LOCK_SECONDS}s" if name == "candor_web" else "0")
        assert (pool.log() != before) == tells


@pytest.mark.parametrize("is_pooled", [True, False])
def test_a_page_sets_nothing_for_the_next_one_on_its_connection(is_pooled: bool, postgresql: None, settings: Any) -> None:
    """Without the setting the bounds of a page would hold for whichever worker gets the connection next."""
    settings.DATABASE_POOLED = is_pooled
    bound_waits()
    try:
        connection.close()
        with connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            assert cursor.fetchone() == (("0",) if is_pooled else (f"{LOCK_SECONDS}s",))
    finally:
        connection_created.disconnect(dispatch_uid="bounded waits")
        connection.close()
