"""The rows that every request of a participant reads and writes, by statements that are compiled once.

The ORM compiles the same statement again for each request, which takes several times as long as the database needs to answer it
(`benchmarks/journeys.py --profile`). Its functions take and return ordinary model instances; fields that no page needs are deferred.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from itertools import groupby
from typing import TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.base import ModelState

from surveys.allocation.services import lines_to_take
from surveys.models import RUNNING, CounterKind, Participant, ShardedCounter, Study

Row = TypeVar("Row", bound=models.Model)
Value = str | int | date | UUID | None
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
    "counted",
    "credit",
)
COUNTER_SHARDS = 8
_STANDS = "step = %s AND page = %s AND NOT counted"
STUDY_FIELDS = ("id", "slug", "status", "protocol_id", "approved_until", "accepts_bots", "data_published", "rehearsal_of_id")


@dataclass(frozen=True, slots=True)
class Count:
    """One more of `kind` under a version of the study's protocol."""

    study_id: int
    kind: CounterKind
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Fields of the participant that a step writes, and with them new rows and one more of a count."""

    fields: Mapping[str, object] = field(default_factory=dict)
    rows: Sequence[models.Model] = ()
    counts: Count | None = None


NOTHING_ELSE = Change()


def read_participant(token_hash: str, *, slug: str | None = None, lock: bool = False) -> Participant | None:
    """The participant with their study, if they exist (in the study `slug`); `lock` holds the row until the transaction ends."""
    here = _database()
    lock = lock and here.features.has_select_for_update
    sql = _participant_sql(of_study=slug is not None, lock=lock, vendor=here.vendor)
    parameters = [token_hash] if slug is None else [token_hash, slug]
    row = _one(here, sql, parameters)
    if row is None and lock:
        row = _one(here, sql, parameters)  # it may have been waited for while the row was written again elsewhere
    if row is None:
        return None
    participant = _instance(here, Participant, PARTICIPANT_FIELDS, row)
    participant.token_hash = token_hash
    participant.study = _instance(here, Study, STUDY_FIELDS, row[len(PARTICIPANT_FIELDS) :])
    return participant


def hold_participant(study_id: int, *, withdrawal_hash: str) -> Participant | None:
    """The participant who holds this withdrawal code, locked until the transaction ends."""
    rows = Participant.objects.select_for_update().filter(study_id=study_id, withdrawal_hash=withdrawal_hash)
    return rows.first() or rows.all().first()  # again: see above


def read_study(slug: str, *, hold: bool = False) -> Study | None:
    """The study of this name. `hold` makes changes of its status wait until the transaction ends; any number of transactions can hold it at
    once.
    """
    here = _database()
    hold = hold and here.features.has_select_for_update
    row = _one(here, _study_sql(hold=hold, vendor=here.vendor), [slug])
    return _instance(here, Study, STUDY_FIELDS, row) if row else None


def write(participant: Participant, change: Change) -> None:
    """Write what a step changes, for a participant whom the transaction has locked."""
    here = _database()
    _done(here, _update_sql(tuple(change.fields), at_place=False, vendor=here.vendor), _values_of_update(here, participant, change))
    for _model, rows in groupby(change.rows, key=type):
        insert(list(rows))
    if change.counts:
        count(change.counts)


def move(participant: Participant, change: Change) -> bool:
    """Write what a step changes by one statement, if the participant stands in the table where `participant` does, and their study runs.
    False: nothing is written. SQLite has no such statement for more than the participant's own row.

    Closing a study marks everybody as counted, so that no step that waits for it goes on.
    """
    here = _database()
    if here.vendor != "postgresql" and (change.rows or change.counts):
        return False
    sql = _move_sql(tuple(change.fields), tuple(type(row) for row in change.rows), counts=change.counts is not None, vendor=here.vendor)
    new: list[Value] = [*_values_of(here, change.rows), *_values_of_count(change.counts)]
    return _done(here, sql, [*_values_of_update(here, participant, change), participant.step, participant.page, *new])


def move_to_line(participant: Participant, fields: Mapping[str, object], *, stratum: str) -> tuple[str, str] | None:
    """The same with the next free line of a list: its subsample and arm are the participant's. None: nothing is written, for whatever
    reason. On SQLite it never is.
    """
    here = _database()
    if here.vendor != "postgresql":
        return None
    *values, key = _values_of_update(here, participant, Change(fields=fields))
    row = _one(here, _line_sql(tuple(fields)), [stratum, key, participant.step, participant.page, *values, key])
    return (str(row[0]), str(row[1])) if row else None


def insert(instances: Sequence[models.Model], *, unless_there: bool = False) -> bool:
    """Insert new rows of one model, which bring their own keys. Raises IntegrityError as the ORM does, or returns False `unless_there`."""
    here = _database()
    sql = _insert_sql(type(instances[0]), len(instances), unless_there=unless_there, vendor=here.vendor)
    return _done(here, sql, _values_of(here, instances))


def insert_while(participant: Participant, study: Study) -> bool:
    """Insert somebody as long as their study stands as it was read; changes of it wait. False: it does not, or somebody has this token."""
    here = _database()
    values = [study.pk, study.status, study.protocol_id, _field(Study, "approved_until").get_db_prep_save(study.approved_until, here)]
    return _done(here, _insert_while_sql(vendor=here.vendor), [*_values_of(here, [participant]), *values])


def count(counts: Count) -> None:
    """One more, on a random shard, so that many at once do not wait for each other."""
    here = _database()
    _done(here, _count_sql("VALUES (%s, %s, %s, %s, 1)", vendor=here.vendor), _values_of_count(counts))


def _database() -> BaseDatabaseWrapper:
    """This thread's connection itself. Django's `connection` looks for it anew at each attribute."""
    return connections[DEFAULT_DB_ALIAS]


def _values_of_update(here: BaseDatabaseWrapper, participant: Participant, change: Change) -> list[Value]:
    values = [_field(Participant, name).get_db_prep_save(value, here) for name, value in change.fields.items()]
    return [*values, Participant._meta.pk.get_db_prep_save(participant.pk, here)]


def _values_of(here: BaseDatabaseWrapper, rows: Sequence[models.Model]) -> list[Value]:
    return [field.get_db_prep_save(field.pre_save(one, add=True), here) for one in rows for field in one._meta.concrete_fields]


def _values_of_count(counts: Count | None) -> list[Value]:
    return [counts.study_id, counts.kind.value, counts.version, secrets.randbelow(COUNTER_SHARDS)] if counts else []


def _done(here: BaseDatabaseWrapper, sql: str, values: Sequence[Value]) -> bool:
    """Whether the statement found or changed a row."""
    with here.cursor() as cursor:
        cursor.execute(sql, values)
        return bool(cursor.rowcount)


def _one(here: BaseDatabaseWrapper, sql: str, parameters: Sequence[Value]) -> tuple[object, ...] | None:
    with here.cursor() as cursor:
        cursor.execute(sql, parameters)
        row: tuple[object, ...] | None = cursor.fetchone()
        return row


def _instance(here: BaseDatabaseWrapper, model: type[Row], names: Sequence[str], values: Sequence[object]) -> Row:
    """As `Model.from_db`, which calls two signals and looks at every field that is not there."""
    if here.vendor != "postgresql":  # whose driver gives each column its Python type
        values = [_field(model, name).to_python(value) for name, value in zip(names, values, strict=False)]
    one = model.__new__(model)
    one._state = ModelState()
    one._state.adding, one._state.db = False, here.alias
    one.__dict__.update(zip(names, values, strict=False))
    return one


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
    running = f" AND {_STANDS} AND study_id IN (SELECT id FROM {_table(Study)} WHERE status IN ({_running()}))"  # noqa: S608
    return f"UPDATE {_table(Participant)} SET {assignments} WHERE id = %s{running if at_place else ''}"  # noqa: S608


@cache
def _move_sql(names: tuple[str, ...], rows: tuple[type[models.Model], ...], *, counts: bool, vendor: str) -> str:
    """With more to write than the participant's row, each further part takes what it needs from `moved`, which is empty if nobody moves."""
    update = _update_sql(names, at_place=True, vendor=vendor)
    parts = [f"moved AS ({update} RETURNING id)"]
    for model, several in groupby(rows):
        values = f"VALUES {', '.join(_row(one) for one in several)}"
        parts.append(f"kept_{len(parts)} AS (INSERT INTO {_table(model)} ({_columns(model)}) SELECT new.* FROM moved, ({values}) new)")  # noqa: S608
    if counts:
        one_more = _count_sql("SELECT %s, %s, %s, %s, 1 FROM moved", vendor=vendor)
        parts.append(f"counted AS ({one_more})")
    return f"WITH {', '.join(parts)} SELECT FROM moved" if len(parts) > 1 else update


@cache
def _line_sql(names: tuple[str, ...]) -> str:
    """The participant is held first, as by every step, then a line. Without the one, the other stays as it is."""
    participant, study = _table(Participant), _table(Study)
    assignments = "".join(f"{_column(Participant, name)} = %s, " for name in names)
    return (
        f"WITH here AS (SELECT p.study_id, %s AS stratum FROM {participant} p JOIN {study} s ON s.id = p.study_id "  # noqa: S608
        f"WHERE p.id = %s AND {_STANDS} AND s.status IN ({_running()}) FOR UPDATE OF p), {lines_to_take()} "
        f"UPDATE {participant} SET {assignments}subsample = line.subsample, arm = line.arm FROM line "
        f"WHERE {participant}.id = %s RETURNING line.subsample, line.arm"
    )


@cache
def _insert_sql(model: type[models.Model], rows: int, *, unless_there: bool, vendor: str) -> str:
    values = f"VALUES {', '.join([_row(model)] * rows)}"
    return f"INSERT INTO {_table(model)} ({_columns(model)}) {values}{' ON CONFLICT DO NOTHING' if unless_there else ''}"


@cache
def _insert_while_sql(*, vendor: str) -> str:
    same = "IS NOT DISTINCT FROM" if vendor == "postgresql" else "IS"
    hold = " FOR KEY SHARE" if _database().features.has_select_for_update else ""
    return (
        f"INSERT INTO {_table(Participant)} ({_columns(Participant)}) SELECT {_row(Participant)[1:-1]} FROM {_table(Study)} "  # noqa: S608
        f"WHERE id = %s AND status = %s AND protocol_id = %s AND approved_until {same} %s{hold} ON CONFLICT DO NOTHING"
    )


@cache
def _count_sql(source: str, *, vendor: str) -> str:
    table = _table(ShardedCounter)
    return (
        f"INSERT INTO {table} (study_id, kind, version, shard, count) {source} "
        f"ON CONFLICT (study_id, kind, version, shard) DO UPDATE SET count = {table}.count + 1"
    )


def _row(model: type[models.Model]) -> str:
    """Places for the values of one row. Only PostgreSQL asks for the type of a value that is selected and not inserted at once."""
    fields, here = model._meta.concrete_fields, _database()
    typed = here.vendor == "postgresql"
    return f"({', '.join(f'%s::{field.db_type(here)}' if typed else '%s' for field in fields)})"


def _columns(model: type[models.Model]) -> str:
    return ", ".join(_quoted(field.column) for field in model._meta.concrete_fields)


def _running() -> str:
    return ", ".join(f"'{status}'" for status in sorted(RUNNING))


def _column(model: type[models.Model], name: str) -> str:
    return _quoted(_field(model, name).column)


def _table(model: type[models.Model]) -> str:
    return _quoted(model._meta.db_table)


def _quoted(name: str) -> str:
    return _database().ops.quote_name(name)
