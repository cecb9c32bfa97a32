"""Further events, and secrets that can be renewed. Programs that were added before go on getting the signature that they know."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("webhooks", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="webhook",
            name="earlier_secret_until",
            field=models.DateField(blank=True, help_text="The last day on which the secret before signs, too.", null=True),
        ),
        migrations.AddField(
            model_name="webhook",
            name="secret_number",
            field=models.PositiveSmallIntegerField(db_default=1, default=1, help_text="How many secrets it has had."),
        ),
        migrations.AddField(
            model_name="webhook",
            name="signed_as_before",
            field=models.BooleanField(
                db_default=True, help_text="Its first secret was shown before Standard Webhooks: `Candor-Signature` is sent, too."
            ),
        ),
        migrations.AlterField(
            model_name="delivery",
            name="event",
            field=models.CharField(
                choices=[
                    ("study.closed", "The study was closed"),
                    ("n.reached", "The planned number of people have answered"),
                    ("results.updated", "There are new results"),
                    ("batch.counted", "A new batch of people is in the numbers"),
                    ("review.submitted", "A protocol was submitted for review"),
                    ("review.signed", "A part of the protocol was signed, or a signature was taken back"),
                    ("review.decided", "The officers decided about the study"),
                    ("release.built", "A release of data was built"),
                    ("release.requested", "The approval of a release was asked for"),
                    ("release.decided", "A release was approved or refused"),
                    ("release.published", "A release became public"),
                    ("release.retracted", "A public release was retracted"),
                ],
                max_length=20,
            ),
        ),
    ]
