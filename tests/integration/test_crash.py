"""`kill -9` in the middle: people finish all the same, nothing acknowledged is lost, nothing is counted twice."""

import os
import signal
from pathlib import Path

import psycopg

from tests.crowds import assert_all_finished_and_counted_once, bots_on_their_way, build_study, finished, results_settle, wait_until
from tests.processes import Site


def children(pid: int) -> list[int]:
    return [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]


def test_200_bots_finish_although_web_and_worker_are_killed_in_the_middle(production_site: Site) -> None:
    site = production_site
    build_study(site)
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
    results_settle(site, 200)
    assert len(children(site.processes["web"].pid)) >= 2


def test_what_a_killed_worker_was_computing_is_computed_by_the_next(production_site: Site) -> None:
    site = production_site
    build_study(site)
    with psycopg.connect(site.environment["DATABASE_URL"]) as blocking:
        with bots_on_their_way(site, 12) as crowd:
            crowd.wait_for_end()
        results_settle(site, 12)
        blocking.execute("LOCK TABLE surveys_response IN ACCESS EXCLUSIVE MODE")
        site.manage("shell", "--no-imports", "--command", "from analysis.services import request_refresh as ask; ask(1)")
        wait_until(lambda: site.rows("SELECT 1 FROM analysis_run WHERE status = 'running'"), seconds=20)
        site.kill("worker")
    # As if the worker had been silent for a while.
    with psycopg.connect(site.environment["DATABASE_URL"]) as connection:
        earlier = "UPDATE analysis_run SET due_at = due_at - interval '1 minute' WHERE status = 'running' RETURNING id"
        left = connection.execute(earlier).fetchall()
    assert len(left) == 1
    site.start("worker")
    results_settle(site, 12)
    assert site.rows(f"SELECT status, attempts, n FROM analysis_run WHERE id = {left[0][0]}") == [("done", 2, 12)]


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
    results_settle(site, 80)
