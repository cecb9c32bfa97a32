"""A random number in the hash of each entry. The entries that are there keep theirs without one."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audit", "0002_server")]

    operations = [
        migrations.AddField("entry", "salt", models.CharField(blank=True, db_default="", default="", max_length=32)),
    ]
