"""The history of a draft."""

from django.conf import settings
from django.db import models

from surveys.models.studies import Study


class DraftRevision(models.Model):
    """A study’s draft as one accepted change left it. Typing of one person on one page within ten minutes is one change."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField(help_text="1 is the draft before the first change that was kept.")
    definition = models.JSONField()
    part = models.CharField(max_length=20, blank=True, help_text="The part of the builder that was changed; empty where there are several.")
    page = models.CharField(max_length=200, blank=True, help_text="The address of the page that saved by itself while somebody typed.")
    reverts = models.PositiveIntegerField(null=True, blank=True, help_text="The number of the change that this one took back.")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(help_text="When it began.")

    class Meta:
        ordering = ("study", "number")
        constraints = (models.UniqueConstraint(fields=("study", "number"), name="number_of_a_revision_is_unique"),)

    def __str__(self) -> str:
        return f"{self.study.slug}, change {self.number}"
