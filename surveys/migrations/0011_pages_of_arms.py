from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("surveys", "0010_class_rooms"),
    ]

    operations = [
        migrations.AddField(
            model_name="participant",
            name="page",
            field=models.PositiveSmallIntegerField(
                db_default=0, default=0, help_text="Where they are among the pages that their arm shows."
            ),
        ),
        migrations.AlterField(
            model_name="shardedcounter",
            name="kind",
            field=models.CharField(
                choices=[
                    ("declined", "did not consent"),
                    ("comprehension_passed", "understood the die at once"),
                    ("comprehension_failed", "misunderstood the die at first"),
                    ("withdrew", "withdrew their data"),
                    ("unfinished", "agreed, did not finish, and were deleted with the operational data"),
                    ("task_not_done", "went on without having done the task on another site"),
                    ("code_refused", "tried an entry code that is unknown or spent"),
                ],
                max_length=30,
            ),
        ),
    ]
