from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("surveys", "0033_places_of_arms")]

    operations = [
        migrations.AddField(
            "entrybook",
            "returned",
            models.JSONField(
                db_default=models.Value([], output_field=models.JSONField()),
                default=list,
                help_text="Hashes of codes that are spent in the table, and good again: there was no room for their people. Sorted.",
            ),
        ),
    ]
