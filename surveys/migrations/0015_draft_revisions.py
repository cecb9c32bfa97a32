import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("surveys", "0013_category_responses"),
    ]

    operations = [
        migrations.CreateModel(
            name="DraftRevision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField(help_text="1 is the draft before the first change that was kept.")),
                ("definition", models.JSONField()),
                (
                    "part",
                    models.CharField(
                        blank=True, help_text="The part of the builder that was changed; empty where there are several.", max_length=20
                    ),
                ),
                (
                    "page",
                    models.CharField(
                        blank=True, help_text="The address of the page that saved by itself while somebody typed.", max_length=200
                    ),
                ),
                (
                    "reverts",
                    models.PositiveIntegerField(blank=True, help_text="The number of the change that this one took back.", null=True),
                ),
                ("at", models.DateTimeField(help_text="When it began.")),
                (
                    "actor",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="revisions", to="surveys.study"),
                ),
            ],
            options={
                "ordering": ("study", "number"),
                "constraints": [models.UniqueConstraint(fields=("study", "number"), name="number_of_a_revision_is_unique")],
            },
        ),
    ]
