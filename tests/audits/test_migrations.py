"""The migrations make the models' tables, on both databases."""

import pytest
from django.core.management import call_command
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
