from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("surveys", "0001_initial")]

    operations = [migrations.RenameField(model_name="panelmember", old_name="completion_hash", new_name="panel_hash")]
