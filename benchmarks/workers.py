"""How much faster long work is with two worker processes than with one: a study's bootstrap, and the class sizes of protected records.

    python -m tests.services python -m benchmarks.workers [--people 4000] [--records 150] [--turns 2]

Workers of the queue `bootstrap` with one process each, as on a host for such work. One and two of them do the same work in turns (1, 2, 2,
1, …), each after a first time that is not counted. On a machine that others use the wall clock tells little: the bootstrap gives way to
everybody. Processor time tells how much more the same work costs when two share it, and how it is shared: the speed with a core for each
worker is the time of one alone over that of the busier one of two.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import click
from celery import Celery

from benchmarks.process_costs import processor_seconds, yardstick
from tests.processes import Site, built

NAMES = ("one", "other")
PEOPLE = """
from tests.factories import recruiting_study
from surveys.models import ListDrawing
from tests.finished_people import TELLING_DIE, add_finished_people
from tests.jobs import work_on
study = recruiting_study(allocation={{"planned_participants": {people}}}, die=TELLING_DIE)
for drawing in ListDrawing.objects.filter(due_at__isnull=False):
    work_on(drawing)
study.refresh_from_db()
add_finished_people(study, {people})
"""
SILENT = """
from jobs import tasks
tasks.work.apply_async = lambda *arguments, **options: None
"""
"""Nobody hears of the work before the clock runs."""
BOOTSTRAP = """
from datetime import timedelta
from analysis.models import RunKind
from analysis.runs.runner import queue_run
from surveys.models import Study
print(RunKind.FULL_RESULTS, queue_run(Study.objects.get().pk, kind=RunKind.FULL_RESULTS, after=timedelta(0)).pk)
"""
SWEEP = """
from analysis.records.services import start_sweep
from surveys.models import Study
from surveys.studies.services import close
study = Study.objects.get()
if not study.closed_on:
    study = close(study, actor=study.owner)
print("record_sweep", start_sweep(study, simulated=False, actor=study.owner).pk)
"""


@dataclass(frozen=True, kw_only=True)
class Work:
    """Work that is split into parts, and how one sees that it is done."""

    name: str
    people: int
    begin: str
    left: str
    """The query for what is not done yet."""
    parts: str
    """The query for parts that wait for workers: before there are any, one worker reads and prepares."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Elapsed time, and the processor time of each worker, in seconds."""

    elapsed: float
    prepared: tuple[float, ...]
    """Before there were parts."""
    each: tuple[float, ...]

    @property
    def of_parts(self) -> tuple[float, ...]:
        return tuple(all_ - before for all_, before in zip(self.each, self.prepared, strict=True))


def wait(done: Callable[[], bool], *, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            raise click.ClickException(f"not within {seconds:g} s")
        time.sleep(0.02)


def spent(site: Site) -> list[float]:
    """The processor time of each worker so far."""
    return [processor_seconds(process.pid) for process in site.processes.values()]


def timed(site: Site, work: Work) -> Cost:
    """Do the work, and see how long it takes."""
    kind, key = site.manage("shell", "--no-imports", "--command", SILENT + work.begin).split()[-2:]
    before = spent(site)
    start = time.monotonic()
    with Celery(broker=site.environment["REDIS_URL"], set_as_current=False) as app:
        app.send_task("jobs.tasks.work", args=(kind, key), queue="bootstrap")
    wait(lambda: site.number(work.parts) > 0, seconds=600)
    ready = spent(site)
    wait(lambda: site.number(work.left) == 0, seconds=600)
    elapsed, after = time.monotonic() - start, spent(site)
    prepared, each = (tuple(now - then for then, now in zip(before, later, strict=True)) for later in (ready, after))
    return Cost(elapsed=elapsed, prepared=prepared, each=each)


def with_workers(site: Site, number: int, work: Work) -> Cost:
    for name in NAMES[:number]:
        site.launch(name)
    try:
        timed(site, work)  # libraries are loaded
        return timed(site, work)
    finally:
        for name in NAMES[:number]:
            site.stop(name)


def measure(work: Work, *, turns: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="candor-bench-") as folder, built(Path(folder)) as site:
        site.manage("shell", "--no-imports", "--command", PEOPLE.format(people=work.people))
        command = ["-m", "celery", "-A", "config", "worker", "--concurrency", "1", "--loglevel", "warning", "--hostname"]
        site.commands = {name: [*command, f"{name}@bench"] for name in NAMES}
        site.environment["CANDOR_QUEUES"] = "bootstrap"
        found: dict[int, list[Cost]] = {1: [], 2: []}
        for turn in range(turns):
            for number in (1, 2) if turn % 2 == 0 else (2, 1):
                found[number].append(with_workers(site, number, work))
    click.echo(f"{work.name}, {work.people} people; yardstick {yardstick():.2f} ms")
    for number, costs in found.items():
        for cost in costs:
            each, parts = (" + ".join(f"{one:.2f}" for one in seconds) for seconds in (cost.each, cost.of_parts))
            click.echo(f"  {number} worker(s): {cost.elapsed:.2f} s elapsed, {each} s of processor time, {parts} s of it for the parts")
    for what, alone, shared in (
        ("in all", [cost.each for cost in found[1]], [cost.each for cost in found[2]]),
        ("the parts", [cost.of_parts for cost in found[1]], [cost.of_parts for cost in found[2]]),
    ):
        one, busier, both = median(map(sum, alone)), median(map(max, shared)), median(map(sum, shared))
        click.echo(f"  {what}: with a core each {one / busier:.2f} times the speed; the work costs {both / one:.2f} times as much")


@click.command()
@click.option("--people", default=4000)
@click.option("--records", default=150)
@click.option("--turns", default=2)
def main(people: int, records: int, turns: int) -> None:
    """Measure both kinds."""
    undone = "SELECT count(*) FROM analysis_run WHERE status IN ('queued', 'running')"
    chunks = "SELECT count(*) FROM analysis_chunk WHERE due_at IS NOT NULL"
    measure(Work(name="bootstrap", people=people, begin=BOOTSTRAP, left=undone, parts=chunks), turns=turns)
    tried = "SELECT count(*) FROM analysis_recordsweep WHERE status = 'running'"
    parts = "SELECT count(*) FROM analysis_sweeppart WHERE due_at IS NOT NULL"
    measure(Work(name="class sizes of protected records", people=records, begin=SWEEP, left=tried, parts=parts), turns=turns)


if __name__ == "__main__":
    main()
