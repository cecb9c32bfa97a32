"""PgBouncer in transaction mode before the tests' PostgreSQL."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit, urlunsplit

import psycopg

from tests.installing import find_server
from tests.services import Server, ServiceError, free_port, running, unprivileged_user

DEPLOYED = Path(__file__).resolve().parents[1] / "deployment"
CONNECTIONS = 5
"""Fewer than the threads of the web processes, so that transactions of many share each of them."""


def knows_prepared_statements(program: str) -> bool:
    """PgBouncer does since 1.21."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"(\d+)\.(\d+)", said)
    return version is not None and (int(version[1]), int(version[2])) >= (1, 21)


@dataclass(frozen=True, kw_only=True)
class Pool:
    """A running PgBouncer."""

    server: Server
    prepares: bool

    def variables(self, name: str = "") -> dict[str, str]:
        """Those with which a process reaches the database by it: under its own name, or under one of deployment/databases.ini."""
        address = urlunsplit(urlsplit(self.server.address)._replace(path=f"/{name}")) if name else self.server.address
        return {"DATABASE_URL": address, "DATABASE_POOLED": "1", "PREPARED_STATEMENTS": "1" if self.prepares else "0"}

    def log(self) -> str:
        return (self.server.folder / "log").read_text(errors="replace")


@contextmanager
def pooled(database: str) -> Iterator[dict[str, str]]:
    """The variables with which a process reaches this database by a pool."""
    with pool_before(database) as pool:
        yield pool.variables()


def changed(rules: str, changes: Mapping[str, str]) -> str:
    """The rules with these lines replaced, each of which must be there."""
    lines = rules.splitlines()
    assert set(changes) <= set(lines), set(changes) - set(lines)
    return "\n".join(changes.get(line, line) for line in lines) + "\n"


@contextmanager
def pool_before(database: str, *, rules: Mapping[str, str] | None = None) -> Iterator[Pool]:
    """PgBouncer in front of this database, with the rules of deployment/, some of which may be replaced by others."""
    program = find_server("pgbouncer")
    if program is None:
        raise ServiceError("no PgBouncer here: install it (Debian: apt-get install pgbouncer)")
    prepares = knows_prepared_statements(program)
    parts, port, owner = urlsplit(database), free_port(), unprivileged_user()
    with TemporaryDirectory(prefix="candor-pool-", dir="/tmp", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        here = f"host={parts.hostname} port={parts.port}"
        databases = (DEPLOYED / "databases.ini").read_text().replace("host=postgres dbname=candor", f"{here} dbname={parts.path[1:]}")
        (folder / "databases.ini").write_text(f"{databases}* = {here}\n")
        (folder / "users.txt").write_text(f'"{parts.username}" ""\n')
        written = changed(
            (DEPLOYED / "pgbouncer.ini").read_text(),
            {
                "%include /etc/pgbouncer/databases.ini": f"%include {folder}/databases.ini",
                "listen_addr = *": "listen_addr = 127.0.0.1",
                "listen_port = 6432": f"listen_port = {port}",
                "auth_type = scram-sha-256": "auth_type = trust",
                "auth_file = /run/pgbouncer/users.txt": f"auth_file = {folder}/users.txt",
                "default_pool_size = 20": f"default_pool_size = {CONNECTIONS}",
                "client_tls_sslmode = require": "client_tls_sslmode = disable",
                "client_tls_cert_file = /certificates/server.crt": "",
                "client_tls_key_file = /certificates/server.key": "",
                "max_prepared_statements = 200": "max_prepared_statements = 200" if prepares else "",
            }
            | (rules or {}),
        )
        (folder / "pgbouncer.ini").write_text(written)
        if owner:
            for path in (folder, *folder.iterdir()):
                os.chown(path, owner.pw_uid, owner.pw_gid)
        address = urlunsplit(parts._replace(netloc=f"{parts.username}@127.0.0.1:{port}"))

        def answers() -> None:
            with psycopg.connect(address, prepare_threshold=None, connect_timeout=5):
                pass

        with running(
            Server(
                address=address,
                command=[program, folder / "pgbouncer.ini"],
                folder=folder,
                owner=owner,
                ready=answers,
                not_ready=psycopg.OperationalError,
                stop_signal=signal.SIGTERM,
            )
        ) as server:
            yield Pool(server=server, prepares=prepares)
