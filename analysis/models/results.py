"""Stored results, and the work that computes them."""

from collections.abc import Mapping
from typing import ClassVar, Self

from django.conf import settings
from django.db import models, transaction
from django.utils.translation import gettext_lazy as _

from jobs.errors import TakenError
from jobs.models import LONGEST_ERROR, Lease
from surveys.models import Study
from surveys.questions.publication import Publication


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


class Run(Lease):
    """One computation over a study's answers: the work order while it waits, the result once it is done.

    Clock times and a copy of the data stand here only while the run is under way, so that the history of results does not tell when
    anybody answered, and keeps nobody's answers.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="runs")
    kind = models.CharField(max_length=30, default=RunKind.FIRST_RESULTS)
    status = models.CharField(max_length=12, choices=RunStatus, default=RunStatus.QUEUED)
    n = models.PositiveIntegerField(null=True, blank=True)
    seed = models.BigIntegerField(null=True, blank=True, help_text="The bootstrap's seed; the same data and seed give the same numbers.")
    method_version = models.CharField(max_length=20, blank=True)
    data = models.BinaryField(null=True, blank=True, help_text="Input of all chunks of the run; deleted when the run ends.")
    results = models.JSONField(null=True, blank=True)
    finished_on = models.DateField(null=True, blank=True)

    HAS_PARTS = True
    RELATED = ("study",)
    ENDED_ON = "finished_on"
    WAITING: ClassVar = {"status": RunStatus.QUEUED}
    HELD: ClassVar = {"status": RunStatus.RUNNING}
    DONE: ClassVar = {"status": RunStatus.DONE}
    FAILED: ClassVar = {"status": RunStatus.FAILED}
    SUPERSEDED: ClassVar = {"status": RunStatus.SUPERSEDED}

    class Meta(Lease.Meta):
        constraints = (
            *Lease.Meta.constraints,
            models.CheckConstraint(
                condition=models.Q(due_at__isnull=True) | models.Q(status__in=("queued", "running")), name="ended_run_keeps_no_time"
            ),
            models.UniqueConstraint(fields=("study", "kind"), condition=models.Q(status="queued"), name="one_queued_run_of_a_kind"),
            models.UniqueConstraint(fields=("study", "kind"), condition=models.Q(status="running"), name="one_running_run_of_a_kind"),
            models.CheckConstraint(
                condition=models.Q(data__isnull=True) | models.Q(status__in=("queued", "running")), name="ended_run_keeps_no_data"
            ),
        )
        indexes = (
            *Lease.Meta.indexes,
            models.Index(fields=("study", "kind", "n"), name="results_by_n"),
            models.Index(fields=("study", "kind", "status"), name="runs_by_status"),
        )

    def __str__(self) -> str:
        return f"{self.kind} of {self.study}: {self.status}"

    @classmethod
    def claimable(cls) -> models.QuerySet[Self]:
        """None while another of its kind runs. The constraint alone would refuse it by an error, whose rollback makes psycopg forget the
        prepared statements of this connection; it has the last word.
        """
        running = cls.objects.filter(study=models.OuterRef("study"), kind=models.OuterRef("kind"), status=RunStatus.RUNNING)
        return super().claimable().filter(~models.Exists(running.exclude(pk=models.OuterRef("pk"))))

    @classmethod
    @transaction.atomic
    def end(cls, rows: models.QuerySet[Self], **values: object) -> int:
        """The copy of the data and the chunks go too."""
        ended = list(rows.select_for_update(of=("self",)).values_list("pk", flat=True))
        Chunk.objects.filter(run__in=ended).delete()
        return super().end(cls.objects.filter(pk__in=ended), data=None, **values)

    @property
    def progress(self) -> str:
        chunks = list(self.chunks.values_list("due_at", flat=True))
        return f"{chunks.count(None)} of {len(chunks)} chunks" if chunks else ""


class ChunkFamily(models.TextChoices):
    """The unit of resampling: counts of cells, or patterns of people with their background."""

    COUNTS = "counts", _("Counts")
    PATTERNS = "patterns", _("Patterns")


class Chunk(Lease):
    """A part of a run's bootstrap that any worker may take. The choice of worker does not change a number."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="chunks")
    question = models.CharField(max_length=50)
    family = models.CharField(max_length=10, choices=ChunkFamily)
    index = models.PositiveIntegerField()
    effects = models.BinaryField(null=True, blank=True, help_text="The replicates by method, as NumPy stores them.")

    class Meta(Lease.Meta):
        constraints = (
            *Lease.Meta.constraints,
            models.UniqueConstraint(fields=("run", "question", "family", "index"), name="chunk_of_a_run_is_unique"),
        )

    def __str__(self) -> str:
        return f"{self.question}, {self.family}, chunk {self.index}"

    def fail(self, error: str) -> None:
        """Without this chunk there is no result: the run fails, and all its chunks go."""
        if not Run.end(Run.objects.filter(chunks__in=self.mine()), **Run.FAILED, error=error[:LONGEST_ERROR]):
            raise TakenError
        self.holder = self.due_at = None


class DiagnosisStatus(models.TextChoices):
    RUNNING = "running", _("Running")
    DONE = "done", _("Done")
    STOPPED = "stopped", _("Stopped")
    FAILED = "failed", _("Failed")


class Diagnosis(Lease):
    """Simulated studies of one design under many ways to cheat and to leave: the work order, the seed, and the sums so far."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="diagnosis")
    status = models.CharField(max_length=10, choices=DiagnosisStatus, default=DiagnosisStatus.RUNNING)
    design = models.JSONField(help_text="The design document when it was asked for.")
    answer = models.CharField(max_length=110, blank=True, default="", db_default="", help_text="question/answer that stands for yes.")
    people = models.PositiveIntegerField()
    prevalence = models.FloatField()
    effect = models.FloatField()
    cheater_proportion = models.FloatField()
    drop_out = models.FloatField()
    cluster_size = models.FloatField(default=1.0, db_default=1.0, help_text="People in a section that is assigned as a whole.")
    intraclass_correlation = models.FloatField(
        default=0.0, db_default=0.0, help_text="Correlation of the true answers of two people of a section."
    )
    studies = models.PositiveIntegerField(help_text="Simulated studies for each setting.")
    seed = models.BigIntegerField(help_text="The same seed gives the same numbers, however often the work was interrupted.")
    parts_done = models.PositiveIntegerField(default=0)
    tallies = models.JSONField(default=dict, blank=True, help_text="Number of a setting → its sums over all parts that are done.")

    RELATED = ("study",)
    DONE: ClassVar = {"status": DiagnosisStatus.DONE}
    FAILED: ClassVar = {"status": DiagnosisStatus.FAILED}

    class Meta(Lease.Meta):
        constraints = (
            *Lease.Meta.constraints,
            models.CheckConstraint(
                condition=models.Q(due_at__isnull=True) | models.Q(status="running"), name="ended_diagnosis_keeps_no_time"
            ),
        )

    def __str__(self) -> str:
        return f"diagnosis of {self.study}: {self.status}"

    @property
    def progress(self) -> str:
        return f"{self.parts_done} parts"


class Blinding(models.Model):
    """Whether those who run a study see its arms as letters until it is closed."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="blinding")
    is_active = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.study}: {'blinded' if self.is_active else 'open'}"


class ReleaseStatus(models.TextChoices):
    QUEUED = "queued", _("Waiting to be built")
    BUILDING = "building", _("Being built")
    BUILT = "built", _("Ready to look at")
    REQUESTED = "requested", _("Waiting for the IRB officer")
    PUBLISHED = "published", _("Published")
    REFUSED = "refused", _("Refused")
    OUTDATED = "outdated", _("Out of date: somebody withdrew")
    FAILED = "failed", _("Not built")
    DISCARDED = "discarded", _("Discarded")
    RETRACTED = "retracted", _("Retracted")


OPEN_RELEASES = (ReleaseStatus.QUEUED, ReleaseStatus.BUILDING, ReleaseStatus.BUILT, ReleaseStatus.REQUESTED)
STANDING_RELEASES = (ReleaseStatus.BUILT, ReleaseStatus.REQUESTED, ReleaseStatus.PUBLISHED)
"""Those with a package. One that is being built may have one, too, which nobody has compared with the people who are still there."""
PUBLIC_RELEASES = (ReleaseStatus.PUBLISHED, ReleaseStatus.RETRACTED)


class BackgroundHandling(models.TextChoices):
    """The treatment of background answers in a release. Only protected records are joined with reported answers."""

    LEFT_OUT = "left_out", _("Left out")
    COUNTS = "counts", _("Counts of each question, over everybody")
    NOISY_COUNTS = "noisy_counts", _("Statistics with noise, and the ledger of the privacy budget")
    RECORDS = "records", _("Protected records: several people share everything that is told of each")


class Release(Lease):
    """A data package of a study: asked for by its investigators, built by a worker, approved by an IRB officer, then public.

    Version and address are fixed from the start: its files name them.
    """

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="releases")
    version = models.PositiveIntegerField()
    status = models.CharField(max_length=10, choices=ReleaseStatus, default=ReleaseStatus.QUEUED)
    title = models.CharField(max_length=200)
    authors = models.JSONField(help_text="Names, in the order of the citation.")
    publication = models.JSONField(
        null=True, blank=True, help_text="Authors, funding, keywords, contact and dates as its files have them; empty: the names alone."
    )
    with_doi = models.BooleanField(default=False, db_default=False, help_text="Whether a DOI is reserved before its files are signed.")
    licence = models.CharField(max_length=20)
    questions = models.JSONField(help_text="Names of the sensitive questions whose answers are in it.")
    background = models.CharField(max_length=12, choices=BackgroundHandling, default=BackgroundHandling.LEFT_OUT)
    reason_for_exact_counts = models.TextField(
        blank=True, db_default="", max_length=2000, help_text="Why counts are exact although the study has a privacy budget."
    )
    simulated = models.BooleanField(
        default=False, db_default=False, help_text="Bots' answers, which are a data set of their own beside people's."
    )
    smallest_count = models.PositiveSmallIntegerField(help_text="Counts of background answers below this are hidden.")
    site = models.CharField(max_length=200, help_text="Where this server stands on the web.")
    seed = models.BigIntegerField(help_text="Seed of the bootstrap in its results.")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    requested_on = models.DateField(auto_now_add=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    decided_on = models.DateField(null=True, blank=True)
    reason = models.TextField(blank=True, help_text="Why it was refused or retracted.")
    retracted_on = models.DateField(null=True, blank=True)
    stage = models.CharField(max_length=10, blank=True)
    people_sha256 = models.CharField(
        max_length=64, blank=True, help_text="SHA-256 of the included participants' random keys; changes when one withdraws."
    )
    people_as_of = models.CharField(
        max_length=50,
        blank=True,
        default="",
        db_default="",
        help_text="The state of the counted people for which that hash was compared last.",
    )
    data = models.BinaryField(null=True, blank=True, help_text="The rows in their final order, while the rest is being built.")
    package = models.BinaryField(null=True, blank=True)
    package_sha256 = models.CharField(max_length=64, blank=True)
    files = models.JSONField(default=list, blank=True, help_text="Name, size and SHA-256 of each file.")
    protection = models.JSONField(
        null=True, blank=True, help_text="Parameters of protected records: k, class size, ℓ, share left out, hierarchies."
    )
    manifest = models.BinaryField(
        null=True, blank=True, help_text="Encrypted: the published record of each random key. Deleted with the operational data."
    )
    summary = models.JSONField(default=dict, blank=True, help_text="Text for the pages about it.")
    public_key = models.TextField(blank=True)
    downloads = models.PositiveBigIntegerField(default=0)

    RELATED = ("study",)
    ASKED_ON = "requested_on"
    NOT_BUILT: ClassVar[Mapping[str, object]] = {
        "package": None,
        "package_sha256": "",
        "files": [],
        "summary": {},
        "people_sha256": "",
        "public_key": "",
        "data": None,
        "manifest": None,
    }
    """The columns of a release that has no package."""
    WAITING: ClassVar = {"status": ReleaseStatus.QUEUED}
    HELD: ClassVar = {"status": ReleaseStatus.BUILDING}
    DONE: ClassVar = {"status": ReleaseStatus.BUILT, "stage": "", "data": None}
    FAILED: ClassVar = {"status": ReleaseStatus.FAILED, "stage": "", "data": None, "package": None, "people_sha256": ""}

    class Meta(Lease.Meta):
        ordering = ("study", "-version", "-pk")
        constraints = (
            *Lease.Meta.constraints,
            models.CheckConstraint(
                condition=models.Q(due_at__isnull=True) | models.Q(status__in=("queued", "building")), name="built_release_keeps_no_time"
            ),
            models.UniqueConstraint(fields=("study",), condition=models.Q(status__in=OPEN_RELEASES), name="one_open_release_of_a_study"),
            models.UniqueConstraint(
                fields=("study", "version"), condition=models.Q(status__in=PUBLIC_RELEASES), name="release_version_is_unique"
            ),
            models.CheckConstraint(
                condition=models.Q(data__isnull=True) | models.Q(status__in=("queued", "building")), name="built_release_keeps_no_rows"
            ),
            models.CheckConstraint(
                condition=models.Q(status__in=("built", "requested", "published"), package__isnull=False)
                | models.Q(status__in=("queued", "building"))  # a worker writes it before it holds the study
                | (~models.Q(status__in=("built", "requested", "published")) & models.Q(package__isnull=True)),
                name="only_a_release_that_stands_has_a_package",
            ),
        )

    def __str__(self) -> str:
        return f"{self.study.slug} version {self.version}"

    @property
    def progress(self) -> str:
        return self.stage

    @property
    def described(self) -> Publication:
        """The facts by which it is found and cited. Older releases have the names of their authors alone."""
        return Publication().with_authors(self.authors) if self.publication is None else Publication.model_validate(self.publication)
