"""The page on which people who run a study set quotas and stop arms while people come."""

import re

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from audit.models import Entry
from surveys.models import Study, StudyStatus
from surveys.studies.services import close
from tests.factories import ANSWERS, draft_study, heading, logged_in, page_of, recruiting_study, send, study_in, walk
from tests.finished_people import add_finished_people

pytestmark = pytest.mark.django_db


def address(study: Study) -> str:
    return reverse("surveys:arms", args=[study.slug])


def sent(study: Study, arm: str, action: str, **typed: str) -> HttpResponse:
    values = {"arm": arm, "action": action} | {f"{name}-{arm}": value for name, value in typed.items()}
    answer: HttpResponse = logged_in(study.owner).post(address(study), values)
    return answer


def words_of(page: HttpResponse) -> str:
    return " ".join(page_of(page).xpath("string(//main)").split())


def states(study: Study) -> dict[str, tuple[int | None, bool]]:
    return {arm: (quota, closed) for arm, quota, closed in study.arm_states.values_list("arm", "quota", "closed")}


def test_an_arm_is_stopped_and_takes_people_again_and_its_quota_stays(study: Study) -> None:
    assert sent(study, "slides", "limit", quota=" 50 ").status_code == 302
    assert sent(study, "slides", "stop").status_code == 302
    assert states(study) == {"slides": (50, True), "instructor": (None, False)}
    page = logged_in(study.owner).get(address(study))
    assert ("stopped" in words_of(page), "Take people again" in words_of(page)) == (True, True)
    assert page_of(page).xpath('//input[@name="quota-slides"]/@value') == ["50"]
    assert sent(study, "slides", "resume").status_code == 302
    assert states(study)["slides"] == (50, False)
    assert sent(study, "slides", "limit", quota="").status_code == 302
    assert states(study)["slides"] == (None, False)
    assert Entry.objects.filter(action="study.arm_changed", actor=study.owner).count() == 4


def test_a_page_that_was_open_for_long_opens_no_arm_again(study: Study) -> None:
    """Each button changes one setting: what a colleague changed in the meantime stays."""
    sent(study, "slides", "stop")
    sent(study, "slides", "limit", quota="50")
    assert states(study)["slides"] == (50, True)


@pytest.mark.parametrize("typed", ["many", "-1", "2.5", "1000001", "9" * 5000])
def test_a_wrong_quota_comes_back_with_a_reason_and_changes_nothing(study: Study, typed: str) -> None:
    page = sent(study, "slides", "limit", quota=typed)
    assert page.status_code == 422
    assert re.search(r"The quota must be a (whole )?number from 0 to 1,000,000, not “" + typed[:40], words_of(page))
    assert page_of(page).xpath('//input[@name="quota-slides"]/@value') == [typed]
    assert states(study)["slides"] == (None, False)
    assert not Entry.objects.filter(action="study.arm_changed").exists()


def test_an_unknown_step_or_arm_changes_nothing(study: Study) -> None:
    page = sent(study, "slides", "close")
    assert (page.status_code, "This cannot be done here." in words_of(page)) == (422, True)
    assert sent(study, "no-such-arm", "stop").status_code == 404
    assert states(study) == {"slides": (None, False), "instructor": (None, False)}


def test_with_all_arms_stopped_the_page_says_that_the_study_is_full_and_so_it_is(client: Client, study: Study) -> None:
    for arm in ("slides", "instructor"):
        sent(study, arm, "stop")
    assert "people who want to begin read that the study is full" in words_of(logged_in(study.owner).get(address(study)))
    assert heading(send(client, study, "welcome", **ANSWERS["welcome"])) == "This study is full"
    sent(study, "slides", "resume")
    walk(client, study)
    assert set(study.participants.values_list("arm", flat=True)) == {"slides"}


def test_the_page_does_not_tell_that_a_quota_is_reached(study: Study) -> None:
    """The attack: a quota of one more than have come, and looking until the page changes, would tell when the next person came."""
    add_finished_people(study, 40)
    sent(study, "slides", "limit", quota="100")
    before = logged_in(study.owner).get(address(study))
    study.arm_states.filter(arm="slides").update(places=0)
    after = logged_in(study.owner).get(address(study))
    assert words_of(before) == words_of(after)


def test_before_the_launch_the_page_leads_to_the_builder() -> None:
    study = draft_study()
    page = logged_in(study.owner).get(address(study))
    assert reverse("surveys:build_allocation", args=[study.slug]) in page_of(page).xpath("//main//a/@href")
    assert sent(study, "slides", "stop").status_code == 404


def test_after_the_end_nothing_can_be_changed() -> None:
    study = study_in(StudyStatus.CLOSED)
    page = logged_in(study.owner).get(address(study))
    assert ("The study has ended." in words_of(page), page_of(page).xpath("//main//button")) == (True, [])
    assert sent(study, "slides", "stop").status_code == 422
    assert states(study)["slides"] == (None, False)


def test_a_study_that_ends_while_the_page_is_open_says_so(study: Study) -> None:
    close(study, actor=study.owner)
    page = sent(study, "slides", "stop")
    assert (page.status_code, "Arms can be changed while a study recruits or pauses; this one is closed." in words_of(page)) == (422, True)


def test_within_strata_arms_have_no_quota() -> None:
    study = recruiting_study(allocation={"planned_participants": 100, "strata": ["gender"]})
    page = logged_in(study.owner).get(address(study))
    assert page_of(page).xpath('//main//input[starts-with(@name, "quota")]') == []
    assert "This study draws within strata or sections, where arms have no quota." in words_of(page)
    assert sent(study, "slides", "limit", quota="5").status_code == 422
    assert sent(study, "slides", "stop").status_code == 302
    assert states(study)["slides"] == (None, True)


def test_the_page_speaks_the_readers_language(study: Study) -> None:
    page = logged_in(study.owner).get(address(study), headers={"Accept-Language": "de"})
    assert "Diesen Arm anhalten" in words_of(page)
