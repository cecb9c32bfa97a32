"""How many whole journeys the production server set-up carries, at what cost, and where the time goes.

    python -m benchmarks.journeys                        everything, about four minutes
    python -m benchmarks.journeys --seconds 5 --people 0 --demo-bots 0   quick
    python -m benchmarks.journeys --profile              where the time goes, request by request

Starts a PostgreSQL that really writes to disk, Redis, granian as in the Dockerfile, a worker and beat, all on this machine and
shared with the clients. Wall-clock figures depend on what else runs here; the server's processor time per journey hardly does.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import yaml

from benchmarks.journey_client import Measured, Site, join_within, walk_for
from benchmarks.process_costs import family, memory_megabytes, postmaster_of, processor_seconds, yardstick
from tests import processes
from tests.crowds import build_study
from tests.services import services

DURABLE = ("max_connections=300", "shared_buffers=128MB")
STUDY_FILE = Path(__file__).parents[1] / "surveys" / "sample" / "lecture-videos.yaml"
PAUSE = (0.5, 2.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Results of one load: milliseconds of requests as the clients see them, and processor milliseconds per journey, by part."""

    name: str
    journeys: int
    errors: int
    seconds: float
    journeys_per_second: float
    requests_per_second: float
    p50: float
    p95: float
    p99: float
    page_p95: float
    web_cpu: float
    database_cpu: float
    worker_cpu: float
    yardstick: float


def load(name: str, bench: Bench, walk: Callable[[], Measured]) -> tuple[Load, Measured]:
    """Put a load on the site and measure it."""
    before = bench.processor_seconds()
    measured = walk()
    spent = {part: 1000 * (after - before[part]) / max(measured.journeys, 1) for part, after in bench.processor_seconds().items()}
    for error in sorted(set(measured.errors))[:5]:
        click.echo(f"error: {error}", err=True)
    return Load(
        name=name,
        journeys=measured.journeys,
        errors=len(measured.errors),
        seconds=measured.seconds,
        journeys_per_second=measured.journeys / measured.seconds,
        requests_per_second=measured.request_count / measured.seconds,
        p50=measured.quantile(0.5),
        p95=measured.quantile(0.95),
        p99=measured.quantile(0.99),
        page_p95=measured.quantile(0.95, prefix="GET"),
        web_cpu=spent["web"],
        database_cpu=spent["database"],
        worker_cpu=spent["worker"],
        yardstick=yardstick(),
    ), measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The running site, and where its processes are."""

    running: processes.Site
    visited: Site
    postmaster: int

    def processor_seconds(self) -> dict[str, float]:
        return {
            "web": processor_seconds(self.running.processes["web"].pid),
            "database": processor_seconds(self.postmaster),
            "worker": processor_seconds(self.running.processes["worker"].pid),
        }

    def web_worker_memory(self) -> list[dict[str, float]]:
        """The process ids of every granian process except the one that only supervises."""
        return [memory_megabytes(pid) for pid in list(family(self.running.processes["web"].pid))[1:]]


@contextmanager
def running_site(folder: Path, *, plainly: bool = False) -> Iterator[Bench]:
    """The production set-up with the demonstration study, recruiting, and nobody in it yet."""
    with services(settings=DURABLE) as (database, broker):
        os.environ |= {"DATABASE_URL": database.address, "REDIS_URL": broker.address}
        with processes.production(folder) as running:
            build_study(running)
            ticket = running.manage(
                "shell", "--no-imports", "-c", "from surveys.journey.visitors import *; print(bot_ticket('lecture-videos'))"
            ).strip()
            visited = Site(
                host="127.0.0.1",
                port=running.port,
                path="/s/lecture-videos/",
                forms=forms_of(yaml.safe_load(STUDY_FILE.read_text(encoding="utf-8"))),
                bot_ticket=ticket,
                plainly=plainly,
            )
            yield Bench(running=running, visited=visited, postmaster=postmaster_of(running.environment["DATABASE_URL"]))


def demonstration_memory(bots: int) -> dict[str, float]:
    """The process id of the single process that `make demo` starts, once its bots are done."""
    with tempfile.TemporaryDirectory(prefix="candor-bench-") as folder, processes.embedded(Path(folder), demo_bots=bots) as site:
        return memory_megabytes(site.processes["web"].pid)


def forms_of(study: dict[str, Any]) -> dict[str, dict[str, str | list[str]]]:
    """How to fill in the pages of the demonstration study, step by step."""
    return {
        "welcome": {"language": "en"},
        "consent": {"choice": "agree"},
        "background": {
            "gender": ["woman", "man", "other", ""],
            "year": [str(year) for year in range(1, 9)],
            "devices": ["phone", "laptop", "room"],
            "courses-0-course": ["introduction", "probability", "experiments", "other"],
            "courses-0-grade": [str(grade) for grade in range(40, 101)],
        },
        "video": {},
        "quiz": {f"quiz-{item['name']}": [option["name"] for option in item["options"]] for item in study["quiz"]},
        "die": {"situation-1": "yes-no", "check-1": "yes", "situation-2": "truth-yes", "check-2": "yes"},
        "questions": {f"answer-{question['name']}": ["0", "1"] for question in study["questions"]},
    }


def show(loads: list[Load]) -> None:
    columns = ("journeys/s", "requests/s", "p50", "p95", "p99", "page p95", "web", "database", "worker", "yardstick", "errors")
    click.echo(f"{'':>20} {'':>21} {'ms per request':^35} {'CPU ms per journey':^26}")
    click.echo(f"{'':>20} {columns[0]:>10} {columns[1]:>10} " + " ".join(f"{column:>8}" for column in columns[2:]))
    for one in loads:
        figures = (one.p50, one.p95, one.p99, one.page_p95, one.web_cpu, one.database_cpu, one.worker_cpu, one.yardstick)
        click.echo(
            f"{one.name:>20} {one.journeys_per_second:10.1f} {one.requests_per_second:10.0f} "
            + " ".join(f"{figure:8.1f}" for figure in figures)
            + f" {one.errors:8}"
        )


def show_pages(by_request: dict[str, float]) -> None:
    click.echo("\nOne client alone, mean milliseconds")
    for name, milliseconds in by_request.items():
        click.echo(f"{name:>24} {milliseconds:6.2f}")
    click.echo(f"{'whole journey':>24} {sum(by_request.values()):6.2f}")


@click.command()
@click.option("--seconds", default=15.0, help="how long each number of clients walks")
@click.option("--clients", default="1,8,64", help="how many walk at the same time, one load after the other")
@click.option("--people", default=500, help="how many join within a minute; 0 leaves that load out")
@click.option("--within", default=60.0, help="what a minute is, in seconds")
@click.option("--demo-bots", default=300, help="how many bots the demonstration does before its memory is read; 0 leaves it out")
@click.option("--profile", is_flag=True, help="instead, walk inside one process and show where the time goes")
@click.option("--plainly", is_flag=True, help="walk as browsers without JavaScript, which are led to each page by a redirect")
@click.option("--json", "as_json", is_flag=True, help="one JSON document on standard output")
def main(seconds: float, clients: str, people: int, within: float, demo_bots: int, profile: bool, plainly: bool, as_json: bool) -> None:
    """Measure whole journeys against the production set-up."""
    with tempfile.TemporaryDirectory(prefix="candor-bench-") as folder, running_site(Path(folder), plainly=plainly) as bench:
        if profile:
            from benchmarks import journey_profile

            journey_profile.run(bench.visited, environment=bench.running.environment)
            return
        walk_for(bench.visited, clients=16, seconds=2.0)
        loads, by_request = [], {}
        for count in map(int, clients.split(",")):
            one, measured = load(f"{count} clients", bench, lambda count=count: walk_for(bench.visited, clients=count, seconds=seconds))
            loads.append(one)
            if count == 1:
                by_request = {name: 1000 * sum(times) / len(times) for name, times in measured.requests.items()}
        if people:
            name = f"{people} join in {within:g} s"
            loads.append(load(name, bench, lambda: join_within(bench.visited, people=people, seconds=within, pause=PAUSE))[0])
        memory = {"web worker": bench.web_worker_memory()}
    if demo_bots:
        memory[f"demonstration, {demo_bots} bots done"] = [demonstration_memory(demo_bots)]
    if as_json:
        json.dump({"loads": [asdict(one) for one in loads], "one_client": by_request, "megabytes": memory}, sys.stdout, indent=1)
        return
    show(loads)
    show_pages(by_request)
    click.echo("\nMegabytes afterwards: resident, and the process's own share of what is shared")
    for name, each in memory.items():
        for one in each:
            click.echo(f"{name:>32} {one['resident']:6.0f} {one['proportional']:6.0f}")


if __name__ == "__main__":
    main()
