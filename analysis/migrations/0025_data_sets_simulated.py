"""A data set remembers whether it was made of the example files, whose students are nobody. Of earlier ones nobody can tell."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("analysis", "0024_limits_remembered")]

    operations = [
        migrations.AddField(
            model_name="dataset",
            name="simulated",
            field=models.BooleanField(db_default=False, default=False, help_text="Students of the example files, as their keys said."),
        ),
    ]
