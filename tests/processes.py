"""Candor as its own operating-system processes, as people run it: started, killed and started again by tests and benchmarks."""

import fcntl
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx
import psycopg

from tests.services import free_port

ROOT = Path(__file__).resolve().parents[1]
START_SECONDS = 60
STOP_SECONDS = 20
GRANIAN = ["-m", "granian", "--interface", "wsgi", "--workers", "2", "--blocking-threads", "8", "--respawn-failed-workers"]


@dataclass
class Site:
    """A running Candor: its address, its processes by name (`web`, and in production `worker` and `beat`), their logs.

    `alone` are variables of single processes, by their names.
    """

    folder: Path
    environment: dict[str, str]
    commands: dict[str, list[str]]
    port: int = field(default_factory=free_port)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    start_seconds: float = START_SECONDS
    code: Path = ROOT
    supervisor: threading.Thread | None = None
    alone: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def manage(self, *arguments: str, timeout: float = 300) -> str:
        """The output of a `manage.py` command, run in this site's environment."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=self.code,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert done.returncode == 0, f"manage.py {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}"
        return done.stdout

    def start(self, *names: str) -> None:
        """Start the named processes (all, when none is named) and wait until the site says that it is ready."""
        for name in names or self.commands:
            self.launch(name)
        self.wait_until_ready()

    def launch(self, name: str) -> None:
        """Start a process, and wait for nothing."""
        command = [word.replace("{port}", str(self.port)) for word in self.commands[name]]
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, *command],
                cwd=self.code,
                env=self.environment | self.alone.get(name, {}),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @contextmanager
    def supervised(self) -> Iterator[list[str]]:
        """Start again what ends by itself during the block, as Docker does; yields the names, to which each restart adds one."""
        over, restarted = threading.Event(), []

        def look_after() -> None:
            while not over.wait(0.5):
                for name in [name for name, process in list(self.processes.items()) if process.poll() is not None]:
                    self.launch(name)
                    restarted.append(name)

        thread = threading.Thread(target=look_after, daemon=True)
        self.supervisor = thread
        thread.start()
        try:
            yield restarted
        finally:
            over.set()
            thread.join()
            self.supervisor = None

    def wait_until_ready(self) -> None:
        """Return when /healthz answers 200; fail with the logs when a process ends or `start_seconds` pass."""
        deadline = time.monotonic() + self.start_seconds
        while True:
            with suppress(httpx.TransportError):  # to read the certificates takes longer than to ask
                if httpx.get(f"{self.url}/healthz", timeout=5, verify=False).status_code == 200:
                    return
            dead = [name for name, process in self.processes.items() if process.poll() is not None]
            if (dead and self.supervisor is None) or time.monotonic() > deadline:
                raise AssertionError(
                    f"the site is not ready (ended: {dead})\n" + "\n".join(self.log(name)[-3000:] for name in self.processes)
                )
            time.sleep(0.1)

    def log(self, name: str = "web") -> str:
        """The process's log so far, over all its lives."""
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def kill(self, name: str) -> None:
        """`kill -9` the process and its children: no chance to tidy up."""
        process = self.processes.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self, name: str, with_signal: signal.Signals = signal.SIGTERM) -> int:
        """Ask the process to end; its exit status."""
        process = self.processes.pop(name)
        process.send_signal(with_signal)
        try:
            return process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise AssertionError(f"{name} did not stop within {STOP_SECONDS} s of {with_signal.name}") from None

    def resident_megabytes(self, name: str = "web") -> float:
        """Memory of the named process and its children, in megabytes (Linux)."""
        return sum(self.megabytes_of_each(name))

    def megabytes_of_each(self, name: str) -> list[float]:
        """Memory of the named process and of each of its children, in megabytes (Linux)."""
        return [kilobytes / 1024 for kilobytes in self._of_each(name, "rss")]

    def processor_seconds(self, name: str = "web") -> float:
        """Processor time that the named process and its children have used since their start; a busy machine hardly changes it."""
        return sum(self._of_each(name, "cputimes"))

    def _of_each(self, name: str, figure: str) -> list[int]:
        """The output of `ps` about the named process and its children."""
        session = os.getsid(self.processes[name].pid)
        listing = subprocess.run(["ps", "-o", f"{figure}=", "-s", str(session)], capture_output=True, text=True, check=True)
        return [int(line) for line in listing.stdout.split()]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows that the site's database returns, asked from outside."""
        if database := self.environment.get("DATABASE_URL"):
            with psycopg.connect(database) as connection:
                return connection.execute(sql.encode()).fetchall()
        with closing(sqlite3.connect(self.folder / "candor.sqlite3", timeout=20)) as connection:
            return connection.execute(sql).fetchall()

    def number(self, sql: str) -> int:
        """The one number that the site's database returns."""
        return int(self.rows(sql)[0][0])

    def end(self) -> None:
        """End all running processes, at the end of the test."""
        for name in list(self.processes):
            with suppress(ProcessLookupError):
                self.kill(name)


def path_of(code: Path) -> str:
    """The PYTHONPATH of processes that run this checkout."""
    return os.pathsep.join([str(code), str(code / "platform")])


def _environment(**changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "DJANGO_", "OPENBLAS_"))}
    return {**kept, "PYTHONPATH": path_of(ROOT), **changes}


def wait_for_push(port: int) -> None:
    """Return when `manage.py push` on this port hears Redis."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        with suppress(httpx.TransportError):
            if httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200:
                return
        assert time.monotonic() < deadline, "`push` does not hear Redis"
        time.sleep(0.1)


@contextmanager
def embedded(var: Path, *, like: Path | None = None, demo_bots: int | None = None) -> Iterator[Site]:
    """The embedded default with its data under `var`, serving: migrated here or before (`like`); with a number of bots, as `make demo`."""
    site = copy_of_embedded(var, like=like) if like else _embedded(var)
    if demo_bots is not None:
        site.commands["web"], site.environment["DEMO_BOTS"] = ["manage.py", "demo"], str(demo_bots)
        site.start_seconds += demo_bots
    try:
        if demo_bots is None and not like:
            site.manage("migrate", "--verbosity=0")
        site.start()
        yield site
    finally:
        site.end()


def copy_of_embedded(var: Path, *, like: Path) -> Site:
    """An embedded site that was migrated and does not run."""
    shutil.copytree(like, var)
    return _embedded(var)


def migrate_embedded(var: Path) -> dict[str, str]:
    """Make the folder of an embedded site that was never started; its environment."""
    site = _embedded(var)
    site.manage("migrate", "--verbosity=0")
    return site.environment


def _embedded(var: Path) -> Site:
    var.mkdir(parents=True, exist_ok=True)
    environment = _environment(DJANGO_SETTINGS_MODULE="config.settings.development", CANDOR_VAR=str(var))
    for server in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY"):
        environment.pop(server, None)
    site = Site(folder=var, environment=environment, commands={"web": ["manage.py", "serve"]})
    environment["PORT"] = str(site.port)
    return site


@contextmanager
def production(folder: Path, *, like: Site | None = None) -> Iterator[Site]:
    """Production settings on a database of its own on the tests' PostgreSQL, serving; built, or a copy of a site that was built before."""
    with built(folder, like=like) as site:
        site.start()
        yield site


@contextmanager
def built(folder: Path, *, like: Site | None = None, code: Path = ROOT) -> Iterator[Site]:
    """A production site that does not run yet: migrated, with its static files; or a copy of another one that does not run; or a site of
    other `code`.
    """
    with fresh_database(like=like.environment["DATABASE_URL"] if like else None) as database:
        site = _build(folder, database, like=like, code=code)
        try:
            yield site
        finally:
            site.end()


def once(folder: Path, make: Callable[[Path], dict[str, str]]) -> dict[str, str]:
    """The result of `make(folder)`. The test process that asks first calls it, and the others wait for it."""
    said = folder.with_suffix(".json")
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not said.exists():
            said.write_text(json.dumps(make(folder)))
        return dict(json.loads(said.read_text()))


def to_copy(folder: Path, *, like: Site | None = None, then: Callable[[Site], None] | None = None) -> Site:
    """A production site for others to be copies of, built by one test process for all; `then` does something to it. It never runs, and
    its database ends with the tests' PostgreSQL.
    """

    def make(folder: Path) -> dict[str, str]:
        site = _build(folder, _new_database(like=like.environment["DATABASE_URL"] if like else None), like=like)
        if then:
            then(site)
        return site.environment

    return Site(folder=folder, environment=once(folder, make), commands={})


def _build(folder: Path, database: str, *, like: Site | None, code: Path = ROOT) -> Site:
    environment = _environment(
        PYTHONPATH=path_of(code),
        DJANGO_SETTINGS_MODULE="config.settings.production",
        SECRET_KEY=like.environment["SECRET_KEY"] if like else uuid.uuid4().hex * 2,
        DATABASE_URL=database,
        REDIS_URL=_redis_database(),
        ALLOWED_HOSTS="127.0.0.1",
        MEDIA_ROOT=str(folder / "media"),
        CANDOR_VAR=str(folder),
        SECURE_SSL_REDIRECT="0",
    )
    commands = {
        "web": [*GRANIAN, "--no-access-log", "--host", "127.0.0.1", "--port", "{port}", "config.wsgi:application"],
        "worker": ["-m", "celery", "-A", "config", "worker", "--concurrency", "2", "--loglevel", "warning"],
        "beat": ["-m", "celery", "-A", "config", "beat", "--schedule", str(folder / "beat"), "--loglevel", "warning"],
    }
    site = Site(folder=folder, environment=environment, commands=commands, code=code)
    if like:
        shutil.copytree(like.folder, folder, dirs_exist_ok=True)
    else:
        site.manage("migrate", "--verbosity=0")
        site.manage("collectstatic", "--noinput", "--verbosity=0")
    return site


@contextmanager
def fresh_database(*, like: str | None = None) -> Iterator[str]:
    """The address of a database on the tests' PostgreSQL, empty or a copy of the one at another address, dropped at the end."""
    address = _new_database(like=like)
    try:
        yield address
    finally:
        _execute(f'DROP DATABASE "{name_of(address)}" WITH (FORCE)')


def _new_database(*, like: str | None) -> str:
    if not os.environ.get("DATABASE_URL", "").startswith("postgresql") or "REDIS_URL" not in os.environ:
        raise AssertionError("needs PostgreSQL and Redis: run `make test` or `python -m tests.services pytest …`")
    name = f"candor_{uuid.uuid4().hex[:12]}"
    _execute(f'CREATE DATABASE "{name}" TEMPLATE "{name_of(like) if like else "template1"}"')
    return urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}"))


def name_of(database: str) -> str:
    """The name of the database at this address."""
    return urlsplit(database).path.removeprefix("/")


def _execute(statement: str) -> None:
    """Ask the tests' PostgreSQL. No connection is kept meanwhile: a test may end the server, and start it again."""
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(statement.encode())


def _redis_database() -> str:
    """A Redis database that no other worker of this test run uses: 0–31 are the tests' own, 32–63 their sites'."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
    return urlunsplit(urlsplit(os.environ["REDIS_URL"])._replace(path=f"/{32 + worker % 32}"))
