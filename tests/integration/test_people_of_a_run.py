"""The people whose answers a run takes, and what it keeps of them while it is under way."""

import io

import numpy as np
import pytest

from analysis.answers.datasets import cell_counts, people_of
from analysis.models import Run, RunKind
from analysis.runs import runner
from surveys.models import Participant, Study
from surveys.protocols import protocol_in_force
from tests.factories import recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people
from tests.jobs import attempt, catch, claimed

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    study = recruiting_study(allocation={"planned_participants": 240}, die=TELLING_DIE)
    add_finished_people(study, 240)
    return study


def test_people_and_counts_agree(study: Study) -> None:
    definition = protocol_in_force(study).definition
    people = people_of(study, definition)
    for question, counts in cell_counts(study, definition).items():
        assert (people.counts(question, arms=2, subsamples=2) == counts).all()


def test_the_order_of_people_in_the_database_does_not_matter(study: Study) -> None:
    before = people_of(study, protocol_in_force(study).definition)
    first = Participant.objects.filter(study=study).order_by("pk")[:50]
    Participant.objects.filter(pk__in=list(first.values_list("pk", flat=True))).update(language="de")  # PostgreSQL moves them to the end
    after = people_of(study, protocol_in_force(study).definition)
    assert [*after.reported, *after.covariates] == [*before.reported, *before.covariates]
    for name, values in {"arm": before.arm, "subsample": before.subsample, **before.reported, **before.covariates}.items():
        again = {"arm": after.arm, "subsample": after.subsample, **after.reported, **after.covariates}[name]
        np.testing.assert_array_equal(again, values)


def test_a_run_under_way_keeps_no_background_answers(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the names of the questions nor the numbers that people gave: what follows from them for the estimates, no more."""
    catch(monkeypatch)
    queued = runner.queue_run(study.pk, kind=RunKind.FULL_RESULTS)
    assert queued is not None
    attempt(claimed(queued))
    run = Run.objects.get(pk=queued.pk)
    assert run.chunks.filter(due_at__isnull=False).exists()
    people = people_of(study, protocol_in_force(study).definition)
    with np.load(io.BytesIO(bytes(run.data)), allow_pickle=False) as kept:
        arrays = {name: kept[name] for name in kept.files}
    assert {name.rpartition("/")[2] for name in arrays} <= {
        *("counts", "people", "questions", "rows", "shares"),
        *("terms", "operator", "estimates", "accelerations"),
    }
    distinct = {name: np.unique(values.astype(float)) for name, values in people.covariates.items() if values.dtype.kind == "f"}
    numbers = {name: values[~np.isnan(values) & (values != np.round(values))] for name, values in distinct.items()}
    assert any(len(values) for values in numbers.values()), "somebody's mean grade is no whole number"
    said = np.concatenate([values.reshape(-1) for values in arrays.values() if values.dtype.kind == "f"])
    assert not np.isin(np.concatenate(list(numbers.values())), said).any()
