"""The page that tells everybody about a study: true at every stage, the same for all, and without a trace of anybody."""

from datetime import date

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.formats import date_format

from accounts.models import Role
from audit.models import Entry
from surveys.models import Study, StudyStatus
from surveys.retention import services as retention
from surveys.review import services as reviews
from surveys.studies import services as studies
from tests.factories import address_of, definition, heading, page_of, person, recruiting_study, study_in, walk

pytestmark = pytest.mark.django_db


def words(study: Study, language: str = "en") -> str:
    page = Client().get(reverse("surveys:transparency", args=[study.slug]), HTTP_ACCEPT_LANGUAGE=language)
    return " ".join(page_of(page).xpath("string(//main)").split())


def test_it_says_what_was_approved_what_is_stored_and_whom_to_ask() -> None:
    study = recruiting_study(retention={"months_after_closing": 7})
    text = words(study)
    today = date.today()
    assert f"Version 1 of the plan was approved on {date_format(today)}" in text
    for part in (
        "Your answers about yourself",
        "Your answers to the quiz",
        "Those who run the study",
        "7 months after the end of the study",
    ):
        assert part in text
    whole = Client().get(reverse("surveys:transparency", args=[study.slug])).content.decode()
    assert "Questions about the study?" in whole
    assert study.owner.username not in whole


def test_it_says_nothing_of_what_the_study_does_not_ask() -> None:
    text = words(recruiting_study(background=None, quiz=None, entry={"kind": "codes"}))
    assert "Your answers about yourself, without" not in text
    assert "Your answers to the quiz" not in text
    assert "That your entry code was used" in text


def test_it_follows_the_study_to_its_end() -> None:
    study = recruiting_study(retention={"months_after_closing": 7})
    assert "People have been taking part since" in words(study)
    study = studies.close(study, actor=study.owner)
    Study.objects.filter(pk=study.pk).update(closed_on=date(2026, 1, 31))
    study.refresh_from_db()
    text = words(study)
    assert f"The study ended on {date_format(date(2026, 1, 31))}." in text
    assert f"On {date_format(date(2026, 8, 31))} everything is deleted" in text
    retention.forget_operational_data(study)
    text = words(study)
    assert "everything was deleted but the answers that the die protects" in text
    assert "What was stored" in text, "of it the answers with the die are left"
    assert "Your data cannot be taken out any more, because nobody can find them." in text


def test_it_says_what_the_approved_plan_is_and_how_to_know_it_again() -> None:
    study = recruiting_study()
    assert study.protocol is not None
    text = words(study)
    assert "take a short quiz and answer four personal questions" in text
    assert study.protocol.sha256 in text


def test_it_never_says_that_an_approval_holds_which_does_not() -> None:
    study = recruiting_study()
    assert "The approval holds until" in words(study)
    study = reviews.suspend(study, actor=person(Role.IRB_OFFICER), reason="A complaint.")
    text = words(study)
    assert "An IRB officer has stopped the study for the time being" in text
    assert "A complaint." not in text
    day = date(2026, 1, 31)
    Study.objects.filter(pk=study.pk).update(approved_until=day)
    text = words(study)
    assert f"The approval ended on {date_format(day)}." in text
    assert "The approval holds" not in text
    text = words(studies.close(study, actor=study.owner))
    assert "The approval holds" not in text


def test_it_is_there_in_german() -> None:
    study = recruiting_study()
    text = words(study, "de-CH,de;q=0.9")
    assert "Was gespeichert wird" in text
    assert "What is stored" not in text
    chosen = Client().get(reverse("surveys:transparency", args=[study.slug]), {"language": "de"}, HTTP_ACCEPT_LANGUAGE="en")
    assert heading(chosen) == "Über diese Studie"


@pytest.mark.parametrize("status", [StudyStatus.DRAFT, StudyStatus.IN_REVIEW])
def test_nobody_reads_about_a_study_that_is_not_approved(status: StudyStatus) -> None:
    assert Client().get(reverse("surveys:transparency", args=[study_in(status).slug])).status_code == 404


def test_it_is_the_same_for_a_participant_keeps_no_cookie_and_may_be_cached() -> None:
    study = recruiting_study()
    participant, address = Client(), reverse("surveys:transparency", args=[study.slug])
    walk(participant, study)
    before = Entry.objects.count()
    theirs, anybodys = participant.get(address), Client().get(address)
    assert theirs.content == anybodys.content
    assert not anybodys.cookies
    assert set(anybodys["Vary"].split(", ")) == {"Accept-Language"}
    assert {"public", "max-age=300"} <= set(anybodys["Cache-Control"].split(", "))
    assert Entry.objects.count() == before


def test_participants_find_it_from_their_pages() -> None:
    study, client = recruiting_study(), Client()
    address = reverse("surveys:transparency", args=[study.slug])
    for page in (client.get(address_of(study)), walk(client, study), client.get(reverse("surveys:consent_copy", args=[study.slug]))):
        assert page_of(page).xpath(f'//a[starts-with(@href, "{address}")]')


def test_people_who_have_finished_find_the_text_to_which_they_agreed_after_an_amendment() -> None:
    """Their browser holds no token any more, so the page cannot know their version; and it called the newest one their copy."""
    officer, first, second = (
        person(Role.IRB_OFFICER),
        {"en": "We ask once.", "de": "Wir fragen einmal."},
        {"en": "Twice.", "de": "Zweimal."},
    )
    study, client = recruiting_study(consent=first), Client(headers={"accept-language": "de"})
    walk(client, study, answers={"welcome": {"language": "de"}})
    copy = reverse("surveys:consent_copy", args=[study.slug])
    assert not page_of(client.get(copy)).xpath("//main//a[contains(@href, 'version=')]")
    changed = studies.change_definition(study, definition=definition(consent=second), actor=study.owner)
    waits = studies.submit_for_review(changed, actor=study.owner)
    assert client.get(f"{copy}?version=2").status_code == 404, "nobody has approved it"
    studies.resume(reviews.approve(waits, actor=officer), actor=study.owner)
    found = page_of(client.get(copy))
    assert "Zweimal." in found.text_content()
    [link] = found.xpath("//main//a[contains(@href, 'version=')]/@href")
    assert "Wir fragen einmal." in client.get(copy + link).content.decode()
    assert "We ask once." in client.get(f"{copy}{link}&language=en").content.decode()
    assert [client.get(f"{copy}?version={one}").status_code for one in ("3", "x", "1")] == [404, 404, 200]
