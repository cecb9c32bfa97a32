"""Steps that cannot be undone: a page of their own says what will happen, and only its button takes the step."""

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role, User
from analysis.models import Blinding
from audit.models import Entry
from surveys.models import MemberRole, Study, StudyMember, StudyStatus
from surveys.review import services as reviews
from surveys.studies import services as studies
from tests.api_requests import post
from tests.factories import definition, heading, logged_in, page_of, person, recruiting_study, study_in, walk
from tests.finished_people import count_everybody

pytestmark = pytest.mark.django_db
STEPS = {
    "launch": (StudyStatus.APPROVED, StudyStatus.RECRUITING, "study.launched"),
    "close": (StudyStatus.RECRUITING, StudyStatus.CLOSED, "study.closed"),
    "archive": (StudyStatus.CLOSED, StudyStatus.ARCHIVED, "study.archived"),
}


def study_before(action: str) -> Study:
    return study_in(STEPS[action][0])


def page(study: Study, action: str = "") -> str:
    return reverse("surveys:action", args=[study.slug, action]) if action else reverse("surveys:study", args=[study.slug])


@pytest.mark.parametrize("action", STEPS)
def test_one_click_on_the_studys_page_takes_no_step_that_cannot_be_undone(action: str) -> None:
    study = study_before(action)
    desk, entries = logged_in(study.owner), Entry.objects.count()
    assert not page_of(desk.get(page(study))).xpath(f'//button[@name="action"][@value="{action}"]')
    answer = desk.post(page(study), {"action": action})
    assert (answer.status_code, answer["Location"]) == (302, page(study, action))
    study.refresh_from_db()
    assert (study.status, Entry.objects.count()) == (STEPS[action][0], entries)


@pytest.mark.parametrize("action", STEPS)
def test_its_own_page_says_what_will_happen_and_does_it(action: str) -> None:
    study = study_before(action)
    _before, after, entry = STEPS[action]
    desk = logged_in(study.owner)
    (link,) = page_of(desk.get(page(study))).xpath(f'//a[@href="{page(study, action)}"]')
    shown = page_of(desk.get(link.get("href")))
    assert shown.xpath('//h2[text()="What will happen, and cannot be undone"]/following-sibling::ul/li')
    study.refresh_from_db()
    assert study.status != after  # looking does nothing
    assert desk.post(page(study, action)).status_code == 302
    study.refresh_from_db()
    assert study.status == after
    assert Entry.objects.filter(action=entry, subject_id=str(study.pk), actor_id=study.owner_id).count() == 1


@pytest.mark.parametrize("action", STEPS)
def test_the_api_keeps_its_single_call(action: str) -> None:
    study = study_before(action)
    assert post(logged_in(study.owner), f"studies/{study.slug}/actions/{action}/").status_code == 200
    study.refresh_from_db()
    assert study.status == STEPS[action][1]


def test_closing_names_the_people_so_far_and_the_day_of_deletion() -> None:
    study = recruiting_study(retention={"months_after_closing": 0})
    for _person in range(3):
        walk(Client(), study)
    assert "0 answered" in page_of(logged_in(study.owner).get(page(study, "close"))).text_content()  # they wait for their batch
    count_everybody(study)
    said = page_of(logged_in(study.owner).get(page(study, "close"))).text_content()
    assert "3 agreed to take part, and 3 answered, of 48 planned" in said
    assert "withdrawal codes" in said
    assert "Blinded viewers see which arm is which" in said


def test_closing_a_study_with_an_amendment_says_that_it_is_given_up() -> None:
    study = recruiting_study()
    changed = definition(contact="somebody else", retention={"months_after_closing": 3})
    studies.change_definition(study, definition=changed, actor=study.owner)
    studies.submit_for_review(study, actor=study.owner)
    assert "is given up" in page_of(logged_in(study.owner).get(page(study, "close"))).text_content()


def test_a_study_that_cannot_be_launched_now_says_why_and_offers_no_button() -> None:
    study = reviews.approve(study_in(StudyStatus.IN_REVIEW), actor=person(Role.IRB_OFFICER), conditions="Not in the exams.")
    shown = page_of(logged_in(study.owner).get(page(study, "launch")))
    assert "conditions that nobody has acknowledged" in shown.text_content()
    assert not shown.xpath('//main//button[text()="Launch"]')


@pytest.mark.parametrize("role", [MemberRole.VIEWER, MemberRole.BLINDED_VIEWER])
@pytest.mark.parametrize("action", STEPS)
def test_viewers_learn_nothing_there_and_take_no_step(action: str, role: MemberRole) -> None:
    study, viewer = study_before(action), person(Role.ANALYST)
    StudyMember.objects.create(study=study, user=viewer, role=role)
    Blinding.objects.create(study=study, is_active=True)
    assert_sent_away(study, viewer, action)


@pytest.mark.parametrize("action", STEPS)
def test_an_officer_takes_no_step_of_an_investigator(action: str) -> None:
    assert_sent_away(study_before(action), person(Role.IRB_OFFICER), action)


def assert_sent_away(study: Study, user: User, action: str) -> None:
    desk = logged_in(user)
    for answer in (desk.get(page(study, action)), desk.post(page(study, action))):
        assert (answer.status_code, answer["Location"]) == (302, page(study))
    study.refresh_from_db()
    assert study.status == STEPS[action][0]


def test_deleting_operational_data_says_about_how_many_people() -> None:
    study = study_in(StudyStatus.CLOSED)
    shown = logged_in(study.owner).get(reverse("surveys:forget", args=[study.slug]))
    assert heading(shown) == "Delete operational data"
    assert "Agreed to take part" in shown.content.decode()
