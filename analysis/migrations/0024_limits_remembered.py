"""A budget counts how often officers changed it, so that files beside the database can tell a later change from an earlier one."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from analysis.models.triggers import BUDGETS_NEVER_GROW


def keep_refusing(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """SQLite makes the table anew for the column, without its triggers."""
    BUDGETS_NEVER_GROW.install(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("analysis", "0023_charges_remembered")]

    operations = [
        migrations.AddField(
            model_name="budget",
            name="changes",
            field=models.PositiveIntegerField(db_default=0, default=0, help_text="How often officers froze, unfroze or lowered it."),
        ),
        migrations.RunPython(keep_refusing, migrations.RunPython.noop),
    ]
