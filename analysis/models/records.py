"""Protected records before a release: the hierarchies that somebody edited, and a look at what is possible."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from jobs.models import Lease
from surveys.models import Study


class RecordHierarchies(models.Model):
    """The hierarchies that were edited; those suggested by the protocol are stored nowhere."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="record_hierarchies")
    document = models.JSONField(default=dict, blank=True, help_text="Attribute → value → labels from the value up to *.")

    def __str__(self) -> str:
        return f"hierarchies of {self.study}"


class SweepStatus(models.TextChoices):
    RUNNING = "running", _("Running")
    DONE = "done", _("Done")
    STOPPED = "stopped", _("Stopped")
    FAILED = "failed", _("Failed")


class RecordSweep(Lease):
    """The loss and the risks of protected records, by class size and demanded diversity: the work order, and its findings."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="record_sweep")
    status = models.CharField(max_length=10, choices=SweepStatus, default=SweepStatus.RUNNING)
    simulated = models.BooleanField(help_text="Bots' answers instead of people's.")
    hierarchies = models.JSONField(help_text="Those of the day when it was asked for.")
    plan = models.JSONField(help_text="Class size and demanded ℓ of each part.")
    found = models.JSONField(default=list, blank=True, help_text="Loss and risks of each part that is done.")
    example = models.JSONField(default=list, blank=True, help_text="Records of invented people before and after.")

    RELATED = ("study",)
    DONE: ClassVar = {"status": SweepStatus.DONE}
    FAILED: ClassVar = {"status": SweepStatus.FAILED}

    class Meta(Lease.Meta):
        constraints = (
            *Lease.Meta.constraints,
            models.CheckConstraint(
                condition=models.Q(due_at__isnull=True) | models.Q(status="running"), name="ended_record_sweep_keeps_no_time"
            ),
        )

    def __str__(self) -> str:
        return f"sweep of records of {self.study}: {self.status}"

    @property
    def progress(self) -> str:
        return f"{len(self.found)} of {len(self.plan)} parts"
