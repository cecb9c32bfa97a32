"""The first page of a study has one main button: the step that is next for the person who looks."""

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role, User
from surveys.access import Seat
from surveys.models import Decision, MemberRole, Study, StudyMember, StudyStatus, Verdict
from surveys.recruitment.services import add_entry_codes
from surveys.review import services as reviews
from surveys.studies import services as studies
from surveys.studies.study_actions import actions_of
from tests.factories import definition, draft_study, logged_in, page_of, person, study_in

pytestmark = pytest.mark.django_db
S = StudyStatus


def shown(study: Study, user: User) -> tuple[str, str]:
    """The main button's words, and the action or page behind it."""
    page = page_of(logged_in(user).get(reverse("surveys:study", args=[study.slug])))
    assert len(page.xpath('//main//*[contains(concat(" ", @class, " "), " button ") and not(contains(@class, "button-secondary"))]')) == 1
    (button,) = page.xpath('//*[@id="next-step"]//*[contains(@class, "button")]')
    others = [*page.xpath('//button[@name="action"]/@value'), *page.xpath('//a[contains(@href, "/actions/")]/@href')]
    assert len(others) == len(set(others)), "no action is offered twice"
    assert button.get("href") or button.get("value") in actions_of(Seat(user, study)), "the action is open"
    return button.text_content(), button.get("value") or button.get("href")


def ended(study: Study) -> Study:
    Study.objects.filter(pk=study.pk).update(approved_until=timezone.localdate() - timezone.timedelta(days=1))
    return Study.objects.get(pk=study.pk)


def conditional() -> Study:
    return reviews.approve(study_in(S.IN_REVIEW), actor=person(Role.IRB_OFFICER), conditions="Not in the exams.")


def suspended() -> Study:
    return reviews.suspend(study_in(S.RECRUITING), actor=person(Role.IRB_OFFICER), reason="A complaint came in.")


@pytest.mark.parametrize(
    ("made", "label", "leads_to"),
    [
        (draft_study, "Submit for review", "submit"),
        (lambda: study_in(S.IN_REVIEW), "See the review", "/review/"),
        (lambda: study_in(S.APPROVED), "Launch", "/actions/launch/"),
        (conditional, "I have read the conditions and will keep to them", "acknowledge"),
        (lambda: study_in(S.RECRUITING), "See the results", "/results/"),
        (lambda: ended(study_in(S.PAUSED)), "Ask to renew the approval", "renew"),
        (lambda: study_in(S.PAUSED), "Resume recruiting", "resume"),
        (suspended, "See the review", "/review/"),
        (lambda: study_in(S.CLOSED), "Publish the data", "/releases/"),
    ],
)
def test_the_step_of_those_who_run_a_study(made: Callable[[], Study], label: str, leads_to: str) -> None:
    study = made()
    words, behind = shown(study, study.owner)
    assert (words, behind.endswith(leads_to)) == (label, True), behind


def test_a_study_into_which_codes_alone_lead_asks_for_codes_first() -> None:
    study = study_in(S.RECRUITING, entry={"kind": "codes"})
    assert shown(study, study.owner) == ("Make codes", reverse("surveys:codes", args=[study.slug]))
    add_entry_codes(study, codes=["ABCD-1234"], actor=study.owner)
    assert shown(study, study.owner)[0] == "See the results"
    either = study_in(
        S.RECRUITING, slug="both-ways", entry={"ways": [{"name": "slips", "kind": "codes"}, {"name": "poster", "kind": "open"}]}
    )
    assert shown(either, either.owner)[0] == "See the results", "people come in without a code, too"


def closed_before_the_conditions_were_read() -> Study:
    study = reviews.suspend(study_in(S.RECRUITING), actor=person(Role.IRB_OFFICER), reason="A complaint came in.")
    Decision.objects.filter(study=study, verdict=Verdict.APPROVED).update(conditions="Not in the exams.")
    return studies.close(study, actor=study.owner)


def test_a_study_that_ended_waits_for_nobody() -> None:
    """Neither for its conditions nor for the officers who suspended it: those actions are closed."""
    study = closed_before_the_conditions_were_read()
    assert shown(study, study.owner)[0] == "Publish the data"


def test_an_ended_approval_is_asked_for_with_the_changes() -> None:
    study = ended(study_in(S.PAUSED))
    study = studies.change_definition(study, definition=definition(contact="somebody else"), actor=study.owner)
    assert shown(study, study.owner)[1] == "amend"


def test_a_protocol_that_was_sent_back_is_changed_before_it_is_submitted_again() -> None:
    officer, study = person(Role.IRB_OFFICER), study_in(S.IN_REVIEW)
    reviews.comment(study, actor=officer, section="consent", text="Who is the contact?")
    study = reviews.ask_for_changes(study, actor=officer, reason="Name whom to ask.")
    assert shown(study, study.owner)[1] == reverse("surveys:build", args=[study.slug])
    page = logged_in(study.owner).get(reverse("surveys:study", args=[study.slug])).content.decode()
    assert "Read their reason below." in page
    assert "1 section with open comments" in page
    assert 'value="submit"' in page
    study = studies.change_definition(study, definition=definition(contact="somebody else"), actor=study.owner)
    assert shown(study, study.owner)[1] == "submit"


def test_an_obstacle_is_named_as_it_is(settings: Any) -> None:
    study = study_in(S.PAUSED)
    settings.LARGEST_EPSILON = 0.5
    page = page_of(logged_in(study.owner).get(reverse("surveys:study", args=[study.slug])))
    assert "would protect nobody" in page.xpath("string(//*[@id='next-step'])")
    assert shown(study, study.owner)[1] == reverse("surveys:build", args=[study.slug])


def amended() -> Study:
    study = study_in(S.PAUSED)
    studies.change_definition(study, definition=definition(contact="somebody else"), actor=study.owner)
    return studies.submit_for_review(study, actor=study.owner)


@pytest.mark.parametrize("made", [lambda: ended(study_in(S.PAUSED)), amended], ids=["ended", "amended"])
def test_recruiting_is_not_offered_while_something_blocks_it(made: Callable[[], Study]) -> None:
    study = made()
    page = page_of(logged_in(study.owner).get(reverse("surveys:study", args=[study.slug])))
    assert "What blocks recruiting" in page.text_content()
    offered = page.xpath('//button[@name="action"]/@value')
    assert "resume" not in offered
    assert any(href.endswith("/actions/close/") for href in page.xpath("//a/@href"))


def test_a_draft_with_gaps_leads_to_the_first_one() -> None:
    study = draft_study(contact="[[Your name and address]]")
    words, behind = shown(study, study.owner)
    assert words == "Go on with the design"
    assert logged_in(study.owner).get(behind).status_code == 200


def test_officers_read_and_viewers_look() -> None:
    officer, viewer, study = person(Role.IRB_OFFICER), person(Role.INVESTIGATOR), study_in(S.IN_REVIEW)
    StudyMember.objects.create(study=study, user=viewer, role=MemberRole.VIEWER)
    assert shown(study, officer)[1] == reverse("surveys:protocol", args=[study.slug])
    assert shown(study, viewer)[0] == "Read the protocol"
    study = studies.launch(reviews.approve(study, actor=officer), actor=study.owner)
    assert shown(study, viewer) == ("See the results", reverse("analysis:results", args=[study.slug]))


def test_a_viewer_is_told_how_a_study_stands_before_anybody_came() -> None:
    viewer, study = person(Role.INVESTIGATOR), study_in(S.RECRUITING)
    StudyMember.objects.create(study=study, user=viewer, role=MemberRole.VIEWER)

    def said() -> str:
        page = page_of(logged_in(viewer).get(reverse("surveys:study", args=[study.slug])))
        return " ".join(page.xpath("string(//*[@id='next-step'])").split())

    assert said().startswith("The study takes people in.")
    studies.pause(study, actor=study.owner)
    assert said().startswith("Nobody is taken in while the study is paused.")
    studies.close(study, actor=study.owner)
    assert said().startswith("The study is over.")


@pytest.mark.parametrize("gap", ["", "[[what it is about]]"])
def test_the_builder_sends_nobody_to_review_before_the_list_is_done_and_holds_nobody_back_for_advice(gap: str) -> None:
    study = draft_study(consent=f"We ask you some questions. {gap}")
    page = page_of(logged_in(study.owner).get(reverse("surveys:build", args=[study.slug])))
    assert "seems to say nothing about" in page.text_content()
    assert ("Only advice is left, and it may stay." in page.text_content()) == (not gap)
    assert ("when this list is done. Advice may stay." in page.text_content()) == bool(gap)
    leads = page.xpath("//main//a[contains(., 'to submit it for review')]/@href")
    assert leads == ([] if gap else [reverse("surveys:study", args=[study.slug])])
    assert (shown(study, study.owner)[1] == "submit") == (not gap)
