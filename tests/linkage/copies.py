"""Copies of a database as a thief has them: every column of every row, what the database keeps beside it, and where it lies."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from django.db import connection

from tests.linkage.attack import Copy, Row

OF_PEOPLE = {"surveys_entrycode": "code_hash", "surveys_panelmember": "identifier"}
OF_ANSWERS = ("surveys_participant", "surveys_response", "surveys_categoryresponse")
Read = Callable[[str], list[dict[str, Any]]]
Beside = Callable[[str], Mapping[str, object]]


def copy_of_postgresql() -> Copy:
    """The tests' own database."""

    def rows_of(table: str) -> list[dict[str, Any]]:
        with connection.cursor() as cursor:
            beside = "xmin::text::bigint AS xmin, xmax::text::bigint AS xmax, cmin::text::int AS cmin, ctid::text AS ctid"
            cursor.execute(f"SELECT *, {beside} FROM {connection.ops.quote_name(table)}")
            names = [column.name for column in cursor.description]
            # Rows come as they lie, which is the order of a dump; a file's page can be told from the row's own address.
            return [{**dict(zip(names, row, strict=True)), "place": number} for number, row in enumerate(cursor.fetchall())]

    return _copy(connection.introspection.table_names(), rows_of, _nothing)


def copy_of_sqlite(folder: Path) -> Copy:
    """The files of an embedded installation, with the write-ahead log beside the database."""
    files = {path.name.partition("sqlite3")[2] or "file": path.read_bytes() for path in folder.glob("*.sqlite3*") if path.stat().st_size}
    [database] = folder.glob("*.sqlite3")

    def offsets(trace: str) -> dict[str, object]:
        found: dict[str, object] = {}
        for name, content in files.items():
            places = [content.find(trace.encode()), content.rfind(trace.encode())]
            if places[0] >= 0:
                found |= {f"first in {name}": places[0], f"last in {name}": places[1]}
        return found

    with closing(sqlite3.connect(database)) as opened:
        opened.row_factory = sqlite3.Row

        def rows_of(table: str) -> list[dict[str, Any]]:
            found = opened.execute(f'SELECT rowid AS place, * FROM "{table}"').fetchall()
            return [dict(row) for row in found]

        tables = [row[0] for row in opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return _copy(tables, rows_of, offsets)


def _nothing(trace: str) -> dict[str, object]:
    return {}


def _copy(tables: Iterable[str], rows_of: Read, beside: Beside) -> Copy:
    stored = {table: rows_of(table) for table in tables if table.startswith(OURS)}
    people: dict[str, dict[str, object]] = {}
    for table, trace in OF_PEOPLE.items():
        for row in stored[table]:
            if row.get("spent", True):
                people[row[trace]] = {**_named(table, row), **beside(row[trace])}
    for row in stored["surveys_entrybook"]:
        codes, members = (value if isinstance(value, list | dict) else json.loads(value) for value in (row["codes"], row["members"]))
        shared = _named("surveys_entrybook", {name: value for name, value in row.items() if name not in ("codes", "members", "departed")})
        for number, trace in enumerate([*codes, *members.values()]):
            people[trace] = {**shared, "place in the book": number, **beside(trace)}
    answers: dict[str, dict[str, object]] = {}
    for row in stored["surveys_participant"]:
        key = row["id"] if isinstance(row["id"], str) else row["id"].hex
        answers[key] = {**_named("surveys_participant", row), **beside(key)}
    for table, question in (("surveys_response", "attention"), ("surveys_categoryresponse", "copying")):
        for row in stored[table]:
            if row["question"] == question:
                key = row["participant_id"] if isinstance(row["participant_id"], str) else row["participant_id"].hex
                answers[key] |= _named(table, row)
    others = {table: rows for table, rows in stored.items() if rows and table not in (*OF_PEOPLE, *OF_ANSWERS)}
    return Copy(people=people, answers=answers, others=others)


OURS = (
    "surveys_",
    "analysis_",
    "webhooks_",
    "lti_",
    "jobs_",
    "audit_",
    "accounts_",
    "django_session",
    "django_admin_log",
    "sqlite_sequence",
)


def _named(table: str, row: Row) -> dict[str, object]:
    return {f"{table}.{name}": value for name, value in row.items()}
