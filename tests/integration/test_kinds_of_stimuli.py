"""Every kind of stimulus on the journey: what is shown, when it is enough, and that nothing but the page itself tells the arm."""

import re
import time
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from surveys.bots.sending import arms_by_stimulus, send_bots
from surveys.bots.walker import Ending, stimulus_on
from surveys.errors import TransitionError
from surveys.models import MediaFile, Participant, Step, Study
from surveys.protocols import protocol_in_force
from surveys.studies import services as studies
from tests.factories import address_of, heading, logged_in, page_of, participant_of, person, recruiting_study, send, token_of
from tests.integration.test_bots import population
from tests.stimuli import EVERY_ARM, OF_A_KIND, arms_with, hidden_fields, in_arm, way_back

pytestmark = pytest.mark.django_db
HEADINGS = {
    "video": "Watch the lecture",
    "reading": "Read the text",
    "image": "Look at the picture",
    "audio": "Listen to the recording",
    "task": "Do a task on another page",
}


def later(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    now = time.time()
    monkeypatch.setattr("surveys.journey.visitors.time.time", lambda: now + seconds)


@pytest.fixture
def everything() -> Study:
    return recruiting_study(**arms_with(*OF_A_KIND))


def test_nothing_but_the_page_itself_tells_the_arm(everything: Study) -> None:
    """Address, title, step and the lengths of the form's fields are the same for every kind; all other addresses are opaque."""
    pages, seen = {}, set()
    for arm in EVERY_ARM:
        client = in_arm(everything, arm["name"])
        pages[arm["label"]] = page = client.get(address_of(everything))
        assert page.status_code == 200
        assert {"title": page_of(page).xpath("string(//title)"), "step": page_of(page).xpath('string(//*[@id="progress-label"])')} == {
            "title": "What we show you – Candor",
            "step": "Step 4 of 8: What we show you",
        }
        fields = hidden_fields(page)
        seen.add(tuple((name, len(value)) for name, value in fields.items()))
        links = page_of(page).xpath("//main//@src | //main//@action | //main//@poster | //main//@data-progress-url")
        own = re.escape(address_of(everything))
        assert all(re.fullmatch(rf"{own}(progress/|media/[0-9a-f-]{{36}}/)?", link) for link in links), links
        words = re.sub(r"\s+", " ", page.content.decode())
        assert not re.search(r"\barm-|curve\.png|map\.png|talk\.", words)
    assert len(seen) == 1
    assert {kind: heading(pages[kind]) for kind in HEADINGS} == HEADINGS


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_kind_has_its_words_for_people_who_cannot_see_or_hear(everything: Study, language: str) -> None:
    said = {"reading": "A rising curve", "image": "A map of the town.", "audio": "Hello you."}
    said = said if language == "en" else {"reading": "Eine steigende Kurve", "image": "Ein Stadtplan.", "audio": "Hallo du."}
    for kind, words in said.items():
        page = page_of(in_arm(everything, f"arm-{kind}", language=language).get(address_of(everything)))
        found = page.xpath("//main//img/@alt") or [page.xpath("string(//main//details)")]
        assert words in " ".join(found[0].split())


def test_files_are_those_of_ones_own_arm_alone(everything: Study) -> None:
    reader, listener = in_arm(everything, "arm-reading"), in_arm(everything, "arm-audio")
    (picture,) = page_of(reader.get(address_of(everything))).xpath("//main//img/@src")
    (recording,) = page_of(listener.get(address_of(everything))).xpath("//audio/source/@src")
    for address, own, other in ((picture, reader, listener), (recording, listener, reader)):
        assert b"".join(own.get(address).streaming_content)
        assert other.get(address).status_code == Client().get(address).status_code == 404


@pytest.mark.parametrize("kind", ["reading", "image"])
def test_a_page_that_stands_still_takes_its_time(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    study = recruiting_study(**arms_with(kind))
    client = in_arm(study, f"arm-{kind}")
    fields = hidden_fields(client.get(address_of(study)))
    again = client.post(address_of(study), fields)
    assert again.status_code == 422
    assert page_of(again).xpath('//a[@href="#stimulus"]')
    assert page_of(again).xpath('//*[@id="stimulus"]//img'), "the page comes back whole"
    later(monkeypatch, 21)
    assert client.post(address_of(study), fields).status_code == 303
    assert participant_of(client).step == Step.QUIZ


def test_a_recording_is_heard_as_a_lecture_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    study = recruiting_study(**arms_with("audio"), watching={"mode": "required", "share": 0.8})
    client = in_arm(study, "arm-audio")
    page = client.get(address_of(study))
    assert page_of(page).xpath("//audio[@controls]/source/@type") == ["audio/mpeg"]
    fields, progress = hidden_fields(page), reverse("surveys:progress", args=[study.slug])
    assert client.post(progress, fields | {"share": "1"}).status_code == 204
    assert participant_of(client).watched_tenths == 0, "no more is believed than time allows"
    assert "listen to a little more" in client.post(address_of(study), fields).content.decode()
    later(monkeypatch, 20)
    client.post(progress, fields | {"share": "1"})
    assert participant_of(client).watched_tenths == 10
    assert client.post(address_of(study), fields).status_code == 303


def test_several_pages_come_in_order_each_with_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    study = recruiting_study(**arms_with("pages"), watching={"mode": "required", "share": 0.8})
    client = in_arm(study, "arm-pages")
    first = client.get(address_of(study))
    later(monkeypatch, 6)
    assert client.post(address_of(study), hidden_fields(first)).status_code == 303
    second = client.get(address_of(study))
    assert heading(second) == "Listen to the recording"
    assert page_of(second).xpath('string(//*[@id="progress-label"])') == page_of(first).xpath('string(//*[@id="progress-label"])')
    later(monkeypatch, 1000)
    # The first page sent again, from another tab or by a double click, goes nowhere; its ticket opens no other page.
    assert client.post(address_of(study), hidden_fields(first)).status_code == 303
    assert client.post(address_of(study), hidden_fields(second) | {"opened": hidden_fields(first)["opened"]}).status_code == 422
    for page in ("2", "7", "-1", "x"):
        assert client.post(address_of(study), hidden_fields(second) | {"page": page}).status_code == 303
    progress = reverse("surveys:progress", args=[study.slug])
    client.post(progress, hidden_fields(first) | {"share": "1"})
    someone = participant_of(client)
    assert (someone.step, someone.page, someone.watched_tenths) == (Step.VIDEO, 1, 0)
    # Somebody who goes on elsewhere finds the page, and the part that was heard.
    client.post(progress, hidden_fields(second) | {"share": "0.5"})
    elsewhere = Client()
    resumed = reverse("surveys:resume", args=[study.slug, token_of(client)])
    elsewhere.post(resumed)
    page = elsewhere.get(address_of(study))
    assert page_of(page).xpath("//@data-watched-share") == ["0.5"]
    assert elsewhere.post(address_of(study), hidden_fields(second)).status_code == 303
    assert heading(client.get(address_of(study))) == "Do a task on another page"
    assert participant_of(client).watched_tenths == 0


def test_a_page_that_is_left_costs_as_many_statements_as_ever(django_assert_num_queries: Any) -> None:
    study = recruiting_study()
    client = in_arm(study, study.definition["control"])
    client.get(address_of(study))
    with django_assert_num_queries(1):
        client.get(address_of(study))
    with django_assert_num_queries(2):  # the page's person; one row written
        send(client, study, "video")


@pytest.mark.parametrize("language", ["en", "de"])
def test_bots_know_each_arm_by_what_they_are_shown(everything: Study, language: str) -> None:
    known = arms_by_stimulus(protocol_in_force(everything))
    for arm in EVERY_ARM:
        page = in_arm(everything, arm["name"], language=language).get(address_of(everything))
        assert arm["name"] in known[stimulus_on(page_of(page))]


@pytest.mark.django_db(transaction=True)
def test_bots_do_every_kind_and_ask_no_other_site() -> None:
    study = recruiting_study(**arms_with(*OF_A_KIND), accepts_bots=True, watching={"mode": "required", "share": 0.8})
    endings = send_bots(study, population=population(study), n=14, workers=1, seed=3)
    assert endings == {Ending.FINISHED: 14}
    assert set(np.unique(Participant.objects.values_list("arm", flat=True))) == {arm["name"] for arm in EVERY_ARM}
    assert set(Participant.objects.values_list("page", flat=True)) == {0}


def test_staff_see_every_page_in_the_preview(everything: Study) -> None:
    browser, preview = logged_in(everything.owner), reverse("surveys:preview", args=[everything.slug])
    asked = {"step": "video", "arm": "arm-pages"}
    assert [heading(browser.get(preview, asked | {"page": page})) for page in ("0", "1", "2", "9", "x")] == [
        *("Read the text", "Listen to the recording", "Do a task on another page"),
        *("Read the text", "Read the text"),
    ]
    where = f"{preview}?step=video&arm=arm-pages&subsample=1&language=en&page="
    assert "page=2" in browser.post(f"{where}1", {"step": "video"})["Location"]
    assert "step=quiz" in browser.post(f"{where}2", {"step": "video"})["Location"]
    before = Participant.objects.count()
    assert way_back(browser.get(f"{where}2")) == preview
    assert Participant.objects.count() == before


def test_officers_see_every_page_and_what_another_site_learns(everything: Study) -> None:
    packet = page_of(logged_in(person(Role.IRB_OFFICER)).get(reverse("surveys:protocol_version", args=[everything.slug, 1])))
    (arms,) = packet.xpath('//section[@id="arms"]')
    words = " ".join(arms.text_content().split())
    for said in ("go on after 15 seconds.", "go on after 1 second.", "A map of the town.", "Hello you.", "Page 3", "Sort the cards."):
        assert said in words, said
    for said in ("task.example.org", "learns the Internet address", "who came when", "40 seconds after the page opened"):
        assert said in words, said
    assert {one.get("alt") for one in arms.xpath(".//img")} == {"A rising curve", "A map of the town."}
    assert "another site, task.example.org" in " ".join(packet.text_content().split())


@pytest.mark.parametrize(("kind", "name"), [("audio", "talk.mp3"), ("image", "map.png"), ("reading", "curve.png"), ("pages", "second.mp3")])
def test_no_amendment_exchanges_what_people_have_seen_or_heard(kind: str, name: str) -> None:
    """The words of an arm stay as they are; another recording or picture of the same name would make another arm of it."""
    study = recruiting_study(**arms_with(kind))
    seen = MediaFile.objects.get(study=study, name=name)
    MediaFile.objects.filter(pk=seen.pk).update(current=False)
    MediaFile.objects.create(study=study, name=name, media_type=seen.media_type, size=seen.size, sha256="0" * 64, file=seen.file.name)
    with pytest.raises(TransitionError, match=f"{name} is not the one that participants have seen"):
        studies.submit_for_review(study, actor=study.owner)
