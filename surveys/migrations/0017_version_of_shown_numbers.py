from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("surveys", "0015_draft_revisions")]
    operations = [
        migrations.AddField(
            model_name="shownnumbers",
            name="version",
            field=models.PositiveIntegerField(
                db_default=0, default=0, help_text="One more whenever other numbers or other people are shown."
            ),
        ),
    ]
