"""A study that `manage.py replay` closed again: tables that tell people apart by their background are not shown a second time."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from analysis.models import RunKind
from analysis.stored_results import Results, read_results
from surveys.batches.services import count_again
from surveys.models import Participant, Step, Study
from surveys.restores.remembered import keep_ends
from surveys.studies import services as studies
from tests.back_ups import lost_with_the_back_up
from tests.factories import recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people, compute

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = str(tmp_path / "media")


@pytest.fixture
def study() -> Study:
    allocation = {"planned_participants": 480, "block_multiples": [1]}
    made = recruiting_study(subgroups=["gender"], die=TELLING_DIE, allocation=allocation)
    add_finished_people(made, 400, seed=3)
    add_finished_people(made, 48, seed=5, counted=False)  # the end shows them, since enough of each group wait
    for index, person in enumerate(Participant.objects.filter(study=made).order_by("arm", "subsample", "pk")):
        person.background = {"gender": ("woman", "man")[index % 2]}
        person.save(update_fields=["background"])
    count_again(made)
    return made


def results(study: Study) -> Results:
    found = read_results(compute(study, RunKind.FULL_RESULTS))
    assert found is not None
    return found


def at_the_first_end(study: Study) -> Results:
    studies.close(study, actor=study.owner)
    keep_ends()
    return results(study)


def shows(found: Results) -> tuple[bool, bool]:
    """Whether it has a table of subgroups, and the means of background answers by arm."""
    return bool(found.subgroups and found.subgroups.outcomes), bool(found.balance and found.balance.differences)


def test_nothing_is_withheld_where_the_back_up_lost_nobody(study: Study) -> None:
    with lost_with_the_back_up():
        first = at_the_first_end(study)
    call_command("replay")
    second = results(study)
    assert shows(second) == (True, True)
    assert (second.subgroups, second.balance) == (first.subgroups, first.balance)


def test_the_one_whom_the_back_up_lost_is_no_difference_between_two_tables(study: Study) -> None:
    """The ten who are left out beside this person may be of other subgroups."""
    with lost_with_the_back_up():
        add_finished_people(study, 1, seed=2, counted=False)
        Participant.objects.filter(study=study).exclude(background__gender__in=("woman", "man")).update(background={"gender": "woman"})
        assert shows(at_the_first_end(study)) == (True, True)
    call_command("replay")
    assert shows(results(study)) == (False, False)


def test_nor_is_somebody_on_the_way_who_got_an_arm_since(study: Study) -> None:
    """The same people, so that nobody hides this one, whose answers are in the means of an arm."""
    person = Participant.objects.filter(study=study).order_by("pk").first()
    assert person is not None
    here = Participant.objects.filter(pk=person.pk)
    place = {"subsample": person.subsample, "arm": person.arm}
    here.update(step=Step.BACKGROUND, finished_on=None, subsample="", arm="", counted=False)
    count_again(study)
    with lost_with_the_back_up():
        here.update(step=Step.VIDEO, **place)
        assert shows(at_the_first_end(study)) == (True, True)
    call_command("replay")
    assert shows(results(study)) == (False, False)


def test_nor_is_the_only_one_who_had_not_finished(study: Study) -> None:
    """The back-up has nobody of this group, who could be left out beside this person."""
    with lost_with_the_back_up():
        add_finished_people(study, 1, seed=2, unfinished=1.0, counted=False)
        assert shows(at_the_first_end(study)) == (True, True)
    call_command("replay")
    assert shows(results(study)) == (False, False)
