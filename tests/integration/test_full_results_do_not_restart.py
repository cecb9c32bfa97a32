"""Full results are not begun again and again while people come: what runs is finished, and the next ones wait."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from analysis.models import Run, RunKind, RunStatus
from analysis.runs import resampling, runner
from tests.factories import recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people
from tests.jobs import claimed

pytestmark = pytest.mark.django_db


def test_what_runs_is_finished_however_many_batches_come() -> None:
    study = recruiting_study()
    first = runner.queue_run(study.pk, kind=RunKind.FULL_RESULTS)
    assert first is not None
    assert Run.claim(first.pk) is not None
    waiting = runner.queue_run(study.pk, kind=RunKind.FULL_RESULTS)
    assert waiting is not None
    for _batch in range(5):
        assert runner.queue_run(study.pk, kind=RunKind.FULL_RESULTS) is None, "one that waits will see them all"
        assert Run.claim(waiting.pk) is None, "it does not begin before the other one ends"
    assert Run.objects.get(pk=first.pk).status == RunStatus.RUNNING


@pytest.mark.parametrize(("people", "seconds"), [(1_000, 0.5), (100_000, 20), (1_000_000, 200)])
def test_the_next_ones_wait_in_proportion_to_the_people(people: int, seconds: float) -> None:
    study = recruiting_study()
    Run.objects.create(study=study, kind=RunKind.FULL_RESULTS, status=RunStatus.DONE, n=people)
    run = runner.queue_run(study.pk, kind=RunKind.FULL_RESULTS)
    assert run is not None
    assert run.due_at is not None
    wait = run.due_at - timezone.now()
    assert timedelta(seconds=seconds - 5) < wait <= timedelta(seconds=seconds)


def test_the_worker_that_begins_goes_on_with_what_it_read(monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any) -> None:
    study = recruiting_study(die=TELLING_DIE, allocation={"planned_participants": 120})
    add_finished_people(study, 120)
    run = runner.queue_run(study.pk, kind=RunKind.FULL_RESULTS, after=timedelta(0))
    assert run is not None
    with django_capture_on_commit_callbacks(execute=True):
        runner.compute_full_results(claimed(run))
    first, *others = Run.objects.get(pk=run.pk).chunks.all()
    monkeypatch.setattr(resampling, "_analyses", lambda run_id: pytest.fail("the answers of the run were read again"))
    here = resampling.effects_of(first)
    monkeypatch.undo()
    resampling.kept.forget()
    assert others
    assert resampling.effects_of(first) == here, "another worker, which reads them, finds the same"
    resampling.kept.forget()
