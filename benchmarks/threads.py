"""Measure what threads give a web process on the Python that runs this: one process, several numbers of threads, in turn and again.

    python -m benchmarks.threads                 about two minutes

Each round puts the same clients on each number of threads, so that all are measured beside the same neighbours. On an interpreter that has
a lock for its threads they only fill the time in which others wait for the database; on one without it they would compute at once.
"""

import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

import click

from benchmarks.journey_client import walk_for
from benchmarks.journeys import Load, load, running_site


@click.command()
@click.option("--threads", default="1,2,4,8,16", help="numbers of threads of the one web process")
@click.option("--clients", default=16, help="how many walk at the same time")
@click.option("--seconds", default=4.0, help="how long they walk each time")
@click.option("--rounds", default=3)
def main(threads: str, clients: int, seconds: float, rounds: int) -> None:
    """Print journeys a second and processor time by the number of threads."""
    numbers, found = [int(number) for number in threads.split(",")], defaultdict[int, list[Load]](list)
    with tempfile.TemporaryDirectory(prefix="candor-bench-") as folder, running_site(Path(folder)) as bench:
        command = bench.running.commands["web"]
        places = {name: command.index(name) + 1 for name in ("--workers", "--blocking-threads")}
        for _round in range(rounds):
            for number in numbers:
                bench.running.stop("web")
                command[places["--workers"]], command[places["--blocking-threads"]] = "1", str(number)
                bench.running.start("web")
                walk_for(bench.visited, clients=clients, seconds=1.0)
                found[number].append(load(f"{number} threads", bench, lambda: walk_for(bench.visited, clients=clients, seconds=seconds))[0])
    lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    click.echo(
        f"Python {sys.version.split()[0]}, {'with' if lock else 'without'} a lock for threads; one web process, {clients} clients; medians"
    )
    click.echo(f"{'threads':>8} {'journeys/s':>11} {'web CPU ms a journey':>21} {'p95 ms':>8} {'errors':>7}")
    for number, loads in found.items():
        figures = [median(getattr(one, name) for one in loads) for name in ("journeys_per_second", "web_cpu", "p95")]
        click.echo(f"{number:>8} {figures[0]:11.1f} {figures[1]:21.1f} {figures[2]:8.0f} {sum(one.errors for one in loads):7}")


if __name__ == "__main__":
    main()
