"""Course platforms whose pages come from other hosts than their logins. Nobody names any yet."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("lti", "0002_withdrawn_keys"),
    ]

    operations = [
        migrations.AddField(
            model_name="platform",
            name="page_addresses",
            field=models.CharField(
                blank=True,
                db_default="",
                help_text="Only where people see their courses at another host than that of the authentication request URL, as in the cloud of Canvas: https://school.instructure.com. Several are separated by spaces. Their pages can show those of Candor in a frame.",
                max_length=1000,
                verbose_name="hosts of the course pages",
            ),
        ),
    ]
