"""The rows that every request of a participant reads and writes, by statements that are compiled once.

The ORM compiles the same statement again for each request, which takes several times as long as the database needs to answer it
(`benchmarks/journeys.py --profile`). Its functions take and return ordinary model instances; fields that no page needs are deferred.
"""

import secrets
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeVar

from django.db import connection, models

from surveys.models import RUNNING, CounterKind, Participant, ShardedCounter, Study

Row = TypeVar("Row", bound=models.Model)
PARTICIPANT_FIELDS = (
    "id",
    "study_id",
    "protocol_id",
    "language",
    "is_bot",
    "step",
    "agrees_to_direct",
    "subsample",
    "arm",
    "page",
    "watched_tenths",
)
COUNTER_SHARDS = 8
STUDY_FIELDS = ("id", "slug", "status", "protocol_id", "approved_until", "accepts_bots", "data_published", "rehearsal_of_id")


def read_participant(token_hash: str, *, slug: str | None = None, lock: bool = False) -> Participant | None:
    """The participant with their study, if they exist (in the study `slug`); `lock` holds the row until the transaction ends."""
    lock = lock and connection.features.has_select_for_update
    sql = _participant_sql(of_study=slug is not None, lock=lock, vendor=connection.vendor)
    parameters = [token_hash] if slug is None else [token_hash, slug]
    row = _one(sql, parameters)
    if row is None and lock:
        row = _one(sql, parameters)  # it may have been waited for while the row was written again elsewhere
    if row is None:
        return None
    participant = _instance(Participant, PARTICIPANT_FIELDS, row)
    participant.token_hash = token_hash
    participant.study = _instance(Study, STUDY_FIELDS, row[len(PARTICIPANT_FIELDS) :])
    return participant


def hold_participant(study_id: int, *, withdrawal_hash: str) -> Participant | None:
    """The participant who holds this withdrawal code, locked until the transaction ends."""
    rows = Participant.objects.select_for_update().filter(study_id=study_id, withdrawal_hash=withdrawal_hash)
    return rows.first() or rows.all().first()  # again: see above


def read_study(slug: str, *, hold: bool = False) -> Study | None:
    """The study of this name. `hold` makes changes of its status wait until the transaction ends; any number of transactions can hold it at
    once.
    """
    hold = hold and connection.features.has_select_for_update
    row = _one(_study_sql(hold=hold, vendor=connection.vendor), [slug])
    return _instance(Study, STUDY_FIELDS, row) if row else None


def update(participant: Participant, changes: Mapping[str, object]) -> None:
    """Write these fields of a participant whom the transaction has locked."""
    _update(participant, changes, [])


def move(participant: Participant, changes: Mapping[str, object]) -> bool:
    """Write these fields if the participant stands in the table where `participant` does, and their study runs. False: nothing is written.

    Closing a study marks everybody as counted, so that no step that waits for it goes on.
    """
    return _update(participant, changes, [participant.step, participant.page])


def insert(instances: Sequence[models.Model], *, unless_there: bool = False) -> bool:
    """Insert new rows of one model, which bring their own keys. Raises IntegrityError as the ORM does, or returns False `unless_there`."""
    model = type(instances[0])
    fields = model._meta.concrete_fields
    values = [field.get_db_prep_save(field.pre_save(one, add=True), connection) for one in instances for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(_insert_sql(model, len(instances), unless_there=unless_there, vendor=connection.vendor), values)
        return bool(cursor.rowcount)


def count(study: Study, kind: CounterKind, *, version: int) -> None:
    """One more of `kind` under this version of the protocol, on a random shard, so that many at once do not wait for each other."""
    with connection.cursor() as cursor:
        cursor.execute(_count_sql(vendor=connection.vendor), [study.pk, kind.value, version, secrets.randbelow(COUNTER_SHARDS)])


def _update(participant: Participant, changes: Mapping[str, object], place: Sequence[str | int]) -> bool:
    values = [_field(Participant, name).get_db_prep_save(value, connection) for name, value in changes.items()]
    key = Participant._meta.pk.get_db_prep_save(participant.pk, connection)
    with connection.cursor() as cursor:
        cursor.execute(_update_sql(tuple(changes), at_place=bool(place), vendor=connection.vendor), [*values, key, *place])
        return bool(cursor.rowcount)


def _one(sql: str, parameters: Sequence[str | int]) -> tuple[object, ...] | None:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        row: tuple[object, ...] | None = cursor.fetchone()
        return row


def _instance(model: type[Row], names: Sequence[str], values: Sequence[object]) -> Row:
    if connection.vendor != "postgresql":  # whose driver gives each column its Python type
        values = [_field(model, name).to_python(value) for name, value in zip(names, values, strict=False)]
    return model.from_db(connection.alias, names, values[: len(names)])


@cache
def _field(model: type[models.Model], name: str) -> "models.Field[object, object]":
    return next(field for field in model._meta.concrete_fields if name in (field.name, field.attname))


@cache
def _participant_sql(*, of_study: bool, lock: bool, vendor: str) -> str:
    columns = [f"p.{_column(Participant, name)}" for name in PARTICIPANT_FIELDS] + [f"s.{_column(Study, name)}" for name in STUDY_FIELDS]
    return (
        f"SELECT {', '.join(columns)} FROM {_table(Participant)} p JOIN {_table(Study)} s ON s.id = p.study_id "  # noqa: S608
        f"WHERE p.token_hash = %s{' AND s.slug = %s' if of_study else ''}{' FOR UPDATE OF p' if lock else ''}"
    )


@cache
def _study_sql(*, hold: bool, vendor: str) -> str:
    columns = ", ".join(_column(Study, name) for name in STUDY_FIELDS)
    return f"SELECT {columns} FROM {_table(Study)} WHERE slug = %s{' FOR KEY SHARE' if hold else ''}"  # noqa: S608


@cache
def _update_sql(names: tuple[str, ...], *, at_place: bool, vendor: str) -> str:
    assignments = ", ".join(f"{_column(Participant, name)} = %s" for name in names)
    running = ", ".join(f"'{status}'" for status in sorted(RUNNING))
    here = f" AND step = %s AND page = %s AND NOT counted AND study_id IN (SELECT id FROM {_table(Study)} WHERE status IN ({running}))"  # noqa: S608
    return f"UPDATE {_table(Participant)} SET {assignments} WHERE id = %s{here if at_place else ''}"  # noqa: S608


@cache
def _insert_sql(model: type[models.Model], rows: int, *, unless_there: bool, vendor: str) -> str:
    columns = [_quoted(field.column) for field in model._meta.concrete_fields]
    row = f"({', '.join(['%s'] * len(columns))})"
    values = ", ".join([row] * rows)
    return f"INSERT INTO {_table(model)} ({', '.join(columns)}) VALUES {values}{' ON CONFLICT DO NOTHING' if unless_there else ''}"  # noqa: S608


@cache
def _count_sql(*, vendor: str) -> str:
    table = _table(ShardedCounter)
    return (
        f"INSERT INTO {table} (study_id, kind, version, shard, count) VALUES (%s, %s, %s, %s, 1) "  # noqa: S608
        f"ON CONFLICT (study_id, kind, version, shard) DO UPDATE SET count = {table}.count + 1"
    )


def _column(model: type[models.Model], name: str) -> str:
    return _quoted(_field(model, name).column)


def _table(model: type[models.Model]) -> str:
    return _quoted(model._meta.db_table)


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)
