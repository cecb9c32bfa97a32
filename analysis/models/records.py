"""Protected records of a study or a data set: edited hierarchies, a look at what is possible, and the package of a data set."""

from typing import Any, ClassVar, Self

from django.db import models, transaction
from django.utils.translation import gettext_lazy as _

from analysis.models.sources import DataSet
from jobs.errors import TakenError
from jobs.models import LONGEST_ERROR, Lease
from surveys.models import Study

ONE_WHOLE = models.Q(study__isnull=False, data_set=None) | models.Q(study=None, data_set__isnull=False)


def key_of(whole: Study | DataSet) -> dict[str, Any]:
    """The column that says whose something is."""
    return {"study" if isinstance(whole, Study) else "data_set": whole}


class RecordHierarchies(models.Model):
    """The hierarchies that were edited; those suggested by the protocol are stored nowhere."""

    study = models.OneToOneField(Study, null=True, blank=True, on_delete=models.CASCADE, related_name="record_hierarchies")
    data_set = models.OneToOneField(DataSet, null=True, blank=True, on_delete=models.CASCADE, related_name="record_hierarchies")
    document = models.JSONField(default=dict, blank=True, help_text="Attribute → value → labels from the value up to *.")

    class Meta:
        constraints = (models.CheckConstraint(condition=ONE_WHOLE, name="hierarchies_of_a_study_or_a_data_set"),)

    def __str__(self) -> str:
        return f"hierarchies of {self.study or self.data_set}"


class SweepStatus(models.TextChoices):
    RUNNING = "running", _("Running")
    DONE = "done", _("Done")
    STOPPED = "stopped", _("Stopped")
    FAILED = "failed", _("Failed")


class RecordSweep(Lease):
    """The loss and the risks of protected records, by class size and demanded diversity: the work order, and its findings."""

    study = models.OneToOneField(Study, null=True, blank=True, on_delete=models.CASCADE, related_name="record_sweep")
    data_set = models.OneToOneField(DataSet, null=True, blank=True, on_delete=models.CASCADE, related_name="record_sweep")
    status = models.CharField(max_length=10, choices=SweepStatus, default=SweepStatus.RUNNING)
    simulated = models.BooleanField(help_text="Bots' answers instead of people's.")
    hierarchies = models.JSONField(help_text="Those of the day when it was asked for.")
    plan = models.JSONField(help_text="Class size and demanded ℓ of each part.")
    found = models.JSONField(default=list, blank=True, help_text="Loss and risks of each part, once all are done.")
    example = models.JSONField(default=list, blank=True, help_text="Records of invented people before and after.")

    RELATED = ("study", "data_set")
    HAS_PARTS = True
    HELD: ClassVar = {"status": SweepStatus.RUNNING}
    DONE: ClassVar = {"status": SweepStatus.DONE}
    FAILED: ClassVar = {"status": SweepStatus.FAILED}

    class Meta(Lease.Meta):
        constraints = (
            *Lease.Meta.constraints,
            models.CheckConstraint(
                condition=models.Q(due_at__isnull=True) | models.Q(status="running"), name="ended_record_sweep_keeps_no_time"
            ),
            models.CheckConstraint(condition=ONE_WHOLE, name="sweep_of_a_study_or_a_data_set"),
        )

    def __str__(self) -> str:
        return f"sweep of records of {self.study or self.data_set}: {self.status}"

    @classmethod
    @transaction.atomic
    def end(cls, rows: models.QuerySet[Self], **values: object) -> int:
        """The findings so far are kept, and the parts go."""
        ended = 0
        for sweep in rows.select_for_update(of=("self",)):
            ended += super().end(cls.objects.filter(pk=sweep.pk), **{"found": sweep.findings, **values})
            sweep.parts.all().delete()
        return ended

    @property
    def progress(self) -> str:
        return f"{len(self.findings)} of {len(self.plan)} parts"

    @property
    def findings(self) -> list[Any]:
        """Loss and risks of each part that is done so far, in the order of the plan."""
        return self.found or [part.found for part in self.parts.filter(found__isnull=False).order_by("index")]


class SweepPart(Lease):
    """A class size with a demanded ℓ, or an ε, that any worker may try. The choice of worker does not change a number."""

    sweep = models.ForeignKey(RecordSweep, on_delete=models.CASCADE, related_name="parts")
    index = models.PositiveSmallIntegerField(help_text="Its place in the plan.")
    found = models.JSONField(null=True, blank=True, help_text="Loss and risks.")

    RELATED = ("sweep__study", "sweep__data_set")

    class Meta(Lease.Meta):
        constraints = (
            *Lease.Meta.constraints,
            models.UniqueConstraint(fields=("sweep", "index"), name="part_of_a_sweep_is_unique"),
        )

    def __str__(self) -> str:
        return f"part {self.index} of {self.sweep}"

    def fail(self, error: str) -> None:
        """Without this part there is no whole: the sweep fails, and keeps what was found so far."""
        if not RecordSweep.end(RecordSweep.objects.filter(parts__in=self.mine()), **RecordSweep.FAILED, error=error[:LONGEST_ERROR]):
            raise TakenError
        self.holder = self.due_at = None


class PackageStatus(models.TextChoices):
    BUILDING = "building", _("Being built")
    BUILT = "built", _("Ready to look at")
    FAILED = "failed", _("Not built")
    RETRACTED = "retracted", _("Retracted")


class RecordPackage(Lease):
    """The protected records of a data set: asked for by its owner, built by a worker, public with the approval of the data set.

    There is one of a data set: two would be made of other classes, and could be intersected.
    """

    data_set = models.OneToOneField(DataSet, on_delete=models.PROTECT, related_name="record_package")
    status = models.CharField(max_length=10, choices=PackageStatus, default=PackageStatus.BUILDING)
    authors = models.JSONField(help_text="Names, in the order of the citation.")
    licence = models.CharField(max_length=20)
    site = models.CharField(max_length=200, help_text="Where this server stands on the web.")
    protection = models.JSONField(help_text="k, class size, ℓ, share left out, hierarchies.")
    done = models.PositiveSmallIntegerField(default=0, help_text="Per cent of the work.")
    package = models.BinaryField(null=True, blank=True)
    package_sha256 = models.CharField(max_length=64, blank=True)
    files = models.JSONField(default=list, blank=True, help_text="Name, size and SHA-256 of each file.")
    summary = models.JSONField(default=dict, blank=True, help_text="Text and numbers for the pages about it.")
    public_key = models.TextField(blank=True)
    built_on = models.DateField(null=True, blank=True)
    downloads = models.PositiveBigIntegerField(default=0)
    retracted_on = models.DateField(null=True, blank=True)
    reason = models.TextField(blank=True, max_length=2000, help_text="Why it was retracted.")

    RELATED = ("data_set",)
    ENDED_ON = "built_on"
    DONE: ClassVar = {"status": PackageStatus.BUILT, "done": 100}
    FAILED: ClassVar = {"status": PackageStatus.FAILED}

    class Meta(Lease.Meta):
        constraints = (
            *Lease.Meta.constraints,
            models.CheckConstraint(
                condition=models.Q(due_at__isnull=True) | models.Q(status="building"), name="built_record_package_keeps_no_time"
            ),
            models.CheckConstraint(
                condition=models.Q(status="built", package__isnull=False) | (~models.Q(status="built") & models.Q(package__isnull=True)),
                name="only_a_record_package_that_stands_has_bytes",
            ),
        )

    def __str__(self) -> str:
        return f"records of {self.data_set}: {self.status}"

    @property
    def progress(self) -> str:
        return f"{self.done} %"
