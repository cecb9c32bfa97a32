"""A release says whose answers it holds; until now it followed from who had finished when its rows were drawn."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def tell_simulated_releases(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Built releases say it in their summary. One without a summary is simulated where nobody but bots has finished."""
    release, participant = apps.get_model("analysis", "Release"), apps.get_model("surveys", "Participant")
    for one in release.objects.defer("package", "data"):
        finished = participant.objects.filter(study_id=one.study_id, step="finished").exclude(subsample="direct")
        alone = finished.filter(is_bot=True).exists() and not finished.filter(is_bot=False).exists()
        if one.summary.get("simulated", alone):
            release.objects.filter(pk=one.pk).update(simulated=True)


class Migration(migrations.Migration):
    dependencies = [
        ("analysis", "0001_initial"),
        ("surveys", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="release",
            name="simulated",
            field=models.BooleanField(
                default=False, db_default=False, help_text="Bots' answers, which are a data set of their own beside people's."
            ),
        ),
        migrations.RunPython(tell_simulated_releases, migrations.RunPython.noop),
    ]
