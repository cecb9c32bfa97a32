"""PgBouncer in transaction mode before the tests' PostgreSQL."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit, urlunsplit

import psycopg

from tests.installing import find_server
from tests.services import Server, ServiceError, free_port, running, unprivileged_user

CONNECTIONS = 5
"""Fewer than the threads of the web processes, so that transactions of many share each of them."""


def knows_prepared_statements(program: str) -> bool:
    """PgBouncer does since 1.21."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"(\d+)\.(\d+)", said)
    return version is not None and (int(version[1]), int(version[2])) >= (1, 21)


@contextmanager
def pooled(database: str) -> Iterator[dict[str, str]]:
    """The variables with which a process reaches this database by a pool."""
    program = find_server("pgbouncer")
    if program is None:
        raise ServiceError("no PgBouncer here: install it (Debian: apt-get install pgbouncer)")
    prepares = knows_prepared_statements(program)
    parts, port, owner = urlsplit(database), free_port(), unprivileged_user()
    with TemporaryDirectory(prefix="candor-pool-", dir="/tmp", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "users.txt").write_text(f'"{parts.username}" ""\n')
        (folder / "pgbouncer.ini").write_text(
            f"""[databases]
* = host={parts.hostname} port={parts.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users.txt
pool_mode = transaction
default_pool_size = {CONNECTIONS}
max_client_conn = 300
{"max_prepared_statements = 200" if prepares else ""}
"""
        )
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
        ):
            yield {"DATABASE_URL": address, "DATABASE_POOLED": "1", "PREPARED_STATEMENTS": "1" if prepares else "0"}
