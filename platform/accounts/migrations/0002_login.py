"""Counts of attempts to log in, and names that look like nobody else's."""

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

import accounts.models
from accounts.names import skeleton


def fill_in(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """The oldest account of names that look alike gets the skeleton; the others stay as they are, without one."""
    users = apps.get_model("accounts", "User").objects
    seen: set[str] = set()
    for key, username in users.order_by("pk").values_list("pk", "username"):
        if (its := skeleton(username)) not in seen:
            users.filter(pk=key).update(skeleton=its)
        seen.add(its)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="AttemptCount",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("number", models.PositiveSmallIntegerField(default=0)),
                ("ends_at", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.AddField(
            model_name="user",
            name="skeleton",
            field=accounts.models.SkeletonField(editable=False, max_length=600, null=True, unique=True),
        ),
        migrations.RunPython(fill_in, migrations.RunPython.noop),
    ]
