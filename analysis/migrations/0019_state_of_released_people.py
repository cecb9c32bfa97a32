"""A release remembers the state of the people with whom it was compared last."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("analysis", "0016_deposits_with_doi"),
    ]

    operations = [
        migrations.AddField(
            model_name="release",
            name="people_as_of",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="The state of the counted people for which that hash was compared last.",
                max_length=50,
            ),
        ),
    ]
