"""Arms that show a text, or nothing: their page, their bots, and the pages of staff."""

import time
from typing import Any

import pytest
from django.urls import reverse

from accounts.models import Role
from surveys.bots.sending import arms_by_stimulus
from surveys.bots.walker import stimulus_on
from surveys.builder.services import put_arm_file
from surveys.media.services import MediaError
from surveys.models import Participant, Study, StudyStatus
from surveys.protocols import protocol_in_force
from surveys.studies.readiness import to_do
from surveys.study_file import define
from tests.factories import (
    LECTURES,
    address_of,
    definition,
    draft_study,
    heading,
    hidden_value,
    logged_in,
    page_of,
    person,
    recruiting_study,
    send,
    study_in,
)
from tests.integration.test_builder import address, definition_of, errors, inputs
from tests.stimuli import in_arm

pytestmark = pytest.mark.django_db
TEXT = {"en": "A **first** idea.\n\nAnother idea.", "de": "Ein **erster** Gedanke.\n\nNoch ein Gedanke."}
NOTHING: dict[str, Any] = {"name": "nothing", "label": {"en": "Nothing", "de": "Nichts"}}
READING: dict[str, Any] = {"name": "text", "label": {"en": "A text", "de": "Ein Text"}, "reading": {"text": TEXT, "seconds": 30}}
ARMS = {"arms": [NOTHING, READING], "control": "nothing"}


def later(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    now = time.time()
    monkeypatch.setattr("surveys.journey.visitors.time.time", lambda: now + seconds)


def test_a_text_takes_its_time_and_the_time_spent_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    study = recruiting_study(**ARMS)
    client = in_arm(study, "text")
    page = client.get(address_of(study))
    assert heading(page) == "Read the text"
    assert page_of(page).xpath('//*[@id="stimulus"]//strong/text()') == ["first"]
    assert "30 seconds" in page.content.decode()
    opened = hidden_value(page, "opened")
    later(monkeypatch, 20)
    again = send(client, study, "video", opened=opened)
    assert again.status_code == 422
    assert page_of(again).xpath('//a[@href="#stimulus"]'), "the error leads to the text"
    assert hidden_value(again, "opened") == opened, "twenty seconds of reading are not lost"
    later(monkeypatch, 31)
    assert send(client, study, "video", opened=opened).status_code == 303
    assert heading(client.get(address_of(study))) == "A short quiz"


@pytest.mark.parametrize("ticket", ["", "forged", "of somebody else"])
def test_a_ticket_that_was_not_given_opens_nothing(monkeypatch: pytest.MonkeyPatch, ticket: str) -> None:
    study = recruiting_study(**ARMS)
    if ticket == "of somebody else":
        ticket = hidden_value(in_arm(study, "text").get(address_of(study)), "opened")
    client = in_arm(study, "text")
    later(monkeypatch, 1000)
    again = send(client, study, "video", opened=ticket)
    assert again.status_code == 422
    assert hidden_value(again, "opened") not in ("", ticket), "the page brings a ticket that counts"


def test_an_arm_without_a_part_goes_on_at_once_and_the_steps_tell_nobody_their_arm() -> None:
    study = recruiting_study(**ARMS)
    client, reader = in_arm(study, "nothing"), in_arm(study, "text")
    page, other = client.get(address_of(study)), reader.get(address_of(study))
    assert heading(page) == "Go on"
    progress = '//*[@id="progress-label"]/text()'
    assert page_of(page).xpath(progress) == page_of(other).xpath(progress) == ["Step 4 of 8: The text"]
    for one in (page, other):
        assert not [link for link in page_of(one).xpath("//@href | //@src | //@action") if "nothing" in link or "text" in link]
    assert (
        client.post(reverse("surveys:progress", args=[study.slug]), {"share": "1", "opened": hidden_value(page, "opened")}).status_code
        == 204
    )
    assert set(Participant.objects.values_list("watched_tenths", flat=True)) == {0}, "nobody can watch what is no video"
    assert send(client, study, "video").status_code == 303
    assert "lecture you just saw" not in client.get(address_of(study)).content.decode()


def test_a_lecture_beside_a_text_is_watched_as_ever() -> None:
    slides = definition().model_dump(mode="json", exclude_defaults=True)["arms"][0]
    study = recruiting_study(arms=[slides, READING], control="slides", watching={"mode": "required", "share": 0.8})
    client = in_arm(study, "slides")
    page = client.get(address_of(study))
    assert page_of(page).xpath('//*[@id="progress-label"]/text()') == ["Step 4 of 8: Lecture or text"]
    assert page_of(page).xpath("//video/source")
    assert send(client, study, "video", opened=hidden_value(page, "opened")).status_code == 422


@pytest.mark.parametrize("arm", ["nothing", "text"])
@pytest.mark.parametrize("language", ["en", "de"])
def test_bots_know_their_arm_by_what_they_are_shown(arm: str, language: str) -> None:
    study = recruiting_study(**ARMS)
    page = in_arm(study, arm, language=language).get(address_of(study))
    assert arms_by_stimulus(protocol_in_force(study))[stimulus_on(page_of(page))] == {arm}


def test_the_builder_gives_an_arm_a_text_and_says_what_is_wrong() -> None:
    study = draft_study()
    browser, page = logged_in(study.owner), address("build_arm", study, "slides")
    sent = inputs(browser.get(page))
    assert sent["shows"] == "video"
    text = {"shows": "reading", "reading.text.en": TEXT["en"], "reading.text.de": TEXT["de"], "reading.seconds": "45"}
    assert set(errors(browser.post(page, sent | text))) == {"shows"}, "it has files"
    for name in definition_of(study).arm("slides").video.files():
        browser.post(page, {"action": "remove-file", "file": name})
    assert set(errors(browser.post(page, sent | text | {"reading.text.en": "", "reading.text.de": "", "reading.seconds": "many"}))) == {
        "reading.text.en",
        "reading.seconds",
    }
    sent = inputs(browser.get(page))
    assert browser.post(page, sent | text).status_code == 302
    arm = definition_of(study).arm("slides")
    assert (arm.kind, arm.video.sources) == ("reading", ())
    assert arm.reading
    assert (arm.reading.seconds, arm.reading.text.in_language("de")) == (45, TEXT["de"])
    sent = inputs(browser.get(page))
    assert (sent["shows"], sent["reading.text.en"], sent["reading.seconds"]) == ("reading", TEXT["en"], "45")
    with (LECTURES / "slides-only.webm").open("rb") as file, pytest.raises(MediaError, match="expected something that shows video"):
        put_arm_file(Study.objects.get(), arm="slides", kind="video", content=file, actor=study.owner)
    assert browser.post(page, sent | {"shows": "nothing"}).status_code == 302
    assert definition_of(study).arm("slides").kind == "nothing"
    assert browser.post(page, inputs(browser.get(page)) | {"shows": "video"}).status_code == 302
    assert definition_of(study).arm("slides").video.sources == ("slides.mp4",), "a video is awaited again"


def test_only_the_control_may_show_nothing() -> None:
    study = draft_study()
    browser, page = logged_in(study.owner), address("build_arm", study, "instructor")
    for name in definition_of(study).arm("instructor").video.files():
        browser.post(page, {"action": "remove-file", "file": name})
    assert set(errors(browser.post(page, inputs(browser.get(page)) | {"shows": "nothing"}))) == {"shows"}


def test_a_gap_in_a_text_leads_to_its_input() -> None:
    reading = {"text": {"en": "[[the text]]", "de": "Der Text."}}
    study = draft_study(arms=[NOTHING, READING | {"reading": reading}], control="nothing")
    (gap,) = [one for one in to_do(study) if "the text" in one.sentence]
    assert gap.address == address("build_arm", study, "text") + "#reading.text.en"
    assert page_of(logged_in(study.owner).get(gap.address.partition("#")[0])).xpath('//*[@id="reading.text.en"]')


def test_officers_read_the_text_and_the_file_keeps_it() -> None:
    study = study_in(StudyStatus.IN_REVIEW, **ARMS)
    assert define(study.definition).arms == definition(**ARMS).arms
    packet = logged_in(person(Role.IRB_OFFICER)).get(reverse("surveys:protocol_version", args=[study.slug, 1]))
    arms = page_of(packet).xpath('//section[@id="arms"]')[0]
    assert arms.xpath(".//blockquote//strong/text()") == ["first"]
    assert "people can go on after 30 seconds" in packet.content.decode()
    assert "Nothing is shown: people go straight on." in packet.content.decode()
