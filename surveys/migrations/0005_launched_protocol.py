"""The version of the protocol with which a study opened: an amendment must not move the planned number after somebody has looked."""

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def name_the_first_approved_version(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """For studies that have opened; where nobody approved any, as in a rehearsal, the one in force."""
    decisions = apps.get_model("surveys", "Decision").objects
    for study in apps.get_model("surveys", "Study").objects.filter(launched_on__isnull=False, protocol__isnull=False):
        first = decisions.filter(study=study, verdict="approved", protocol__isnull=False).order_by("pk").first()
        study.launched_protocol_id = first.protocol_id if first else study.protocol_id
        study.save(update_fields=["launched_protocol"])


class Migration(migrations.Migration):
    dependencies = (("surveys", "0004_storage"),)

    operations = (
        migrations.AddField(
            "study",
            "launched_protocol",
            models.ForeignKey(
                blank=True,
                help_text="The version with which it opened: what was named before anybody came, such as the planned number of people.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="surveys.protocol",
            ),
        ),
        migrations.RunPython(name_the_first_approved_version, migrations.RunPython.noop, elidable=True),
    )
