"""Recognises errors that time heals: a database that is away, busy or full. Everything else is a bug or the sender's mistake."""

import errno
import sqlite3
import sys
from collections.abc import Iterator
from enum import StrEnum

from django.db import DatabaseError, InterfaceError, OperationalError
from kombu.exceptions import OperationalError as QueueError

from surveys.media.stores.errors import StoreAwayError


class Outage(StrEnum):
    """The part that fails, as the page and the log name it."""

    AWAY = "away"
    BUSY = "busy"
    FULL = "full"
    NO_ROOM_FOR_FILES = "no-room-for-files"
    FILES_AWAY = "files-away"


# PostgreSQL's classes of errors: lost connections, too few resources, an operator's shutdown; then single conditions.
_AWAY_CLASSES = ("08", "57P")
_BY_STATE = {
    "53100": Outage.FULL,
    "53300": Outage.AWAY,  # too many connections
    "53200": Outage.BUSY,  # out of memory
    "55P03": Outage.BUSY,  # a lock was not to be had within lock_timeout
    "40P01": Outage.BUSY,  # two transactions waited for each other
    "40001": Outage.BUSY,
    "57014": Outage.BUSY,  # statement_timeout
    "25006": Outage.AWAY,  # a stand-by server, which only reads
    "25P03": Outage.BUSY,  # idle_in_transaction_session_timeout
}
_BY_SQLITE_CODE = {
    sqlite3.SQLITE_BUSY: Outage.BUSY,
    sqlite3.SQLITE_LOCKED: Outage.BUSY,
    sqlite3.SQLITE_FULL: Outage.FULL,
    sqlite3.SQLITE_IOERR: Outage.AWAY,
    sqlite3.SQLITE_CANTOPEN: Outage.AWAY,
    sqlite3.SQLITE_READONLY: Outage.AWAY,
}
_PRIMARY_CODE = 0xFF
"""SQLite's extended codes have the primary one in their lowest byte."""


def outage_of(error: BaseException | None) -> Outage | None:
    """The outage that an error stands for; None for a bug. An error that another one caused is what its cause is."""
    return next((found for one in _with_causes(error) if (found := _outage(one)) is not None), None)


def _outage(error: BaseException) -> Outage | None:
    state = getattr(error, "sqlstate", None)
    if isinstance(error, sqlite3.Error):
        return _BY_SQLITE_CODE.get(getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE)
    if isinstance(state, str):
        return _BY_STATE.get(state) or (Outage.AWAY if state.startswith(_AWAY_CLASSES) else None)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Outage.NO_ROOM_FOR_FILES
    if isinstance(error, StoreAwayError):
        return Outage.FILES_AWAY
    if isinstance(error, QueueError) or _is_redis_error(error):
        return Outage.AWAY
    if isinstance(error, DatabaseError | InterfaceError) and _lost_connection(error):
        return Outage.AWAY
    return None


def _is_redis_error(error: BaseException) -> bool:
    """Where nothing has loaded Redis's client yet, no error is one of its own; an installation without Redis never loads it."""
    client = sys.modules.get("redis.exceptions")
    return client is not None and isinstance(error, client.RedisError)


def _lost_connection(error: BaseException) -> bool:
    """PostgreSQL's driver gives no state where no server was there to say one: the connection was refused, lost or closed."""
    cause = error.__cause__
    if not type(cause or error).__module__.startswith("psycopg"):
        return False
    return getattr(cause, "sqlstate", None) is None and isinstance(error, OperationalError | InterfaceError)


def _with_causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what caused it, the innermost last."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__
