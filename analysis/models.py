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
    CANCELLED = "cancelled", _("Cancelled")


class RunKind(models.TextChoices):
    FIRST_RESULTS = "first_results", _("First results")
    FULL_RESULTS = "full_results", _("Full results")


class Run(models.Model):
    """One computation over a study's answers: the work order while it waits, the result once it is done.

    The table is the truth; the broker may forget. Clock times and a copy of the data stand here only while the run is under way,
    so that the history of results does not tell when anybody answered, and keeps nobody's answers.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="runs")
    kind = models.CharField(max_length=30, default=RunKind.FIRST_RESULTS)
    status = models.CharField(max_length=12, choices=RunStatus, default=RunStatus.QUEUED)
    due_at = models.DateTimeField(
        null=True, blank=True, help_text="While queued: not before; while running: when the worker was last heard of."
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    n = models.PositiveIntegerField(null=True, blank=True)
    seed = models.BigIntegerField(null=True, blank=True, help_text="Of the bootstrap; the same data and seed give the same numbers.")
    method_version = models.CharField(max_length=20, blank=True)
    data = models.BinaryField(null=True, blank=True, help_text="What all chunks of the run look at; gone when the run ends.")
    results = models.JSONField(null=True, blank=True)
    error = models.TextField(blank=True)
    finished_on = models.DateField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("study", "kind"), condition=models.Q(status="queued"), name="one_queued_run_of_a_kind"),
            models.UniqueConstraint(fields=("study", "kind"), condition=models.Q(status="running"), name="one_running_run_of_a_kind"),
            models.CheckConstraint(
                condition=models.Q(data__isnull=True) | models.Q(status__in=("queued", "running")), name="ended_run_keeps_no_data"
            ),
        )
        indexes = (
            models.Index(fields=("study", "kind", "n"), name="results_by_n"),
            models.Index(fields=("study", "kind", "status"), name="runs_by_status"),
        )

    def __str__(self) -> str:
        return f"{self.kind} of {self.study}: {self.status}"


class ChunkStatus(models.TextChoices):
    WAITING = "waiting", _("Waiting")
    COMPUTING = "computing", _("Computing")
    DONE = "done", _("Done")


class ChunkFamily(models.TextChoices):
    """What is resampled: the counts of the cells, or the patterns of people with their background."""

    COUNTS = "counts", _("Counts")
    PATTERNS = "patterns", _("Patterns")


class Chunk(models.Model):
    """A part of a run's bootstrap that any worker may take. Which one takes it does not change a number."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="chunks")
    question = models.CharField(max_length=50)
    family = models.CharField(max_length=10, choices=ChunkFamily)
    index = models.PositiveIntegerField()
    status = models.CharField(max_length=10, choices=ChunkStatus, default=ChunkStatus.WAITING)
    heard_at = models.DateTimeField(null=True, blank=True, help_text="While computed: when its worker was last heard of.")
    effects = models.BinaryField(null=True, blank=True, help_text="The replicates by method, as NumPy stores them.")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("run", "question", "family", "index"), name="chunk_of_a_run_is_unique"),)

    def __str__(self) -> str:
        return f"{self.question}, {self.family}, chunk {self.index}: {self.status}"


class Blinding(models.Model):
    """Whether those who run a study see its arms as letters until it is closed."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="blinding")
    on = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.study}: {'blinded' if self.on else 'open'}"
