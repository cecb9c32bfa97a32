"""The tables of review: officers' decisions, and the comments on each section of a protocol."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class Verdict(models.TextChoices):
    APPROVED = "approved", _("Approved")
    CHANGES = "changes", _("Changes asked for")
    REJECTED = "rejected", _("Rejected")
    SUSPENDED = "suspended", _("Suspended")
    LIFTED = "lifted", _("Suspension lifted")


class PacketSection(models.TextChoices):
    """The sections of a protocol packet, in its order."""

    OVERVIEW = "overview", _("In short")
    CONSENT = "consent", _("What students agree to")
    ARMS = "arms", _("What students are shown")
    BACKGROUND = "background", _("Background questions")
    QUIZ = "quiz", _("Quiz")
    QUESTIONS = "questions", _("Sensitive questions")
    DIE = "die", _("The die and privacy")
    ALLOCATION = "allocation", _("How groups are drawn")
    STORED = "stored", _("What is stored, and what is not")
    ACCESS = "access", _("Who can see what")
    ANALYSIS = "analysis", _("Analysis plan")
    BUDGET = "budget", _("Privacy budget")
    RETENTION = "retention", _("How long data are kept")
    RELEASE = "release", _("What becomes public")
    DEBRIEF = "debrief", _("What students read at the end")
    FILES = "files", _("Files")


class CheckPoint(models.TextChoices):
    """The points of the officers' checklist, each about the packet as a whole."""

    RISKS = "risks", _("Risks")
    BENEFITS = "benefits", _("Benefits")
    COMPLAINTS = "complaints", _("Questions and complaints")
    DATA = "data", _("Data")
    CHANCE = "chance", _("The die")
    LANGUAGES = "languages", _("Languages")


SIGNED_PARTS = (*PacketSection.values, *CheckPoint.values)


class SignOff(models.Model):
    """An officer has read a section of one version of a protocol, or finds one point of the checklist in order."""

    protocol = models.ForeignKey("surveys.Protocol", on_delete=models.CASCADE, related_name="sign_offs")
    part = models.CharField(max_length=12, choices=[*PacketSection.choices, *CheckPoint.choices])
    officer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    signed_on = models.DateField()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("protocol", "part", "officer"), name="officer_signs_a_part_once"),
            models.CheckConstraint(condition=models.Q(part__in=SIGNED_PARTS), name="sign_off_is_of_a_known_part"),
        )

    def __str__(self) -> str:
        return f"{self.protocol}: {self.get_part_display()}, {self.officer}"


class Decision(models.Model):
    """An officer's decision on one version of a protocol, with its reason."""

    study = models.ForeignKey("surveys.Study", on_delete=models.CASCADE, related_name="decisions")
    protocol = models.ForeignKey("surveys.Protocol", on_delete=models.PROTECT, related_name="decisions")
    verdict = models.CharField(max_length=10, choices=Verdict)
    reason = models.TextField(blank=True, max_length=5000)
    conditions = models.TextField(
        blank=True, max_length=5000, help_text="Conditions that the investigator must acknowledge before recruiting."
    )
    valid_until = models.DateField(null=True, blank=True, help_text="Last day of an approval.")
    submitted_on = models.DateField(null=True, blank=True, help_text="Since when it had waited. Suspensions wait for nobody.")
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    decided_on = models.DateField()
    acknowledged_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    acknowledged_on = models.DateField(null=True, blank=True)

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.CheckConstraint(condition=models.Q(verdict__in=Verdict.values), name="verdict_is_known"),
            models.CheckConstraint(condition=models.Q(verdict=Verdict.APPROVED) | ~models.Q(reason=""), name="refusal_has_a_reason"),
            models.CheckConstraint(
                condition=models.Q(verdict=Verdict.APPROVED, valid_until__isnull=False)
                | (~models.Q(verdict=Verdict.APPROVED) & models.Q(valid_until__isnull=True)),
                name="approval_and_only_it_has_a_last_day",
            ),
        )

    def __str__(self) -> str:
        return f"{self.protocol}: {self.get_verdict_display()}"


class PrivacyLimit(models.Model):
    """The total ε of a study above which officers want a reason. The newest row holds; earlier ones are its past."""

    epsilon = models.FloatField()
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    set_on = models.DateField()

    class Meta:
        ordering = ("pk",)
        constraints = (models.CheckConstraint(condition=models.Q(epsilon__gt=0), name="privacy_limit_is_positive"),)

    def __str__(self) -> str:
        return f"ε = {self.epsilon:.2f}"


class Comment(models.Model):
    """A comment on one section. The comments on a section are one thread, which is open until an officer's comment resolves it."""

    study = models.ForeignKey("surveys.Study", on_delete=models.CASCADE, related_name="comments")
    protocol = models.ForeignKey("surveys.Protocol", on_delete=models.PROTECT, related_name="comments")
    section = models.CharField(max_length=12, choices=PacketSection)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.TextField(blank=True, max_length=5000)
    resolves = models.BooleanField(default=False)
    written_on = models.DateField()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.CheckConstraint(condition=models.Q(section__in=PacketSection.values), name="comment_is_on_a_section"),
            models.CheckConstraint(condition=models.Q(resolves=True) | ~models.Q(text=""), name="comment_says_something_or_resolves"),
        )

    def __str__(self) -> str:
        return f"{self.author}: {self.text[:50]}"


class Preregistration(models.Model):
    """The analysis plan of an approved protocol as one text, kept as it was at the approval: its hash stays what it was published as."""

    protocol = models.OneToOneField("surveys.Protocol", on_delete=models.PROTECT, related_name="preregistration")
    document = models.TextField(help_text="JSON; its SHA-256 is that of these bytes in UTF-8.")
    sha256 = models.CharField(max_length=64)
    registered_on = models.DateField()

    class Meta:
        ordering = ("protocol",)

    def __str__(self) -> str:
        return f"{self.protocol}: {self.sha256[:12]}"
