"""How much of a machine so many students a minute need, from measured figures; the table is in docs/operations.md.

    python -m benchmarks.sizing                                  the table, from benchmarks/sizing.json
    python -m benchmarks.sizing --measure                        measure disk and write-ahead log for each student anew, with 10,000

Processor time and memory are those of `benchmarks.journeys` (`make bench`), whose figures are copied into that file with the machine.
"""

import json
import math
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import click

FIGURES = Path(__file__).with_name("sizing.json")
LOADS = (60, 500, 1000, 3000, 10_000)
BUSY = 0.6
"""The part of a core that is planned with: above it, waiting grows quickly."""
THREADS = 8
WORKER_PROCESSES = 2


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The costs of one journey: processor milliseconds, megabytes of a process of pages, bytes on PostgreSQL's disk with indexes and of its
    write-ahead log.
    """

    machine: str
    web_ms: float
    database_ms: float
    web_megabytes: float
    bytes_for_each_student: float
    log_bytes_for_each_student: float
    disk_machine: str


@dataclass(frozen=True, kw_only=True)
class Size:
    """The needs of a load."""

    students_a_minute: int
    web_cores: int
    database_cores: int
    web_gigabytes: float
    connections: int
    megabytes_an_hour: int
    log_megabytes_an_hour: int


def size(figures: Figures, students_a_minute: int) -> Size:
    """As many processes of pages as cores for them, and at least two, so that one may be replaced."""
    a_second = students_a_minute / 60
    web = max(2, math.ceil(a_second * figures.web_ms / 1000 / BUSY))
    return Size(
        students_a_minute=students_a_minute,
        web_cores=web,
        database_cores=math.ceil(a_second * figures.database_ms / 1000 / BUSY),
        web_gigabytes=math.ceil(web * figures.web_megabytes * 1.5 / 102.4) / 10,
        connections=web * THREADS + WORKER_PROCESSES,
        megabytes_an_hour=math.ceil(60 * students_a_minute * figures.bytes_for_each_student / 1e6),
        log_megabytes_an_hour=math.ceil(60 * students_a_minute * figures.log_bytes_for_each_student / 1e6),
    )


def table(figures: Figures) -> list[str]:
    """The lines of the table."""
    heads = (
        "Students a minute",
        "Cores for pages",
        "Cores of PostgreSQL",
        "Memory for pages",
        "Connections",
        "Disk an hour",
        "Log an hour",
    )
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for load in LOADS:
        one = size(figures, load)
        disk = (f"{megabytes:,} MB" for megabytes in (one.megabytes_an_hour, one.log_megabytes_an_hour))
        cells = (f"{load:,}", one.web_cores, one.database_cores, f"{one.web_gigabytes} GB", one.connections, *disk)
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def stored() -> Figures:
    return Figures(**json.loads(FIGURES.read_text()))


def measured_bytes(students: int) -> tuple[float, float]:
    """Let students through the demonstration study. For each: what the database has grown by as it lies, after the vacuum that follows of
    itself, and what was written to its write-ahead log. Its settings are PostgreSQL's own, which write each page whole after a checkpoint.
    """
    import psycopg

    from benchmarks.journey_client import walk_for
    from benchmarks.journeys import running_site

    with tempfile.TemporaryDirectory(prefix="candor-bench-") as folder, running_site(Path(folder)) as bench:
        address = bench.running.environment["DATABASE_URL"]

        def now() -> tuple[int, int]:
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute("VACUUM")
            [found] = bench.running.rows(
                "SELECT pg_database_size(current_database()), pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"
            )
            return found[0], found[1]

        walk_for(bench.visited, clients=8, seconds=3)
        before, there = now(), bench.running.number("SELECT count(*) FROM surveys_participant")
        come = 0
        while come < students:
            walked = walk_for(bench.visited, clients=8, seconds=20)
            if walked.errors:
                raise click.ClickException(walked.errors[0])
            come = bench.running.number("SELECT count(*) FROM surveys_participant") - there
            click.echo(f"{come} students", err=True)
        after = now()
    return (after[0] - before[0]) / come, (after[1] - before[1]) / come


@click.command()
@click.option("--measure", is_flag=True, help="measure disk and write-ahead log for each student, and store them")
@click.option("--students", default=10_000, help="with how many students at least")
def main(measure: bool, students: int) -> None:
    """Print the table."""
    figures = stored()
    if measure:
        rows, log = map(round, measured_bytes(students))
        figures = Figures(**{**asdict(figures), "bytes_for_each_student": rows, "log_bytes_for_each_student": log})
        FIGURES.write_text(json.dumps(asdict(figures), indent=1) + "\n")
    click.echo("\n".join(table(figures)))
    click.echo(f"\nEach student: {figures.bytes_for_each_student:,.0f} bytes of disk, {figures.log_bytes_for_each_student:,.0f} of log.")
    click.echo(f"\n{figures.machine} {figures.disk_machine}")


if __name__ == "__main__":
    main()
