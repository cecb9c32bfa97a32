"""How long a page may wait for the database, so that a lock that somebody holds cannot hold all threads of the web processes."""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

LOCK_SECONDS = 5
STATEMENT_SECONDS = 20
IDLE_SECONDS = 120
"""A transaction that does nothing for so long belongs to a page that hangs; what it holds is given back."""


def bound_waits() -> None:
    """From now on, each connection of this process to PostgreSQL waits no longer than that.

    Web processes call it. Migrations, workers and commands do not: what they do takes the time that it takes, and nobody waits for a page.
    """
    connection_created.connect(_set_bounds, dispatch_uid="bounded waits")


def _set_bounds(connection: BaseDatabaseWrapper, **_arguments: Any) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                f"SET lock_timeout = '{LOCK_SECONDS}s'; SET statement_timeout = '{STATEMENT_SECONDS}s'; "
                f"SET idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'"
            )
