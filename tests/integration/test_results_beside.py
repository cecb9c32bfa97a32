"""Results and letters of one study are neither those of the study beside it nor those of another kind of run."""

import pytest

from analysis import selectors
from analysis.live.blinding import is_blinded
from analysis.models import Blinding, Run, RunKind, RunStatus
from surveys.models import Study, StudyStatus
from tests.factories import recruiting_study, study_in

pytestmark = pytest.mark.django_db
FIRST, FULL = RunKind.FIRST_RESULTS, RunKind.FULL_RESULTS


def run_of(study: Study, kind: RunKind, status: RunStatus = RunStatus.DONE, *, n: int = 60) -> Run:
    """A run whose results say where they come from; one that is under way waits for a worker or has one."""
    return Run.objects.create(study=study, kind=kind, status=status, n=n, results={"of": [study.slug, kind, status]})


@pytest.fixture
def two_studies(monkeypatch: pytest.MonkeyPatch) -> tuple[Study, Study]:
    """Closed before the planned number came. The second has older and newer runs, and more answers; all its work waits."""
    monkeypatch.setattr(selectors, "read_results", lambda stored: stored)
    study, beside = (
        study_in(StudyStatus.CLOSED, slug=slug, allocation={"planned_participants": 100}) for slug in ("a-study", "another-study")
    )
    for kind in RunKind:
        run_of(beside, kind, n=200)
    for kind in RunKind:
        run_of(study, kind)
    run_of(study, FIRST, RunStatus.FAILED, n=70)
    for kind in RunKind:
        run_of(beside, kind, n=300)
        run_of(beside, kind, RunStatus.QUEUED)
    return study, beside


def of(study: Study, kind: RunKind) -> list[str]:
    return [study.slug, kind, RunStatus.DONE]


@pytest.mark.parametrize("kind", RunKind)
def test_results_are_those_of_finished_runs_of_their_own_study_and_kind(two_studies: tuple[Study, Study], kind: RunKind) -> None:
    study, beside = two_studies
    newest = selectors.latest_results(study, kind)
    planned = selectors.planned_results(study, planned=100, kind=kind)
    assert newest is not None
    assert planned is not None
    assert [newest.results, planned[1]] == [{"of": of(study, kind)}] * 2
    assert [part for moment in selectors.history(study) for part in moment] == [60, {"of": of(study, FIRST)}]
    assert {name: number for name, number, _newest in selectors.finished_runs(study)} == dict.fromkeys(RunKind, 1)
    assert selectors.state_of_work(study, kind).status == {FIRST: RunStatus.FAILED, FULL: RunStatus.DONE}[kind]
    assert selectors.state_of_work(beside, kind).status == RunStatus.QUEUED


def test_a_work_that_still_waits_holds_back_the_planned_results_of_its_own_study_and_kind(two_studies: tuple[Study, Study]) -> None:
    study, _beside = two_studies
    run_of(study, FULL, RunStatus.RUNNING)
    assert [selectors.planned_results(study, planned=100, kind=kind) is None for kind in (FIRST, FULL)] == [False, True]


def test_letters_stand_for_the_arms_of_the_study_that_is_blinded_alone() -> None:
    study, beside = (recruiting_study(slug=slug) for slug in ("a-study", "another-study"))
    Blinding.objects.create(study=study, is_active=True)
    Blinding.objects.create(study=beside, is_active=False)
    assert [is_blinded(one, reader=one.owner, asked=False) for one in (study, beside)] == [True, False]
