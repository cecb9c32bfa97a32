"""Drop indexes that are the beginning of another one on the same table: each row of a participant was written into both.

By SQL, because Django would also drop the foreign key and check every row against it again, while everybody waits.
"""

from django.db import migrations, models
from django.db.models.deletion import CASCADE

FIELDS = [
    ("allocationslot", "study", "allocation_slots", "62664af8"),
    ("categoryresponse", "participant", "category_responses", "52c859f0"),
    ("directanswer", "participant", "direct_answers", "3e03b129"),
    ("entrycode", "study", "entry_codes", "e9036d34"),
    ("panelmember", "study", "panel_members", "01020d48"),
    ("response", "participant", "responses", "a04b0242"),
    ("shardedcounter", "study", "counters", "da2becc9"),
]


def without_index(model: str, field: str, related_name: str, end: str) -> migrations.SeparateDatabaseAndState:
    index, table = f"surveys_{model}_{field}_id_{end}", f"surveys_{model}"
    key: models.Field[object, object] = models.ForeignKey(f"surveys.{field}", CASCADE, related_name=related_name, db_index=False)
    sql = migrations.RunSQL(f"DROP INDEX IF EXISTS {index}", f"CREATE INDEX {index} ON {table} ({field}_id)")
    return migrations.SeparateDatabaseAndState([sql], [migrations.AlterField(model, field, key)])


class Migration(migrations.Migration):
    dependencies = [("surveys", "0031_withheld_after_the_end")]

    operations = [without_index(*field) for field in FIELDS]
