from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("surveys", "0009_sign_offs"),
    ]

    operations = [
        migrations.AddField(
            model_name="participant",
            name="page",
            field=models.PositiveSmallIntegerField(
                db_default=0, default=0, help_text="Where they are among the pages that their arm shows."
            ),
        ),
    ]
