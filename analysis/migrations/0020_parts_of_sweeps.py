"""Class sizes of a sweep are tried by as many workers as there are."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("analysis", "0019_state_of_released_people"),
    ]

    operations = [
        migrations.AlterField(
            model_name="recordsweep",
            name="found",
            field=models.JSONField(blank=True, default=list, help_text="Loss and risks of each part, once all are done."),
        ),
        migrations.CreateModel(
            name="SweepPart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "due_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="Waiting: not before. Held: until when its worker is believed to live. Empty: nothing to do.",
                        null=True,
                    ),
                ),
                (
                    "holder",
                    models.UUIDField(blank=True, editable=False, help_text="Drawn for each attempt; only its worker may write.", null=True),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0, help_text="How many workers took it since it last got on.")),
                ("error", models.TextField(blank=True)),
                ("index", models.PositiveSmallIntegerField(help_text="Its place in the plan.")),
                ("found", models.JSONField(blank=True, help_text="Loss and risks.", null=True)),
                ("sweep", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="parts", to="analysis.recordsweep")),
            ],
            options={
                "abstract": False,
                "indexes": [models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="sweeppart_by_due_time")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("holder", None), ("due_at__isnull", False), _connector="OR"), name="held_sweeppart_has_a_term"
                    ),
                    models.UniqueConstraint(fields=("sweep", "index"), name="part_of_a_sweep_is_unique"),
                ],
            },
        ),
    ]
