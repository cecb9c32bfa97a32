from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("analysis", "0012_records_that_somebody_brings")]

    operations = [
        migrations.AddField(
            model_name="diagnosis",
            name="answer",
            field=models.CharField(blank=True, db_default="", default="", help_text="question/answer that stands for yes.", max_length=110),
        ),
    ]
