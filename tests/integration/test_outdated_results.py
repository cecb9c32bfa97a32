"""Results that an older version of the methods stored: said in words, never an error, and computed again."""

import pytest
from django.urls import reverse

from analysis.models import Run, RunKind, RunStatus
from analysis.runs import runner
from candor.software import METHOD_VERSION
from surveys.models import Study
from tests.api_requests import get
from tests.factories import logged_in, page_of, recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people, compute

pytestmark = pytest.mark.django_db
FIGURES = ("participants", "enrolment", "balance", "forest-attention", "running-attention")
TABLES = ("participants", "enrolment", "balance", "estimates", "running")


@pytest.fixture
def study() -> Study:
    study = recruiting_study(
        allocation={"planned_participants": 200}, die=TELLING_DIE, questions=[{"name": "attention", "text": "Did your attention wander?"}]
    )
    add_finished_people(study, 60)
    compute(study)
    for run in Run.objects.all():
        effect = run.results["outcomes"]["attention"]["effects"][0]
        effect["tau"] = effect.pop("value")
        run.method_version = "0"
        run.save()
    return study


def words(study: Study) -> str:
    response = logged_in(study.owner).get(reverse("analysis:results", args=[study.slug]))
    assert response.status_code == 200
    return " ".join(page_of(response).xpath("string(//main)").split())


def test_the_page_says_that_they_are_being_computed_again(study: Study) -> None:
    assert "stored by an older version of Candor and cannot be shown. They are being computed again." in words(study)


def test_files_and_programs_get_an_answer(study: Study) -> None:
    client = logged_in(study.owner)
    for table in TABLES:
        assert client.get(reverse("analysis:table", args=[study.slug, table])).status_code == 200
    for figure in FIGURES:
        assert client.get(reverse("analysis:figure", args=[study.slug, figure, "svg"])).status_code in (200, 404)
    found = get(study.owner, f"studies/{study.slug}/results/")
    assert (found["first_results"]["outcomes"], found["first_results"]["method_version"]) == ([], "0")


def test_they_are_queued_once_and_shown_when_they_are_computed(study: Study) -> None:
    waiting = Run.objects.filter(status=RunStatus.QUEUED)
    for _twice in range(2):
        runner.recompute_outdated()
        assert sorted(waiting.values_list("kind", flat=True)) == sorted(RunKind)
    waiting.delete()
    compute(study)
    runner.recompute_outdated()
    assert not waiting.exists()
    assert "older version" not in words(study)


def test_a_run_that_failed_with_the_new_version_is_not_tried_for_ever(study: Study) -> None:
    Run.objects.create(study=study, kind=RunKind.FIRST_RESULTS, status=RunStatus.FAILED)
    runner.recompute_outdated()
    assert list(Run.objects.filter(status=RunStatus.QUEUED).values_list("kind", flat=True)) == [RunKind.FULL_RESULTS]


def test_results_of_a_newer_version_are_left_alone_by_a_worker_that_is_being_replaced(study: Study) -> None:
    """Before, workers of two versions computed each other's results again every minute."""
    Run.objects.filter(status=RunStatus.DONE).update(method_version=str(int(METHOD_VERSION) + 1))
    runner.recompute_outdated()
    assert not Run.objects.filter(status=RunStatus.QUEUED).exists()
