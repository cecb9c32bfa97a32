"""SQLite's own way to exchange a row is refused, too."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from audit import triggers


def install(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    triggers.install(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("audit", "0003_find_entries")]
    operations = [migrations.RunPython(install, migrations.RunPython.noop)]
