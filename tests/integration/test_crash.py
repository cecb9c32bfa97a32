"""`kill -9` in the middle: people finish all the same, nothing acknowledged is lost, nothing is counted twice."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from candor.packages.archive import files_in
from candor.packages.verification import faults_of
from config.outages.waits import LOCK_SECONDS
from surveys.tokens import hash_of_withdrawal_code
from tests.crowds import (
    Kept,
    assert_all_finished_and_counted_once,
    bots_on_their_way,
    build_study,
    close_study,
    compare,
    count_everybody,
    finished,
    kept_answers,
    results_settle,
    wait_until,
)
from tests.processes import Site, built, production

ANSWERED = 80
WEB_WORKER_MEGABYTES = 250

START_RELEASE = """
from analysis.releases.services import Choices, start_release
from surveys.models import Study

study = Study.objects.get()
chosen = {"title": "Killed", "authors": ("Ada",), "licence": "CC0-1.0", "questions": ("attention",), "background": "left_out"}
choices = Choices(**chosen, smallest_count=10, simulated=True)
start_release(study, choices=choices, site="http://localhost", actor=study.owner)
"""


def children(pid: int) -> list[int]:
    return [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]


def test_200_bots_finish_although_web_and_worker_are_killed_in_the_middle(recruiting_site: Site) -> None:
    site = recruiting_site
    with bots_on_their_way(site, 200) as crowd:
        crowd.wait_for_finished(30)
        site.kill("web")
        site.kill("worker")
        acknowledged = finished(site)
        site.start("worker", "web")
        crowd.wait_for_finished(acknowledged + 30)
        os.kill(children(site.processes["web"].pid)[-1], signal.SIGKILL)  # one of the two web workers; granian replaces it
        crowd.wait_for_finished(120)
        site.kill("worker")
        site.start("worker")
        assert "finished: 200 " in crowd.wait_for_end()
    assert_all_finished_and_counted_once(site, 200)
    count_everybody(site)
    results_settle(site, 200)
    assert len(children(site.processes["web"].pid)) >= 2


@pytest.fixture(scope="module")
def answered_site(tmp_path_factory: pytest.TempPathFactory, built_study: Site) -> Iterator[Site]:
    """A recruiting site that 80 people have answered, for the tests of its worker, each of which leaves a worker that runs."""
    with production(tmp_path_factory.mktemp("answered"), like=built_study) as site:
        with bots_on_their_way(site, ANSWERED) as crowd:
            crowd.wait_for_end()
        count_everybody(site)
        results_settle(site, ANSWERED)
        yield site


def test_a_web_worker_stays_under_250_megabytes(answered_site: Site) -> None:
    """After work, not at rest: the amount that a small rented computer must have."""
    megabytes = answered_site.megabytes_of_each("web")
    assert len(megabytes) >= 3  # the two workers and the one that watches them
    assert max(megabytes) < WEB_WORKER_MEGABYTES


def test_the_next_worker_computes_what_a_killed_one_was_computing(answered_site: Site) -> None:
    site = answered_site
    with psycopg.connect(site.environment["DATABASE_URL"]) as blocking:
        blocking.execute("LOCK TABLE surveys_keptcounts IN ACCESS EXCLUSIVE MODE")
        site.manage("shell", "--no-imports", "--command", "from analysis.services import request_refresh as ask; ask(1)")
        wait_until(lambda: site.rows("SELECT 1 FROM analysis_run WHERE status = 'running'"), seconds=20)
        site.kill("worker")
    # As if the worker had been silent for a while.
    with psycopg.connect(site.environment["DATABASE_URL"]) as connection:
        earlier = "UPDATE analysis_run SET due_at = due_at - interval '1 minute' WHERE status = 'running' RETURNING id"
        left = connection.execute(earlier).fetchall()
    assert len(left) == 1
    site.start("worker")
    results_settle(site, ANSWERED)
    assert site.rows(f"SELECT status, attempts, n FROM analysis_run WHERE id = {left[0][0]}") == [("done", 2, ANSWERED)]


def test_a_part_of_the_bootstrap_whose_worker_was_killed_is_taken_over_alone(answered_site: Site) -> None:
    site = answered_site
    with psycopg.connect(site.environment["DATABASE_URL"], autocommit=True) as holding:
        # No worker can say that a part is done, however fast it was.
        holding.execute("SELECT pg_advisory_lock(1)")
        holding.execute(
            "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END';"
            "CREATE TRIGGER wait BEFORE UPDATE OF effects ON analysis_chunk FOR EACH ROW EXECUTE FUNCTION wait()"
        )
        ask = "from analysis.services import request_refresh as ask; ask(1, kind='full_results')"
        site.manage("shell", "--no-imports", "--command", ask)
        waiting = "FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()"
        wait_until(lambda: holding.execute(f"SELECT 1 {waiting}".encode()).fetchall(), seconds=60)
        site.kill("worker")
        holding.execute(f"SELECT pg_terminate_backend(pid) {waiting}".encode())
        holding.execute("DROP FUNCTION wait CASCADE")
    earlier = "UPDATE analysis_chunk SET due_at = due_at - interval '1 minute' WHERE holder IS NOT NULL RETURNING id"
    with psycopg.connect(site.environment["DATABASE_URL"]) as connection:
        assert connection.execute(earlier).fetchall()
        connection.execute("UPDATE analysis_run SET due_at = now() - interval '15 seconds' WHERE status = 'running'")
    site.start("worker")
    results_settle(site, ANSWERED)
    [(attempts,)] = site.rows("SELECT attempts FROM analysis_run WHERE kind = 'full_results' AND status = 'done' ORDER BY id DESC LIMIT 1")
    assert attempts == 1, "the run itself was not begun again"


def test_a_release_whose_worker_was_killed_is_built_by_the_next_with_the_rows_in_the_order_that_was_drawn(answered_site: Site) -> None:
    """The last test of this site, whose study it closes."""
    site = answered_site
    close_study(site)
    with psycopg.connect(site.environment["DATABASE_URL"]) as blocking:
        # Nobody can read the allocation lists, which come into the package when its rows are drawn and its numbers computed.
        blocking.execute("LOCK TABLE surveys_allocationslot IN ACCESS EXCLUSIVE MODE")
        site.manage("shell", "--no-imports", "--command", START_RELEASE)
        wait_until(lambda: site.rows("SELECT 1 FROM analysis_release WHERE stage = 'results'"), seconds=60)
        site.kill("worker")
    # As if the worker had been silent for a while.
    with psycopg.connect(site.environment["DATABASE_URL"]) as connection:
        [(data,)] = connection.execute("UPDATE analysis_release SET due_at = due_at - interval '2 minutes' RETURNING data").fetchall()
    assert site.rows("SELECT status, stage, attempts FROM analysis_release") == [("building", "results", 1)]
    site.start("worker")
    wait_until(lambda: site.rows("SELECT 1 FROM analysis_release WHERE status = 'built'"), seconds=60)
    [(package, attempts)] = site.rows("SELECT package, attempts FROM analysis_release")
    assert (files_in(package)["data.csv"].decode(), attempts) == (json.loads(data)["csv"], 2)
    assert faults_of(package) == []


def test_bots_finish_although_the_embedded_process_is_killed_in_the_middle(embedded_site: Site) -> None:
    site = embedded_site
    build_study(site)
    with bots_on_their_way(site, 80) as crowd:
        for already in (10, 40):
            crowd.wait_for_finished(already)
            site.kill("web")
            site.start("web")
        assert "finished: 80 " in crowd.wait_for_end()
    assert_all_finished_and_counted_once(site, 80)
    count_everybody(site)
    results_settle(site, 80)


def test_the_comparison_sees_what_is_lost_doubled_or_changed() -> None:
    """The control: bots remember two answers each, and one thing is wrong."""
    told = {"SECRET-AAAA-AAAA-AAAA-AAAA": {"a": "1", "b": "0"}}
    key = hash_of_withdrawal_code("AAAA-AAAA-AAAA-AAAA")
    good = [(key, "a", True), (key, "b", False)]
    assert compare(told, good) == Kept(acknowledged=2, lost=0, changed=0, doubled=0)
    assert compare(told, good[:1]) == Kept(acknowledged=2, lost=1, changed=0, doubled=0)
    assert compare(told, [*good, good[0]]) == Kept(acknowledged=2, lost=0, changed=0, doubled=1)
    assert compare(told, [*good, ("somebody else", "a", True)]) == Kept(acknowledged=2, lost=0, changed=0, doubled=1)
    assert compare(told, [good[0], (key, "b", True)]) == Kept(acknowledged=2, lost=0, changed=1, doubled=0)


def test_acknowledged_answers_survive_a_lock_a_full_house_and_ten_seconds_without_a_database(tmp_path: Path, built_study: Site) -> None:
    """`python -m benchmarks.faults` does this with 10,000 answers and more faults."""
    with built(tmp_path, like=built_study) as site:
        name, superuser = site.environment["DATABASE_URL"].rsplit("/", 1)[1], site.environment["DATABASE_URL"]
        role = f"limited_{name}"
        with psycopg.connect(superuser.rsplit("/", 1)[0] + "/postgres", autocommit=True) as administrator:

            def make(statement: str) -> None:
                administrator.execute(statement.encode())
                administrator.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])

            make(f"CREATE ROLE {role} LOGIN IN ROLE candor")
            site.environment["DATABASE_URL"] = superuser.replace("candor@", f"{role}@")
            try:
                site.start()
                with bots_on_their_way(site, 50, workers=6) as crowd:
                    crowd.wait_for_acknowledged(5)
                    with psycopg.connect(superuser) as locker:
                        locker.execute("LOCK TABLE surveys_participant, surveys_response IN ACCESS EXCLUSIVE MODE")
                        time.sleep(LOCK_SECONDS + 1)
                    crowd.wait_for_acknowledged(12)
                    make(f"ALTER ROLE {role} CONNECTION LIMIT 0")
                    time.sleep(3)
                    make(f"ALTER ROLE {role} CONNECTION LIMIT -1")
                    crowd.wait_for_acknowledged(20)
                    make(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
                    time.sleep(10)
                    make(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
                    assert "finished: 50 " in crowd.wait_for_end()
                assert set(crowd.turned_away()) <= {503, "no answer"}
                assert crowd.turned_away()[503] >= 3
                assert kept_answers(crowd) == Kept(acknowledged=200, lost=0, changed=0, doubled=0)
                assert_all_finished_and_counted_once(site, 50)
                assert "Traceback" not in site.log()
            finally:
                site.end()
                make(f"DROP OWNED BY {role}")
                administrator.execute(f"DROP ROLE {role}".encode())
