"""Full results are not begun again and again while people come: what runs is finished, and the next ones wait."""

from datetime import timedelta

import pytest
from django.utils import timezone

from analysis.models import Run, RunKind, RunStatus
from analysis.runs import runner
from tests.factories import recruiting_study

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
