"""Bots that walk through a sandbox copy of a study."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from jobs.models import Lease
from surveys.models.studies import Study


class BotRunStatus(models.TextChoices):
    RUNNING = "walking", _("On their way")
    DONE = "done", _("Done")
    STOPPED = "stopped", _("Stopped")
    FAILED = "failed", _("Failed")


class BotRun(Lease):
    """The bots of a rehearsal: the work order while they are on their way, and what was planted in them."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="bot_run")
    status = models.CharField(max_length=10, choices=BotRunStatus, default=BotRunStatus.RUNNING)
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
    DONE: ClassVar = {"status": BotRunStatus.DONE}
    FAILED: ClassVar = {"status": BotRunStatus.FAILED}

    class Meta(Lease.Meta):
        constraints = (
            *Lease.Meta.constraints,
            models.CheckConstraint(condition=models.Q(due_at__isnull=True) | models.Q(status="walking"), name="ended_crowd_keeps_no_time"),
        )

    def __str__(self) -> str:
        return f"{self.bots} bots in {self.study}: {self.status}"

    @property
    def progress(self) -> str:
        return f"{sum(self.endings.values())} of {self.bots} bots"
