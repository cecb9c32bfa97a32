"""Studies that were launched before promised counts of background answers at most, and a launch since then notes that it promised less."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("surveys", "0034_codes_that_are_good_again")]

    operations = [
        migrations.AddField(
            "study",
            "told_of_records",
            models.BooleanField(
                db_default=False,
                default=False,
                help_text=(
                    "Since the launch its public page says that protected records may be published. Before, it promised counts at most."
                ),
            ),
        ),
    ]
