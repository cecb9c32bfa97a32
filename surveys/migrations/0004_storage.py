"""Bookkeeping about codes and panels apart from answers; indexes that no step of a journey but the last one changes."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = (("surveys", "0003_shown_numbers"),)

    operations = (
        migrations.RemoveIndex("participant", "waits_for_next_batch"),
        migrations.AddIndex(
            "participant",
            models.Index(fields=["study"], condition=Q(counted=False, finished_on__isnull=False), name="finished_and_not_counted"),
        ),
        migrations.AddIndex(
            "participant",
            models.Index(fields=["consented_on"], condition=Q(counted=False, finished_on=None), name="unfinished_by_day"),
        ),
        migrations.RemoveField("panelmember", "finished"),
        migrations.CreateModel(
            "EntryBook",
            [
                (
                    "study",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="entry_book",
                        serialize=False,
                        to="surveys.study",
                    ),
                ),
                ("codes", models.JSONField(default=list, help_text="Hashes of spent codes, sorted.")),
                ("members", models.JSONField(default=dict, help_text="Panel hash → number at the panel, sorted.")),
                (
                    "departed",
                    models.JSONField(default=list, help_text="Keyed hashes of the numbers of panel members who withdrew, sorted."),
                ),
            ],
        ),
    )
