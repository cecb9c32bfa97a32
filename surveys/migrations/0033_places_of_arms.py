"""An arm with a quota counts its places, one of which is taken with each line; no line is closed ahead any more."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Max


def count_places(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Free the lines that were closed ahead, and count the places that are left."""
    lines, arms = apps.get_model("surveys", "AllocationSlot").objects, apps.get_model("surveys", "ArmState").objects
    running = lines.filter(study__status__in=["recruiting", "paused"])
    for study, stratum in running.filter(status="closed").values_list("study", "stratum").distinct().order_by("study", "stratum"):
        here = lines.filter(study=study, stratum=stratum)
        last = here.filter(status="taken").aggregate(last=Max("position", default=0))["last"]
        here.filter(status="closed", position__gt=last).update(status="free")
    for state in arms.filter(quota__isnull=False):
        taken = lines.filter(study=state.study_id, arm=state.arm, status="taken").count()
        arms.filter(pk=state.pk).update(places=max(state.quota - taken, 0))


class Migration(migrations.Migration):
    dependencies = [("surveys", "0032_no_index_twice")]

    operations = [
        migrations.AddField(
            "armstate",
            "places",
            models.PositiveIntegerField(editable=False, null=True, help_text="How many more people its quota allows."),
        ),
        migrations.AlterField(
            "armstate",
            "lines_missing",
            models.PositiveIntegerField(
                db_default=1,
                default=1,
                editable=False,
                help_text="Nothing reads it but versions before 0033, which may run beside this one.",
            ),
        ),
        migrations.RunPython(count_places, migrations.RunPython.noop),
    ]
