"""Candor beside oTree: journeys a second and processor time for each, in one run, in turns, on the same PostgreSQL settings.

    python -m benchmarks.otree --peer /path/of/a/venv/with/otree

otree.md says how to install the peer, and what was found.
"""

import json
import os
import resource
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import click

from benchmarks.journey_client import Connection, Measured, Site, UnexpectedAnswerError, _in_processes, walk_for
from benchmarks.journeys import DURABLE, running_site
from benchmarks.process_costs import postmaster_of, processor_seconds, yardstick
from tests.services import free_port, postgresql

STUDY = Path(__file__).parent / "otree_study"
PEOPLE = 400
"""Made ahead, since oTree makes the participants of a session with it; their making is not counted."""
FORMS: tuple[dict[str, str], ...] = (
    {"language": "en"},
    {"consent": "agree"},
    {"gender": "woman", "year": "2", "devices": "phone", "course": "introduction", "grade": "80"},
    {"watched": "1"},
    {"groups": "alike", "control": "compare"},
    {"situation_1": "yes-no", "check_1": "yes"},
    {"attention": "1", "retention": "0", "judgement": "1", "comprehension": "0"},
)
Part = Callable[[], float]


@contextmanager
def otree(venv: Path) -> Iterator[tuple[str, int, Part, Part]]:
    """oTree's production server with a session: the path by which everybody joins, its port, and its processor seconds and PostgreSQL's."""
    with tempfile.TemporaryDirectory(prefix="candor-", dir="/tmp") as name:
        Path(name).chmod(0o711)
        study = Path(name) / "study"
        shutil.copytree(STUDY, study)
        (study / "_static").mkdir()
        (study / "_templates").mkdir()
        with postgresql(Path(name) / "postgresql", settings=DURABLE) as database:
            port, program = free_port(), str(venv / "bin" / "otree")
            environment = os.environ | {
                "DATABASE_URL": database.address,
                "OTREE_PRODUCTION": "1",
                "PATH": f"{venv / 'bin'}:{os.environ['PATH']}",
                "PYTHONDONTWRITEBYTECODE": "",
            }
            subprocess.run([program, "resetdb", "--noinput"], cwd=study, env=environment, check=True, capture_output=True)
            with open(Path(name) / "log", "w") as log:
                server = subprocess.Popen(
                    [program, "prodserver1of2", f"127.0.0.1:{port}"], cwd=study, env=environment, stdout=log, stderr=log
                )
            try:
                joins = _session(port)
                postmaster = postmaster_of(database.address)
                yield joins, port, lambda: processor_seconds(server.pid), lambda: processor_seconds(postmaster)
            finally:
                server.terminate()
                server.wait(10)


def _session(port: int) -> str:
    """A session of so many participants that nobody comes twice; the path of its link for everybody."""
    asked = json.dumps({"session_config_name": "journey", "num_participants": PEOPLE}).encode()
    for _attempt in range(100):
        try:
            request = urllib.request.Request(f"http://127.0.0.1:{port}/api/sessions", asked, {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=120) as answer:
                address: str = json.load(answer)["session_wide_url"]
                return "/" + address.split("/", 3)[3]
        except ConnectionError:
            time.sleep(0.2)
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionError):
                raise
            time.sleep(0.2)
    raise RuntimeError("oTree did not start")


def _walk(connection: Connection, measured: Measured, *, joins: str) -> None:
    path = joins

    def ask(method: str, name: str, body: bytes = b"") -> tuple[int, bytes, bytes]:
        start = time.perf_counter()
        answer = connection(method, "", body, path=path)
        measured.requests.setdefault(f"{method} {name}", []).append(time.perf_counter() - start)
        return answer

    def led(headers: bytes) -> str:
        address = headers.lower().split(b"\nlocation:", 1)[1].split(b"\r\n", 1)[0].strip()
        start = headers.lower().index(address)
        address = headers[start : start + len(address)]
        return "/" + address.decode().split("/", 3)[3] if address.startswith(b"http") else address.decode()

    status, headers, page = ask("GET", "join")
    for number, form in enumerate(({}, *FORMS)):
        if number:
            status, headers, page = ask("POST", str(number), urlencode(form).encode())
        while status in (302, 303, 307):
            path = led(headers)
            status, headers, page = ask("GET", str(number + 1))
        if status != 200:
            raise UnexpectedAnswerError(f"page {number + 1}: status {status}")
    if b'id="completion-code"' not in page:
        raise UnexpectedAnswerError(f"expected the last page, got {page[:300]!r}")
    measured.journeys += 1


def walk_peer(joins: str, port: int, *, clients: int, seconds: float) -> Measured:
    """Keep `clients` people going in oTree, each followed at once by the next."""
    site = Site(host="127.0.0.1", port=port, path=joins, forms={}, bot_ticket="")

    def one_after_the_other(measured: Measured, start: float) -> None:
        connection = Connection(site)
        while time.perf_counter() < start + seconds:
            _walk(connection, measured, joins=joins)

    return _in_processes(clients, one_after_the_other)


def measured_load(name: str, parts: dict[str, Part], walk: Callable[[], Measured]) -> dict[str, object]:
    """One load: journeys a second, times of requests, and processor milliseconds per journey of each part and of the clients."""
    before, own = {part: spent() for part, spent in parts.items()}, _clients()
    measured = walk()
    spent = {part: after() - before[part] for part, after in parts.items()} | {"clients": _clients() - own}
    for error in sorted(set(measured.errors))[:3]:
        click.echo(f"error: {error}", err=True)
    figures = {part: 1000 * seconds / max(measured.journeys, 1) for part, seconds in spent.items()}
    return {
        "name": name,
        "journeys": measured.journeys,
        "per_second": measured.journeys / measured.seconds,
        "p50": measured.quantile(0.5),
        "p99": measured.quantile(0.99),
        **figures,
        "errors": len(measured.errors),
        "yardstick": yardstick(),
    }


def _clients() -> float:
    """Processor seconds of the clients that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@click.command()
@click.option("--peer", type=click.Path(exists=True, path_type=Path), required=True, help="the environment in which oTree is installed")
@click.option("--seconds", default=10.0, help="how long each load lasts")
@click.option("--clients", default="8,64", help="how many walk at the same time")
@click.option("--rounds", default=2, help="how often the two take turns")
def main(peer: Path, seconds: float, clients: str, rounds: int) -> None:
    """Let both carry the same load in turns, and print a table."""
    rows: list[dict[str, object]] = []
    with (
        otree(peer) as (joins, port, web, database),
        tempfile.TemporaryDirectory(prefix="candor-bench-") as folder,
        running_site(Path(folder)) as bench,
    ):
        walk_for(bench.visited, clients=8, seconds=2.0)
        walk_peer(joins, port, clients=2, seconds=2.0)
        ours = {part: lambda part=part: bench.processor_seconds()[part] for part in ("web", "database")}
        for count in map(int, clients.split(",")):
            for _round in range(rounds):
                rows.append(
                    measured_load(
                        f"oTree, {count}",
                        {"web": web, "database": database},
                        lambda count=count: walk_peer(joins, port, clients=count, seconds=seconds),
                    )
                )
                rows.append(
                    measured_load(f"Candor, {count}", ours, lambda count=count: walk_for(bench.visited, clients=count, seconds=seconds))
                )
    columns = list(rows[0])
    click.echo("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for row in rows:
        click.echo("| " + " | ".join(f"{value:.1f}" if isinstance(value, float) else str(value) for value in row.values()) + " |")


if __name__ == "__main__":
    main()
