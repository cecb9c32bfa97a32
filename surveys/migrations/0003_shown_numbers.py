"""The numbers of people on their way as they are shown, and how many people had withdrawn before the end of an ended study."""

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Sum


def keep_withdrawals_of_before(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    counters, shown = apps.get_model("surveys", "ShardedCounter"), apps.get_model("surveys", "ShownNumbers")
    for study in apps.get_model("surveys", "Study").objects.filter(status__in=("closed", "archived")):
        withdrew = counters.objects.filter(study=study, kind="withdrew").values_list("version").annotate(Sum("count")).order_by("version")
        versions = [[version, 0, 0, people] for version, people in withdrew]
        shown.objects.create(study=study, numbers={"withdrew": sum(people for *_other, people in versions), "versions": versions})


class Migration(migrations.Migration):
    dependencies = (("surveys", "0002_refused_codes"),)

    operations = (
        migrations.CreateModel(
            name="ShownNumbers",
            fields=[
                (
                    "study",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="shown_numbers",
                        serialize=False,
                        to="surveys.study",
                    ),
                ),
                (
                    "comers",
                    models.PositiveIntegerField(default=0, help_text="How many had agreed or declined when the numbers were renewed."),
                ),
                ("left_over", models.PositiveIntegerField(default=0, help_text="How many people the last batch left waiting.")),
                ("numbers", models.JSONField(default=dict)),
            ],
        ),
        migrations.RunPython(keep_withdrawals_of_before, migrations.RunPython.noop, elidable=True),
    )
