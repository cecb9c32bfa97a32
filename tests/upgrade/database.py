"""A database of release 0.2.0 in the middle of everything, on SQLite or PostgreSQL, for a test to bring up to date."""

import gzip
import json
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import dj_database_url
from django.apps import apps as newest
from django.apps.registry import Apps
from django.core.cache import cache
from django.core.management.color import no_style
from django.db import connection, connections, models, transaction
from django.db.migrations.executor import MigrationExecutor
from django.utils.dateparse import parse_datetime

from surveys.journey import pages
from surveys.journey.presentation import presentation
from surveys.protocols import frozen_protocol
from tests.processes import fresh_database

RELEASE = Path(__file__).with_name("0.2.0.json.gz")
OURS = ("accounts", "audit", "jobs", "surveys", "webhooks", "analysis")
FIRST = "0001_initial"
SINCE = ("lti",)
"""Applications that 0.2.0 did not have."""
Rows = dict[str, list[dict[str, Any]]]


def written() -> dict[str, Any]:
    """The content of `write_0_2_0.py`: `rows` by table, and the secrets that were `told` to people.

    Days are moved as if it had been written today. The log's are not, because its hashes cover them.
    """
    content: dict[str, Any] = json.loads(gzip.decompress(RELEASE.read_bytes()))
    passed = date.today() - date.fromisoformat(content["written_on"])
    for label, rows in content["rows"].items():
        fields = [] if label == "audit.Entry" else newest.get_model(label)._meta.concrete_fields
        for field in fields:
            if isinstance(field, models.DateField):  # or a DateTimeField, which is one
                for row in (row for row in rows if field.attname in row):  # a newer field is in none
                    row[field.attname] = _later(row[field.attname], passed)
    return content


def _later(moment: str | None, passed: timedelta) -> str | None:
    if moment is None:
        return None
    if "T" in moment:
        parsed = parse_datetime(moment)
        assert isinstance(parsed, datetime)
        return (parsed + passed).isoformat()
    return (date.fromisoformat(moment) + passed).isoformat()


@contextmanager
def empty_database(vendor: str, folder: Path, *, like: str | None = None) -> Iterator[None]:
    """Everything in this process uses an empty database of this kind during the block: without tables, or a copy of one that was migrated,
    `like` its file or its address.
    """
    if vendor == "sqlite":
        if like:
            shutil.copy(like, folder / "upgrade.sqlite3")
        with _instead(f"sqlite:///{folder / 'upgrade.sqlite3'}", OPTIONS={"transaction_mode": "IMMEDIATE"}):
            yield
    else:
        with fresh_database(like=like) as address, _instead(address):
            yield


@contextmanager
def _instead(address: str, **settings: object) -> Iterator[None]:
    usual, usual_settings = connections["default"], connections.settings["default"]
    connections.settings["default"] = {**usual_settings, "OPTIONS": {}, **dj_database_url.parse(address), **settings}
    connections["default"] = connections.create_connection("default")
    _forget_what_was_read()
    try:
        yield
    finally:
        connection.close()
        connections["default"], connections.settings["default"] = usual, usual_settings
        _forget_what_was_read()


def _forget_what_was_read() -> None:
    """Protocols are cached under keys that another database has too."""
    for kept in (frozen_protocol, presentation, pages._pieces):
        kept.cache_clear()
    cache.clear()


def migrate_to_release() -> Apps:
    """The tables of 0.2.0, which had one migration in each application; returns its models."""
    executor = MigrationExecutor(connection)
    others = [leaf for leaf in executor.loader.graph.leaf_nodes() if leaf[0] not in (*OURS, *SINCE)]
    executor.migrate([*others, *((application, FIRST) for application in OURS)])
    return models_of_release()


def models_of_release() -> Apps:
    """The models as the code of 0.2.0 knows them."""
    state = MigrationExecutor(connection).loader.project_state([(application, FIRST) for application in OURS])
    return state.apps


def insert(rows: Rows, release: Apps, *, but: Collection[str] = ()) -> None:
    """Insert rows as the code of 0.2.0 does: all of its columns, and none that it does not know. `but`: columns that are left out."""
    with transaction.atomic(), connection.cursor() as cursor:
        for label, of_table in rows.items():
            model = release.get_model(label)
            fields = [field for field in model._meta.concrete_fields if f"{label}.{field.name}" not in but]
            columns = ", ".join(connection.ops.quote_name(field.column) for field in fields)
            sql = f"INSERT INTO {connection.ops.quote_name(model._meta.db_table)} ({columns}) VALUES ({', '.join(['%s'] * len(fields))})"
            cursor.executemany(
                sql, [[field.get_db_prep_save(field.to_python(row[field.attname]), connection) for field in fields] for row in of_table]
            )
        for statement in connection.ops.sequence_reset_sql(no_style(), [release.get_model(label) for label in rows]):
            cursor.execute(statement)
