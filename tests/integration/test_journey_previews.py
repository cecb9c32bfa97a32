"""Link previews, reloads and other fetches without a click change nothing, at any step and at any address."""

import pytest
from django.test import Client

from surveys.models import Study
from surveys.studies import services as studies
from tests.factories import STEPS, address_of, everything_stored, recruiting_study, token_of, walk

pytestmark = pytest.mark.django_db
ADDRESSES = ("", "consent/", "privacy/", "allocation/", "allocation/1/", "withdraw/", "progress/", "resume/unknown/")


@pytest.mark.parametrize("step", STEPS)
def test_fetching_changes_nothing(client: Client, study: Study, step: str) -> None:
    walk(client, study, until=step)
    before, cookie = everything_stored(), token_of(client)
    own_link = f"resume/{cookie}/" if cookie else ""
    for part in (*ADDRESSES, own_link):
        for fetch in (client.get, client.head, client.options):
            assert fetch(address_of(study) + part).status_code in (200, 404, 405)
    assert everything_stored() == before
    assert token_of(client) == cookie


def test_a_preview_of_a_personal_link_does_not_take_the_place(client: Client, study: Study) -> None:
    walk(client, study, until="quiz")
    stranger = Client()
    page = stranger.get(f"{address_of(study)}resume/{token_of(client)}/")
    assert page.status_code == 200
    assert token_of(stranger) == ""


def test_prolific_parameters_in_the_address_are_not_stored_by_fetching(client: Client) -> None:
    study = recruiting_study(entry={"kind": "prolific"})
    before = everything_stored()
    page = client.get(address_of(study), {"PROLIFIC_PID": "5f0000000000000000000001"})
    assert 'name="PROLIFIC_PID" value="5f0000000000000000000001"' in page.content.decode()
    assert everything_stored() == before


def test_pages_of_the_journey_are_kept_by_nobody(client: Client, study: Study) -> None:
    walk(client, study, until="quiz")
    for part in ("", "withdraw/", f"resume/{token_of(client)}/", "privacy/", "consent/"):
        assert "no-store" in client.get(address_of(study) + part)["Cache-Control"]


def test_a_closed_study_still_explains_itself(client: Client, study: Study) -> None:
    studies.close(study, actor=study.owner)
    for part in ("consent/", "privacy/", "allocation/", "withdraw/"):
        assert client.get(address_of(study) + part).status_code == 200


def test_the_consent_copy_is_the_version_that_was_agreed_to(client: Client, study: Study) -> None:
    agreed = client.get(address_of(study) + "consent/").content.decode()
    assert "Consent text, version 1." in agreed
    assert "We compare two ways of recording a lecture." in agreed
    assert "Einwilligung" in client.get(address_of(study) + "consent/?language=de").content.decode()


def test_the_privacy_page_tells_the_numbers_of_this_study(client: Client, study: Study) -> None:
    page = client.get(address_of(study) + "privacy/").content.decode()
    # t = 3/6, the rarer forced answer 1/6: odds (1/6 + 3/6)/(1/6) = 4, ε = ln 4 = 1.386, four questions 5.545.
    assert "at most 80 % sure after one answer" in page
    assert "ε = 1.3863" in page
    assert "ε = 5.5452" in page
