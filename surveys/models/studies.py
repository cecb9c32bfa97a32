"""Studies, and the protocols that froze them."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class StudyStatus(models.TextChoices):
    DRAFT = "draft", _("Draft")
    IN_REVIEW = "in_review", _("In review")
    APPROVED = "approved", _("Approved")
    RECRUITING = "recruiting", _("Recruiting")
    PAUSED = "paused", _("Paused")
    CLOSED = "closed", _("Closed")
    ARCHIVED = "archived", _("Archived")


RUNNING = (StudyStatus.RECRUITING, StudyStatus.PAUSED)


ENDED = (StudyStatus.CLOSED, StudyStatus.ARCHIVED)


class Study(models.Model):
    """A study: its draft definition, its status, and the frozen protocol that participants see."""

    slug = models.SlugField(unique=True, max_length=50)
    title = models.CharField(max_length=200)
    """In the first language: of the draft, and from the launch on that of the protocol in force, which participants read."""
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="studies")
    status = models.CharField(max_length=20, choices=StudyStatus, default=StudyStatus.DRAFT)
    definition = models.JSONField(help_text="The draft, as in the study file; the journey runs on the frozen protocol.")
    protocol = models.ForeignKey("Protocol", null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    submitted = models.ForeignKey(
        "Protocol", null=True, blank=True, on_delete=models.PROTECT, related_name="+", help_text="The version that waits for the officers."
    )
    submitted_on = models.DateField(null=True, blank=True)
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The officer to whom the review is assigned. Others may decide as well.",
    )
    launched_protocol = models.ForeignKey(
        "Protocol",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The version with which it opened: what was named before anybody came, such as the planned number of people.",
    )
    approved_until = models.DateField(null=True, blank=True, help_text="Last day on which newcomers may be taken in.")
    suspended = models.BooleanField(default=False, help_text="By an officer; the investigator cannot resume it.")
    epsilon_per_question = models.FloatField()
    epsilon_total = models.FloatField()
    accepts_bots = models.BooleanField(default=False, help_text="Simulated participants may walk this study (rehearsals, demonstrations).")
    data_published = models.BooleanField(default=False, help_text="Published data cannot be withdrawn any more.")
    rehearsal_of = models.OneToOneField(
        "self",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="rehearsal",
        help_text="The study of which this one is a sandbox copy, for bots only.",
    )
    numbers_withheld = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Somebody who was in shown numbers withdrew; none until the next batch. In a closed study: until everybody is counted.",
    )
    told_of_records = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Since the launch its public page says that protected records may be published. Before, it promised counts at most.",
    )
    created_on = models.DateField(auto_now_add=True)
    launched_on = models.DateField(null=True, blank=True)
    closed_on = models.DateField(null=True, blank=True)
    forgotten_on = models.DateField(
        null=True, blank=True, help_text="Since this day operational data are deleted: nobody's answers can be found any more."
    )

    class Meta:
        verbose_name_plural = "studies"
        ordering = ("slug",)
        constraints = (
            models.CheckConstraint(condition=models.Q(status__in=StudyStatus.values), name="study_status_is_known"),
            models.CheckConstraint(
                condition=models.Q(status__in=("draft", "in_review")) | models.Q(protocol__isnull=False),
                name="approved_study_has_a_protocol",
            ),
            models.CheckConstraint(
                condition=models.Q(rehearsal_of__isnull=True) | models.Q(data_published=False, accepts_bots=True),
                name="rehearsal_takes_bots_and_is_never_published",
            ),
            models.CheckConstraint(
                condition=~models.Q(status=StudyStatus.RECRUITING)
                | models.Q(rehearsal_of__isnull=False)
                | models.Q(approved_until__isnull=False, suspended=False),
                name="recruiting_study_has_an_approval_and_is_not_suspended",
            ),
            models.CheckConstraint(
                condition=~models.Q(status=StudyStatus.IN_REVIEW) | models.Q(submitted__isnull=False), name="study_in_review_was_submitted"
            ),
        )

    def __str__(self) -> str:
        return self.title


class Protocol(models.Model):
    """A definition frozen for review, with the addresses and hashes of its media. Never changed; a change makes a new version."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="protocols")
    version = models.PositiveIntegerField()
    definition = models.JSONField()
    media = models.JSONField(help_text="File name → id, media type, SHA-256, duration.")
    sha256 = models.CharField(max_length=64)
    of_rehearsal = models.BooleanField(default=False, help_text="Belongs to a sandbox copy, with which it may be deleted.")
    frozen_on = models.DateField(auto_now_add=True)

    class Meta:
        ordering = ("study", "version")
        constraints = (models.UniqueConstraint(fields=("study", "version"), name="protocol_version_is_unique"),)

    def __str__(self) -> str:
        return f"{self.study.slug} version {self.version}"
