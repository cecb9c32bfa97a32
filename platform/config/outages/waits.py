"""How long a page may wait for the database, so that a lock that somebody holds cannot hold all threads of the web processes."""

import time

from django.conf import settings
from django.core.signals import request_started
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

LOCK_SECONDS = 5
STATEMENT_SECONDS = 20
IDLE_SECONDS = 120
"""A transaction that does nothing for so long belongs to a page that hangs; what it holds is given back."""


_lost: dict[str, float] = {}


def bound_waits() -> None:
    """From now on, each connection of this process to PostgreSQL waits no longer than that, and none is used that an outage may have ended.

    Web processes call it. Migrations, workers and commands do not: what they do takes the time that it takes, and nobody waits for a page.
    """
    connection_created.connect(_set_bounds, dispatch_uid="bounded waits")
    request_started.connect(_begin_anew, dispatch_uid="connections after an outage")


def distrust_connections() -> None:
    """One thread found that the database was away: each other one connects anew at its next request, and need not fail to find out."""
    _lost["at"] = time.monotonic()


def _begin_anew(**_arguments: object) -> None:
    if getattr(connection, "made_at", 0.0) < _lost.get("at", 0.0) and not connection.in_atomic_block:
        connection.close()


def _set_bounds(connection: BaseDatabaseWrapper, **_arguments: object) -> None:
    connection.made_at = time.monotonic()  # type: ignore[attr-defined]
    if connection.vendor == "postgresql" and not settings.DATABASE_POOLED:  # a pool would give what is set here to others
        with connection.cursor() as cursor:
            cursor.execute(
                f"SET lock_timeout = '{LOCK_SECONDS}s'; SET statement_timeout = '{STATEMENT_SECONDS}s'; "
                f"SET idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'"
            )
