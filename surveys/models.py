"""The tables of a study and of what participants leave behind.

Participants' rows carry no address, no user agent, no sequence number and no time finer than the day; their keys are random.
What identifies a person to a lab (codes, Prolific numbers) stands in tables without a link to the answers.
"""

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from jobs.models import Lease
from surveys.allocation_models import AllocationList as AllocationList
from surveys.allocation_models import AllocationSlot as AllocationSlot
from surveys.allocation_models import ArmState as ArmState
from surveys.allocation_models import SlotStatus as SlotStatus
from surveys.review_models import Comment as Comment
from surveys.review_models import Decision as Decision
from surveys.review_models import PacketSection as PacketSection
from surveys.review_models import Verdict as Verdict


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
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="studies")
    status = models.CharField(max_length=20, choices=StudyStatus, default=StudyStatus.DRAFT)
    definition = models.JSONField(help_text="The draft, as in the study file; the journey runs on the frozen protocol.")
    protocol = models.ForeignKey("Protocol", null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    submitted = models.ForeignKey(
        "Protocol", null=True, blank=True, on_delete=models.PROTECT, related_name="+", help_text="The version that waits for the officers."
    )
    submitted_on = models.DateField(null=True, blank=True)
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
                condition=~models.Q(status=StudyStatus.IN_REVIEW) | models.Q(submitted__isnull=False),
                name="study_in_review_was_submitted",
            ),
        )

    def __str__(self) -> str:
        return self.title


class MemberRole(models.TextChoices):
    """What somebody who was invited to a study may do with it. Its owner is not a member: the study says who that is."""

    EDITOR = "editor", _("Editor")
    VIEWER = "viewer", _("Viewer")
    BLINDED_VIEWER = "blinded_viewer", _("Blinded viewer")


class StudyMember(models.Model):
    """Somebody with whom a study is shared."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=MemberRole)

    class Meta:
        ordering = ("study", "user__username")
        constraints = (
            models.UniqueConstraint(fields=("study", "user"), name="one_membership_of_a_person_in_a_study"),
            models.CheckConstraint(condition=models.Q(role__in=MemberRole.values), name="every_member_has_a_known_role"),
        )

    def __str__(self) -> str:
        return f"{self.user}: {self.get_role_display()}"


class Invitation(models.Model):
    """An offer to share a study, good for whoever holds the link, or only for `user` if there is one. Only the hash of the link is kept."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=16, choices=MemberRole)
    addressee = models.CharField(max_length=254, help_text="An e-mail address, or the name of an account.")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    token_hash = models.CharField(max_length=64, unique=True)
    last_day = models.DateField()
    accepted = models.BooleanField(default=False)
    withdrawn = models.BooleanField(default=False)

    class Meta:
        ordering = ("study", "addressee")
        constraints = (
            models.CheckConstraint(condition=models.Q(role__in=MemberRole.values), name="every_invitation_has_a_known_role"),
            models.CheckConstraint(condition=~models.Q(accepted=True, withdrawn=True), name="an_accepted_invitation_is_not_withdrawn"),
        )

    def __str__(self) -> str:
        return f"{self.addressee}: {self.get_role_display()}"


class Protocol(models.Model):
    """A definition frozen for review, with the addresses and hashes of its media. Never changed; a change makes a new version."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="protocols")
    version = models.PositiveIntegerField()
    definition = models.JSONField()
    media = models.JSONField(help_text="File name → id, media type, SHA-256, duration.")
    sha256 = models.CharField(max_length=64)
    of_rehearsal = models.BooleanField(default=False, help_text="Of a sandbox copy, with which it may be deleted.")
    frozen_on = models.DateField(auto_now_add=True)

    class Meta:
        ordering = ("study", "version")
        constraints = (models.UniqueConstraint(fields=("study", "version"), name="protocol_version_is_unique"),)

    def __str__(self) -> str:
        return f"{self.study.slug} version {self.version}"


def place_of_media(study_id: int, media_id: uuid.UUID) -> str:
    """Where the storage keeps a file."""
    return f"studies/{study_id}/{media_id.hex}"


def media_path(media: "MediaFile", name: str) -> str:
    return place_of_media(media.study_id, media.id)


class MediaFile(models.Model):
    """A video, captions or a poster that was checked when it came in. Its random id is its address; the name never leaves the desk."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="media_files")
    name = models.CharField(max_length=100)
    file = models.FileField(upload_to=media_path)
    media_type = models.CharField(max_length=100)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    duration_seconds = models.FloatField(null=True, blank=True)
    current = models.BooleanField(default=True, help_text="The newest file of this name; older ones stay for the protocols that use them.")

    class Meta:
        ordering = ("study", "name")
        constraints = (
            models.UniqueConstraint(fields=("study", "name"), condition=models.Q(current=True), name="one_current_file_of_a_name"),
        )

    def __str__(self) -> str:
        return self.name


class Step(models.TextChoices):
    """Where a participant is: the page that is to be answered next."""

    BACKGROUND = "background"
    DIRECT_CONSENT = "direct_consent"
    VIDEO = "video"
    QUIZ = "quiz"
    DIE = "die"
    QUESTIONS = "questions"
    DIRECT_QUESTIONS = "direct_questions"
    FINISHED = "finished"


class Participant(models.Model):
    """One person (or bot) who consented, known only by the hash of a token that lives in their browser."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="participants")
    protocol = models.ForeignKey(Protocol, on_delete=models.PROTECT, related_name="+")
    token_hash = models.CharField(max_length=64, unique=True)
    withdrawal_hash = models.CharField(max_length=64, unique=True)
    language = models.CharField(max_length=12)
    is_bot = models.BooleanField(default=False)
    step = models.CharField(max_length=20, choices=Step)
    agrees_to_direct = models.BooleanField(null=True, help_text="Whether they may be asked without a die; empty where nobody is.")
    subsample = models.CharField(max_length=50, blank=True)
    arm = models.CharField(max_length=50, blank=True)
    background = models.JSONField(default=dict)
    watched_tenths = models.PositiveSmallIntegerField(default=0)
    quiz = models.JSONField(default=dict)
    consented_on = models.DateField(null=True, blank=True, help_text="None once operational data are deleted.")
    finished_on = models.DateField(null=True, blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(subsample="", arm="", step__in=(Step.BACKGROUND, Step.DIRECT_CONSENT))
                | (~models.Q(subsample="") & ~models.Q(arm="")),
                name="participant_is_assigned_wholly_after_background",
            ),
            models.CheckConstraint(condition=models.Q(watched_tenths__lte=10), name="watched_share_is_at_most_one"),
            models.CheckConstraint(
                condition=models.Q(step=Step.FINISHED, finished_on__isnull=False)
                | (~models.Q(step=Step.FINISHED) & models.Q(finished_on__isnull=True))
                | models.Q(step=Step.FINISHED, consented_on__isnull=True, finished_on__isnull=True),
                name="finished_participant_has_a_day",
            ),
        )

    def __str__(self) -> str:
        return str(self.id)


class Response(models.Model):
    """What a participant reported to one sensitive question, after a die that only they saw. Final: unique, never changed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="responses")
    question = models.CharField(max_length=50)
    reported_yes = models.BooleanField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("participant", "question"), name="each_answer_is_final"),)

    def __str__(self) -> str:
        return f"{self.question}: {'yes' if self.reported_yes else 'no'}"


class DirectAnswer(models.Model):
    """What a participant truly answered to one sensitive question without a die. Nothing protects it, so it leaves in counts alone."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="direct_answers")
    question = models.CharField(max_length=50)
    yes = models.BooleanField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("participant", "question"), name="each_direct_answer_is_final"),)

    def __str__(self) -> str:
        return self.question


class TallyKind(models.TextChoices):
    DECLINED = "declined", _("did not consent")
    COMPREHENSION_PASSED = "comprehension_passed", _("understood the die at once")
    COMPREHENSION_FAILED = "comprehension_failed", _("misunderstood the die at first")
    WITHDREW = "withdrew", _("withdrew their data")
    UNFINISHED = "unfinished", _("agreed, did not finish, and were deleted with the operational data")


class Tally(models.Model):
    """A count of something about which nothing else is stored. Spread over shards, so that many people at once do not queue for one row."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="tallies")
    kind = models.CharField(max_length=30, choices=TallyKind)
    version = models.PositiveIntegerField(default=1, help_text="Of the protocol that was in force, so that consent is counted per version.")
    shard = models.PositiveSmallIntegerField()
    count = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "tallies"
        constraints = (models.UniqueConstraint(fields=("study", "kind", "version", "shard"), name="tally_shard_is_unique"),)

    def __str__(self) -> str:
        return f"{self.kind}: {self.count}"


class Departure(models.Model):
    """How many people stopped at a step, by group: what is kept of those who did not finish when operational data are deleted."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="departures")
    step = models.CharField(max_length=20, choices=Step)
    subsample = models.CharField(max_length=50, blank=True)
    arm = models.CharField(max_length=50, blank=True)
    count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("study", "step", "subsample", "arm"), name="departures_are_counted_once"),)

    def __str__(self) -> str:
        return f"{self.step}: {self.count}"


class EntryCode(models.Model):
    """A personal code that opens the study once. Only its keyed hash is kept, and nothing says whose answers came in with it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="entry_codes")
    code_hash = models.CharField(max_length=64)
    spent = models.BooleanField(default=False)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("study", "code_hash"), name="entry_code_is_unique"),)

    def __str__(self) -> str:
        return "spent" if self.spent else "unspent"


class PanelMember(models.Model):
    """Who came from Prolific or SONA, kept apart from answers: `panel_hash` follows from the person's withdrawal code."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="panel_members")
    identifier = models.CharField(max_length=100)
    panel_hash = models.CharField(max_length=64)
    finished = models.BooleanField(default=False)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("study", "identifier"), name="panel_member_is_unique"),)

    def __str__(self) -> str:
        return self.identifier


class CrowdStatus(models.TextChoices):
    WALKING = "walking", _("On their way")
    DONE = "done", _("Done")
    STOPPED = "stopped", _("Stopped")
    FAILED = "failed", _("Failed")


class Crowd(Lease):
    """The bots of a rehearsal: the work order while they are on their way, and what was planted in them."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="crowd")
    status = models.CharField(max_length=10, choices=CrowdStatus, default=CrowdStatus.WALKING)
    bots = models.PositiveIntegerField()
    seed = models.BigIntegerField()
    prevalence = models.FloatField()
    effect = models.FloatField()
    cheater_proportion = models.FloatField()
    behaviour = models.CharField(max_length=20)
    drops_out = models.FloatField()
    under_reports = models.FloatField(default=0.0)
    endings = models.JSONField(default=dict, blank=True, help_text="How they ended → how many.")
    seconds = models.FloatField(default=0)

    RELATED = ("study",)
    DONE: ClassVar = {"status": CrowdStatus.DONE}
    FAILED: ClassVar = {"status": CrowdStatus.FAILED}

    class Meta(Lease.Meta):
        abstract = False
        constraints = (
            *Lease.Meta.constraints,
            models.CheckConstraint(condition=models.Q(due_at__isnull=True) | models.Q(status="walking"), name="ended_crowd_keeps_no_time"),
        )

    def __str__(self) -> str:
        return f"{self.bots} bots in {self.study}: {self.status}"

    @property
    def progress(self) -> str:
        return f"{sum(self.endings.values())} of {self.bots} bots"
