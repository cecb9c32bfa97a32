"""Going on elsewhere: by the cookie after a closed tab, by a personal link on another device."""

import pytest
from django.test import Client
from django.urls import reverse

from surveys.models import RUNNING, Participant, Study
from tests.factories import address_of, answer, everything_stored, heading, page_of, participant_of, recruiting_study, token_of, walk

pytestmark = pytest.mark.django_db


def link(study: Study, token: str) -> str:
    return reverse("surveys:resume", args=[study.slug, token])


def test_a_closed_tab_loses_nothing(client: Client, study: Study) -> None:
    walk(client, study, until="quiz")
    assert heading(client.get(address_of(study))) == "A short quiz"


def test_the_cookie_is_kept_for_months_and_read_by_no_script(client: Client, study: Study) -> None:
    walk(client, study, until="background")
    cookie = client.cookies["candor_participant"]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == (address_of(study), True, "Lax")
    assert int(cookie["max-age"]) >= 90 * 24 * 60 * 60


@pytest.mark.parametrize("step", ["background", "video", "quiz", "die", "questions"])
def test_every_page_after_consent_shows_the_personal_link(client: Client, study: Study, step: str) -> None:
    page = walk(client, study, until=step)
    assert f"http://testserver{link(study, token_of(client))}" in page.content.decode()


@pytest.mark.parametrize("step", ["welcome", "consent", "finished"])
def test_other_pages_show_none(client: Client, study: Study, step: str) -> None:
    assert "/resume/" not in walk(client, study, until=step).content.decode()


def test_the_link_goes_on_where_the_person_stopped(client: Client, study: Study) -> None:
    walk(client, study, until="die")
    phone = Client()
    page = phone.get(link(study, token_of(client)))
    assert heading(page) == "Welcome back"
    assert page_of(page).xpath("string(//form//button)").strip() == "Continue"
    before = everything_stored()
    response = phone.post(link(study, token_of(client)))
    assert (response.status_code, response["Location"]) == (303, address_of(study))
    assert everything_stored() == before
    assert heading(phone.get(address_of(study))) == "The die keeps your answers private"
    assert participant_of(phone) == participant_of(client)
    answer(phone, study, "die")
    assert heading(client.get(address_of(study))) == "Roll, then answer"


@pytest.mark.parametrize("token", ["unknown", "x" * 43, "a:b:c"])
def test_an_unknown_link_says_what_to_do(client: Client, study: Study, token: str) -> None:
    for response in (client.get(link(study, token)), client.post(link(study, token))):
        assert response.status_code == 404
        assert heading(response) == "We do not know this link"
        assert "Copy the whole link once more." in response.content.decode()
    assert token_of(client) == ""


def test_a_link_of_another_study_is_unknown(client: Client, study: Study) -> None:
    other = recruiting_study(slug="another-study")
    walk(client, study, until="quiz")
    assert Client().post(link(other, token_of(client))).status_code == 404


def test_the_link_of_somebody_who_withdrew_is_unknown(client: Client, study: Study) -> None:
    walk(client, study, until="quiz")
    Participant.objects.all().delete()
    assert Client().post(link(study, token_of(client))).status_code == 404


@pytest.mark.parametrize("status", RUNNING)
def test_answers_from_a_browser_that_lost_its_cookie_are_not_dropped_without_a_word(client: Client, study: Study, status: str) -> None:
    """While an amendment waits, too: people who have begun go on by their link, and read that nobody new can take part."""
    walk(client, study, until="quiz")
    Study.objects.update(status=status)
    client.cookies.clear()
    response = answer(client, study, "quiz")
    assert (response.status_code, heading(response)) == (403, "This browser does not know you any more")
    assert "were not taken" in response.text


def test_a_cookie_that_belongs_to_nobody_begins_anew(client: Client, study: Study) -> None:
    for value in ("x" * 43, "a:b:c", "", "\x00", "ü" * 50):
        client.cookies["candor_participant"] = value
        assert client.get(address_of(study)).status_code == 200
        refused = answer(client, study, "background")
        assert refused.status_code == 403
        assert "This browser does not know you any more" in refused.content.decode()
    assert not Participant.objects.exists()
