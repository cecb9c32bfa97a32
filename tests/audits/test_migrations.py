"""The migrations make the models' tables, on both databases."""

import pytest
from django.core.management import call_command
from django.db.migrations import Migration, operations
from django.db.migrations.loader import MigrationLoader


@pytest.mark.django_db
def test_no_model_has_a_change_without_a_migration() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_every_application_has_one_line_of_migrations() -> None:
    loader = MigrationLoader(None)
    assert loader.detect_conflicts() == {}
    assert all(
        loader.graph.leaf_nodes(application) for application in ("accounts", "audit", "jobs", "surveys", "webhooks", "lti", "analysis")
    )


TAKES_AWAY = (operations.RemoveField, operations.RenameField, operations.DeleteModel, operations.RenameModel, operations.AlterModelTable)
CONTRACTED = {"surveys.0004_storage": "a column that told who finished: it had to go, and 0.2.0 is upgraded with a pause"}
"""Migrations that take away what code before `tests.upgrade.rolling.OLDEST` read, each with its reason."""


def takes_away(migration: Migration) -> bool:
    return any(isinstance(operation, TAKES_AWAY) for operation in migration.operations)


def test_no_migration_takes_away_what_older_code_beside_it_reads() -> None:
    """Expand, then contract: a version adds, the next one no longer reads what is old, and the one after that may take it away."""
    ours = {"accounts", "audit", "jobs", "surveys", "webhooks", "lti", "analysis"}
    found = {f"{app}.{name}" for (app, name), one in MigrationLoader(None).disk_migrations.items() if app in ours and takes_away(one)}
    assert found == set(CONTRACTED)


def test_a_renamed_column_would_be_noticed() -> None:
    migration = Migration("later", "surveys")
    migration.operations = [operations.RenameField("study", "title", "heading")]
    assert takes_away(migration)
