"""A clock that was ahead and was set right: work goes on, instead of resting until the time comes that was written then."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from analysis.models import Run
from analysis.services import request_refresh
from jobs.models import Routine
from jobs.tasks import sweep, work
from tests.factories import recruiting_study
from tests.jobs import catch, keys

pytestmark = pytest.mark.django_db


@pytest.fixture
def ahead(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A clock that is ahead of the true one by so much."""
    true = timezone.now

    def by(ahead: timedelta) -> None:
        monkeypatch.setattr(timezone, "now", lambda: true() + ahead)

    catch(monkeypatch)
    return by


@pytest.mark.parametrize("name", ["retention", "order_of_arrival", "those_who_left", "last_credit"])
@pytest.mark.parametrize("by", [timedelta(hours=200), timedelta(days=3650)])
def test_routines_do_not_rest_until_the_time_of_a_clock_that_was_ahead(ahead: Any, by: timedelta, name: str) -> None:
    ahead(by)
    sweep()
    work(name, name)
    ahead(timedelta())
    sweep()
    assert Routine.objects.get(pk=name).due_at <= timezone.now()


@pytest.mark.parametrize("name", ["retention", "order_of_arrival"])
def test_a_routine_that_waits_for_its_time_is_left_alone(ahead: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    sent = catch(monkeypatch)
    sweep()
    work(name, name)
    before = Routine.objects.get(pk=name).due_at
    ahead(timedelta(minutes=-5))  # two hosts, whose clocks differ a little
    sweep()
    assert Routine.objects.get(pk=name).due_at == before
    assert keys(sent, name) == [name], "one message for the work that was done, and none for the next time"
    sweep(at_start=True)
    assert keys(sent, name) == [name] * (2 if name in Routine.AT_START else 1)


def test_work_of_a_worker_that_died_while_the_clock_was_ahead_is_taken_over(ahead: Any) -> None:
    ahead(timedelta(days=3650))
    request_refresh(recruiting_study().pk)
    run = Run.objects.get()
    assert Run.claim(run.pk) is not None
    ahead(timedelta())
    sweep()
    run.refresh_from_db()
    assert run.holder is None
    assert Run.claim(run.pk) is not None
