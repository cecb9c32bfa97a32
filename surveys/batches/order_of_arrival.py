"""Hides the order of arrival. Keys are random, but a table's rows are stored in the order in which they were written, so tables are
rewritten.

Before a rewrite, somebody who steals the database could match the n-th spent code with the n-th participant. On PostgreSQL the rows are
clustered by their random keys, on SQLite they get random row numbers.
"""

from django.db import OperationalError, connection, models, transaction

from surveys.models import DirectAnswer, EntryCode, PanelMember, Participant, Response

TABLES: tuple[type[models.Model], ...] = (Participant, Response, DirectAnswer, EntryCode, PanelMember)
PATIENCE = "2s"


def forget_order_of_arrival() -> list[str]:
    """Rewrite the rows of all tables; return the tables that were too busy, whose turn comes with the next call."""
    busy = []
    for model in TABLES:
        table = model._meta.db_table
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                for statement in _statements(table):
                    cursor.execute(statement)
        except OperationalError:
            busy.append(table)
    return busy


def _statements(table: str) -> tuple[str, ...]:
    name = connection.ops.quote_name(table)
    if connection.vendor == "postgresql":
        # A participant must never wait for long because of this.
        return (f"SET LOCAL lock_timeout = '{PATIENCE}'", f"CLUSTER {name} USING {connection.ops.quote_name(table + '_pkey')}")
    return (f"UPDATE {name} SET rowid = random()",)  # noqa: S608
