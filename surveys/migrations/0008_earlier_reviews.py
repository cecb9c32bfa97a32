"""Studies that were submitted or approved before approvals had a last day: they have one year from now."""

from datetime import timedelta

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models import F
from django.utils import timezone


def fill(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    studies = apps.get_model("surveys", "Study").objects
    today = timezone.localdate()
    studies.filter(status="in_review").update(submitted=F("protocol"), submitted_on=today)
    apps.get_model("surveys", "Protocol").objects.filter(study__rehearsal_of__isnull=False).update(of_rehearsal=True)
    studies.filter(status__in=("approved", "recruiting", "paused")).update(approved_until=today + timedelta(days=365))


class Migration(migrations.Migration):
    dependencies = [("surveys", "0007_review")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
