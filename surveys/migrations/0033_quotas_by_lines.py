"""An arm's quota and its being closed are looked at when somebody comes to a line; no line is closed ahead any more."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Max


def free_closed_lines(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Free the lines that were closed ahead; the first person to come has the quotas measured."""
    lines = apps.get_model("surveys", "AllocationSlot").objects.filter(study__status__in=["recruiting", "paused"])
    for study, stratum in lines.filter(status="closed").values_list("study", "stratum").distinct().order_by("study", "stratum"):
        here = lines.filter(study=study, stratum=stratum)
        last = here.filter(status="taken").aggregate(last=Max("position", default=0))["last"]
        here.filter(status="closed", position__gt=last).update(status="free")
    apps.get_model("surveys", "ArmState").objects.filter(quota__isnull=False).update(last_line=0, lines_missing=1)


class Migration(migrations.Migration):
    dependencies = [("surveys", "0032_no_index_twice")]

    operations = [
        migrations.AddField(
            "armstate",
            "last_line",
            models.PositiveIntegerField(editable=False, null=True, help_text="The last line that its quota is known to allow."),
        ),
        migrations.AlterField(
            "armstate",
            "lines_missing",
            models.PositiveIntegerField(
                db_default=1, default=1, editable=False, help_text="How many more lines than those its quota allows; told without counting."
            ),
        ),
        migrations.RunPython(free_closed_lines, migrations.RunPython.noop),
    ]
