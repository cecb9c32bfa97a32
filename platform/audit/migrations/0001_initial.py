"""The log. From here on the database itself refuses to change it."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from audit import triggers


def install(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    triggers.install(schema_editor.connection)


def remove(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    triggers.remove(schema_editor.connection)


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Head",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("sequence", models.PositiveBigIntegerField(default=0)),
                ("hash", models.CharField(default="0000000000000000000000000000000000000000000000000000000000000000", max_length=64)),
            ],
            options={
                "constraints": [models.CheckConstraint(condition=models.Q(("id", 1)), name="the_audit_log_has_one_head")],
            },
        ),
        migrations.CreateModel(
            name="Entry",
            fields=[
                ("sequence", models.PositiveBigIntegerField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                ("actor_name", models.CharField(blank=True, max_length=150)),
                ("action", models.CharField(max_length=64)),
                ("subject_kind", models.CharField(blank=True, max_length=64)),
                ("subject_id", models.CharField(blank=True, max_length=64)),
                ("details", models.JSONField(blank=True, default=dict)),
                ("previous_hash", models.CharField(max_length=64)),
                ("hash", models.CharField(max_length=64, unique=True)),
                (
                    "actor",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "verbose_name": "audit entry",
                "verbose_name_plural": "audit entries",
                "ordering": ["sequence"],
                "indexes": [
                    models.Index(fields=["subject_kind", "subject_id"], name="audit_entries_of_a_subject"),
                    models.Index(fields=["action", "sequence"], name="audit_entries_by_action"),
                    models.Index(fields=["actor_name", "sequence"], name="audit_entries_by_person"),
                    models.Index(fields=["at"], name="audit_entries_by_time"),
                ],
            },
        ),
        migrations.RunPython(install, remove),
    ]
