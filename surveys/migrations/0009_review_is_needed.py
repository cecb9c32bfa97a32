"""From here on the database itself refuses to recruit without an approval, and to change a frozen protocol."""

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from surveys.models import triggers


def install(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    triggers.install(schema_editor.connection)


def remove(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    triggers.remove(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("surveys", "0008_earlier_reviews")]
    operations = [
        migrations.AddConstraint(
            model_name="study",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("status", "recruiting"), _negated=True),
                    ("rehearsal_of__isnull", False),
                    models.Q(("approved_until__isnull", False), ("suspended", False)),
                    _connector="OR",
                ),
                name="recruiting_study_has_an_approval_and_is_not_suspended",
            ),
        ),
        migrations.AddConstraint(
            model_name="study",
            constraint=models.CheckConstraint(
                condition=models.Q(models.Q(("status", "in_review"), _negated=True), ("submitted__isnull", False), _connector="OR"),
                name="study_in_review_was_submitted",
            ),
        ),
        migrations.RunPython(install, remove),
    ]
