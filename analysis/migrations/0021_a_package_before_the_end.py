"""A worker writes a package before it holds the study, so that nobody who withdraws waits for megabytes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("analysis", "0020_parts_of_sweeps")]

    operations = [
        migrations.RemoveConstraint(model_name="release", name="only_a_release_that_stands_has_a_package"),
        migrations.AddConstraint(
            model_name="release",
            constraint=models.CheckConstraint(
                condition=models.Q(("package__isnull", False), ("status__in", ("built", "requested", "published")))
                | models.Q(("status__in", ("queued", "building")))
                | (models.Q(("status__in", ("built", "requested", "published")), _negated=True) & models.Q(("package__isnull", True))),
                name="only_a_release_that_stands_has_a_package",
            ),
        ),
    ]
