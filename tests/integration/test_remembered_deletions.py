"""Data that were deleted before their day do not stay when a back-up of before is restored."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from analysis.data_sets import services as data_sets
from analysis.data_sets.retention import delete_due
from analysis.models import DataSet
from surveys.errors import JourneyError
from surveys.journey import services as participation
from surveys.models import Participant, Study, StudyStatus
from surveys.restores.remembered import keep_ends
from surveys.retention.remembered import FOLDER
from surveys.retention.services import forget_operational_data, forget_what_is_due
from surveys.studies.services import close
from tests.back_ups import lost_with_the_back_up
from tests.data_sets import data_set
from tests.factories import code_on, recruiting_study, walk

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = str(tmp_path)
    return tmp_path / FOLDER


def test_operational_data_that_an_owner_had_deleted_go_again_within_the_hour() -> None:
    study = recruiting_study()
    code = code_on(walk(Client(), study), "withdrawal")
    walk(Client(), study, until="quiz")
    study = close(study, actor=study.owner)
    with lost_with_the_back_up():
        forget_operational_data(study, actor=study.owner)
    assert Participant.objects.exclude(background={}).count() == 2, "they are back"
    assert forget_what_is_due() == [study.slug]
    assert [(one.background, one.consented_on) for one in Participant.objects.all()] == [({}, None)]
    with pytest.raises(JourneyError, match="found any more"):
        participation.withdraw(Study.objects.get(pk=study.pk), code=code)
    assert forget_what_is_due() == [], "once"


def test_they_go_again_where_the_back_up_does_not_know_the_end() -> None:
    """However often a back-up of before the end is restored."""
    study = recruiting_study()
    walk(Client(), study)
    with lost_with_the_back_up():
        close(study, actor=study.owner)
        keep_ends()
        forget_operational_data(Study.objects.get(pk=study.pk), actor=study.owner)
    for _restore in range(2):
        with lost_with_the_back_up():
            assert Participant.objects.exclude(background={}).exists(), "they are back"
            call_command("replay")
            assert Study.objects.get(pk=study.pk).forgotten_on is not None
            assert not Participant.objects.exclude(background={}).exists()


def test_data_stay_that_nobody_deleted() -> None:
    study = recruiting_study()
    walk(Client(), study)
    with lost_with_the_back_up():
        close(study, actor=study.owner)
        keep_ends()
    call_command("replay")
    found = Study.objects.get(pk=study.pk)
    assert (found.status, found.forgotten_on) == (StudyStatus.CLOSED, None)


def test_people_who_came_after_the_restore_keep_their_time() -> None:
    """The back-up knew the study as running, and it was closed in the time that is lost: on the same day as now."""
    study = recruiting_study()
    walk(Client(), study)
    with lost_with_the_back_up():
        forget_operational_data(close(study, actor=study.owner))
    close(Study.objects.get(pk=study.pk), actor=study.owner)
    assert forget_what_is_due() == []


def test_a_deletion_that_cannot_be_remembered_is_not_done(folder: Path) -> None:
    study = recruiting_study()
    walk(Client(), study)
    study = close(study, actor=study.owner)
    folder.write_text("no folder")
    with pytest.raises(OSError, match=FOLDER):
        forget_operational_data(study)
    assert Participant.objects.exclude(background={}).exists()


def test_rows_of_a_data_set_that_somebody_deleted_go_again_within_the_hour() -> None:
    found = data_set()
    with lost_with_the_back_up():
        data_sets.delete(found, actor=found.owner)
    delete_due()
    assert DataSet.objects.get(pk=found.pk).forgotten_on is not None
    assert not found.source.snapshots.exclude(data=None).exists()


def test_a_data_set_that_was_brought_again_keeps_its_rows() -> None:
    """It was brought and deleted in the time that is lost; another one has its name now, on the same day."""
    with lost_with_the_back_up():
        lost = data_set()
        data_sets.delete(lost, actor=lost.owner)
    found = data_set()
    assert found.slug == lost.slug
    delete_due()
    assert DataSet.objects.get(pk=found.pk).forgotten_on is None
