"""What was computed, and the work that computes it."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from surveys.models import Study


class RunStatus(models.TextChoices):
    QUEUED = "queued", _("Queued")
    RUNNING = "running", _("Running")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")
    SUPERSEDED = "superseded", _("Superseded")


class Run(models.Model):
    """One computation over a study's answers: the work order while it waits, the result once it is done.

    The table is the truth; the broker may forget. Clock times stand here only while the run is under way,
    so that the history of results does not tell when anybody answered.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="runs")
    kind = models.CharField(max_length=30, default="first_results")
    status = models.CharField(max_length=12, choices=RunStatus, default=RunStatus.QUEUED)
    due_at = models.DateTimeField(
        null=True, blank=True, help_text="While queued: not before; while running: when the worker was last heard of."
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    n = models.PositiveIntegerField(null=True, blank=True)
    method_version = models.CharField(max_length=20, blank=True)
    results = models.JSONField(null=True, blank=True)
    error = models.TextField(blank=True)
    finished_on = models.DateField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("study", "kind"), condition=models.Q(status="queued"), name="one_queued_run_of_a_kind"),
            models.UniqueConstraint(fields=("study", "kind"), condition=models.Q(status="running"), name="one_running_run_of_a_kind"),
        )
        indexes = (models.Index(fields=("study", "kind", "n"), name="results_by_n"),)

    def __str__(self) -> str:
        return f"{self.kind} of {self.study}: {self.status}"
