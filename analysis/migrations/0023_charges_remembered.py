"""A charge gets a name, by which a file beside the database remembers it. Charges that are there already have none."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import analysis.models.ledger
from analysis.models.triggers import CHARGES_ARE_KEPT


def keep_refusing(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """SQLite makes the table anew for the column, without its triggers."""
    CHARGES_ARE_KEPT.install(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("analysis", "0022_packages_in_parts")]

    operations = [
        migrations.AddField(
            model_name="charge",
            name="memory",
            field=models.CharField(
                blank=True,
                db_default="",
                default=analysis.models.ledger.new_memory,
                help_text="Name of the file that remembers it beside the database.",
                max_length=32,
            ),
        ),
        migrations.AddConstraint(
            model_name="charge",
            constraint=models.UniqueConstraint(
                condition=models.Q(("memory", ""), _negated=True), fields=("memory",), name="charge_is_remembered_once"
            ),
        ),
        migrations.RunPython(keep_refusing, migrations.RunPython.noop),
    ]
