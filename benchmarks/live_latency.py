"""How long after somebody's answers the results page shows an estimate that includes them, while 20 people finish per second.

    python -m benchmarks.live_latency [--seconds 20] [--rate 20] [--push]

Runs on the production set-up of `benchmarks.journeys`. A client keeps the results page open and reloads it at the interval that the page
itself gives (`hx-trigger`). The wait of a moment ends with the first page whose estimates count everybody who had sent their answers by
then. With `--push` it listens to `manage.py push`, and asks when it hears of news. A full batch waits from the submit that completed it
until its numbers are on the page; that is measured, too. The same load runs once before, while the worker rests, to time participants'
requests when nothing is computed.
"""

from __future__ import annotations

import math
import os
import re
import tempfile
import threading
import time
from bisect import bisect_left
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import click
import httpx

from benchmarks.journey_client import join_within, walk_for
from benchmarks.journeys import Bench, running_site
from benchmarks.process_costs import yardstick
from surveys.batches import rules
from tests.processes import Site, wait_for_push
from tests.services import free_port

AIM_SECONDS = 3.0
COUNTED = re.compile(r"([\d,]+) people answered")
NEWS = re.compile(r'data-token="([^"]+)" data-version="(\w+)"')
SECONDS_BETWEEN_POLLS = 30.0
GROUPS = 4
STATE = re.compile(r"\?state=(\w+)")
ASK_EVERY = re.compile(r'hx-trigger="every (\d+)s')
SESSION = """
from django.conf import settings
from django.test import Client
from accounts.models import User
client = Client()
client.force_login(User.objects.get(username="investigator"))
print(settings.SESSION_COOKIE_NAME, client.session.session_key)
"""


def investigator(site: Site) -> httpx.Client:
    """A browser in which the study's investigator is logged in."""
    cookie, session = site.manage("shell", "--no-imports", "--command", SESSION).strip().splitlines()[-1].split()
    return httpx.Client(base_url=site.url, cookies={cookie: session}, timeout=30)


class Watcher(threading.Thread):
    """Watches the results page until told to stop, and keeps the time at which each number of people was first counted."""

    def __init__(self, bench: Bench, *, push: int | None = None) -> None:
        super().__init__(daemon=True)
        self.push, self.bench, self.left_over = push, bench, list[int]()
        self.news = threading.Event()
        self.client = investigator(bench.running)
        self.seen: list[tuple[int, float]] = []
        self.opened: list[float] = []
        self.stopping = threading.Event()

    def run(self) -> None:
        state, seconds = "", 1.0
        while not self.stopping.is_set():
            self.news.wait(seconds)
            self.news.clear()
            start = time.perf_counter()
            answer = self.client.get("/studies/lecture-videos/results/", params={"state": state})
            now = time.perf_counter()
            if answer.status_code == 204:
                continue
            answer.raise_for_status()
            self.opened.append(now - start)
            state = found[1] if (found := STATE.search(answer.text)) else ""
            if self.push and (found := NEWS.search(answer.text)):
                threading.Thread(target=self._listen, args=found.groups(), daemon=True).start()
                seconds = SECONDS_BETWEEN_POLLS
                if counted := COUNTED.search(answer.text):
                    self._note(int(counted[1].replace(",", "")), now)
                continue
            seconds = float(found[1]) if (found := ASK_EVERY.search(answer.text)) else seconds
            if counted := COUNTED.search(answer.text):
                self._note(int(counted[1].replace(",", "")), now)

    def _note(self, n: int, now: float) -> None:
        self.left_over.append(self.bench.running.number("SELECT left_over FROM surveys_shownnumbers"))
        self.seen.append((n, now))

    def _listen(self, token: str, version: str) -> None:
        """Wait for one piece of news."""
        address = f"http://127.0.0.1:{self.push}/events/"
        query = {"token": token, "since": version}
        with suppress(httpx.RemoteProtocolError), httpx.stream("GET", address, params=query, timeout=300) as stream:
            for line in stream.iter_lines():
                if line == "event: news":
                    self.news.set()
                    return

    def wait_for(self, n: int, *, seconds: float) -> None:
        """Return when no complete batch waits among `n` people who have finished."""
        deadline = time.perf_counter() + seconds
        while not self.seen or n - self.seen[-1][0] >= rules.completes(groups=GROUPS, left_over=self.left_over[-1]):
            if time.perf_counter() > deadline:
                raise click.ClickException(f"the results of the batches of {n} people did not come; the last were of {self.seen[-1:]}")
            time.sleep(0.1)


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(math.ceil(share * len(values)), len(values)) - 1]


def full_batches(watcher: Watcher, people: list[int], submits: list[float]) -> list[float]:
    """For each batch, the seconds from the submit that completed it to the first page with its numbers."""
    found = []
    batches = [(n, left, moment) for (n, moment), left in zip(watcher.seen, watcher.left_over, strict=True)]
    for (n, left, _moment), (later, _left, seen) in pairwise(batches):
        place = n + rules.completes(groups=GROUPS, left_over=left) - people[0]
        if later > n and 0 <= place < len(submits):
            found.append(seen - submits[place])
    return found


@click.command()
@click.option("--seconds", default=20.0)
@click.option("--rate", default=20, help="people who finish per second")
@click.option("--push", is_flag=True, help="listen for news in place of asking every second or two")
def main(seconds: float, rate: int, *, push: bool) -> None:
    """Measure and print."""
    people = int(seconds * rate)
    os.environ["PUSH"] = "1" if push else "0"
    with tempfile.TemporaryDirectory(prefix="candor-bench-") as folder, running_site(Path(folder)) as bench:
        walk_for(bench.visited, clients=4, seconds=2.0)
        bench.running.kill("worker")
        resting = join_within(bench.visited, people=people, seconds=seconds, pause=(0.0, 0.0))
        bench.running.start("worker")
        there = bench.running.number("SELECT count(*) FROM surveys_participant WHERE step = 'finished'")
        port = free_port() if push else None
        if port:
            bench.running.commands["push"] = ["manage.py", "push", "--port", str(port)]
            bench.running.start("push")
            wait_for_push(port)
        watcher = Watcher(bench, push=port)
        watcher.start()
        watcher.wait_for(there, seconds=60)
        computing = join_within(bench.visited, people=people, seconds=seconds, pause=(0.0, 0.0))
        watcher.wait_for(there + computing.journeys, seconds=60)
        watcher.stopping.set()
        watcher.join()
    submits = sorted(computing.submits)
    counts = [n for n, _moment in watcher.seen]
    waits = [
        watcher.seen[place][1] - moment  # those who wait for the next batch are in none
        for number, moment in enumerate(submits, start=1)
        if (place := bisect_left(counts, there + number)) < len(counts)
    ]
    errors, speed = len(computing.errors), yardstick()
    click.echo(
        f"{len(submits)} people ({len(waits)} of them in batches) in {computing.seconds:.0f} s, {errors} errors, yardstick {speed:.1f} ms"
    )
    click.echo(
        f"from submit to estimate: p50 {quantile(waits, 0.5):.2f} s, p95 {quantile(waits, 0.95):.2f} s (wanted: at most {AIM_SECONDS:g} s)"
    )
    batches = full_batches(watcher, [there + number for number in range(1, len(submits) + 1)], submits)
    if batches:
        half, most = quantile(batches, 0.5), quantile(batches, 0.95)
        click.echo(f"from a full batch to its numbers on the page ({len(batches)}): p50 {half:.2f} s, p95 {most:.2f} s")
    click.echo(f"the results page opened {len(watcher.opened)} times, p95 {1000 * quantile(watcher.opened, 0.95):.0f} ms")
    for name, measured in (("worker at rest", resting), ("worker computing", computing)):
        click.echo(f"participants' requests, {name}: p50 {measured.quantile(0.5):.1f} ms, p99 {measured.quantile(0.99):.1f} ms")


if __name__ == "__main__":
    main()
