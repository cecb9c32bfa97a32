from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("surveys", "0017_version_of_shown_numbers")]
    operations = [
        migrations.AddField(
            model_name="armstate",
            name="lines_missing",
            field=models.PositiveIntegerField(
                db_default=1, default=1, help_text="How many lines more than its lists have this arm's quota allows; told without counting."
            ),
        ),
    ]
