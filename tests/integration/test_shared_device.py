"""A device that several people use: nobody finds another one's codes, and everybody can begin; taking part twice needs a false word."""

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from surveys.journey.visitors import COOKIE
from surveys.models import Participant, Study
from surveys.review import services as reviews
from surveys.studies import services as studies
from surveys.tokens import withdrawal_code
from tests.factories import (
    address_of,
    answer,
    code_on,
    definition,
    everything_stored,
    heading,
    hidden_value,
    page_of,
    participant_of,
    person,
    recruiting_study,
    token_of,
    walk,
)

pytestmark = pytest.mark.django_db
TAKEN = "Somebody has taken part here"


@pytest.fixture
def study() -> Study:
    return recruiting_study()


def begin_anew(client: Client, study: Study, query: str = "") -> HttpResponse:
    return client.post(reverse("surveys:begin_anew", args=[study.slug]) + query)


def test_the_codes_are_shown_once_and_nothing_in_the_browser_leads_to_them(client: Client, study: Study) -> None:
    last = walk(client, study)
    code = code_on(last, "withdrawal")
    assert code == withdrawal_code(token_of(client))
    again = client.get(address_of(study))
    assert heading(again) == TAKEN
    everything = again.content.decode() + client.get(reverse("surveys:withdraw", args=[study.slug])).content.decode()
    assert code not in everything
    assert code_on(last, "completion") not in everything
    kept = client.cookies[COOKIE].value
    assert token_of(client) not in kept
    assert "finished" not in kept, "the cookie is packed"


def test_somebody_who_comes_back_after_an_amendment_finds_both_texts_of_the_end(client: Client, study: Study) -> None:
    """The newer one may correct the older one, and the older one is what they were told. The browser does not know theirs."""
    told = walk(client, study)
    assert "instructor's face" in told.content.decode()
    changed = definition(debrief={"en": "We called the **wrong office**.", "de": "Wir nannten das **falsche Büro**."})
    waits = studies.submit_for_review(studies.change_definition(study, definition=changed, actor=study.owner), actor=study.owner)
    assert not page_of(client.get(address_of(study))).xpath("//details")
    reviews.approve(waits, actor=person(Role.IRB_OFFICER))
    page = page_of(client.get(address_of(study)))
    assert "wrong office" in page.text_content()
    (other,) = page.xpath("//details")
    assert "Version 1 of the plan" in other.text_content()
    assert "instructor's face" in other.text_content()


def test_asking_for_the_head_of_the_last_page_does_not_spend_the_codes(client: Client, study: Study) -> None:
    walk(client, study, until="questions")
    answer(client, study, "questions")
    client.head(address_of(study))
    assert heading(client.get(address_of(study))) == "Thank you"


def test_somebody_else_begins_anew_and_is_another_person(client: Client, study: Study) -> None:
    walk(client, study)
    first = participant_of(client)
    assert answer(client, study, "welcome").status_code == 303
    assert heading(client.get(address_of(study))) == TAKEN, "pressing Start again changes nothing"
    response = begin_anew(client, study)
    assert (response.status_code, response["Location"]) == (303, address_of(study))
    assert heading(walk(client, study)) == "Thank you"
    assert participant_of(client) != first
    assert Participant.objects.count() == 2


def test_a_person_in_the_middle_stays_until_somebody_else_says_so(client: Client, study: Study) -> None:
    page = walk(client, study, until="quiz")
    assert reverse("surveys:begin_anew", args=[study.slug]) in page.content.decode()
    before = everything_stored()
    assert heading(client.get(reverse("surveys:begin_anew", args=[study.slug]))) == "Begin as somebody else"
    assert heading(client.get(address_of(study))) == "A short quiz"
    begin_anew(client, study)
    assert heading(client.get(address_of(study))) == "A short lecture and four honest answers"
    assert everything_stored() == before


def test_a_browser_remembers_a_withdrawal(client: Client, study: Study) -> None:
    code = code_on(walk(client, study), "withdrawal")
    client.post(reverse("surveys:withdraw", args=[study.slug]), {"code": code, "stage": "confirm"})
    page = client.get(address_of(study))
    assert heading(page) == "Your data were taken out"
    answer(client, study, "welcome")
    answer(client, study, "consent")
    assert not Participant.objects.exists()


def test_declining_is_not_taking_part(client: Client, study: Study) -> None:
    answer(client, study, "welcome")
    answer(client, study, "consent", choice="decline")
    assert heading(client.get(address_of(study))) == "A short lecture and four honest answers"


def test_panel_members_find_their_way_back_after_a_reload_and_the_next_one_keeps_their_number(client: Client) -> None:
    study = recruiting_study(entry={"kind": "sona", "completion_url": "https://example.org/credit?survey_code={identifier}"})
    walk(client, study, answers={"welcome": {"survey_code": "abc-123"}})
    page = client.get(address_of(study), {"survey_code": "def-456"})
    assert heading(page) == TAKEN
    assert page_of(page).xpath("//a[contains(@href, 'example.org')]/@href") == ["https://example.org/credit?survey_code=abc-123"]
    action = page_of(page).xpath("//form/@action")[0]
    response = client.post(action)
    assert response["Location"] == f"{address_of(study)}?survey_code=def-456"
    assert 'value="def-456"' in client.get(response["Location"]).content.decode()


def test_the_next_person_of_a_panel_does_not_agree_with_the_number_of_one_who_only_pressed_start(client: Client) -> None:
    """Nothing is stored of the first one yet, who would be told that they took part already, while the next one's credit went to them."""
    study = recruiting_study(entry={"kind": "sona"})
    answer(client, study, "welcome", survey_code="abc-123")
    assert heading(client.get(address_of(study), {"survey_code": "abc-123"})) == heading(client.get(address_of(study))), "a reload"
    welcome = client.get(address_of(study), {"survey_code": "def-456"}, follow=True)
    assert hidden_value(welcome, "survey_code") == "def-456"
    walk(client, study, answers={"welcome": {"survey_code": "def-456"}}, until="background")
    assert answer(Client(), study, "welcome", survey_code="abc-123").status_code == 303
    assert answer(Client(), study, "welcome", survey_code="def-456").status_code == 403


def test_the_next_person_of_a_panel_does_not_go_on_for_one_who_stopped_in_the_middle(client: Client) -> None:
    """At a computer of a laboratory the credit for their answers went to the one before."""
    study = recruiting_study(entry={"kind": "sona"})
    walk(client, study, answers={"welcome": {"survey_code": "abc-123"}}, until="quiz")
    first = participant_of(client)
    assert heading(client.get(address_of(study), {"survey_code": "abc-123"})) == "A short quiz", "their own link again"
    assert heading(client.get(address_of(study), {"survey_code": ""})) == "A short quiz", "a link that names nobody"
    page = client.get(address_of(study), {"survey_code": "def-456"}, follow=True)
    assert heading(page) == "Begin as somebody else"
    (back,) = page_of(page).xpath("//form//a/@href")
    assert heading(client.get(back)) == "A short quiz", "only a click forgets somebody"
    welcome = begin_anew(client, study, "?survey_code=def-456")
    assert hidden_value(client.get(welcome["Location"]), "survey_code") == "def-456"
    walk(client, study, answers={"welcome": {"survey_code": "def-456"}})
    assert participant_of(client) != first


def test_the_completion_code_on_the_page_of_withdrawals_is_recognised(client: Client, study: Study) -> None:
    code = code_on(walk(client, study), "completion")
    page = client.post(reverse("surveys:withdraw", args=[study.slug]), {"code": code, "stage": "enter"}).content.decode()
    assert "This is the completion code, for your teacher." in page


def test_a_closed_study_still_thanks_the_people_who_took_part(client: Client, study: Study) -> None:
    walk(client, study)
    Study.objects.update(status="closed")
    assert heading(client.get(address_of(study))) == TAKEN
