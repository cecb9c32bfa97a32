from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("surveys", "0010_class_rooms"),
    ]

    operations = [
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
                    ("attention_failed", "failed an attention check and stayed"),
                    ("excluded", "agreed, failed an attention check, and were deleted at once"),
                    ("code_refused", "tried an entry code that is unknown or spent"),
                ],
                max_length=30,
            ),
        ),
    ]
