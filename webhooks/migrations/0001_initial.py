"""Webhooks and their outbox."""

import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("surveys", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Webhook",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("address", models.URLField(max_length=500)),
                ("events", models.JSONField(help_text="Names of events.")),
                ("site", models.CharField(help_text="Where this Candor is, for the links in messages.", max_length=200)),
                ("created_on", models.DateField(auto_now_add=True)),
                ("study", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="webhooks", to="surveys.study")),
            ],
            options={
                "ordering": ("created_on", "pk"),
            },
        ),
        migrations.CreateModel(
            name="Delivery",
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
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "event",
                    models.CharField(
                        choices=[
                            ("study.closed", "The study was closed"),
                            ("n.reached", "The planned number of people have answered"),
                            ("results.updated", "There are new results"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("delivered", "Delivered"), ("failed", "Given up")],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                (
                    "news",
                    models.BooleanField(
                        default=False, help_text="It happened again while the message was on its way, which then goes once more."
                    ),
                ),
                ("answered", models.PositiveSmallIntegerField(blank=True, help_text="HTTP status of the last answer.", null=True)),
                ("queued_on", models.DateField(auto_now_add=True)),
                ("ended_on", models.DateField(blank=True, null=True)),
                (
                    "webhook",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="deliveries", to="webhooks.webhook"),
                ),
            ],
            options={
                "verbose_name_plural": "deliveries",
                "ordering": ("-queued_on", "pk"),
                "abstract": False,
            },
        ),
        migrations.AddConstraint(
            model_name="webhook",
            constraint=models.UniqueConstraint(fields=("study", "address"), name="webhook_address_is_unique"),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="delivery_by_due_time"),
        ),
        migrations.AddConstraint(
            model_name="delivery",
            constraint=models.CheckConstraint(
                condition=models.Q(("holder", None), ("due_at__isnull", False), _connector="OR"), name="held_delivery_has_a_term"
            ),
        ),
        migrations.AddConstraint(
            model_name="delivery",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status", "waiting")), fields=("webhook", "event"), name="one_waiting_delivery_of_an_event"
            ),
        ),
        migrations.AddConstraint(
            model_name="delivery",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("due_at__isnull", False), ("status", "waiting")),
                    models.Q(models.Q(("status", "waiting"), _negated=True), ("due_at__isnull", True)),
                    _connector="OR",
                ),
                name="only_a_waiting_delivery_has_a_time",
            ),
        ),
    ]
