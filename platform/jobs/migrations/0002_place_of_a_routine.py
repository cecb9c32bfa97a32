"""Routines in parts note how far they are."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="routine",
            name="place",
            field=models.JSONField(
                blank=True,
                db_default={},
                default=dict,
                help_text="How far work in parts is: there it goes on when its worker was killed.",
            ),
        ),
    ]
