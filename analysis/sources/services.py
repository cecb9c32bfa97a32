"""Snapshots: taken when a study is closed, again after each withdrawal, and deleted with the operational data."""

from functools import partial

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from accounts.models import User
from analysis import actions
from analysis.models import Asking, Holds, Snapshot, SnapshotStatus, Source
from analysis.sources.records.rows import RecordRows, without_values
from analysis.sources.tables import Table
from analysis.sources.unpacked import UNPACKED
from audit.services import record
from jobs.tasks import send
from surveys.models import Study

Rows = Table | RecordRows
CURRENT = (SnapshotStatus.MAKING, SnapshotStatus.READY)


@transaction.atomic
def take_snapshot(source: Source) -> Snapshot:
    """Have a worker read the source. The rows of an earlier snapshot are deleted in the same transaction."""
    snapshot = Snapshot.objects.create(source=source, number=_next(source), due_at=timezone.now())
    transaction.on_commit(partial(send, snapshot))
    return snapshot


@transaction.atomic
def store_rows(source: Source, rows: Rows) -> Snapshot:
    """Store rows that are there already, such as those of a data set, which come with its import."""
    return Snapshot.objects.create(
        source=source, number=_next(source), status=SnapshotStatus.READY, made_on=timezone.localdate(), **_columns_of(rows)
    )


@transaction.atomic
def make_again(source: Source, *, actor: User) -> bool:
    """Take the snapshot of a study again after a failure. False: it did not fail."""
    # As withdrawals and the deletion of operational data hold it: each of them ends the snapshot that there is.
    study = Study.objects.select_for_update(no_key=True).filter(source=source).first()
    newest = Snapshot.objects.select_for_update(of=("self",)).filter(source=source).order_by("-number").defer("data").first()
    if study is None or study.forgotten_on is not None or newest is None or newest.status != SnapshotStatus.FAILED:
        return False
    take_snapshot(source)
    record(actor=actor, action=actions.SNAPSHOT_AGAIN, subject=source.whole)
    return True


def keep_table(snapshot: Snapshot, table: Table) -> None:
    """Store the rows of a snapshot that this worker holds: the source can be asked about from now on."""
    snapshot.finish(**_columns_of(table))


def renew_after_withdrawal(sender: object, *, study_id: int, **kwargs: object) -> None:
    """Somebody who was counted withdrew, or others are held back to hide it: the rows are read again."""
    if (source := Source.objects.filter(study=study_id).first()) is not None and source.whole.forgotten_on is None:
        take_snapshot(source)


def delete_when_data_are_forgotten(sender: object, *, study_id: int, **kwargs: object) -> None:
    if (source := Source.objects.filter(study=study_id).first()) is not None:
        delete_rows(source)


def delete_rows(source: Source) -> None:
    """Answers stay; there can be no new ones."""
    _end(source, SnapshotStatus.DELETED)


def _columns_of(rows: Rows) -> dict[str, object]:
    return {"n": rows.n, "schema": rows.document, "data": rows.to_bytes(), "rows_read": rows.n}


def _next(source: Source) -> int:
    """End the snapshot that there is; the number of the one to come."""
    _end(source, SnapshotStatus.REPLACED)
    # Exact answers saw the person who withdrew; those with noise protect them. The filter spares the worker that is at one.
    free = Asking.objects.filter(charge__budget__source=source, charge__rho_units=0, charge__epsilon_units=0)
    free.filter(released__isnull=False).update(released=None)
    return int(Snapshot.objects.filter(source=source).aggregate(most=Max("number", default=0))["most"]) + 1


def _end(source: Source, status: SnapshotStatus) -> None:
    Snapshot.end(Snapshot.objects.filter(source=source, status__in=CURRENT), status=status, data=None)
    if source.data_set is not None and source.data_set.holds == Holds.RECORDS:
        _forget_values(source)
    transaction.on_commit(UNPACKED.forget_all)


def _forget_values(source: Source) -> None:
    """Delete the values that occurred in records which are not there any more: nobody declared them, they came with the rows."""
    ended = Snapshot.objects.filter(source=source, data=None).exclude(schema=None)
    ended.filter(status=SnapshotStatus.REPLACED).update(schema=None)
    for deleted in ended.filter(status=SnapshotStatus.DELETED):
        deleted.schema = without_values(deleted.schema or {})
        deleted.save(update_fields=["schema"])
