"""Participants' stored data.

Participants' rows carry no address, no user agent, no sequence number and no time finer than the day; their keys are random.
Identifiers known to a lab (codes, Prolific numbers) are in tables without a link to the answers."""

import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from surveys.models.studies import Protocol, Study


class Step(models.TextChoices):
    """A participant's place: the next page to be answered."""

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
    token_hash = models.CharField(max_length=64)
    withdrawal_hash = models.CharField(max_length=64)
    language = models.CharField(max_length=12)
    is_bot = models.BooleanField(default=False)
    step = models.CharField(max_length=20, choices=Step)
    agrees_to_direct = models.BooleanField(null=True, help_text="Whether they may be asked without a die; empty where nobody is.")
    subsample = models.CharField(max_length=50, blank=True)
    arm = models.CharField(max_length=50, blank=True)
    background = models.JSONField(default=dict)
    page = models.PositiveSmallIntegerField(default=0, db_default=0, help_text="Where they are among the pages that their arm shows.")
    watched_tenths = models.PositiveSmallIntegerField(default=0)
    quiz = models.JSONField(default=dict)
    consented_on = models.DateField(null=True, blank=True, help_text="None once operational data are deleted.")
    finished_on = models.DateField(null=True, blank=True)
    counted = models.BooleanField(
        default=False, db_default=False, help_text="Whether a batch has let them into the numbers that are shown."
    )
    credit = models.CharField(
        max_length=64, blank=True, default="", db_default="", help_text="Hash of the blinded message that was signed for them, or “code”."
    )

    class Meta:
        # They name no column that a step changes before the last one: PostgreSQL then updates a row without touching any index.
        indexes = (
            models.Index(fields=("study",), condition=models.Q(counted=False, finished_on__isnull=False), name="finished_and_not_counted"),
            models.Index(fields=("consented_on",), condition=models.Q(counted=False, finished_on=None), name="unfinished_by_day"),
            models.Index(fields=("study",), condition=models.Q(counted=False, finished_on=None), name="unfinished_of_study"),
        )
        # Named, because `unique=True` makes a second index of the same column, for patterns, which nobody asks for.
        constraints = (
            models.UniqueConstraint(fields=("token_hash",), name="token_hash_is_unique"),
            models.UniqueConstraint(fields=("withdrawal_hash",), name="withdrawal_hash_is_unique"),
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
    """A participant's report on one sensitive question, after a die that only they saw. Final: unique, never changed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="responses", db_index=False)
    question = models.CharField(max_length=50)
    reported_yes = models.BooleanField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("participant", "question"), name="each_answer_is_final"),)

    def __str__(self) -> str:
        return f"{self.question}: {'yes' if self.reported_yes else 'no'}"


class CategoryResponse(models.Model):
    """A participant's report on a sensitive question with categories, after a die that only they saw. Final: unique, never changed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="category_responses", db_index=False)
    question = models.CharField(max_length=50)
    category = models.PositiveSmallIntegerField(help_text="Its place among the categories of the question, from 0.")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("participant", "question"), name="each_category_answer_is_final"),)

    def __str__(self) -> str:
        return f"{self.question}: {self.category}"


class DirectAnswer(models.Model):
    """A participant's answer to one sensitive question without a die. Nothing protects it, so it leaves the database in counts alone."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="direct_answers", db_index=False)
    question = models.CharField(max_length=50)
    yes = models.BooleanField(null=True)
    category = models.PositiveSmallIntegerField(null=True, help_text="Its place among the categories of the question, from 0.")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("participant", "question"), name="each_direct_answer_is_final"),
            models.CheckConstraint(
                condition=models.Q(yes__isnull=True, category__isnull=False) | models.Q(yes__isnull=False, category__isnull=True),
                name="a_direct_answer_is_yes_or_no_or_a_category",
            ),
        )

    def __str__(self) -> str:
        return self.question


class CounterKind(models.TextChoices):
    DECLINED = "declined", _("did not consent")
    COMPREHENSION_PASSED = "comprehension_passed", _("understood the die at once")
    COMPREHENSION_FAILED = "comprehension_failed", _("misunderstood the die at first")
    WITHDREW = "withdrew", _("withdrew their data")
    UNFINISHED = "unfinished", _("agreed, did not finish, and were deleted with the operational data")
    ATTENTION_FAILED = "attention_failed", _("failed an attention check and stayed")
    EXCLUDED = "excluded", _("agreed, failed an attention check, and were deleted at once")
    TASK_NOT_DONE = "task_not_done", _("went on without having done the task on another site")
    CODE_REFUSED = "code_refused", _("tried an entry code that is unknown or spent")


class ShardedCounter(models.Model):
    """A count of something about which nothing else is stored. Spread over shards, so that many people at once do not queue for one row."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="counters", db_index=False)
    kind = models.CharField(max_length=30, choices=CounterKind)
    version = models.PositiveIntegerField(
        default=1, help_text="Version of the protocol that was in force, so that consent is counted per version."
    )
    shard = models.PositiveSmallIntegerField()
    count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("study", "kind", "version", "shard"), name="counter_shard_is_unique"),)

    def __str__(self) -> str:
        return f"{self.kind}: {self.count}"


class ShownNumbers(models.Model):
    """The numbers of people on their way as they are shown while a study runs: in steps, renewed at moments that name nobody."""

    study = models.OneToOneField(Study, primary_key=True, on_delete=models.CASCADE, related_name="shown_numbers")
    comers = models.PositiveIntegerField(default=0, help_text="How many had agreed or declined when the numbers were renewed.")
    left_over = models.PositiveIntegerField(default=0, help_text="How many people the last batch left waiting.")
    numbers = models.JSONField(default=dict)
    version = models.PositiveIntegerField(default=0, db_default=0, help_text="One more whenever other numbers or other people are shown.")

    def __str__(self) -> str:
        return f"after {self.comers} people"


class KeptCounts(models.Model):
    """The counts of the people in the shown numbers, so that nothing counts them one by one.

    They follow from the rows of these people, and are written with them: when a batch lets people in, and when one of them is deleted.
    Nobody who comes writes here.
    """

    study = models.OneToOneField(Study, primary_key=True, on_delete=models.CASCADE, related_name="kept_counts")
    people = models.JSONField(default=list, help_text="Version, step, subsample, arm, consent to be asked directly, bot, people; sorted.")
    days = models.JSONField(default=dict, help_text="Day → how many agreed and answered on it, sorted.")
    answers = models.JSONField(
        default=list, help_text="Question, subsample, arm, consent to be asked directly, reported answer, people; sorted."
    )
    changes = models.PositiveIntegerField(default=0, help_text="How often they were written.")
    lines = models.JSONField(default=dict, help_text="Stratum → the last line that is counted, and the lines taken until there.")

    def __str__(self) -> str:
        return f"written {self.changes} times"


class AttritionCount(models.Model):
    """How many people stopped at a step, by group: what is kept of those who did not finish when operational data are deleted."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="attrition_counts")
    step = models.CharField(max_length=20, choices=Step)
    subsample = models.CharField(max_length=50, blank=True)
    arm = models.CharField(max_length=50, blank=True)
    count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("study", "step", "subsample", "arm"), name="attrition_is_counted_once"),)

    def __str__(self) -> str:
        return f"{self.step}: {self.count}"
