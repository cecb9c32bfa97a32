"""Long allocation lists are drawn by workers; the hashes of participants keep one index each."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

NAMES = {"token_hash": "token_hash_is_unique", "withdrawal_hash": "withdrawal_hash_is_unique"}


def named_and_without_patterns(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Drop the second index of each hash, for patterns, which nobody asks for; the first one is only renamed, which takes no time."""
    connection, table = schema_editor.connection, apps.get_model("surveys", "Participant")._meta.db_table
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, table)
    quote = connection.ops.quote_name
    for column, name in NAMES.items():
        for old, facts in found.items():
            if facts["columns"] == [column] and facts["unique"]:
                schema_editor.execute(f"ALTER TABLE {quote(table)} RENAME CONSTRAINT {quote(old)} TO {quote(name)}")
            elif facts["columns"] == [column] and facts["index"]:
                schema_editor.execute(f"DROP INDEX {quote(old)}")


def with_patterns(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Name them as Django did; the indexes for patterns come back under names of their own."""
    connection, table = schema_editor.connection, apps.get_model("surveys", "Participant")._meta.db_table
    quote = connection.ops.quote_name
    for column, name in NAMES.items() if connection.vendor == "postgresql" else ():
        schema_editor.execute(f"ALTER TABLE {quote(table)} RENAME CONSTRAINT {quote(name)} TO {quote(f'{table}_{column}_key')}")
        schema_editor.execute(f"CREATE INDEX {quote(f'{table}_{column}_like')} ON {quote(table)} ({quote(column)} varchar_pattern_ops)")


class Migration(migrations.Migration):
    dependencies = [
        ("surveys", "0029_kept_counts"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ListDrawing",
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
                (
                    "status",
                    models.CharField(
                        choices=[("drawing", "being drawn"), ("done", "drawn"), ("stopped", "stopped"), ("failed", "failed")],
                        default="drawing",
                        max_length=10,
                    ),
                ),
                ("seed", models.CharField(blank=True, max_length=64)),
                (
                    "lists",
                    models.JSONField(
                        default=list, help_text="Stratum, arm (null where it is drawn), length and, once begun, number of each list."
                    ),
                ),
                ("lines", models.PositiveIntegerField(help_text="How many lines all of these lists have.")),
                ("stored", models.PositiveIntegerField(default=0, help_text="How many of them are stored.")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(named_and_without_patterns, with_patterns)],
            state_operations=[
                migrations.AlterField(
                    model_name="participant",
                    name="token_hash",
                    field=models.CharField(max_length=64),
                ),
                migrations.AlterField(
                    model_name="participant",
                    name="withdrawal_hash",
                    field=models.CharField(max_length=64),
                ),
                migrations.AddConstraint(
                    model_name="participant",
                    constraint=models.UniqueConstraint(fields=("token_hash",), name="token_hash_is_unique"),
                ),
                migrations.AddConstraint(
                    model_name="participant",
                    constraint=models.UniqueConstraint(fields=("withdrawal_hash",), name="withdrawal_hash_is_unique"),
                ),
            ],
        ),
        migrations.AddField(
            model_name="listdrawing",
            name="launched_by",
            field=models.ForeignKey(
                blank=True,
                help_text="The person for whom the study opens with the last line; empty: it has opened, and these are further lists.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="listdrawing",
            name="protocol",
            field=models.ForeignKey(
                help_text="The version that it follows.",
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="surveys.protocol",
            ),
        ),
        migrations.AddField(
            model_name="listdrawing",
            name="study",
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="list_drawing", to="surveys.study"),
        ),
        migrations.AddIndex(
            model_name="listdrawing",
            index=models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="listdrawing_by_due_time"),
        ),
        migrations.AddConstraint(
            model_name="listdrawing",
            constraint=models.CheckConstraint(
                condition=models.Q(("holder", None), ("due_at__isnull", False), _connector="OR"), name="held_listdrawing_has_a_term"
            ),
        ),
        migrations.AddConstraint(
            model_name="listdrawing",
            constraint=models.CheckConstraint(
                condition=models.Q(("due_at__isnull", True), ("status", "drawing"), _connector="OR"), name="ended_drawing_keeps_no_time"
            ),
        ),
        migrations.AddConstraint(
            model_name="listdrawing",
            constraint=models.CheckConstraint(
                condition=models.Q(models.Q(("status", "done"), _negated=True), ("seed", ""), _connector="OR"),
                name="drawn_list_keeps_no_seed",
            ),
        ),
    ]
