"""The analysis plans of approved protocols, each kept as one text with its hash."""

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from surveys.models.triggers import PREREGISTRATIONS_ARE_KEPT


def install(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    PREREGISTRATIONS_ARE_KEPT.install(schema_editor.connection)


def remove(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    PREREGISTRATIONS_ARE_KEPT.remove(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = (("surveys", "0005_launched_protocol"),)

    operations = (
        migrations.CreateModel(
            "Preregistration",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("document", models.TextField(help_text="JSON; its SHA-256 is that of these bytes in UTF-8.")),
                ("sha256", models.CharField(max_length=64)),
                ("registered_on", models.DateField()),
                (
                    "protocol",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="preregistration", to="surveys.protocol"
                    ),
                ),
            ],
            options={"ordering": ("protocol",)},
        ),
        migrations.RunPython(install, remove),
    )
