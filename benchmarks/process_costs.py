"""Processor time and memory of a process with all its descendants, read from /proc (Linux)."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def family(pid: int) -> Iterator[int]:
    """The process and its descendants."""
    yield pid
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield from family(int(child))


def processor_seconds(pid: int) -> float:
    """User and system time of the process and its descendants, those that have ended included."""
    while True:
        with suppress(FileNotFoundError, ProcessLookupError):  # one has just ended: its time is its parent's now
            return sum(_times(member) for member in family(pid))


def _times(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / TICKS_PER_SECOND


def memory_megabytes(pid: int) -> dict[str, float]:
    """Memory of one process: `resident`, and `proportional`, in which shared memory is divided among the processes that share it."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    kilobytes = {line.split()[0].rstrip(":"): int(line.split()[1]) for line in lines[1:]}
    return {"resident": kilobytes["Rss"] / 1024, "proportional": kilobytes["Pss"] / 1024}


def postmaster_of(address: str) -> int:
    """The process from which all other PostgreSQL processes descend."""
    with psycopg.connect(address) as connection:
        row = connection.execute("SELECT pg_backend_pid()").fetchone()
        assert row is not None
        fields = Path(f"/proc/{row[0]}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[1])


def yardstick() -> float:
    """Processor milliseconds of a fixed piece of Python, the best of several: how fast this machine is while others use it too."""

    def once() -> float:
        start = time.process_time()
        sorted(str(number * number % 9973) for number in range(20_000))
        return 1000 * (time.process_time() - start)

    return min(once() for _ in range(20))
