"""Hides the order of arrival. Keys are random, but databases write rows where and when they come.

On PostgreSQL a row lies where it was written, and holds the number of the transaction that wrote it. So rows are deleted and inserted again
in the order of their random keys, all in one transaction: the people of a batch, each hour those who wait or are on their way, and each
night all of a study to which somebody came. On SQLite rows get random row numbers.

Rows that somebody else holds are left for the next time, and nobody waits for the nightly rewrite but people who withdraw.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from django.db import OperationalError, connection, models, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from surveys.models import (
    CategoryResponse,
    CreditBook,
    DirectAnswer,
    EntryBook,
    EntryCode,
    KeptCounts,
    PanelMember,
    Participant,
    Response,
    WayNumbers,
)

PATIENCE = "2s"
"""How long a rewrite waits for a lock at most."""
ON_THEIR_WAY = timedelta(days=1)
"""How many days ago people consented at most who may still be on their way."""
AT_ONCE = 5000
HELD_AT_ONCE = 250
"""How many people each hour's rewrite holds at once: so few that nobody's page waits for it longer than a blink."""
ANSWERS: tuple[type[models.Model], ...] = (Response, CategoryResponse, DirectAnswer)
WITH_PEOPLE: Mapping[type[models.Model], str] = {Participant: "id"} | dict.fromkeys(ANSWERS, "participant_id")
TABLES: tuple[type[models.Model], ...] = (Participant, *ANSWERS, EntryCode, PanelMember)
Kept = TypeVar("Kept", bound=models.Model)
CLEANED: tuple[type[models.Model], ...] = (*TABLES, EntryBook, CreditBook, WayNumbers, KeptCounts)
"""Tables whose old versions of rows are overwritten, which PostgreSQL lets their owner do."""


def lay_anew(people: Sequence[UUID]) -> None:
    """Write the rows of these people and of their answers again, in the order of random keys. Call it with their rows locked."""
    for keys in parts(people):
        for model, column in WITH_PEOPLE.items():
            _write_again(model, column, keys)


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
    forget_what_was_overwritten()
    return busy


def forget_order_of_days() -> list[str]:
    """Give all rows of each study that changed one age, except for people on their way; return what was too busy."""
    busy: list[str] = []
    if connection.vendor == "postgresql":  # SQLite keeps no age of a row
        settled = Participant.objects.filter(_settled())
        for study in _of_several_ages(settled):
            busy += _unless_busy("participants", lambda: lay_anew(_held(settled.filter(study=study))))  # noqa: B023
        identities: tuple[type[models.Model], ...] = (EntryCode, PanelMember)
        for model in identities:
            for study in _of_several_ages(model._default_manager.all()):
                busy += _unless_busy(model._meta.db_table, lambda: _lay_all_anew(model, study))  # noqa: B023
    forget_what_was_overwritten()
    return busy


def forget_what_was_overwritten() -> None:
    """Let the database overwrite old versions of rows now: SQLite those in its write-ahead log, PostgreSQL those in its tables."""
    if connection.in_atomic_block:
        return
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        else:
            tables = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in CLEANED)
            cursor.execute(f"VACUUM (SKIP_LOCKED) {tables}")


def _settled() -> Q:
    """People who have finished, or who consented so long ago that they hardly go on."""
    return Q(finished_on__isnull=False) | Q(consented_on=None) | Q(consented_on__lt=timezone.localdate() - ON_THEIR_WAY)


def _held(rows: "QuerySet[Kept]") -> list[UUID]:
    """The keys of those rows that nobody else holds, locked."""
    return list(rows.select_for_update(skip_locked=True, of=("self",)).order_by("pk").values_list("pk", flat=True))


def _lay_all_anew(model: type[models.Model], study: int) -> None:
    for keys in parts(_held(model._default_manager.filter(study=study))):
        _write_again(model, "id", keys)


def parts(keys: Sequence[UUID], at_once: int = AT_ONCE) -> Iterator[Sequence[UUID]]:
    """These keys, so many at a time as one statement takes."""
    return (keys[start : start + at_once] for start in range(0, len(keys), at_once))


def _of_several_ages(rows: "QuerySet[Kept]") -> list[int]:
    """The studies whose rows were not all written by the same transaction."""
    columns = {"first": models.Min(_Age()), "last": models.Max(_Age())}
    return list(rows.values("study").annotate(**columns).exclude(first=models.F("last")).values_list("study", flat=True))


class _Age(models.Func):
    """The number of the transaction that wrote the row."""

    template = "xmin::text"
    output_field = models.TextField()


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
