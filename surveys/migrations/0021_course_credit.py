import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("surveys", "0019_direct_answers_with_categories")]
    operations = [
        migrations.AddField(
            model_name="participant",
            name="credit",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Hash of the blinded message that was signed for them, or “code”.",
                max_length=64,
            ),
        ),
        migrations.CreateModel(
            name="CourseCredit",
            fields=[
                (
                    "study",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="course_credit",
                        serialize=False,
                        to="surveys.study",
                    ),
                ),
                ("is_on", models.BooleanField(default=True)),
                (
                    "for_everybody",
                    models.BooleanField(
                        default=True,
                        help_text="Otherwise people who would rather not take part lose the credit, which is pressure.",
                        verbose_name="also for those who do not take part",
                    ),
                ),
                ("private_key", models.TextField(help_text="Encrypted; empty once operational data are deleted.")),
                ("modulus", models.TextField(help_text="The public key, in hexadecimal digits.")),
            ],
        ),
        migrations.CreateModel(
            name="CreditBook",
            fields=[
                (
                    "study",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="credit_book",
                        serialize=False,
                        to="surveys.study",
                    ),
                ),
                ("spent", models.JSONField(default=list, help_text="Hashes of the tokens and codes that were handed in, sorted.")),
                ("people", models.JSONField(default=list, help_text="Keyed hashes of the people who have had their credit, sorted.")),
                (
                    "waiting",
                    models.JSONField(default=list, help_text="The places at the course platform to which credit is sent next, sorted."),
                ),
            ],
        ),
    ]
