"""The life of a computation: many requests become one run, one worker takes it, and nothing is lost when workers or the broker are."""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from kombu.exceptions import OperationalError

from analysis import services, tasks
from analysis.models import Run, RunKind, RunStatus
from analysis.runs import runner
from surveys.journey import services as participation
from surveys.models import Response, Study
from surveys.tokens import withdrawal_code
from tests.factories import answer, recruiting_study, token_of, walk

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return recruiting_study()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The messages to the broker, collected instead of sent."""
    messages: list[dict[str, Any]] = []
    monkeypatch.setattr(tasks.refresh, "apply_async", lambda **message: messages.append(message))
    return messages


def running(study: Study, *, silent_for: float = 0, attempts: int = 1) -> Run:
    due_at = timezone.now() - timedelta(seconds=silent_for)
    return Run.objects.create(study=study, status=RunStatus.RUNNING, due_at=due_at, attempts=attempts)


def statuses() -> list[str]:
    return list(Run.objects.order_by("pk").values_list("status", flat=True))


def test_many_requests_become_one_run(study: Study, sent: list[dict[str, Any]]) -> None:
    for _ in range(10):
        services.request_refresh(study.pk)
    assert statuses() == ["queued"]
    assert [list(message["args"]) for message in sent] == [[Run.objects.get().pk]]
    assert sent[0]["countdown"] == runner.DEBOUNCE[RunKind.FIRST_RESULTS].total_seconds() <= 1


def test_two_studies_have_a_run_each(study: Study, sent: list[dict[str, Any]]) -> None:
    other = recruiting_study(slug="another-study")
    for one in (study, other, study):
        services.request_refresh(one.pk)
    assert set(Run.objects.values_list("study", flat=True)) == {study.pk, other.pk}
    assert len(sent) == 2


def test_a_request_during_a_run_waits_for_its_turn(study: Study, sent: list[dict[str, Any]]) -> None:
    under_way = running(study)
    services.request_refresh(study.pk)
    assert statuses() == ["running", "queued"]
    waiting = Run.objects.get(status=RunStatus.QUEUED)
    tasks.refresh(waiting.pk)
    assert statuses() == ["running", "queued"]
    assert (list(sent[-1]["args"]), sent[-1]["countdown"]) == ([waiting.pk], tasks.AGAIN_SECONDS)
    runner.execute(under_way)
    tasks.refresh(waiting.pk)
    assert statuses() == ["done", "done"]


def test_one_worker_takes_a_run(study: Study) -> None:
    run = runner.queue_run(study.pk)
    assert run is not None
    taken = runner.claim(run.pk)
    assert taken is not None
    assert (taken.status, taken.attempts) == (RunStatus.RUNNING, 1)
    assert runner.claim(run.pk) is None
    assert runner.claim(run.pk + 1000) is None


def test_a_task_that_comes_twice_computes_once(study: Study) -> None:
    run = runner.queue_run(study.pk)
    assert run is not None
    tasks.refresh(run.pk)
    done = Run.objects.values().get()
    tasks.refresh(run.pk)
    assert Run.objects.values().get() == done
    assert done["status"] == RunStatus.DONE


def test_a_finished_run_keeps_its_day_and_no_clock_time(study: Study) -> None:
    run = runner.queue_run(study.pk)
    assert run is not None
    assert run.due_at is not None
    tasks.refresh(run.pk)
    run.refresh_from_db()
    assert (run.due_at, run.finished_on, run.n, run.method_version) == (None, timezone.localdate(), 0, runner.METHOD_VERSION)


def test_a_bug_fails_the_run_and_is_raised(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(runner, "first_results", broken)
    run = runner.queue_run(study.pk)
    assert run is not None
    with pytest.raises(ZeroDivisionError):
        tasks.refresh(run.pk)
    run.refresh_from_db()
    assert (run.status, run.error, run.due_at) == (RunStatus.FAILED, "ZeroDivisionError: a bug", None)
    assert runner.queue_run(study.pk) is not None


@pytest.mark.usefixtures("sent")
def test_a_run_whose_worker_fell_silent_is_taken_over(study: Study, caplog: pytest.LogCaptureFixture) -> None:
    run = running(study, silent_for=21)
    with caplog.at_level(logging.WARNING):
        assert [pk for pk, _seconds in runner.recover()] == [run.pk]
    assert "was left by its worker" in caplog.text
    taken = runner.claim(run.pk)
    assert taken is not None
    assert taken.attempts == 2
    runner.execute(taken)
    assert statuses() == ["done"]


def test_a_worker_that_is_at_work_is_left_alone(study: Study) -> None:
    running(study, silent_for=5)
    assert runner.recover() == []
    assert statuses() == ["running"]


def test_a_worker_that_comes_back_late_does_not_overwrite_who_took_over(study: Study) -> None:
    late = running(study, silent_for=60)
    runner.recover()
    taken = runner.claim(late.pk)
    late.results = {"n": 99}
    late.n = 99
    runner.finish(late, RunStatus.DONE)
    assert statuses() == ["running"]
    assert taken is not None
    runner.execute(taken)
    assert Run.objects.get().n == 0


def test_after_five_silent_workers_a_run_is_given_up(study: Study) -> None:
    running(study, silent_for=60, attempts=5)
    assert runner.recover() == []
    run = Run.objects.get()
    assert (run.status, run.due_at, run.finished_on) == (RunStatus.FAILED, None, timezone.localdate())
    assert run.error == "Given up after 5 workers fell silent."


def test_a_silent_run_with_a_newer_one_waiting_is_superseded(study: Study) -> None:
    silent = running(study, silent_for=60)
    newer = Run.objects.create(study=study, due_at=timezone.now() - timedelta(seconds=1))
    assert [pk for pk, _seconds in runner.recover()] == [newer.pk]
    silent.refresh_from_db()
    assert (silent.status, silent.due_at) == (RunStatus.SUPERSEDED, None)


def test_the_sweep_starts_what_the_broker_forgot(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that are not due yet are included: the message for their time may be lost with all others."""
    started: dict[int, float] = {}
    monkeypatch.setattr(tasks.refresh, "apply_async", lambda args, countdown: started.update({args[0]: countdown}))
    due = Run.objects.create(study=study, due_at=timezone.now() - timedelta(minutes=1))
    later = Run.objects.create(study=recruiting_study(slug="another-study"), due_at=timezone.now() + timedelta(minutes=1))
    tasks.sweep()
    assert started.keys() == {due.pk, later.pk}
    assert started[due.pk] == 0
    assert 50 < started[later.pk] <= 60


@pytest.mark.usefixtures("sent")
def test_answers_ask_for_a_computation_once_they_are_committed(client: Client, study: Study, committed: Callable[..., Any]) -> None:
    walk(client, study, until="questions")
    with committed():
        answer(client, study, "questions")
        assert not Run.objects.exists()
    assert statuses() == ["queued", "queued"]


@pytest.mark.usefixtures("sent")
def test_a_withdrawal_asks_for_a_computation_too(client: Client, study: Study, committed: Callable[..., Any]) -> None:
    walk(client, study)
    with committed():
        participation.withdraw(study, code=withdrawal_code(token_of(client)))
    assert statuses() == ["queued", "queued"]


def test_a_broker_that_is_away_does_not_break_a_students_submit(
    client: Client, study: Study, committed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away(**message: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(tasks.refresh, "apply_async", away)
    walk(client, study, until="questions")
    with committed(), caplog.at_level(logging.WARNING):
        assert answer(client, study, "questions").status_code == 303
    assert "The broker is away; a run waits for the sweep" in caplog.text
    assert Response.objects.count() == 4
    Run.objects.update(due_at=timezone.now())
    assert [pk for pk, _seconds in runner.recover()] == list(Run.objects.order_by("pk").values_list("pk", flat=True))
    assert statuses() == ["queued", "queued"]
