"""GET /healthz names the silent part, and bothers nobody."""

from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.test import Client, override_settings

from config import heartbeat
from jobs.queues import Queue

pytestmark = pytest.mark.django_db


def test_all_is_well_when_worker_and_beat_gave_a_sign(client: Client) -> None:
    heartbeat.leave_signs_of_worker()
    heartbeat.leave_sign("beat")
    response = client.get("/healthz")
    assert response.status_code == 200
    assert response.json() == {"status": "ok", "database": "ok", "worker": "ok", "beat": "ok"}


@pytest.mark.parametrize(("alive", "silent"), [("worker", "beat"), ("beat", "worker")])
def test_silent_parts_are_named(client: Client, alive: str, silent: str) -> None:
    {"worker": heartbeat.leave_signs_of_worker, "beat": lambda: heartbeat.leave_sign("beat")}[alive]()
    response = client.get("/healthz")
    assert response.status_code == 503
    assert response.json() == {"status": "failing", "database": "ok", alive: "ok", silent: "silent"}


def test_queues_without_a_worker_are_named(client: Client, settings: Any) -> None:
    heartbeat.leave_sign("beat")
    settings.WORKER_QUEUES = (Queue.FIRST, Queue.FILES)
    heartbeat.leave_signs_of_worker()
    assert client.get("/healthz").json()["worker"] == "silent: bootstrap, mail"
    settings.WORKER_QUEUES = (Queue.BOOTSTRAP, Queue.MAIL)
    heartbeat.leave_signs_of_worker()
    assert client.get("/healthz").status_code == 200


def test_a_sign_does_not_last_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "SILENT_AFTER_SECONDS", -1)
    heartbeat.leave_sign("worker")
    assert not heartbeat.is_alive("worker")


def test_a_database_that_does_not_answer_is_named(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> None:
        raise DatabaseError("the server closed the connection")

    monkeypatch.setattr(connection, "cursor", refuse)
    monkeypatch.setattr(connection, "close", lambda: None)
    response = client.get("/healthz")
    assert response.status_code == 503
    assert response.json()["database"] == "silent"


def test_a_cache_that_does_not_answer_is_no_crash(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.health.reason_for_silence", lambda: "the cache does not answer")
    response = client.get("/healthz")
    assert response.status_code == 503
    assert response.json()["worker"] == response.json()["beat"] == "unknown: the cache does not answer"


def test_a_probe_needs_no_right_host_name_and_no_tls() -> None:
    heartbeat.leave_signs_of_worker()
    heartbeat.leave_sign("beat")
    with override_settings(SECURE_SSL_REDIRECT=True, ALLOWED_HOSTS=["candor.example"]):
        client = Client()
        assert client.get("/healthz", headers={"host": "10.0.0.7:8000"}).status_code == 200
        assert client.get("/accounts/login/", headers={"host": "candor.example"}).status_code == 301


def test_a_probe_costs_one_query_and_sets_no_cookie(client: Client, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        response = client.get("/healthz")
    assert not response.cookies
    assert response["Cache-Control"] == "no-store"
