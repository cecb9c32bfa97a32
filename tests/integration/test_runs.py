"""The life of a computation: many requests become one run, one worker takes it, and nothing is lost when workers or the broker are."""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from kombu.exceptions import OperationalError

from analysis import services
from analysis.models import Run, RunKind, RunStatus
from analysis.runs import runner
from analysis.stored_results import Results
from jobs import tasks
from jobs.errors import TakenError
from surveys.batches.rules import WAITING_PER_GROUP
from surveys.journey import services as participation
from surveys.models import Response, Study
from surveys.tokens import withdrawal_code
from tests.factories import answer, recruiting_study, token_of, walk
from tests.finished_people import add_finished_people
from tests.jobs import Sent, attempt, catch, claimed, held, swept, work_on

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """The messages to the broker, collected instead of sent."""
    return catch(monkeypatch)


def running(study: Study, *, silent_for: float = 0, attempts: int = 1) -> Run:
    return Run.objects.create(study=study, status=RunStatus.RUNNING, **held(silent_for) | {"attempts": attempts})


def statuses() -> list[str]:
    return list(Run.objects.order_by("pk").values_list("status", flat=True))


def test_many_requests_become_one_run(study: Study, sent: Sent) -> None:
    for _ in range(10):
        services.request_refresh(study.pk)
    assert statuses() == ["queued"]
    assert [(message["kind"], message["key"]) for message in sent] == [("first_results", str(Run.objects.get().pk))]
    assert sent[0]["countdown"] == pytest.approx(runner.DEBOUNCE[RunKind.FIRST_RESULTS].total_seconds(), abs=0.2)
    assert sent[0]["countdown"] <= 1


def test_two_studies_have_a_run_each(study: Study, sent: Sent) -> None:
    other = recruiting_study(slug="another-study")
    for one in (study, other, study):
        services.request_refresh(one.pk)
    assert set(Run.objects.values_list("study", flat=True)) == {study.pk, other.pk}
    assert len(sent) == 2


def test_a_request_during_a_run_waits_for_its_turn(study: Study, sent: Sent) -> None:
    under_way = running(study)
    services.request_refresh(study.pk)
    assert statuses() == ["running", "queued"]
    waiting = Run.objects.get(status=RunStatus.QUEUED)
    work_on(waiting)
    assert statuses() == ["running", "queued"]
    assert (sent[-1]["key"], sent[-1]["countdown"]) == (str(waiting.pk), tasks.AGAIN.total_seconds())
    attempt(under_way)
    work_on(waiting)
    assert statuses() == ["done", "done"]


def test_one_worker_takes_a_run(study: Study) -> None:
    run = runner.queue_run(study.pk)
    assert run is not None
    taken = claimed(run)
    assert (taken.status, taken.attempts) == (RunStatus.RUNNING, 1)
    assert Run.claim(run.pk) is None
    assert Run.claim(run.pk + 1000) is None


def test_a_claim_that_has_to_wait_rolls_nothing_back(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rollback makes psycopg forget the prepared statements of its connection, and a worker asks every second."""
    running(study)
    waits = runner.queue_run(study.pk)
    assert waits is not None
    with CaptureQueriesContext(connection) as seen:
        assert Run.claim(waits.pk) is None
    assert not [one["sql"] for one in seen if "ROLLBACK" in one["sql"]]
    monkeypatch.setattr(Run, "claimable", Run.waiting)  # as if the other run had begun since one looked: the constraint has the last word
    with CaptureQueriesContext(connection) as seen:
        assert Run.claim(waits.pk) is None
    assert [one["sql"] for one in seen if "ROLLBACK" in one["sql"]]
    assert statuses() == ["running", "queued"]


def test_a_task_that_comes_twice_computes_once(study: Study) -> None:
    run = runner.queue_run(study.pk)
    assert run is not None
    work_on(run)
    done = Run.objects.values().get()
    work_on(run)
    assert Run.objects.values().get() == done
    assert done["status"] == RunStatus.DONE


def test_a_finished_run_keeps_its_day_and_no_clock_time(study: Study) -> None:
    run = runner.queue_run(study.pk)
    assert run is not None
    assert run.due_at is not None
    work_on(run)
    run.refresh_from_db()
    assert (run.due_at, run.finished_on, run.n, run.method_version) == (None, timezone.localdate(), 0, runner.METHOD_VERSION)


def test_a_bug_fails_the_run_and_is_raised(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(runner, "first_results", broken)
    run = runner.queue_run(study.pk)
    assert run is not None
    with pytest.raises(ZeroDivisionError):
        work_on(run)
    run.refresh_from_db()
    assert (run.status, run.error, run.due_at) == (RunStatus.FAILED, "ZeroDivisionError: a bug", None)
    assert runner.queue_run(study.pk) is not None


def test_a_run_whose_worker_fell_silent_is_taken_over(study: Study, sent: Sent, caplog: pytest.LogCaptureFixture) -> None:
    run = running(study, silent_for=21)
    with caplog.at_level(logging.WARNING):
        assert swept(sent, *RunKind) == [str(run.pk)]
    assert "was left by its worker" in caplog.text
    taken = claimed(run)
    assert taken.attempts == 2
    attempt(taken)
    assert statuses() == ["done"]


def test_a_worker_that_is_at_work_is_left_alone(study: Study, sent: Sent) -> None:
    running(study, silent_for=5)
    assert swept(sent, *RunKind) == []
    assert statuses() == ["running"]


def test_a_worker_that_comes_back_late_does_not_overwrite_who_took_over(study: Study, sent: Sent) -> None:
    late = running(study, silent_for=60)
    swept(sent)
    taken = claimed(late)
    with pytest.raises(TakenError):
        runner.store(late, Results(n=99, design={}, outcomes={}))
    assert statuses() == ["running"]
    attempt(taken)
    assert Run.objects.get().n == 0


def test_after_five_silent_workers_a_run_is_given_up(study: Study, sent: Sent) -> None:
    running(study, silent_for=60, attempts=5)
    assert swept(sent, *RunKind) == []
    run = Run.objects.get()
    assert (run.status, run.due_at, run.finished_on) == (RunStatus.FAILED, None, timezone.localdate())
    assert run.error == "Given up after 5 workers fell silent."


def test_a_silent_run_with_a_newer_one_waiting_is_superseded(study: Study, sent: Sent) -> None:
    silent = running(study, silent_for=60)
    newer = Run.objects.create(study=study, due_at=timezone.now() - timedelta(seconds=1))
    assert swept(sent, *RunKind) == [str(newer.pk)]
    silent.refresh_from_db()
    assert (silent.status, silent.due_at) == (RunStatus.SUPERSEDED, None)


def test_the_sweep_starts_what_the_broker_forgot(study: Study, sent: Sent) -> None:
    """Also what is not due yet: the message that would have come at its time may be lost with all others."""
    due = Run.objects.create(study=study, due_at=timezone.now() - timedelta(minutes=1))
    later = Run.objects.create(study=recruiting_study(slug="another-study"), due_at=timezone.now() + timedelta(minutes=1))
    assert set(swept(sent, *RunKind)) == {str(due.pk), str(later.pk)}
    started = {message["key"]: message["countdown"] for message in sent}
    assert started[str(due.pk)] == 0
    assert 50 < started[str(later.pk)] <= 60


@pytest.fixture
def one_short() -> Study:
    """A study in which one more person completes the first batch."""
    study = recruiting_study(allocation={"planned_participants": 120})
    add_finished_people(study, 4 * WAITING_PER_GROUP - 1, counted=False)
    return study


@pytest.mark.usefixtures("sent")
def test_a_complete_batch_asks_for_a_computation_once_it_is_committed(
    client: Client, one_short: Study, committed: Callable[..., Any]
) -> None:
    walk(client, one_short, until="questions")
    with committed():
        answer(client, one_short, "questions")
        assert not Run.objects.exists()
    assert statuses() == ["queued"]


@pytest.mark.usefixtures("sent")
def test_an_answer_within_a_batch_asks_for_nothing(client: Client, study: Study, committed: Callable[..., Any]) -> None:
    with committed():
        walk(client, study)
        participation.withdraw(study, code=withdrawal_code(token_of(client)))
    assert statuses() == []


def test_a_broker_that_is_away_does_not_break_a_students_submit(
    client: Client, one_short: Study, committed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away(**message: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(tasks.work, "apply_async", away)
    walk(client, one_short, until="questions")
    stored = Response.objects.count()
    with caplog.at_level(logging.DEBUG, "jobs.tasks"), committed():
        assert answer(client, one_short, "questions").status_code == 303
    assert "The broker is away; first_results waits for the sweep" in caplog.text
    assert Response.objects.count() == stored + 4
    Run.objects.update(due_at=timezone.now())
    assert set(swept(catch(monkeypatch), *RunKind)) == {str(pk) for pk in Run.objects.values_list("pk", flat=True)}
    assert statuses() == ["queued"]


def test_work_that_is_taken_away_leaves_no_line(study: Study, caplog: pytest.LogCaptureFixture) -> None:
    """Somebody who withdraws ends the computation, and whoever keeps logs stamps each line with the second."""
    run = running(study)
    Run.end(Run.objects.filter(pk=run.pk), status=RunStatus.SUPERSEDED)
    with caplog.at_level("INFO"):
        attempt(run)
    assert caplog.messages == []
