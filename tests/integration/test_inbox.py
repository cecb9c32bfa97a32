"""One inbox: studies, amendments, releases and approvals that wait, on the first page after login."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role, User
from accounts.services import change_role
from analysis.inbox.selectors import inbox_of
from analysis.models import Release
from analysis.packages.errors import ReleaseError
from analysis.releases import services
from analysis.releases.selectors import steps_open_to
from surveys.models import MemberRole, PacketSection, Study, StudyMember, StudyStatus
from surveys.review import services as reviews
from surveys.studies import services as studies
from tests.api_requests import get
from tests.factories import PASSWORD, definition, heading, logged_in, page_of, person, recruiting_study, study_in
from tests.releases import PEOPLE, built_release, closed_study, requested_release

pytestmark = pytest.mark.django_db


def shown_to(user: User) -> str:
    return " ".join(page_of(logged_in(user).get(reverse("analysis:inbox"))).text_content().split())


@pytest.mark.parametrize(
    ("role", "name"), [(Role.IRB_OFFICER, "Waiting for you"), (Role.INVESTIGATOR, "Studies"), (Role.ADMINISTRATOR, "Studies")]
)
def test_the_first_page_after_login(role: Role, name: str) -> None:
    user, browser = person(role), Client()
    page = browser.post(reverse("account_login"), {"login": user.username, "password": PASSWORD}, follow=True)
    assert heading(page) == name


def test_an_administrator_who_asked_for_a_release_and_becomes_an_officer_does_not_decide_about_it(officer: User) -> None:
    release, author = built_release(closed_study()), person(Role.ADMINISTRATOR)
    services.request_approval(release, actor=author)
    author = change_role(user=author, role=Role.IRB_OFFICER)
    with pytest.raises(ReleaseError, match="Only an IRB officer who has no part"):
        services.approve(release, actor=author)
    with pytest.raises(ReleaseError, match="Only an IRB officer who has no part"):
        services.refuse(release, reason="Somebody else is to have it again.", actor=author)
    assert steps_open_to(author, Release.objects.get(pk=release.pk)) == set()
    assert [one.own for one in inbox_of(author).releases] == [True]
    assert services.approve(release, actor=officer)


def test_a_release_waits_in_the_same_place_as_protocols_and_amendments(officer: User) -> None:
    assert "Nothing waits for you" in shown_to(officer)
    release = requested_release(closed_study(slug="finished-one"))
    assert "Nothing waits for you" not in shown_to(officer)
    assert release.title in shown_to(officer)
    (link,) = page_of(logged_in(officer).get(reverse("analysis:inbox"))).xpath(f'//a[text()="{release.title}"]/@href')
    assert logged_in(officer).get(link).status_code == 200
    study_in(StudyStatus.IN_REVIEW, slug="new-one")
    amended = recruiting_study(slug="amended-one")
    changed = definition(slug="amended-one", contact="somebody else")
    studies.submit_for_review(studies.change_definition(amended, definition=changed, actor=amended.owner), actor=amended.owner)
    said = shown_to(officer)
    assert all(word in said for word in ("Release of data", "Protocol", "Amendment"))
    found: Any = get(officer, "review/")
    assert [one["study"] for one in found["releases"]] == ["finished-one"]
    assert sorted(one["kind"] for one in found["waiting"]) == ["amendment", "protocol"]
    assert services.approve(release, actor=officer)
    assert "Release of data" not in shown_to(officer)


def test_a_release_of_a_suspended_study_waits_and_says_so(officer: User) -> None:
    study = recruiting_study(allocation={"planned_participants": PEOPLE, "block_multiples": [1]})
    study = reviews.suspend(study, actor=officer, reason="A video was wrong.")
    study = studies.close(study, actor=study.owner)
    assert study.suspended
    other = closed_study(slug="another")
    Study.objects.filter(pk=other.pk).update(suspended=True)
    release = requested_release(other)
    said = shown_to(officer)
    assert release.title in said
    assert "An officer suspended this study before it was closed." in said


@pytest.mark.parametrize("part", ["owner", "viewer", "author"])
def test_an_officer_with_a_part_in_the_study_sees_that_another_one_decides(officer: User, part: str) -> None:
    study = closed_study()
    if part == "owner":
        Study.objects.filter(pk=study.pk).update(owner=officer)
        study.refresh_from_db()
    elif part == "viewer":
        StudyMember.objects.create(study=study, user=officer, role=MemberRole.VIEWER)
    else:
        from audit.services import record
        from surveys import actions

        record(actor=officer, action=actions.STUDY_CHANGED, subject=study)
    requested_release(study)
    assert "another officer decides" in shown_to(officer)
    assert "Nothing waits for you" in shown_to(officer)
    assert inbox_of(officer).decisions == 0
    assert [one["own"] for one in get(officer, "review/")["releases"]] == [True]


def test_investigators_find_what_waits_for_them() -> None:
    officer, owner = person(Role.IRB_OFFICER), person(Role.INVESTIGATOR)
    assert "Nothing waits for you" in shown_to(owner)
    returned = study_in(StudyStatus.IN_REVIEW, slug="returned", owner=owner)
    reviews.comment(returned, actor=officer, section="consent", text="How long does it take?")
    reviews.ask_for_changes(returned, actor=officer, reason="Say how long it takes.")
    conditional = study_in(StudyStatus.IN_REVIEW, slug="conditional", owner=owner)
    reviews.approve(conditional, actor=officer, conditions="Not in the exams.")
    ending = recruiting_study(slug="ending", owner=owner)
    Study.objects.filter(pk=ending.pk).update(approved_until=timezone.localdate() + timedelta(days=3))
    routes = {(one.study.slug, one.route) for one in inbox_of(owner).tasks}
    assert routes == {("returned", "surveys:review"), ("conditional", "surveys:study"), ("ending", "surveys:study")}
    said = shown_to(owner)
    assert "Changes asked for on" in said
    assert "An officer’s comment has no answer: " + str(PacketSection.CONSENT.label) + "." in said
    reviews.comment(returned, actor=owner, section="consent", text="Twenty minutes.")
    assert "has no answer" not in shown_to(owner)


def test_investigators_learn_that_an_amendment_was_sent_back_and_why(officer: User) -> None:
    study = recruiting_study()
    changed = definition(debrief={"en": "Room 2.", "de": "Raum 2."})
    waits = studies.submit_for_review(studies.change_definition(study, definition=changed, actor=study.owner), actor=study.owner)
    study = studies.resume(reviews.ask_for_changes(waits, actor=officer, reason="Which building?"), actor=study.owner)
    page = logged_in(study.owner).get(reverse("surveys:study", args=[study.slug])).content.decode()
    assert "Changes asked for" in page
    assert "Which building?" in page
    assert "Changes asked for on" in shown_to(study.owner)
    study = studies.submit_for_review(study, actor=study.owner)
    assert "Changes asked for" not in shown_to(study.owner)
    studies.close(reviews.ask_for_changes(study, actor=officer, reason="Which door?"), actor=study.owner)
    assert "Changes asked for" not in shown_to(study.owner)


def test_the_answer_of_an_editor_who_is_an_officer_elsewhere_is_an_answer(officer: User) -> None:
    study, editor = study_in(StudyStatus.IN_REVIEW), person(Role.IRB_OFFICER)
    StudyMember.objects.create(study=study, user=editor, role=MemberRole.EDITOR)
    reviews.comment(study, actor=officer, section="consent", text="How long does it take?")
    assert "An officer’s comment has no answer" in shown_to(study.owner)
    reviews.comment(study, actor=editor, section="consent", text="Twenty minutes.")
    assert "has no answer" not in shown_to(study.owner)


@pytest.mark.parametrize("role", [MemberRole.VIEWER, MemberRole.BLINDED_VIEWER])
def test_viewers_have_no_tasks_and_learn_nothing_of_the_review(role: MemberRole) -> None:
    study, viewer = study_in(StudyStatus.IN_REVIEW), person(Role.ANALYST)
    StudyMember.objects.create(study=study, user=viewer, role=role)
    reviews.comment(study, actor=person(Role.IRB_OFFICER), section="consent", text="How long does it take?")
    assert inbox_of(viewer).tasks == []
    assert study.title not in shown_to(viewer)
