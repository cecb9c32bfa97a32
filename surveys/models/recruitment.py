"""The ways in: entry codes and panel members. No table here has a link to a participant.

Nobody is written into these tables at the moment at which they come in: PostgreSQL keeps the number of the transaction in each row, and the
same number stands in the row of the participant. They come first into the study's one `EntryBook`."""

import uuid

from django.db import models

from surveys.models.studies import Study


class EntryCode(models.Model):
    """A personal code that opens the study once. Only its keyed hash is kept, and nothing says whose answers came in with it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="entry_codes", db_index=False)
    code_hash = models.CharField(max_length=64)
    spent = models.BooleanField(default=False)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("study", "code_hash"), name="entry_code_is_unique"),)

    def __str__(self) -> str:
        return "spent" if self.spent else "unspent"


class PanelMember(models.Model):
    """People whom a panel sent, kept apart from answers: `panel_hash` is derived from the person's withdrawal code."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="panel_members", db_index=False)
    identifier = models.CharField(max_length=100, help_text="Keyed hash of the number at the panel; the number itself in rows of before.")
    panel_hash = models.CharField(max_length=64)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("study", "identifier"), name="panel_member_is_unique"),)

    def __str__(self) -> str:
        return self.identifier


class EntryBook(models.Model):
    """The newest entries of a study with codes or panels: sets in one row, so that they have one age and no order.

    Some entries of earlier days, drawn anew whenever the newest are moved to their tables, stay here among them.
    """

    study = models.OneToOneField(Study, on_delete=models.CASCADE, primary_key=True, related_name="entry_book")
    codes = models.JSONField(default=list, help_text="Hashes of spent codes, sorted.")
    members = models.JSONField(default=dict, help_text="Panel hash → keyed hash of the number at the panel, sorted.")
    departed = models.JSONField(default=list, help_text="Keyed hashes of the numbers of panel members who withdrew, sorted.")
    returned = models.JSONField(
        default=list,
        db_default=models.Value([], output_field=models.JSONField()),
        help_text="Hashes of codes that are spent in the table, and good again: there was no room for their people. Sorted.",
    )

    def __str__(self) -> str:
        return f"{len(self.codes)} codes, {len(self.members)} panel members"


class WayNumbers(models.Model):
    """How often each way of a study with several led to which end: one row for the study, so that no person's row is as old as a way's."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, primary_key=True, related_name="way_numbers")
    counts = models.JSONField(default=dict, help_text="Way → end → people, sorted.")

    def __str__(self) -> str:
        return f"{len(self.counts)} ways"


class JoinCode(models.Model):
    """The short code by which a class comes in. It is no secret of a person: all in the room have it. A new one takes its place."""

    code = models.CharField(max_length=6, primary_key=True)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="join_codes")
    way = models.CharField(max_length=50)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("study", "way"), name="a_way_has_one_join_code"),)

    def __str__(self) -> str:
        return self.code
