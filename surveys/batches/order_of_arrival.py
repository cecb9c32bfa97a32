"""Hides the order of arrival. Keys are random, but databases write rows where and when they come.

On PostgreSQL a row lies where it was written, and holds the number of the transaction that wrote it. So rows are deleted and inserted again
in the order of their random keys, a few at once: the people of a batch, who then get one age, each hour those who wait or are on their
way, and each night all of a study to which somebody came. On SQLite rows get random row numbers.

Parts follow the random keys, so a part tells no more than a key does. After a night, place and age of each row follow from its key alone;
in the middle of one, or after a kill, they do for the parts that are done, and all other rows are as they were before.

Rows that somebody else holds are left for the next time. Everybody else waits for a few people's rows at most, and a withdrawal or a batch
for as many of its study at night.
"""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar
from uuid import UUID, uuid4

from django.core.cache import cache
from django.db import OperationalError, connection, models, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Lag, Lead
from django.utils import timezone
from django.utils.crypto import salted_hmac

from surveys.models import (
    RUNNING,
    CategoryResponse,
    CounterKind,
    CreditBook,
    DirectAnswer,
    EntryBook,
    EntryCode,
    KeptCounts,
    PanelMember,
    Participant,
    Response,
    ShardedCounter,
    Study,
    WayNumbers,
)

PATIENCE = "2s"
"""How long a rewrite waits for a lock at most."""
ON_THEIR_WAY = timedelta(days=1)
"""How many days ago people consented at most who may still be on their way."""
AT_ONCE = 5000
HELD_AT_ONCE = 50
"""How many people a rewrite holds at once: so few that nobody's page waits for it longer than a blink."""
OVERWRITTEN = "changes_whose_old_versions_are_overwritten"
ANSWERS: tuple[type[models.Model], ...] = (Response, CategoryResponse, DirectAnswer)
IDENTITIES: tuple[type[models.Model], ...] = (EntryCode, PanelMember)
BY_NIGHT: tuple[type[models.Model], ...] = (Participant, *IDENTITIES)
"""Tables of which a night looks for studies that changed; answers are laid with their people."""
WITH_PEOPLE: Mapping[type[models.Model], str] = {Participant: "id"} | dict.fromkeys(ANSWERS, "participant_id")
TABLES: tuple[type[models.Model], ...] = (Participant, *ANSWERS, *IDENTITIES)
Kept = TypeVar("Kept", bound=models.Model)
CLEANED: list[type[models.Model]] = [*TABLES, EntryBook, CreditBook, WayNumbers, KeptCounts]
"""Tables whose old versions of rows are overwritten, which PostgreSQL lets their owner do. Other applications add theirs."""


@dataclass(frozen=True, slots=True)
class Place:
    """How far a night's rewrite is: in which study's rows of which table, after which key, and how many of all are done."""

    table: str
    study: int
    after: str
    done: int
    of: int


def drawn(rows: "QuerySet[Kept]", most: int) -> list[UUID]:
    """Some of these rows by chance, for a few steps down the index: keys are random, and so are those that follow a random key."""
    start, keys = uuid4(), rows.order_by("pk").values_list("pk", flat=True)
    found = list(keys.filter(pk__gte=start)[:most])
    return found + (list(keys.filter(pk__lt=start)[: most - len(found)]) if len(found) < most else [])


def those_who_hide(study: Study, alike: "QuerySet[Participant]", most: int) -> list[UUID]:
    """Some of these people, locked: those who follow keys that are hashes with the site's secret, so that chance is the same each time.

    After a crash `manage.py replay` withdraws people again, in another order. If it held others back beside them, only those who left
    would be missing both in packages of before and in those of after.
    """
    found: list[UUID] = []
    while len(found) < most:
        place = salted_hmac("those who hide withdrawals", f"{study.pk} {len(found)}", algorithm="sha256").digest()
        free = alike.exclude(pk__in=found).select_for_update(skip_locked=True, of=("self",)).order_by("pk").values_list("pk", flat=True)
        one = free.filter(pk__gte=UUID(bytes=place[:16])).first() or free.first()
        if one is None:
            break
        found.append(one)
    return found


def lay_anew(people: Sequence[UUID]) -> None:
    """Write the rows of these people and of their answers again, in the order of random keys. Call it with their rows locked."""
    for keys in parts(people):
        for model, column in WITH_PEOPLE.items():
            _write_again(model, column, keys)


def lay_anew_among_others(person: Participant) -> None:
    """Write the row of somebody in the shown numbers again with its neighbours: alone it would be younger than those of all others until
    the night, and tell who came last. The person may stand at any place among them; the first key of all is beside the last one, so that
    this holds for everybody. Call it with their row locked.
    """
    _hold_study(person.study_id)
    counted = Participant.objects.filter(study=person.study_id, counted=True).select_for_update(skip_locked=True, of=("self",))
    before = secrets.randbelow(HELD_AT_ONCE)
    after = HELD_AT_ONCE - 1 - before
    smaller, larger = (counted.filter(there).values_list("pk", flat=True) for there in (Q(pk__lt=person.pk), Q(pk__gt=person.pk)))
    earlier, later = list(smaller.order_by("-pk")[:before]), list(larger.order_by("pk")[:after])
    from_the_end = larger.order_by("-pk")[: before - len(earlier)]
    from_the_start = smaller.order_by("pk")[: after - len(later)]
    lay_anew(sorted({person.pk, *earlier, *later, *from_the_end, *from_the_start}))


def stays_running(study: Study) -> bool:
    """Whether the study runs, and goes on until the transaction ends: somebody who closes it waits, and nobody else."""
    running = Study.objects.filter(pk=study.pk, status__in=RUNNING)
    if connection.vendor != "postgresql":
        return running.exists()
    sql, values = running.values("pk").query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"{sql} FOR KEY SHARE", values)
        return cursor.fetchone() is not None


def give_one_age(people: Sequence[UUID]) -> None:
    """Write the answers of these people once more, where they were just laid: of each of them at one time, with those who are written now.

    That takes a fraction of the time of another place, in which no index and no foreign key would find them.
    """
    if connection.vendor == "postgresql":  # SQLite keeps no age of a row
        with connection.cursor() as cursor:
            for model in ANSWERS:
                table, theirs = connection.ops.quote_name(model._meta.db_table), WITH_PEOPLE[model]
                cursor.execute(f"UPDATE {table} SET {theirs} = {theirs} WHERE {theirs} = ANY(%s)", [list(people)])  # noqa: S608


def forget_recent_order() -> list[str]:
    """Hide the order among the people who wait or are on their way, a few of them at once. Its cost does not grow with the studies."""
    # Two queries, for each of which there is an index.
    waiting = Q(counted=False, finished_on__isnull=False)
    on_their_way = Q(counted=False, finished_on=None, consented_on__gte=timezone.localdate() - ON_THEIR_WAY)
    found = sorted(key for some in (waiting, on_their_way) for key in Participant.objects.filter(some).values_list("pk", flat=True))
    busy: list[str] = []
    # By random keys, so that neither a part nor its place among the others tells when somebody came.
    for keys in parts(found, HELD_AT_ONCE):
        still_there = Participant.objects.filter(waiting | on_their_way, pk__in=keys)
        busy = busy or _unless_busy("people who wait", lambda: lay_anew(_held(still_there)))  # noqa: B023
    vacuum()
    return busy


def forget_order_of_days(note: Callable[[Place], None] = lambda place: None, *, begun: Place | None = None) -> list[str]:
    """Lay all rows of each study that changed in the order of their keys, except people on their way; return what was too busy.

    It notes its place after each part. A night that was `begun` and cut short goes on there: people who came meanwhile are in disorder, and
    have their turn after it.
    """
    busy: list[str] = []
    if connection.vendor == "postgresql":  # SQLite keeps no age of a row
        vacuum()  # or the rows that are written now lie between those that batches left
        for model in BY_NIGHT:
            rows = model._default_manager.filter(_settled()) if model is Participant else model._default_manager.all()
            if begun is not None and begun.table == model._meta.db_table:
                busy += _lay_study_anew(rows.filter(study=begun.study), begun.study, note, begun=begun)
            for study in _in_disorder(rows):
                busy += _lay_study_anew(rows.filter(study=study), study, note)
    vacuum()
    return busy


def _lay_study_anew(rows: "QuerySet[Kept]", study: int, note: Callable[[Place], None], *, begun: Place | None = None) -> list[str]:
    """Write the rows of one study again, a few of them in each transaction, in the order of their keys."""
    table = rows.model._meta.db_table
    left = rows if begun is None else rows.filter(pk__gt=begun.after)
    keys = list(left.order_by("pk").values_list("pk", flat=True))
    done = 0 if begun is None else begun.done
    of, busy = done + len(keys), False
    for part in parts(keys, HELD_AT_ONCE):
        busy |= bool(_unless_busy(table, lambda: _lay_part_anew(rows, part, study)))  # noqa: B023
        done += len(part)
        note(Place(table=table, study=study, after=str(part[-1]), done=done, of=of))
    return [table] if busy else []


def _lay_part_anew(rows: "QuerySet[Kept]", part: Sequence[UUID], study: int) -> None:
    if rows.model is Participant:
        _hold_study(study)
        lay_anew(_held(rows.filter(pk__in=part)))
    else:
        _write_again(rows.model, "id", _held(rows.filter(pk__in=part)))


def _hold_study(study: int) -> None:
    """Before rows of counted people are held. Those who hide somebody that left draw among the rows which nobody holds, under this lock,
    and would find too few.
    """
    list(Study.objects.select_for_update(no_key=True).filter(pk=study).values_list("pk", flat=True))


def vacuum() -> None:
    """Let the database overwrite old versions of rows now: SQLite those in its write-ahead log, PostgreSQL those in its tables."""
    if connection.in_atomic_block:
        return
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        else:
            tables = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in CLEANED)
            cursor.execute(f"VACUUM (SKIP_LOCKED) {tables}")


def vacuum_soon() -> None:
    """Overwrite old versions of rows: of somebody who was deleted, or of a batch. On PostgreSQL a worker does it within a minute, so that
    nobody waits for `VACUUM`, after which each connection plans its statements anew.
    """
    if connection.vendor == "sqlite":
        vacuum()


def vacuum_after_changes() -> None:
    """Overwrite old versions of rows if somebody left or was counted since the last time. If the cache forgets it, it is done again."""
    kinds = (CounterKind.WITHDREW, CounterKind.EXCLUDED)
    left = ShardedCounter.objects.filter(kind__in=kinds).aggregate(models.Sum("count", default=0))["count__sum"]
    changes = f"{left} {KeptCounts.objects.aggregate(models.Sum('changes', default=0))['changes__sum']}"
    if cache.get(OVERWRITTEN) != changes:
        vacuum()
        cache.set(OVERWRITTEN, changes, timeout=None)


def _settled() -> Q:
    """People who have finished, or who consented so long ago that they hardly go on."""
    return Q(finished_on__isnull=False) | Q(consented_on=None) | Q(consented_on__lt=timezone.localdate() - ON_THEIR_WAY)


def _held(rows: "QuerySet[Kept]") -> list[UUID]:
    """The keys of those rows that nobody else holds, locked."""
    return list(rows.select_for_update(skip_locked=True, of=("self",)).order_by("pk").values_list("pk", flat=True))


def parts(keys: Sequence[UUID], at_once: int = AT_ONCE) -> Iterator[Sequence[UUID]]:
    """These keys, so many at a time as one statement takes; in parts of one size, so that no row is ever written alone."""
    several = -(-len(keys) // at_once)
    return (keys[number * len(keys) // several : (number + 1) * len(keys) // several] for number in range(several))


def _in_disorder(rows: "QuerySet[Kept]") -> list[int]:
    """The studies whose rows were not written in the order of their keys, or of which the last one was written alone."""
    aged = rows.annotate(age=_Age()).annotate(
        before=models.Window(Lag("age"), partition_by="study", order_by="pk"),
        following=models.Window(Lead("age"), partition_by="study", order_by="pk"),
    )
    alone = Q(following=None, age__lt=models.F("before"))
    return sorted(set(aged.filter(Q(age__gt=models.F("before")) | alone).values_list("study", flat=True)))


class _Age(models.Func):
    """How many transactions ago the row was written."""

    template = "age(xmin)"
    output_field = models.IntegerField()


def _write_again(model: type[models.Model], column: str, keys: Sequence[UUID]) -> None:
    quote = connection.ops.quote_name
    table, of_keys = quote(model._meta.db_table), quote(column)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                f"WITH gone AS (DELETE FROM {table} WHERE {of_keys} = ANY(%s) RETURNING *) "  # noqa: S608
                f"INSERT INTO {table} SELECT * FROM gone ORDER BY id",
                [list(keys)],
            )
        else:
            places = ", ".join(["%s"] * len(keys))
            cursor.execute(
                f"UPDATE {table} SET rowid = random() WHERE {of_keys} IN ({places})",  # noqa: S608
                [key.hex for key in keys],
            )


def _unless_busy(what: str, act: Callable[[], None]) -> list[str]:
    """Act in a transaction that waits for nobody for long; name what was too busy, whose turn comes with the next call."""
    try:
        with transaction.atomic():
            if connection.vendor == "postgresql":
                with connection.cursor() as cursor:
                    cursor.execute(f"SET LOCAL lock_timeout = '{PATIENCE}'")
            act()
    except OperationalError:
        return [what]
    return []
