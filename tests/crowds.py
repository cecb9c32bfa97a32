"""Bots on their way through a running site, and the site's database afterwards."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.processes import ROOT, Site

STUDY = "lecture-videos"


def build_study(site: Site) -> None:
    """The demonstration study, recruiting, and still empty. `manage.py demo` refuses to build it under production settings."""
    build = "from config.management.commands.demo import build_demonstration; build_demonstration(password='a long and winding road')"
    site.manage("shell", "-c", build)


@contextmanager
def bots_on_their_way(site: Site, n: int, *, workers: int = 8) -> Iterator["Crowd"]:
    """Run `manage.py send_bots` during the block, with bots who all agree and never give up; it must have ended by the block's end."""
    command = ["manage.py", "send_bots", STUDY, "--url", site.url, f"--n={n}", f"--workers={workers}", "--decline=0", "--dropout=0"]
    process = subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, env=site.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield Crowd(site=site, process=process)
    finally:
        process.kill()
        process.communicate()


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    site: Site
    process: subprocess.Popen[str]

    def wait_for_finished(self, n: int) -> None:
        """Return as soon as `n` bots have finished, in the middle of the others' way."""
        wait_until(lambda: self.process.poll() is not None or finished(self.site) >= n, seconds=90)
        assert self.process.poll() is None, "the bots ended before they could be disturbed:\n" + "".join(self.process.communicate())

    def wait_for_end(self) -> str:
        """The last words of `send_bots`."""
        output, errors = self.process.communicate(timeout=150)
        assert self.process.returncode == 0, errors[-3000:] + self.site.log()[-3000:]
        return output


def wait_until(done: Callable[[], Any], *, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            pytest.fail(f"not within {seconds:g} seconds")
        time.sleep(0.1)


def finished(site: Site) -> int:
    return site.number("SELECT count(*) FROM surveys_participant WHERE step = 'finished'")


def assert_all_finished_and_counted_once(site: Site, n: int) -> None:
    """Check that there are exactly `n` people, each assigned by a line of the list of their own, each with four answers."""
    assert finished(site) == site.number("SELECT count(*) FROM surveys_participant") == n
    assert site.number("SELECT count(*) FROM surveys_response") == 4 * n
    by_list = "SELECT subsample, arm, count(*) FROM surveys_allocationslot WHERE status = 'taken' GROUP BY subsample, arm ORDER BY 1, 2"
    by_person = "SELECT subsample, arm, count(*) FROM surveys_participant GROUP BY subsample, arm ORDER BY 1, 2"
    assert site.rows(by_list) == site.rows(by_person)
    assert site.number("SELECT coalesce(sum(count), 0) FROM surveys_shardedcounter WHERE kind LIKE 'comprehension_%'") == n


def counted(site: Site) -> int:
    return site.number("SELECT count(*) FROM surveys_participant WHERE step = 'finished' AND counted")


def count_everybody(site: Site) -> None:
    """As if whole batches had let everybody into the shown numbers, and asked for their results."""
    site.manage(
        "shell",
        "--no-imports",
        "--command",
        "from analysis.services import request_refresh as ask\n"
        "from surveys.models import Participant\n"
        "Participant.objects.update(counted=True)\n"
        "for kind in ('first_results', 'full_results'): ask(1, kind=kind)",
    )


def results_settle(site: Site, n: int, *, seconds: float = 90) -> None:
    """Return when all work is done and the newest results are those of `n` people."""

    def settled() -> bool:
        runs = site.rows("SELECT status, n FROM analysis_run ORDER BY id")
        done = [seen for status, seen in runs if status == "done"]
        return not {"queued", "running"} & {status for status, _ in runs} and bool(done) and done[-1] == n

    try:
        wait_until(settled, seconds=seconds)
    except pytest.fail.Exception:
        runs = site.rows("SELECT status, n, attempts, error FROM analysis_run ORDER BY id DESC")
        pytest.fail(f"the results of {n} people did not come; the last runs: {runs[:5]}")
