"""Names of the field: sharded counters, and counts of attrition."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("surveys", "0012_under_reporting_bots")]

    operations = [
        migrations.RemoveConstraint(model_name="tally", name="tally_shard_is_unique"),
        migrations.RemoveConstraint(model_name="departure", name="departures_are_counted_once"),
        migrations.RenameModel("Tally", "ShardedCounter"),
        migrations.RenameModel("Departure", "AttritionCount"),
        migrations.AlterModelOptions(name="shardedcounter", options={}),
        migrations.AlterField(
            model_name="attritioncount",
            name="study",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="attrition_counts", to="surveys.study"),
        ),
        migrations.AlterField(
            model_name="shardedcounter",
            name="study",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="counters", to="surveys.study"),
        ),
        migrations.AddConstraint(
            model_name="attritioncount",
            constraint=models.UniqueConstraint(fields=("study", "step", "subsample", "arm"), name="attrition_is_counted_once"),
        ),
        migrations.AddConstraint(
            model_name="shardedcounter",
            constraint=models.UniqueConstraint(fields=("study", "kind", "version", "shard"), name="counter_shard_is_unique"),
        ),
    ]
