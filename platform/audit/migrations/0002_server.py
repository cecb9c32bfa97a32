"""The log's end on each day, published and kept."""

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from audit.triggers import PUBLISHED_HEADS_ARE_KEPT


def install(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    PUBLISHED_HEADS_ARE_KEPT.install(schema_editor.connection)


def remove(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    PUBLISHED_HEADS_ARE_KEPT.remove(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="PublishedHead",
            fields=[
                ("day", models.DateField(primary_key=True, serialize=False)),
                ("sequence", models.PositiveBigIntegerField()),
                ("hash", models.CharField(max_length=64)),
            ],
            options={"ordering": ["day"]},
        ),
        migrations.RunPython(install, remove),
    ]
