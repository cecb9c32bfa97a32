"""Reading sources: the table as it stands, and why there may be none."""

from functools import partial

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from analysis.answers.record_schemas import RecordSchema
from analysis.models import DataSet, DataSetStatus, RecordPackage, Snapshot, SnapshotStatus, Source
from analysis.sources.records.rows import RecordRows, schema_in
from analysis.sources.tables import Schema, Table
from analysis.sources.unpacked import UNPACKED, ColumnsOf
from candor.errors import DataError
from surveys.languages.labels import within_sentence
from surveys.models import ENDED, Study

CHANGED = gettext_noop("The table changed while the question was asked: somebody withdrew, or the data were deleted.")


def source_of(study: Study) -> Source | None:
    """The source that a study became when it was closed; None for one without a budget."""
    return Source.objects.filter(study=study).first()


def newest_snapshot(source: Source) -> Snapshot | None:
    """Without its rows."""
    return Snapshot.objects.filter(source=source).defer("data").order_by("-number").first()


def obstacle(source: Source) -> str:
    """Why no question can be asked now, in a sentence; empty if one can."""
    study = source.study
    if study is not None and study.status not in ENDED:
        return _("Questions are asked about a closed study; this one is %(status)s.") % {
            "status": within_sentence(study.get_status_display())
        }
    snapshot = newest_snapshot(source)
    if source.whole.forgotten_on is not None or (snapshot and snapshot.status == SnapshotStatus.DELETED):
        if study is None:
            return _("The data are deleted. Earlier answers stay; there can be no new ones.")
        return _("The data are deleted, as the protocol says. Earlier answers stay; there can be no new ones.")
    if snapshot is None or snapshot.status == SnapshotStatus.MAKING:
        return _("The table is being made. Ask again in a minute.")
    if snapshot.status == SnapshotStatus.FAILED:
        return _("The table could not be made: %(error)s") % {"error": snapshot.error}
    return ""


def schema_of_snapshot(source: Source, number: int) -> Schema:
    """The columns that a snapshot has or had."""
    return Schema.model_validate(Snapshot.objects.values_list("schema", flat=True).get(source=source, number=number))


def table_of(source: Source, number: int) -> Table | None:
    """The rows of this snapshot; None if they are deleted. For workers, which keep some of what they unpacked."""
    kept = UNPACKED.snapshots()
    asked = Q(source=source, number=number) | Q(pk__in=[key for key, _, _ in kept])
    standing = {
        (snapshot.pk, snapshot.source_id, snapshot.number): snapshot
        for snapshot in Snapshot.objects.filter(asked, status=SnapshotStatus.READY).defer("data")
    }
    UNPACKED.keep_only(standing)
    for identity, snapshot in standing.items():
        if identity[1:] == (source.pk, number) and snapshot.n is not None:
            schema = Schema.model_validate(snapshot.schema)
            return Table.from_bytes(partial(_rows_of, snapshot.pk), schema=schema, n=snapshot.n, kept=ColumnsOf(identity))
    return None


def rows_of_records(data_set: DataSet) -> RecordRows:
    """The records that somebody brought. Raises DataError when they are deleted."""
    found = Snapshot.objects.filter(source__data_set=data_set, status=SnapshotStatus.READY).first()
    if found is None or found.n is None or found.schema is None or found.data is None:
        raise DataError(_("The data are deleted."))
    return RecordRows(n=found.n, attributes=found.schema["attributes"], data=bytes(found.data))


def schema_of_records(data_set: DataSet) -> RecordSchema:
    """Their attributes, which stay when the records are deleted."""
    newest = newest_snapshot(data_set.source)
    assert newest is not None
    assert newest.schema is not None
    return schema_in(newest.schema)


def public_record_packages() -> QuerySet[RecordPackage]:
    """Packages of records that were approved, the newest first, also the retracted ones."""
    approved = RecordPackage.objects.filter(data_set__status=DataSetStatus.APPROVED)
    return approved.select_related("data_set__decided_by").defer("package").order_by("-data_set__decided_on", "-pk")


def data_sets_with_a_budget() -> QuerySet[DataSet]:
    """Those that were approved with a privacy budget, the newest first, also where their rows are deleted: their answers stay."""
    approved = DataSet.objects.filter(status=DataSetStatus.APPROVED, epsilon__isnull=False)
    return approved.select_related("owner").order_by("-decided_on", "-pk")


def studies_with_a_budget() -> QuerySet[Source]:
    """Closed studies that have a privacy budget, by their names."""
    return (
        Source.objects.filter(study__isnull=False, budget__isnull=False).select_related("study__owner", "budget").order_by("study__title")
    )


def _rows_of(key: int) -> bytes:
    data = Snapshot.objects.filter(pk=key, status=SnapshotStatus.READY).values_list("data", flat=True).first()
    if data is None:
        raise DataError(CHANGED)
    return bytes(data)
