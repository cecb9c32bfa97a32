"""Numbers are withheld, too, while everybody is counted after the end. Only the help text is another one."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("surveys", "0030_lists_drawn_by_workers")]

    operations = [
        migrations.AlterField(
            model_name="study",
            name="numbers_withheld",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text=(
                    "Somebody who was in shown numbers withdrew; none until the next batch. In a closed study: until everybody is counted."
                ),
            ),
        ),
    ]
