"""Results of before followed one person at a time: of each study only the newest stay, since the differences are people's answers."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Max


def keep_the_newest_results(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    runs = apps.get_model("analysis", "Run").objects
    newest = runs.filter(status="done").values_list("study", "kind").annotate(Max("pk")).order_by()
    runs.filter(status="done").exclude(pk__in=[pk for *_kind, pk in newest]).delete()


class Migration(migrations.Migration):
    dependencies = (("analysis", "0002_review"), ("surveys", "0002_batches"))

    operations = (migrations.RunPython(keep_the_newest_results, migrations.RunPython.noop, elidable=True),)
