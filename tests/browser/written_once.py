"""Rows that a fixture wrote, kept for the next test: to copy them takes a fraction of what the services take."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import connection
from django.db.models import Model
from django.db.transaction import atomic

from tests.conftest import MADE_BY_MIGRATING

Given = ParamSpec("Given")
Made = TypeVar("Made", bound=Model)
Rows = dict[str, bytes]


def written_once(build: Callable[Given, Made]) -> Callable[Given, Made]:
    """The decorated function works once in a test process; called again with the same arguments, its rows are copied into the database.

    The database must be empty, as a `transactional_db` is: else, and on SQLite, the function works again. Identifiers, secrets and the time
    of writing are those of the first call. Files stay where it wrote them.
    """
    kept: dict[str, tuple[Rows, type[Made], object]] = {}

    @wraps(build)
    def find(*arguments: Given.args, **named: Given.kwargs) -> Made:
        if connection.vendor != "postgresql" or rows_of_all_tables():
            return build(*arguments, **named)
        key = repr((arguments, sorted(named.items())))
        if key not in kept:
            built = build(*arguments, **named)
            kept[key] = rows_of_all_tables(), type(built), built.pk
            return built
        rows, model, identifier = kept[key]
        write(rows)
        return model._default_manager.get(pk=identifier)

    return find


def rows_of_all_tables() -> Rows:
    """The rows of each table that holds any, as PostgreSQL copies them."""
    tables = sorted(set(connection.introspection.django_table_names(include_views=False)) - MADE_BY_MIGRATING)
    rows = {}
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT FROM {table})" for table in tables))
        for (table,) in cursor.fetchall():
            with cursor.copy(f"COPY {table} TO STDOUT (FORMAT BINARY)") as copied:
                rows[table] = b"".join(copied)
    return rows


def write(rows: Rows) -> None:
    """Asks no trigger and no reference: they were asked when these rows were written first."""
    with atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        for table, content in rows.items():
            with cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copied:
                copied.write(content)
