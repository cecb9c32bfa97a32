"""GET /healthz/live and /healthz/ready: what starts, stops and replaces web processes asks."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client, override_settings

from config import health

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_found_yet() -> Iterator[None]:
    """As in a process that has just begun."""
    health._found.clear()
    yield
    health._found.clear()


@pytest.fixture
def no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> None:
        raise DatabaseError("the server closed the connection")

    monkeypatch.setattr(connection, "cursor", refuse)
    monkeypatch.setattr(connection, "close", lambda: None)


def asked(path: str) -> tuple[int, dict[str, str]]:
    response = Client().get(path)
    return response.status_code, response.json()


def test_a_process_with_database_and_tables_is_ready_without_worker_beat_and_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.health.reason_for_silence", lambda: "the cache does not answer")
    assert asked("/healthz")[0] == 503
    assert asked("/healthz/ready") == (200, {"status": "ok", "database": "ok", "migrations": "ok"})


def test_without_a_database_a_process_lives_and_is_not_ready(no_database: None) -> None:
    assert asked("/healthz/live") == (200, {"status": "ok"})
    assert asked("/healthz/ready") == (503, {"status": "failing", "database": "silent"})


def test_a_process_whose_tables_are_missing_waits_for_them() -> None:
    """New code starts beside the migrations: it gets no request before they are done, and every one afterwards."""
    last = MigrationRecorder.Migration.objects.filter(app="surveys").latest("pk")
    MigrationRecorder.Migration.objects.filter(pk=last.pk).delete()
    assert asked("/healthz/ready") == (503, {"status": "failing", "database": "ok", "migrations": "missing: 1"})
    assert asked("/healthz/live")[0] == 200
    MigrationRecorder(connection).record_applied("surveys", last.name)
    assert asked("/healthz/ready")[0] == 200


def test_a_database_that_goes_away_in_between_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> set[tuple[str, str]]:
        raise DatabaseError("gone")

    monkeypatch.setattr(health, "missing_migrations", refuse)
    monkeypatch.setattr(connection, "close", lambda: None)
    told = {"status": "failing", "database": "ok", "migrations": "unknown: the database does not answer"}
    assert asked("/healthz/ready") == (503, told)


def test_newer_tables_than_the_code_knows_do_no_harm() -> None:
    """So an older process goes on after the migrations of an upgrade, until it is replaced."""
    MigrationRecorder(connection).record_applied("surveys", "9999_of_a_later_version")
    assert asked("/healthz/ready")[0] == 200


@override_settings(SECURE_SSL_REDIRECT=True, ALLOWED_HOSTS=["candor.example"])
def test_probes_need_no_right_host_name_and_no_tls_and_cost_one_statement_at_most(django_assert_num_queries: Any) -> None:
    asked("/healthz/ready")
    for path, statements in (("/healthz/live", 0), ("/healthz/ready", 1)):
        with django_assert_num_queries(statements):
            response = Client().get(path, headers={"host": "10.0.0.7:8000"})
        assert (response.status_code, response["Cache-Control"], dict(response.cookies)) == (200, "no-store", {})
