"""Keys for course platforms can be withdrawn. The newest signs, as before; the earlier ones stay until an administrator withdraws them."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def newest_signs(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    keys = apps.get_model("lti", "ToolKey").objects
    if (newest := keys.order_by("-pk").first()) is not None:
        keys.filter(pk=newest.pk).update(signs=True)


class Migration(migrations.Migration):
    dependencies = [
        ("lti", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="toolkey",
            name="signs",
            field=models.BooleanField(db_default=False, default=True, help_text="Whether messages are signed with it."),
        ),
        migrations.AddField(
            model_name="toolkey",
            name="withdrawn_at",
            field=models.DateTimeField(blank=True, help_text="When it ceases to be published; empty: not yet decided.", null=True),
        ),
        migrations.RunPython(newest_signs, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="toolkey",
            constraint=models.UniqueConstraint(condition=models.Q(("signs", True)), fields=("signs",), name="one_platform_key_signs"),
        ),
        migrations.AddConstraint(
            model_name="toolkey",
            constraint=models.CheckConstraint(
                condition=models.Q(("signs", False), ("withdrawn_at", None), _connector="OR"), name="a_key_that_signs_is_published"
            ),
        ),
    ]
