"""How much of a machine so many students a minute need, from measured figures; the table is in docs/operations.md.

    python -m benchmarks.sizing                                  the table, from benchmarks/sizing.json
    python -m tests.services python -m benchmarks.sizing --measure   measure disk for each student anew, with 300 bots

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
    """The costs of one journey: processor milliseconds, megabytes of a process of pages, bytes on PostgreSQL's disk with indexes."""

    machine: str
    web_ms: float
    database_ms: float
    web_megabytes: float
    bytes_for_each_student: float


@dataclass(frozen=True, kw_only=True)
class Size:
    """The needs of a load."""

    students_a_minute: int
    web_cores: int
    database_cores: int
    web_gigabytes: float
    connections: int
    gigabytes_for_a_million: float


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
        gigabytes_for_a_million=round(figures.bytes_for_each_student * 1e6 / 1e9, 1),
    )


def table(figures: Figures) -> list[str]:
    """The lines of the table."""
    lines = ["| Students a minute | Cores for pages | Cores of PostgreSQL | Memory for pages | Connections |", "|---|---|---|---|---|"]
    for load in LOADS:
        one = size(figures, load)
        cells = (f"{load:,}", one.web_cores, one.database_cores, f"{one.web_gigabytes} GB", one.connections)
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def stored() -> Figures:
    return Figures(**json.loads(FIGURES.read_text()))


def measured_bytes(bots: int) -> float:
    """Let bots through the demonstration study; what the database has grown by for each, once dead rows are gone."""
    import psycopg

    from tests import processes
    from tests.crowds import bots_on_their_way, build_study

    with tempfile.TemporaryDirectory(prefix="candor-bench-") as folder, processes.production(Path(folder)) as site:
        build_study(site)

        def grown() -> int:
            with psycopg.connect(site.environment["DATABASE_URL"], autocommit=True) as connection:
                connection.execute("VACUUM FULL")
            return site.number("SELECT pg_database_size(current_database())")

        before = grown()
        with bots_on_their_way(site, bots) as crowd:
            crowd.wait_for_end(seconds=600)
        return (grown() - before) / bots


@click.command()
@click.option("--measure", is_flag=True, help="measure the disk for each student, and store it")
@click.option("--bots", default=300, help="with how many bots")
def main(measure: bool, bots: int) -> None:
    """Print the table."""
    figures = stored()
    if measure:
        figures = Figures(**{**asdict(figures), "bytes_for_each_student": round(measured_bytes(bots))})
        FIGURES.write_text(json.dumps(asdict(figures), indent=1) + "\n")
    click.echo("\n".join(table(figures)))
    if figures.bytes_for_each_student:
        click.echo(f"\nA million students: {size(figures, 60).gigabytes_for_a_million} GB on PostgreSQL's disk.")
    click.echo(f"\n{figures.machine}")


if __name__ == "__main__":
    main()
