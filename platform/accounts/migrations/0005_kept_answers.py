"""Answers to programs that send an `Idempotency-Key`."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_language"),
    ]

    operations = [
        migrations.CreateModel(
            name="KeptAnswer",
            fields=[
                ("name", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("fingerprint", models.CharField(help_text="The request, keyed.", max_length=64)),
                ("sealed", models.BinaryField()),
                ("kept_on", models.DateField(db_index=True)),
                (
                    "account",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
            ],
        ),
    ]
