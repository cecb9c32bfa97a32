"""Batches: who is in the numbers that are shown. People who had finished before were in all of them."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Q


def count_people_of_before(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    people = apps.get_model("surveys", "Participant")
    people.objects.filter(Q(step="finished") | Q(study__status__in=("closed", "archived"))).update(counted=True)


class Migration(migrations.Migration):
    dependencies = (("surveys", "0001_initial"),)

    operations = (
        migrations.AddField(
            "participant",
            "counted",
            models.BooleanField(default=False, db_default=False, help_text="Whether a batch has let them into the numbers that are shown."),
        ),
        migrations.AddField(
            "study",
            "numbers_withheld",
            models.BooleanField(
                default=False, db_default=False, help_text="Somebody who was in shown numbers withdrew; none until the next batch."
            ),
        ),
        migrations.RunPython(count_people_of_before, migrations.RunPython.noop, elidable=True),
        migrations.AddIndex(
            "participant",
            models.Index(condition=Q(counted=False, step="finished"), fields=["study"], name="waits_for_next_batch"),
        ),
    )
