"""The ways in: entry codes and panel members. No table here has a link to a participant."""

import uuid

from django.db import models

from surveys.models.studies import Study


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
    """People from Prolific or SONA, kept apart from answers: `panel_hash` is derived from the person's withdrawal code."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="panel_members")
    identifier = models.CharField(max_length=100)
    panel_hash = models.CharField(max_length=64)
    finished = models.BooleanField(default=False)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("study", "identifier"), name="panel_member_is_unique"),)

    def __str__(self) -> str:
        return self.identifier
