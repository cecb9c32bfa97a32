"""The tables of allocation: concealed lists, their lines, and the settings of arms that may change while the study runs."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from jobs.models import Lease


class AllocationList(models.Model):
    """A concealed list of subsamples and arms. Its hash is public from launch on, the list and its nonce once the study is closed."""

    study = models.ForeignKey("surveys.Study", on_delete=models.CASCADE, related_name="allocation_lists")
    number = models.PositiveIntegerField()
    stratum = models.CharField(max_length=110, blank=True, default="", db_default="", help_text="Its answers; empty: everybody.")
    scheme = models.CharField(max_length=20)
    length = models.PositiveIntegerField()
    nonce = models.CharField(max_length=64)
    sha256 = models.CharField(max_length=64)
    drawn_on = models.DateField()

    class Meta:
        ordering = ("study", "number")
        constraints = (models.UniqueConstraint(fields=("study", "number"), name="allocation_list_number_is_unique"),)

    def __str__(self) -> str:
        return f"{self.study.slug}, list {self.number}"


class SlotStatus(models.TextChoices):
    FREE = "free", _("free")
    TAKEN = "taken", _("taken")
    CLOSED = "closed", _("closed: the arm is closed or its quota is reached")


class AllocationSlot(models.Model):
    """One line of an allocation list. It does not tell who took it."""

    study = models.ForeignKey("surveys.Study", on_delete=models.CASCADE, related_name="allocation_slots", db_index=False)
    list = models.ForeignKey(AllocationList, on_delete=models.CASCADE, related_name="slots")
    stratum = models.CharField(max_length=110, blank=True, default="", db_default="", help_text="As in its list.")
    position = models.PositiveIntegerField(help_text="Place in the study's whole sequence, over all its lists.")
    subsample = models.CharField(max_length=50)
    arm = models.CharField(max_length=50)
    status = models.CharField(max_length=10, choices=SlotStatus, default=SlotStatus.FREE)

    class Meta:
        ordering = ("study", "position")
        constraints = (models.UniqueConstraint(fields=("study", "position"), name="allocation_position_is_unique"),)
        indexes = (models.Index(fields=("study", "stratum", "position"), condition=models.Q(status="free"), name="free_slots_of_stratum"),)

    def __str__(self) -> str:
        return str(self.position)


class ArmState(models.Model):
    """An arm's settings that may change while the study runs: its quota, and whether it is closed."""

    study = models.ForeignKey("surveys.Study", on_delete=models.CASCADE, related_name="arm_states")
    arm = models.CharField(max_length=50)
    quota = models.PositiveIntegerField(null=True, blank=True)
    closed = models.BooleanField(default=False)
    places = models.PositiveIntegerField(null=True, editable=False, help_text="How many more people its quota allows.")
    lines_missing = models.PositiveIntegerField(
        default=1, db_default=1, editable=False, help_text="Nothing reads it but versions before 0033, which may run beside this one."
    )

    class Meta:
        constraints = (models.UniqueConstraint(fields=("study", "arm"), name="arm_state_is_unique"),)

    def __str__(self) -> str:
        return self.arm


class DrawingStatus(models.TextChoices):
    DRAWING = "drawing", _("being drawn")
    DONE = "done", _("drawn")
    STOPPED = "stopped", _("stopped")
    FAILED = "failed", _("failed")


class ListDrawing(Lease):
    """The drawing of a study's long lists, part by part: its first ones, before it opens, or the next ones while lines are left.

    All lines follow from the seed, so a worker that takes over goes on with the same list. The seed goes with the last line.
    """

    study = models.OneToOneField("surveys.Study", on_delete=models.CASCADE, related_name="list_drawing")
    protocol = models.ForeignKey("surveys.Protocol", on_delete=models.CASCADE, related_name="+", help_text="The version that it follows.")
    launched_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The person for whom the study opens with the last line; empty: it has opened, and these are further lists.",
    )
    status = models.CharField(max_length=10, choices=DrawingStatus, default=DrawingStatus.DRAWING)
    seed = models.CharField(max_length=64, blank=True)
    lists = models.JSONField(default=list, help_text="Stratum, arm (null where it is drawn), length and, once begun, number of each list.")
    lines = models.PositiveIntegerField(help_text="How many lines all of these lists have.")
    stored = models.PositiveIntegerField(default=0, help_text="How many of them are stored.")

    RELATED = ("study", "protocol", "launched_by")
    DONE: ClassVar = {"status": DrawingStatus.DONE, "seed": ""}
    FAILED: ClassVar = {"status": DrawingStatus.FAILED}

    class Meta(Lease.Meta):
        constraints = (
            *Lease.Meta.constraints,
            models.CheckConstraint(
                condition=models.Q(due_at__isnull=True) | models.Q(status="drawing"), name="ended_drawing_keeps_no_time"
            ),
            models.CheckConstraint(condition=~models.Q(status="done") | models.Q(seed=""), name="drawn_list_keeps_no_seed"),
        )

    def __str__(self) -> str:
        return f"{self.lines} lines for {self.study.slug}: {self.status}"

    @property
    def progress(self) -> str:
        return f"{self.stored} of {self.lines} lines"
