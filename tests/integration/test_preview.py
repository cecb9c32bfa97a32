"""The preview: the pages of a participant, from the current draft, which store nothing whatever is done on them."""

from itertools import product
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from surveys.journey.steps import steps_of
from surveys.models import MediaFile, Study, StudyStatus
from surveys.studies import services as studies
from tests.factories import (
    ANSWERS,
    definition,
    document,
    draft_study,
    everything_stored,
    heading,
    logged_in,
    page_of,
    participant_of,
    person,
    recruiting_study,
    study_in,
    walk,
)

pytestmark = pytest.mark.django_db

STEPS = steps_of(definition())


def address(study: Study, step: str = "", **choice: str) -> str:
    query = "&".join(f"{name}={value}" for name, value in {"step": step, **choice}.items() if value)
    return f"{reverse('surveys:preview', args=[study.slug])}?{query}"


def text_of(response: HttpResponse) -> str:
    return " ".join(page_of(response).text_content().split())


def test_a_walk_through_every_page_arm_subsample_and_language_stores_nothing() -> None:
    study = draft_study()
    client = logged_in(study.owner)
    before = everything_stored()
    for arm, subsample, language in product(("slides", "instructor"), ("1", "2"), ("en", "de")):
        here = address(study, STEPS[0], arm=arm, subsample=subsample, language=language)
        for step in STEPS:
            page = client.get(here)
            assert f"step={step}&arm={arm}&subsample={subsample}&language={language}" in here
            assert (page.status_code, page["Cache-Control"]) == (200, "no-store")
            forms = page_of(page).xpath("//main//form[@method='post']")
            assert [form.get("action") for form in forms] == ([] if step == "finished" else [here])
            if step != "finished":
                sent = client.post(here, {"step": step, **ANSWERS[step], "language": language})
                assert sent.status_code == 303
                here = sent["Location"]
    assert everything_stored() == before


def test_every_page_says_that_it_is_a_preview_and_leads_on_and_back() -> None:
    study = draft_study()
    client = logged_in(study.owner)
    for index, step in enumerate((*STEPS, "declined", "privacy")):
        page = client.get(address(study, step))
        assert "Preview – nothing is stored" in text_of(page)
        before, after = (page_of(page).xpath(f"//a[@rel='{way}']/@href") for way in ("prev", "next"))
        assert [f"step={STEPS[index - 1]}&" in one for one in before] == ([True] if 0 < index < len(STEPS) else [])
        assert [f"step={STEPS[index + 1]}&" in one for one in after] == ([True] if index < len(STEPS) - 1 else [])


def test_the_preview_shows_what_participants_of_the_arm_and_subsample_will_see() -> None:
    """But for addresses and what is personal, the words are those of the journey."""
    study = study_in(StudyStatus.RECRUITING)
    staff = logged_in(study.owner)
    for step in ("background", "video", "quiz", "die", "questions"):
        somebody = Client()
        real = walk(somebody, study, until=step)
        taker = participant_of(somebody)
        shown = staff.get(address(study, step, arm=taker.arm, subsample=taker.subsample, language="en"))
        assert heading(shown) == heading(real)
        for part in ("//form//legend", "//table[@data-die-key]//tr", "//main//form//button[@type='submit']"):
            words = [[" ".join(one.text_content().split()) for one in page_of(page).xpath(part)] for page in (shown, real)]
            assert words[0] == words[1], (step, part)


def test_a_draft_without_videos_can_be_seen_and_says_what_is_missing() -> None:
    study = draft_study()
    MediaFile.objects.filter(study=study, name__startswith="slides-only").delete()
    client = logged_in(study.owner)
    page = client.get(address(study, "video", arm="slides"))
    assert "A file of this arm has not been uploaded yet." in text_of(page)
    assert "slides-only.mp4" in text_of(page)
    assert not page_of(page).xpath("//video | //*[@data-lecture]")
    assert page_of(client.get(address(study, "video", arm="instructor"))).xpath("//video/source")
    assert "slides-only.mp4" in text_of(client.get(address(study)))


def test_the_drafts_lecture_plays_for_those_who_may_see_the_draft_and_for_nobody_else() -> None:
    study = draft_study()
    client = logged_in(study.owner)
    lecture = page_of(client.get(address(study, "video"))).xpath("//video/source/@src")[0]
    played: Any = client.get(lecture)
    assert played.status_code == 200
    with MediaFile.objects.get(pk=lecture.rstrip("/").rsplit("/", 1)[1]).file.open() as stored:
        assert b"".join(played) == stored.read()
    assert client.post(address(study, "video"), {"share": "0.5"}).status_code == 204
    assert logged_in(person(Role.INVESTIGATOR)).get(lecture).status_code == 404
    assert logged_in(person(Role.IRB_OFFICER)).get(lecture).status_code == 404
    assert Client().get(lecture).status_code == 302


def test_officers_see_what_was_submitted_and_not_what_is_being_written() -> None:
    study = study_in(StudyStatus.IN_REVIEW)
    officer = logged_in(person(Role.IRB_OFFICER))
    study = studies.take_back(study, actor=study.owner, reason="a new title")
    changed = document(title={"en": "Another title", "de": "Ein anderer Titel"})
    studies.change_definition(study, definition=definition(**changed), actor=study.owner)
    assert heading(logged_in(study.owner).get(address(study, "welcome"))) == "Another title"
    assert heading(officer.get(address(study, "welcome"))) == document()["title"]["en"]
    lecture = page_of(officer.get(address(study, "video"))).xpath("//video/source/@src")[0]
    played: Any = officer.get(lecture)
    assert played.status_code == 200
    assert b"".join(played)


def test_an_amendment_is_seen_by_who_writes_it_and_once_submitted_by_officers() -> None:
    study, officer = recruiting_study(), logged_in(person(Role.IRB_OFFICER))
    owner = logged_in(study.owner)
    first = (heading(officer.get(address(study, "welcome"))), "1")

    def seen() -> list[tuple[str, str]]:
        consents = [page_of(one.get(address(study, "consent"))) for one in (owner, officer)]
        versions = [page.xpath("//input[@name='version']/@value")[0] for page in consents]
        return [(heading(one.get(address(study, "welcome"))), version) for one, version in zip((owner, officer), versions, strict=True)]

    assert seen() == [first, first]
    studies.change_definition(study, definition=definition(title="Amended"), actor=study.owner)
    assert seen() == [("Amended", "2"), first]
    studies.submit_for_review(study, actor=study.owner)
    assert seen() == [("Amended", "2"), ("Amended", "2")]
    studies.take_back(study, actor=study.owner)
    assert seen()[1] == first


def test_saying_no_leads_to_the_page_for_it_and_another_language_is_kept() -> None:
    study = draft_study()
    client = logged_in(study.owner)
    said: Any = client.post(address(study, "consent"), {"step": "consent", "choice": "decline"}, follow=True)
    assert heading(said) == "Thank you for considering it"
    german: Any = client.post(address(study, "welcome"), {"step": "welcome", "language": "de"}, follow=True)
    assert page_of(german).get("lang") == "de"


def test_a_number_outside_its_range_is_refused_as_it_will_be() -> None:
    study = draft_study()
    client, here = logged_in(study.owner), address(study, "background")
    sent = client.post(here, {"step": "background", "year": "99", "gender": "woman"})
    assert sent.status_code == 422
    page = page_of(sent)
    assert "Enter a number from 1 to 8, not 99." in page.text_content()
    assert page.xpath('//input[@name="year"]/@value') == ["99"]
    assert len(page.xpath("//main//fieldset")) == len(page_of(client.get(here)).xpath("//main//fieldset"))
    assert client.post(here, {"step": "background", "year": "8"}).status_code == 303


def test_the_practice_die_rolls_afresh_and_no_page_tells_whose_it_is() -> None:
    study = draft_study()
    client = logged_in(study.owner)
    keys = {page_of(client.get(address(study, "questions"))).xpath("//form/@data-roll-key")[0] for _ in range(3)}
    assert len(keys) == 3
    assert client.get(address(study, "no-such-page")).status_code == 404


def test_the_pages_of_people_who_are_asked_directly_can_be_seen_too() -> None:
    study = draft_study(direct_group={"share": 0.2, "consent": "May we?"})
    client = logged_in(study.owner)
    choice = page_of(client.get(address(study))).xpath("//select[@name='step']/option/@value")
    assert {"direct_consent", "direct_questions"} < set(choice)
    before = everything_stored()
    for step, title in (("direct_consent", "May we ask you directly?"), ("direct_questions", "Asked directly")):
        page = client.get(address(study, step))
        assert heading(page) == title
        sent = client.post(address(study, step), {"step": step, **ANSWERS[step]})
        assert sent.status_code == 303
        assert client.get(sent["Location"]).status_code == 200
    assert everything_stored() == before
    plain = draft_study(slug="plain", owner=study.owner)
    assert client.get(address(plain, "direct_questions")).status_code == 404
