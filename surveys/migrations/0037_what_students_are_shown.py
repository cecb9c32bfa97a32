"""The section of the packet on arms is about all that they show, not about videos alone."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("surveys", "0036_title_in_force"),
    ]

    operations = [
        migrations.AlterField(
            model_name="comment",
            name="section",
            field=models.CharField(
                choices=[
                    ("overview", "In short"),
                    ("consent", "What students agree to"),
                    ("arms", "What students are shown"),
                    ("background", "Background questions"),
                    ("quiz", "Quiz"),
                    ("questions", "Sensitive questions"),
                    ("die", "The die and privacy"),
                    ("allocation", "How groups are drawn"),
                    ("stored", "What is stored, and what is not"),
                    ("access", "Who can see what"),
                    ("analysis", "Analysis plan"),
                    ("budget", "Privacy budget"),
                    ("retention", "How long data are kept"),
                    ("release", "What becomes public"),
                    ("debrief", "What students read at the end"),
                    ("files", "Files"),
                ],
                max_length=12,
            ),
        ),
        migrations.AlterField(
            model_name="signoff",
            name="part",
            field=models.CharField(
                choices=[
                    ("overview", "In short"),
                    ("consent", "What students agree to"),
                    ("arms", "What students are shown"),
                    ("background", "Background questions"),
                    ("quiz", "Quiz"),
                    ("questions", "Sensitive questions"),
                    ("die", "The die and privacy"),
                    ("allocation", "How groups are drawn"),
                    ("stored", "What is stored, and what is not"),
                    ("access", "Who can see what"),
                    ("analysis", "Analysis plan"),
                    ("budget", "Privacy budget"),
                    ("retention", "How long data are kept"),
                    ("release", "What becomes public"),
                    ("debrief", "What students read at the end"),
                    ("files", "Files"),
                    ("risks", "Risks"),
                    ("benefits", "Benefits"),
                    ("complaints", "Questions and complaints"),
                    ("data", "Data"),
                    ("chance", "The die"),
                    ("languages", "Languages"),
                ],
                max_length=12,
            ),
        ),
    ]
