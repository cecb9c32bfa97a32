"""The title of a study that was launched is that of the protocol in force; it was that of the draft, which nobody may have approved."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def take_the_title_in_force(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    launched = apps.get_model("surveys", "Study").objects.filter(launched_on__isnull=False, protocol__isnull=False)
    for study in launched.select_related("protocol").defer("definition").iterator():
        definition = study.protocol.definition
        title = definition["title"]
        study.title = (title if isinstance(title, str) else title[definition.get("languages", ["en"])[0]])[:200]
        study.save(update_fields=["title"])


class Migration(migrations.Migration):
    dependencies = (("surveys", "0035_studies_told_of_records"),)

    operations = (migrations.RunPython(take_the_title_in_force, migrations.RunPython.noop, elidable=True),)
