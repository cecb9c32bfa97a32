"""Break everything in turn, under bots that remember what was acknowledged to them, and look for their answers afterwards.

    python -m benchmarks.faults                    10,000 answers, about ten minutes
    python -m benchmarks.faults --quick            1,200 answers and shorter outages, about three minutes

Starts a PostgreSQL that really writes to disk, Redis, granian as in the Dockerfile, a worker and beat. Each of the faults below happens
once, while 250 bots walk. Then every answer that was acknowledged is looked for in the database. Prints the table of
docs/operations.md, and ends with 1 if anything was lost, doubled, changed or answered with status 500.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from itertools import cycle
from pathlib import Path
from threading import Event, Thread

import click
import httpx
import psycopg

from benchmarks.journeys import DURABLE
from benchmarks.live_latency import investigator
from benchmarks.process_costs import family
from tests import processes
from tests.crowds import STUDY, Crowd, bots_on_their_way, build_study, count_everybody, kept_answers, results_settle
from tests.services import Server, services

ANSWERS_OF_ONE = 4
CONNECTIONS = 60
SETTINGS = (f"max_connections={CONNECTIONS}", *(one for one in DURABLE if not one.startswith("max_connections")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Drill:
    """Everything that can be broken, and for how long."""

    site: processes.Site
    database: Server
    broker: Server
    away_seconds: float
    """How long the database is away."""
    short_seconds: float
    """How long everything else is away, or held."""


def one_web_process(drill: Drill) -> None:
    """`kill -9` of one of the two web processes; its parent replaces it"""
    os.kill(list(family(drill.site.processes["web"].pid))[-1], signal.SIGKILL)


def web(drill: Drill) -> None:
    """`kill -9` of all web processes, started again"""
    drill.site.kill("web")
    drill.site.start("web")


def worker(drill: Drill) -> None:
    """`kill -9` of the worker and of beat, started again"""
    drill.site.kill("worker")
    drill.site.kill("beat")
    time.sleep(drill.short_seconds)
    drill.site.start("worker", "beat")


def redis(drill: Drill) -> None:
    """`kill -9` of Redis, started again without its data"""
    drill.broker.kill()
    time.sleep(drill.short_seconds)
    drill.broker.start()


def one_connection(drill: Drill) -> None:
    """`kill -9` of one process of PostgreSQL, which then ends all others and recovers"""
    with psycopg.connect(drill.site.environment["DATABASE_URL"]) as connection:
        others = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        pids = [pid for (pid,) in connection.execute(others).fetchall()]
    os.kill(pids[0], signal.SIGKILL)


def postgresql(drill: Drill) -> None:
    """`kill -9` of all of PostgreSQL, started again"""
    kill_postgresql(drill)
    drill.database.start()


def kill_postgresql(drill: Drill) -> None:
    for pid in list(family(drill.database.process.pid)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    drill.database.kill()


def connection_limit(drill: Drill) -> None:
    """All connections of PostgreSQL taken by somebody else"""
    with ExitStack() as taken:
        until = time.monotonic() + drill.short_seconds
        mine = [taken.enter_context(psycopg.connect(drill.database.address, autocommit=True))]
        while time.monotonic() < until:
            try:
                mine.append(taken.enter_context(psycopg.connect(drill.database.address, autocommit=True)))
            except psycopg.OperationalError:
                pids = [connection.info.backend_pid for connection in mine]
                end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> ALL(%s)"
                mine[0].execute(end, [pids])
                time.sleep(0.05)


def lock(drill: Drill) -> None:
    """The tables of participants and answers locked by somebody else"""
    with psycopg.connect(drill.site.environment["DATABASE_URL"]) as locker:
        locker.execute("LOCK TABLE surveys_participant, surveys_response IN ACCESS EXCLUSIVE MODE")
        time.sleep(drill.short_seconds)


def no_database(drill: Drill) -> None:
    """No PostgreSQL"""
    drill.database.stop()
    time.sleep(drill.away_seconds)
    drill.database.start()


def everything(drill: Drill) -> None:
    """`kill -9` of web, worker, beat, Redis and PostgreSQL at once, started again"""
    for name in list(drill.site.processes):
        drill.site.kill(name)
    kill_postgresql(drill)
    drill.broker.kill()
    drill.database.start()
    drill.broker.start()
    drill.site.start()


FAULTS: tuple[Callable[[Drill], None], ...] = (
    one_web_process,
    web,
    worker,
    redis,
    one_connection,
    postgresql,
    connection_limit,
    lock,
    no_database,
    everything,
)


@contextmanager
def running_drill(folder: Path, *, away_seconds: float, short_seconds: float) -> Iterator[Drill]:
    """The production set-up with the demonstration study, recruiting, and nobody in it yet."""
    with services(settings=SETTINGS) as (database, broker):
        os.environ |= {"DATABASE_URL": database.address, "REDIS_URL": broker.address}
        with processes.production(folder) as site:
            build_study(site)
            yield Drill(site=site, database=database, broker=broker, away_seconds=away_seconds, short_seconds=short_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The bots' diary when a fault began."""

    fault: str
    acknowledged: int
    away: Counter[int | str]


class Visitor(Thread):
    """Somebody of staff who looks at pages all the time, and counts in which way they were answered."""

    PAGES = (
        "/studies/",
        f"/studies/{STUDY}/results/",
        f"/api/v1/studies/{STUDY}/counts/",
        f"/studies/{STUDY}/",
        "/data/",
        "/accounts/login/",
        "/healthz",
    )

    def __init__(self, site: processes.Site) -> None:
        super().__init__(daemon=True)
        self.statuses: Counter[int] = Counter()
        self.ended = Event()
        self._client = investigator(site)

    def run(self) -> None:
        for page in cycle(self.PAGES):
            if self.ended.wait(0.25):
                return
            with suppress(httpx.TransportError):
                self.statuses[self._client.get(page).status_code] += 1


def break_in_turn(drill: Drill, *, people: int, workers: int) -> tuple[Crowd, list[Moment], list[float]]:
    """Let each fault happen once, in the middle of a crowd of its own: all bots with one diary, how things stood at each fault and at the
    end, and how long each lasted.
    """
    moments, seconds, before = [], [], 0
    for number, fault in enumerate(FAULTS):
        share = len(range(number, people, len(FAULTS)))
        with bots_on_their_way(drill.site, share, workers=workers, patience_seconds=180) as crowd:
            crowd.wait_for_acknowledged(before + share // 4, seconds=600)
            moments.append(moment(str(fault.__doc__), crowd))
            start = time.monotonic()
            fault(drill)
            drill.site.wait_until_ready()
            seconds.append(time.monotonic() - start)
            crowd.wait_for_end(seconds=1800)
        before += share
        click.echo(f"{seconds[-1]:6.1f} s  {fault.__doc__}", err=True)
    return crowd, [*moments, moment("", crowd)], seconds


def moment(fault: str, crowd: Crowd) -> Moment:
    return Moment(fault=fault, acknowledged=len(crowd.acknowledged()) * ANSWERS_OF_ONE, away=crowd.turned_away())


def show(moments: list[Moment], seconds: list[float]) -> None:
    """The table of docs/operations.md: each fault with what bots met from its beginning to the beginning of the next."""
    click.echo(
        "| Fault | Seconds until all ran again | Requests answered 503 | Requests without an answer | Answers acknowledged until the next |"
    )
    click.echo("|---|---|---|---|---|")
    for before, after, lasted in zip(moments, moments[1:], seconds, strict=False):
        met = after.away - before.away
        unanswered = met.pop("no answer", 0)
        click.echo(f"| {before.fault} | {lasted:.0f} | {met.total()} | {unanswered} | {after.acknowledged - before.acknowledged} |")


@click.command()
@click.option("--answers", default=10_000, help="how many answers the bots give, four each")
@click.option("--quick", is_flag=True, help="a smoke test: 1,200 answers, six bots at a time, and shorter outages")
@click.option("--workers", default=16, help="how many bots walk at the same time")
def main(answers: int, quick: bool, workers: int) -> None:
    """Break everything in turn, and compare what was acknowledged with what is stored."""
    people, workers = (300, 6) if quick else (-(-answers // ANSWERS_OF_ONE), workers)
    with (
        tempfile.TemporaryDirectory(prefix="candor-bench-") as folder,
        running_drill(Path(folder), away_seconds=8 if quick else 30, short_seconds=6 if quick else 12) as drill,
    ):
        drill.site.start_seconds = 180
        visitor = Visitor(drill.site)
        visitor.start()
        with drill.site.supervised() as restarted:
            crowd, moments, seconds = break_in_turn(drill, people=people, workers=workers)
        visitor.ended.set()
        visitor.join()
        kept = kept_answers(crowd)
        bots = drill.site.number("SELECT count(*) FROM surveys_participant")
        log = drill.site.manage("verify_audit_log").strip()
        count_everybody(drill.site)
        results_settle(drill.site, people, seconds=300)
        tracebacks = drill.site.log().count("Traceback")
        broken = sum(count for status, count in visitor.statuses.items() if status >= 500 and status != 503)
    click.echo(f"{date.today()}, {kept.acknowledged} acknowledged answers of {people} bots, {workers} at a time\n")
    show(moments, seconds)
    click.echo(f"\nAnswers lost: {kept.lost}, doubled: {kept.doubled}, with another content: {kept.changed}.")
    click.echo(f"People: {bots}. Pages with status 500: {broken}; tracebacks in the log of web: {tracebacks}.")
    click.echo(f"Pages of staff meanwhile: {', '.join(f'{count} x {status}' for status, count in sorted(visitor.statuses.items()))}.")
    click.echo(f"Processes that ended by themselves and were started again, as Docker does: {', '.join(restarted) or 'none'}.")
    click.echo(f"Results of all {people} people were computed. {log}")
    if kept.lost or kept.doubled or kept.changed or broken or tracebacks or bots != people or kept.acknowledged != people * ANSWERS_OF_ONE:
        sys.exit(1)


if __name__ == "__main__":
    main()
