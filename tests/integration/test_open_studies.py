"""The page of public studies names what strangers may join, and nothing else."""

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from accounts.models import User
from surveys.models import Study, StudyStatus
from surveys.studies.services import pause
from tests.factories import recruiting_study

pytestmark = pytest.mark.django_db
ADDRESS = "/open-studies/"
LISTED = {"listed": True}


def page() -> str:
    cache.clear()
    return Client().get(ADDRESS).content.decode()


def test_a_listed_study_is_named_while_it_takes_people_in() -> None:
    study = recruiting_study(entry=LISTED)
    assert study.title in page()
    assert f'href="/s/{study.slug}/"' in page()
    pause(study, actor=User.objects.get(pk=study.owner_id))
    assert study.title not in page()
    assert "No study is open to everybody now." in page()


def test_other_studies_are_not_named() -> None:
    study = recruiting_study()
    assert study.title not in page()


def test_a_box_that_is_checked_after_the_approval_waits_for_the_officers() -> None:
    study = recruiting_study()
    study.definition["entry"] = LISTED
    study.save(update_fields=["definition"])
    assert study.title not in page()


def test_a_new_title_waits_for_the_officers() -> None:
    approved = recruiting_study(entry=LISTED).title
    Study.objects.update(title="Another title")
    assert approved in page()
    assert "Another title" not in page()


@pytest.mark.parametrize("change", [{"approved_until": timezone.localdate() - timedelta(days=1)}, {"status": StudyStatus.CLOSED}])
def test_a_study_that_takes_nobody_in_is_not_named(change: dict[str, object]) -> None:
    study = recruiting_study(entry=LISTED)
    Study.objects.update(**change)
    assert study.title not in page()
