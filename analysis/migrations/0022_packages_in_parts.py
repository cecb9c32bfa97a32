"""PostgreSQL keeps packages of releases as they are. It would compress them, and unpack everything before a line to read that line."""

from collections.abc import Callable

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def keep_as(storage: str) -> Callable[[Apps, BaseDatabaseSchemaEditor], None]:
    def change(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
        if editor.connection.vendor == "postgresql":
            editor.execute(f"ALTER TABLE {apps.get_model('analysis', 'Release')._meta.db_table} ALTER package SET STORAGE {storage}")

    return change


class Migration(migrations.Migration):
    dependencies = [("analysis", "0021_a_package_before_the_end")]

    operations = [migrations.RunPython(keep_as("EXTERNAL"), keep_as("EXTENDED"))]
