"""Frozen tables about which questions can be asked under a budget: closed studies, and data sets that somebody brought."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from jobs.models import Lease
from surveys.models import InvitationLink, MemberRole, Study


class DataSetStatus(models.TextChoices):
    DRAFT = "draft", _("Being prepared")
    WAITING = "waiting", _("Waiting for a decision")
    APPROVED = "approved", _("Approved")


class Holds(models.TextChoices):
    """The kind of rows: columns, which are asked about under a budget, or student records, which are published as protected ones."""

    COLUMNS = "columns", _("Columns")
    RECORDS = "records", _("Student records")


class DataSet(models.Model):
    """Data that somebody brought. The rows stand in the snapshot of its source. The approval of columns begins their budget, that of
    records publishes their package.
    """

    slug = models.SlugField(unique=True, max_length=50)
    title = models.CharField(max_length=200)
    about = models.TextField(blank=True, max_length=5000, db_default="", help_text="Where the data come from, and who agreed to what.")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="data_sets")
    created_on = models.DateField(auto_now_add=True)
    simulated = models.BooleanField(default=False, db_default=False, help_text="Students of the example files, as their keys said.")
    holds = models.CharField(max_length=7, choices=Holds, default=Holds.COLUMNS, db_default=Holds.COLUMNS)
    status = models.CharField(max_length=10, choices=DataSetStatus, default=DataSetStatus.DRAFT, db_default=DataSetStatus.DRAFT)
    epsilon = models.FloatField(null=True, blank=True, help_text="The budget that its owner asks for.")
    delta = models.FloatField(null=True, blank=True)
    submitted_on = models.DateField(null=True, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    decided_on = models.DateField(null=True, blank=True)
    reason = models.TextField(blank=True, max_length=2000, db_default="", help_text="Why an officer sent it back.")
    delete_on = models.DateField(null=True, blank=True, help_text="On this day its rows are deleted.")
    forgotten_on = models.DateField(null=True, blank=True, help_text="Since this day its rows are deleted.")

    class Meta:
        ordering = ("slug",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(status="draft", epsilon=None, delta=None)
                | models.Q(holds="records", epsilon=None, delta=None)
                | models.Q(holds="columns", status__in=("waiting", "approved"), epsilon__isnull=False, delta__isnull=False),
                name="data_set_asks_for_a_budget",
            ),
            models.CheckConstraint(
                condition=models.Q(epsilon=None, delta=None) | models.Q(epsilon__gt=0, epsilon__lte=10, delta__gt=0, delta__lt=1),
                name="data_set_asks_for_a_privacy_loss",
            ),
            models.CheckConstraint(
                condition=~models.Q(status="approved") | models.Q(decided_by__isnull=False, decided_on__isnull=False),
                name="approved_data_set_says_by_whom",
            ),
        )

    def __str__(self) -> str:
        return self.title

    @property
    def students(self) -> int:
        """How many there are, which is public."""
        return Snapshot.objects.filter(source__data_set=self).order_by("-number").values_list("n", flat=True).first() or 0


class DataSetAnalyst(models.Model):
    """Somebody who may ask about a data set, once an officer approved them with it or later."""

    data_set = models.ForeignKey(DataSet, on_delete=models.CASCADE, related_name="analysts")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    approved_on = models.DateField(null=True, blank=True)

    class Meta:
        ordering = ("data_set", "user__username")
        constraints = (models.UniqueConstraint(fields=("data_set", "user"), name="analyst_of_a_data_set_once"),)

    def __str__(self) -> str:
        return f"{self.user}: {self.data_set}"


class DataSetInvitation(InvitationLink):
    """An offer to become an analyst of a data set."""

    data_set = models.ForeignKey(DataSet, on_delete=models.CASCADE, related_name="invitations")

    class Meta:
        ordering = ("data_set", "addressee")
        constraints = (
            models.CheckConstraint(condition=~models.Q(accepted=True, withdrawn=True), name="accepted_data_set_invitation_stays"),
        )

    @property
    def whole(self) -> DataSet:
        return self.data_set

    def get_role_display(self) -> str:
        return str(MemberRole.ANALYST.label)


class Source(models.Model):
    """One frozen table: a closed study or a data set. Its budget and its ledger outlive its rows."""

    study = models.OneToOneField(Study, null=True, blank=True, on_delete=models.PROTECT, related_name="source")
    data_set = models.OneToOneField(DataSet, null=True, blank=True, on_delete=models.PROTECT, related_name="source")

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(study__isnull=False, data_set=None) | models.Q(study=None, data_set__isnull=False),
                name="source_is_a_study_or_a_data_set",
            ),
        )

    def __str__(self) -> str:
        return str(self.whole)

    @property
    def whole(self) -> Study | DataSet:
        """The study or the data set."""
        found = self.study or self.data_set
        assert found is not None
        return found


class SnapshotStatus(models.TextChoices):
    MAKING = "making", _("Being made")
    READY = "ready", _("Ready")
    REPLACED = "replaced", _("Replaced: somebody withdrew")
    DELETED = "deleted", _("Deleted with the operational data")
    FAILED = "failed", _("Failed")


class Snapshot(Lease):
    """The rows of a source as they stand, in columns and in no order; the work order while a worker makes it.

    A snapshot never changes. After a withdrawal there is a new one, and the rows of the old one are deleted in the same transaction.
    """

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="snapshots")
    number = models.PositiveIntegerField()
    status = models.CharField(max_length=10, choices=SnapshotStatus, default=SnapshotStatus.MAKING)
    n = models.PositiveIntegerField(null=True, blank=True, help_text="Participants in it. This number is public.")
    schema = models.JSONField(null=True, blank=True, help_text="Its columns, with everything that a value may be.")
    data = models.BinaryField(null=True, blank=True, help_text="The columns, as NumPy stores them.")
    rows_read = models.PositiveIntegerField(default=0)
    made_on = models.DateField(null=True, blank=True)

    RELATED = ("source__study",)
    ENDED_ON = "made_on"
    DONE: ClassVar = {"status": SnapshotStatus.READY}
    FAILED: ClassVar = {"status": SnapshotStatus.FAILED, "data": None}

    class Meta(Lease.Meta):
        ordering = ("source", "number")
        constraints = (
            *Lease.Meta.constraints,
            models.UniqueConstraint(fields=("source", "number"), name="snapshot_number_is_unique"),
            models.UniqueConstraint(
                fields=("source",), condition=models.Q(status__in=("making", "ready")), name="one_snapshot_of_a_source"
            ),
            models.CheckConstraint(condition=models.Q(due_at__isnull=True) | models.Q(status="making"), name="made_snapshot_keeps_no_time"),
            models.CheckConstraint(
                condition=models.Q(status="ready", n__isnull=False, schema__isnull=False, data__isnull=False)
                | (~models.Q(status="ready") & models.Q(data__isnull=True)),
                name="only_a_ready_snapshot_has_rows",
            ),
        )

    def __str__(self) -> str:
        return f"snapshot {self.number} of {self.source}: {self.status}"

    @property
    def progress(self) -> str:
        return f"{self.rows_read} rows" if self.rows_read else ""
