"""Restores a back-up into a database that is made for it and goes with it."""

import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

DUMP, SQLITE = ".dump", ".sqlite3"


class RestoreError(RuntimeError):
    """The back-up was not restored; the message says why."""


def newest_backup(folder: Path) -> Path:
    """The newest dump or copy of a database in the folder."""
    found = [file for file in folder.iterdir() if file.suffix in {DUMP, SQLITE}] if folder.is_dir() else []
    if not found:
        raise RestoreError(f"{folder}: expected a file that ends in {DUMP} (PostgreSQL) or {SQLITE}, found none.")
    return max(found, key=lambda file: file.stat().st_mtime)


@contextmanager
def restored(backup: Path, *, scratch: Path, server: str) -> Iterator[str]:
    """The address of a database with the back-up's content. `server` is that of a database on the server where a dump is restored."""
    if backup.suffix == SQLITE:
        copy = scratch / "restored.sqlite3"
        shutil.copy(backup, copy)
        yield f"sqlite:///{copy}"
        return
    if shutil.which("pg_restore") is None:
        raise RestoreError("pg_restore is not here: install PostgreSQL's client programs.")
    with _scratch_database(server) as address:
        command = ["pg_restore", "--no-owner", "--no-privileges", "--exit-on-error", "--dbname", address, str(backup)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own words
        if done.returncode:
            raise RestoreError(f"{backup.name} was not restored: {_last_line(done.stderr)}")
        yield address


@contextmanager
def _scratch_database(server: str) -> Iterator[str]:
    import psycopg

    name = f"candor_drill_{secrets.token_hex(6)}"
    try:
        connection = psycopg.connect(server, autocommit=True)
    except psycopg.OperationalError as error:
        raise RestoreError(f"the database server does not answer: {_last_line(str(error))}") from error
    with closing(connection):
        try:
            connection.execute(f'CREATE DATABASE "{name}"')  # letters and digits
        except psycopg.errors.InsufficientPrivilege as error:
            raise RestoreError("this role may make no database: give --server the address of one that may.") from error
        try:
            yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no reason was given"])[-1]
