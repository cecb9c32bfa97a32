"""Bots on their way through a running site, and the site's database afterwards."""

import hashlib
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.processes import Site

STUDY = "lecture-videos"
CLOSE = """
from surveys.models import Study
from surveys.studies.services import close

study = Study.objects.get()
close(study, actor=study.owner)
"""


def build_study(site: Site) -> None:
    """The demonstration study, recruiting, and still empty. `manage.py demo` refuses to build it under production settings."""
    build = "from config.management.commands.demo import build_demonstration; build_demonstration(password='a long and winding road')"
    site.manage("shell", "-c", build)


def close_study(site: Site) -> None:
    """Its owner closes it: everybody is counted from now on."""
    site.manage("shell", "--no-imports", "--command", CLOSE)


@contextmanager
def bots_on_their_way(site: Site, n: int, *, workers: int = 8, patience_seconds: float = 60) -> Iterator["Crowd"]:
    """Run `manage.py send_bots` during the block, with bots who all agree and never give up; it must have ended by the block's end."""
    diary = site.folder / "diary.jsonl"
    command = ["manage.py", "send_bots", STUDY, "--url", site.url, f"--n={n}", f"--workers={workers}", "--decline=0", "--dropout=0"]
    command += [f"--diary={diary}", f"--patience={patience_seconds}"]
    diary.touch()
    process = subprocess.Popen(
        [sys.executable, *command], cwd=site.code, env=site.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield Crowd(site=site, process=process, diary=diary)
    finally:
        process.kill()
        process.communicate()


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    site: Site
    process: subprocess.Popen[str]
    diary: Path

    def wait_for_finished(self, n: int) -> None:
        """Return as soon as `n` bots have finished, in the middle of the others' way."""
        self._wait(lambda: finished(self.site) >= n, seconds=90)

    def wait_for_acknowledged(self, n: int, *, seconds: float = 90) -> None:
        """The same by what the bots were told; the database need not be there."""
        self._wait(lambda: len(self.acknowledged()) >= n, seconds=seconds)

    def _wait(self, done: Callable[[], bool], *, seconds: float) -> None:
        wait_until(lambda: self.process.poll() is not None or done(), seconds=seconds)
        assert self.process.poll() is None, "the bots ended before they could be disturbed:\n" + "".join(self.process.communicate())

    def wait_for_end(self, *, seconds: float = 150) -> str:
        """The last words of `send_bots`."""
        output, errors = self.process.communicate(timeout=seconds)
        assert self.process.returncode == 0, errors[-3000:] + self.site.log()[-3000:]
        return output

    def events(self) -> list[dict[str, Any]]:
        """The diary so far."""
        text = self.diary.read_text(encoding="utf-8")
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]

    def acknowledged(self) -> dict[str, Mapping[str, str]]:
        """The answers of everybody who has seen the last page, by withdrawal code."""
        return {event["code"]: event["answers"] for event in self.events() if "code" in event}

    def turned_away(self) -> Counter[int | str]:
        """How many requests were not taken, by status; "no answer" where there was none."""
        return Counter(event["away"] for event in self.events() if "away" in event)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Acknowledged answers and stored ones, compared."""

    acknowledged: int
    lost: int
    changed: int
    doubled: int


def compare(acknowledged: Mapping[str, Mapping[str, str]], stored: list[tuple[str, str, bool]]) -> Kept:
    """Compare what people were told is stored with the rows (hash of withdrawal code, question, reported yes), each of which is one
    answer. Rows beyond the first for an answer, and rows of nobody who was told so, are doubled.
    """
    rows: dict[tuple[str, str], list[bool]] = {}
    for code, question, yes in stored:
        rows.setdefault((code, question), []).append(yes)
    expected = {(_hash_of(code), question): said == "1" for code, answers in acknowledged.items() for question, said in answers.items()}
    return Kept(
        acknowledged=len(expected),
        lost=sum(answer not in rows for answer in expected),
        changed=sum(answer in rows and said not in rows[answer] for answer, said in expected.items()),
        doubled=sum(len(found) - (answer in expected) for answer, found in rows.items()),
    )


def kept_answers(crowd: Crowd) -> Kept:
    """The comparison for everybody in this site. At the end of all bots nothing may be stored that nobody was told."""
    sql = (
        "SELECT p.withdrawal_hash, r.question, r.reported_yes FROM surveys_response r JOIN surveys_participant p ON p.id = r.participant_id"
    )
    return compare(crowd.acknowledged(), [(code, question, bool(yes)) for code, question, yes in crowd.site.rows(sql)])


def _hash_of(code: str) -> str:
    """As `surveys.tokens.hash_of_withdrawal_code`, written again: what is asked must not depend on what answers."""
    letters = code.removeprefix("SECRET-").replace("-", "")
    return hashlib.sha256(f"candor withdrawal code: {letters}".encode()).hexdigest()


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
        "from surveys.batches.recount import check_counts\n"
        "check_counts()\n"
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
