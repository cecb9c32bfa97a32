"""Results, and the work that computes them; releases."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("surveys", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Blinding",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("is_active", models.BooleanField(default=False)),
                ("study", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="blinding", to="surveys.study")),
            ],
        ),
        migrations.CreateModel(
            name="Run",
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
                ("kind", models.CharField(default="first_results", max_length=30)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("superseded", "Superseded"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=12,
                    ),
                ),
                ("n", models.PositiveIntegerField(blank=True, null=True)),
                (
                    "seed",
                    models.BigIntegerField(
                        blank=True, help_text="The bootstrap's seed; the same data and seed give the same numbers.", null=True
                    ),
                ),
                ("method_version", models.CharField(blank=True, max_length=20)),
                ("data", models.BinaryField(blank=True, help_text="Input of all chunks of the run; deleted when the run ends.", null=True)),
                ("results", models.JSONField(blank=True, null=True)),
                ("finished_on", models.DateField(blank=True, null=True)),
                ("study", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="runs", to="surveys.study")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Chunk",
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
                ("question", models.CharField(max_length=50)),
                ("family", models.CharField(choices=[("counts", "Counts"), ("patterns", "Patterns")], max_length=10)),
                ("index", models.PositiveIntegerField()),
                ("effects", models.BinaryField(blank=True, help_text="The replicates by method, as NumPy stores them.", null=True)),
                ("run", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="chunks", to="analysis.run")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Release",
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
                ("version", models.PositiveIntegerField()),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "Waiting to be built"),
                            ("building", "Being built"),
                            ("built", "Ready to look at"),
                            ("requested", "Waiting for the IRB officer"),
                            ("published", "Published"),
                            ("refused", "Refused"),
                            ("outdated", "Out of date: somebody withdrew"),
                            ("failed", "Not built"),
                            ("discarded", "Discarded"),
                            ("retracted", "Retracted"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("title", models.CharField(max_length=200)),
                ("authors", models.JSONField(help_text="Names, in the order of the citation.")),
                ("licence", models.CharField(max_length=20)),
                ("questions", models.JSONField(help_text="Names of the sensitive questions whose answers are in it.")),
                (
                    "background",
                    models.CharField(
                        choices=[("left_out", "Left out"), ("counts", "Counts of each question, over everybody")],
                        default="left_out",
                        max_length=10,
                    ),
                ),
                ("smallest_count", models.PositiveSmallIntegerField(help_text="Counts of background answers below this are hidden.")),
                ("site", models.CharField(help_text="Where this server stands on the web.", max_length=200)),
                ("seed", models.BigIntegerField(help_text="Seed of the bootstrap in its results.")),
                ("requested_on", models.DateField(auto_now_add=True)),
                ("decided_on", models.DateField(blank=True, null=True)),
                ("reason", models.TextField(blank=True, help_text="Why it was refused or retracted.")),
                ("retracted_on", models.DateField(blank=True, null=True)),
                ("stage", models.CharField(blank=True, max_length=10)),
                (
                    "people_sha256",
                    models.CharField(
                        blank=True,
                        help_text="SHA-256 of the included participants' random keys; changes when one withdraws.",
                        max_length=64,
                    ),
                ),
                (
                    "data",
                    models.BinaryField(blank=True, help_text="The rows in their final order, while the rest is being built.", null=True),
                ),
                ("package", models.BinaryField(blank=True, null=True)),
                ("package_sha256", models.CharField(blank=True, max_length=64)),
                ("files", models.JSONField(blank=True, default=list, help_text="Name, size and SHA-256 of each file.")),
                ("summary", models.JSONField(blank=True, default=dict, help_text="Text for the pages about it.")),
                ("public_key", models.TextField(blank=True)),
                ("downloads", models.PositiveBigIntegerField(default=0)),
                (
                    "decided_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
                ("study", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="releases", to="surveys.study")),
            ],
            options={
                "ordering": ("study", "-version", "-pk"),
                "abstract": False,
                "indexes": [models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="release_by_due_time")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("holder", None), ("due_at__isnull", False), _connector="OR"), name="held_release_has_a_term"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("due_at__isnull", True), ("status__in", ("queued", "building")), _connector="OR"),
                        name="built_release_keeps_no_time",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("status__in", ("queued", "building", "built", "requested"))),
                        fields=("study",),
                        name="one_open_release_of_a_study",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("status__in", ("published", "retracted"))),
                        fields=("study", "version"),
                        name="release_version_is_unique",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("data__isnull", True), ("status__in", ("queued", "building")), _connector="OR"),
                        name="built_release_keeps_no_rows",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("package__isnull", False), ("status__in", ("built", "requested", "published"))),
                            models.Q(
                                models.Q(("status__in", ("built", "requested", "published")), _negated=True), ("package__isnull", True)
                            ),
                            _connector="OR",
                        ),
                        name="only_a_release_that_stands_has_a_package",
                    ),
                ],
            },
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="run_by_due_time"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["study", "kind", "n"], name="results_by_n"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["study", "kind", "status"], name="runs_by_status"),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(("holder", None), ("due_at__isnull", False), _connector="OR"), name="held_run_has_a_term"
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(("due_at__isnull", True), ("status__in", ("queued", "running")), _connector="OR"),
                name="ended_run_keeps_no_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status", "queued")), fields=("study", "kind"), name="one_queued_run_of_a_kind"
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status", "running")), fields=("study", "kind"), name="one_running_run_of_a_kind"
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(("data__isnull", True), ("status__in", ("queued", "running")), _connector="OR"),
                name="ended_run_keeps_no_data",
            ),
        ),
        migrations.AddIndex(
            model_name="chunk",
            index=models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="chunk_by_due_time"),
        ),
        migrations.AddConstraint(
            model_name="chunk",
            constraint=models.CheckConstraint(
                condition=models.Q(("holder", None), ("due_at__isnull", False), _connector="OR"), name="held_chunk_has_a_term"
            ),
        ),
        migrations.AddConstraint(
            model_name="chunk",
            constraint=models.UniqueConstraint(fields=("run", "question", "family", "index"), name="chunk_of_a_run_is_unique"),
        ),
    ]
