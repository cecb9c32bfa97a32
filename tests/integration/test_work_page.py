"""Administrators see what waits, runs and failed, by kind, and no clock time."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from accounts.models import Role
from analysis.models import PackageStatus, RecordPackage, RecordSweep, Run, RunKind, RunStatus, SweepStatus
from config import heartbeat
from jobs.models import Routine
from tests.factories import logged_in, page_of, person, recruiting_study
from tests.jobs import held
from tests.record_sets import built, record_set

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _alive() -> None:
    heartbeat.leave_signs_of_worker()
    heartbeat.leave_sign("beat")


def page_text() -> str:
    response = logged_in(person(Role.ADMINISTRATOR)).get(reverse("work"))
    assert response.status_code == 200
    return " ".join(page_of(response).text_content().split())


def test_a_server_without_work_says_when_there_will_be_some() -> None:
    text = page_text()
    assert "Nothing waits, and nothing runs" in text
    assert "when a release is built" in text
    assert "Nothing failed." in text
    assert "half a minute" not in text


def test_what_waits_runs_and_failed_is_counted_by_kind_with_ages_and_days(monkeypatch: pytest.MonkeyPatch) -> None:
    study, other = recruiting_study(), recruiting_study(slug="another-study")
    Run.objects.create(study=study, due_at=timezone.now() - timedelta(minutes=7))
    Run.objects.create(study=study, status=RunStatus.RUNNING, **held())
    Run.objects.create(study=other, status=RunStatus.FAILED, error="ZeroDivisionError: a bug", finished_on="2026-03-04")
    Run.objects.create(study=study, kind=RunKind.FULL_RESULTS, due_at=timezone.now(), error="of the attempt before")
    Routine.objects.create(name="retention", due_at=timezone.now() + timedelta(minutes=40, seconds=30))
    Routine.objects.create(name="order_of_days", due_at=timezone.now() + timedelta(minutes=40, seconds=30), error="KeyError: 1")
    text = page_text()
    assert re.search(r"First results 1 for 7\smin\w* 0 – 1 – 1 ", text)
    assert re.search(r"Retention 0 – 1 in 40\smin\w* 0 – 0", text)
    assert "First results: what failed last March 4, 2026: ZeroDivisionError: a bug" in text
    assert "Order of days: what failed last KeyError: 1" in text
    assert "of the attempt before" not in text
    assert "Nothing waits" not in text
    assert not re.search(r"\d:\d\d", text)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("12 of 60 records cannot be protected; at most 2% may be left out", "Its owner reads why."),
        ("KeyError: 'Midwifery'", "KeyError"),
        ("Given up after 5 workers fell silent.", "Given up after 5 workers fell silent."),
    ],
)
def test_errors_that_may_quote_records_are_for_their_owner(error: str, told: str) -> None:
    """Numbers of a draft of records are exact, and its owner alone has the files."""
    made = record_set()
    RecordSweep.objects.create(data_set=made, simulated=False, hierarchies={}, plan=[], status=SweepStatus.FAILED, error=error)
    package = built(made)
    RecordPackage.objects.filter(pk=package.pk).update(status=PackageStatus.FAILED, error=error, package=None)
    text = page_text()
    for kind in ("Record sweep", "Record package"):
        assert re.search(rf"{kind}: what failed last ([A-Z][a-z.]+ \d+, \d+: )?{re.escape(told)} ", text + " "), text
    assert (error in text) == (error == told)
    its_page = logged_in(made.owner).get(reverse("analysis:data_set_records", args=[made.slug])).content.decode()
    assert escape(error).rstrip(".") in its_page


def test_how_far_a_computation_is_stands_beside_it() -> None:
    study = recruiting_study()
    run = Run.objects.create(study=study, kind="full_results", status=RunStatus.RUNNING, **held())
    for index, due_at in enumerate((None, timezone.now())):
        run.chunks.create(question="attention", family="counts", index=index, due_at=due_at)
    assert "1 of 2 chunks" in page_text()


@pytest.mark.parametrize(
    ("silent", "words"),
    [
        ("worker", "No worker was heard of"),
        ("worker:bootstrap", "No worker takes these queues: bootstrap. Their work waits"),
        ("beat", "The scheduler (beat) was not heard of"),
    ],
)
def test_a_silent_part_is_named(silent: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("config.views", "config.heartbeat"):
        monkeypatch.setattr(f"{module}.is_alive", lambda part: not part.startswith(silent))
    text = page_text()
    assert words in text
    assert text.count("was heard of") + text.count("was not heard of") + text.count("No worker takes") == 1
