"""Bots that walk through a sandbox copy of a study."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from surveys.models.studies import Study


class CrowdStatus(models.TextChoices):
    WALKING = "walking", _("On their way")
    DONE = "done", _("Done")
    STOPPED = "stopped", _("Stopped")
    FAILED = "failed", _("Failed")


class Crowd(models.Model):
    """The bots of a rehearsal: the work order while they are on their way, and what was planted in them.

    The table is the truth; the broker may forget. Whoever sends the next few bots must name the `turn`, which goes up with every few, so
    that no two workers send the same ones.
    """

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="crowd")
    status = models.CharField(max_length=10, choices=CrowdStatus, default=CrowdStatus.WALKING)
    turn = models.PositiveIntegerField(default=0)
    heard_at = models.DateTimeField(null=True, blank=True, help_text="While they walk: when the worker was last heard of.")
    silences = models.PositiveSmallIntegerField(default=0, help_text="How many workers in a row fell silent.")
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
    error = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"{self.bots} bots in {self.study}: {self.status}"
