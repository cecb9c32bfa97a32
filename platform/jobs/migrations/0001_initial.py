"""Routines: work that comes back at intervals."""

from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Routine",
            fields=[
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
                ("name", models.CharField(max_length=50, primary_key=True, serialize=False)),
            ],
            options={
                "abstract": False,
                "indexes": [models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="routine_by_due_time")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("holder", None), ("due_at__isnull", False), _connector="OR"), name="held_routine_has_a_term"
                    )
                ],
            },
        ),
    ]
