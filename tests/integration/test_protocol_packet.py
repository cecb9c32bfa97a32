"""The protocol packet: every text in every language; its statements about storage, access, deletion and publication are true."""

from typing import Any

import pytest
from django.urls import reverse
from django.utils.html import escape
from lxml import html

from accounts.models import Role, User
from surveys.models import PacketSection, Protocol, Study, StudyStatus
from surveys.questions.parts import texts_of
from surveys.review import services as reviews
from surveys.studies import services as studies
from surveys.study_file import define
from tests.factories import definition, document, logged_in, page_of, person, study_in

pytestmark = pytest.mark.django_db
DIRECT = {"share": 0.15, "consent": {"en": "May we ask without a die?", "de": "Dürfen wir ohne Würfel fragen?"}}


def packet_page(study: Study, **query: str) -> Any:
    return page_of(logged_in(person(Role.IRB_OFFICER)).get(reverse("surveys:protocol", args=[study.slug]), query))


def words(element: Any) -> str:
    return " ".join(element.text_content().split())


def section(page: Any, name: str) -> str:
    (found,) = page.xpath(f'//section[@id="{name}"]')
    return words(found)


def plain(markdown: str) -> list[str]:
    """The lines of a text without the marks of its headings, lists and emphasis."""
    lines = (line.lstrip("#- ").replace("**", "").replace("*", "") for line in markdown.splitlines())
    return [" ".join(line.split()) for line in lines if line.strip()]


def source(user: User, name: str, *arguments: Any) -> str:
    response = logged_in(user).get(reverse(f"surveys:{name}", args=arguments))
    assert response.status_code == 200
    return response.content.decode()


def test_the_packet_shows_everything_that_students_will_read_and_its_hash(officer: User) -> None:
    study = study_in(
        StudyStatus.IN_REVIEW, analysis_plan="We compare twice.", release_plan="Everything in May.", retention={"months_after_closing": 7}
    )
    shown = source(officer, "protocol", study.slug)
    protocol = Protocol.objects.get()
    asked = [question["text"] for part in ("background", "quiz", "questions") for question in protocol.definition[part]]
    files = [facts["sha256"] for facts in protocol.media.values()]
    for expected in (
        *asked,
        *files,
        protocol.sha256,
        "We compare twice.",
        "Everything in May.",
        "7 months after",
        "ε = 1.3863",
        "ε = 5.5452",
    ):
        text = expected["en"] if isinstance(expected, dict) else expected
        assert escape(text) in shown, text
    assert "Draft" not in shown


def test_a_draft_has_a_packet_for_those_who_write_it_and_officers_see_what_was_submitted(officer: User) -> None:
    study = reviews.ask_for_changes(study_in(StudyStatus.IN_REVIEW), actor=officer, reason="Shorter.")
    study = studies.change_definition(study, definition=definition(consent="## A text that was written anew"), actor=study.owner)
    draft, submitted = source(study.owner, "protocol", study.slug), source(officer, "protocol", study.slug)
    assert "as version 2 would be. Nobody has approved it." in draft
    assert "A text that was written anew" in draft
    assert "A text that was written anew" not in submitted
    assert Protocol.objects.count() == 1


def test_changes_are_shown_word_by_word_against_the_last_reviewed_version(officer: User) -> None:
    study = reviews.ask_for_changes(study_in(StudyStatus.IN_REVIEW, contact="ask Ada at once"), actor=officer, reason="Somebody else.")
    study = studies.change_definition(study, definition=definition(contact="ask Bob at once", minimum_seconds=9), actor=study.owner)
    study = studies.submit_for_review(study, actor=study.owner)
    shown = source(officer, "protocol_changes", study.slug, 2)
    assert "ask <del>Ada </del><ins>Bob </ins>at once" in shown
    assert "<del>0</del> <ins>9</ins>" in shown
    assert "The page can be sent at once" in source(officer, "protocol_version", study.slug, 1)
    assert "before 9 seconds have passed" in source(officer, "protocol", study.slug)
    assert "There is nothing to compare with" in source(officer, "protocol_changes", study.slug, 1)


@pytest.mark.parametrize("language", ["en", "de"])
def test_one_packet_has_every_text_in_every_language(language: str) -> None:
    plan, release = {"en": "We look once.", "de": "Wir schauen einmal."}, {"en": "All in May.", "de": "Alles im Mai."}
    study = study_in(StudyStatus.IN_REVIEW, direct_group=DIRECT, analysis_plan=plan, release_plan=release)
    shown = words(packet_page(study, language=language))
    texts = [text for _path, text in texts_of(define(study.definition))]
    assert len(texts) > 40
    missing = [line for text in texts for code in ("en", "de") for line in plain(text.in_language(code)) if line not in shown]
    assert missing == []


def test_texts_in_another_language_stand_in_their_section_and_say_which_language_it_is() -> None:
    page = packet_page(study_in(StudyStatus.IN_REVIEW, direct_group=DIRECT))
    assert "Dürfen wir ohne Würfel fragen?" in section(page, "die")
    assert "background 1 › option 2" in section(page, "background")
    quiz = page.xpath('//section[@id="quiz"]//dt/text()')
    assert quiz[:2] == ["quiz 1", "quiz 1 › option 1"]
    assert {one.get("lang") for one in page.xpath('//dl[@class="packet-translation"]/dd')} == {"de"}
    only_english = packet_page(study_in(StudyStatus.IN_REVIEW, slug="english", languages=["en"]))
    assert not only_english.xpath('//dl[@class="packet-translation"]')


def test_direct_questions_are_mentioned_wherever_they_matter() -> None:
    asked = packet_page(study_in(StudyStatus.IN_REVIEW, direct_group=DIRECT))
    told = {
        "overview": "Some are asked without a die",
        "die": "Chance draws 15 % of the students",
        "allocation": "15 % of the places are drawn for students who are asked without a die",
        "stored": "What is answered without a die, and who agreed to that",
        "access": "what is true of those who rolled it",
        "analysis": "What is done with answers without a die?",
        "retention": "what was answered without a die",
        "release": "Answers given without a die are not among the published data.",
    }
    assert [name for name, said in told.items() if said not in section(asked, name)] == []
    assert "no ε holds" in section(asked, "die")
    assert "without a die" not in words(packet_page(study_in(StudyStatus.IN_REVIEW, slug="all-roll"))).replace(
        "as given, without a die", ""
    )


def test_the_exact_draw_is_one_click_away() -> None:
    arms = [arm | {"weight": weight} for arm, weight in zip(document()["arms"], (1, 2), strict=True)]
    study = study_in(StudyStatus.IN_REVIEW, arms=arms, allocation={"planned_participants": 48, "block_multiples": [1, 3]})
    said = section(packet_page(study), "allocation")
    assert "subsample 1: 1, subsample 2: 1" in said
    assert "Slides only: 1, Slides with the instructor: 2" in said
    assert "subsamples 2, 6; groups within a subsample 3, 9" in said
    assert "Places on the first list: 48" in said


@pytest.mark.parametrize(("months", "said"), [(0, "On the day after the study is closed"), (1, "1 month after"), (7, "7 months after")])
def test_the_day_of_deletion_is_told_in_words(months: int, said: str) -> None:
    study = study_in(StudyStatus.IN_REVIEW, retention={"months_after_closing": months})
    assert said in section(packet_page(study), "retention")


def test_only_what_a_study_has_is_said_to_be_stored_and_deleted() -> None:
    page = packet_page(study_in(StudyStatus.IN_REVIEW, background=None, quiz=None, entry={"kind": "codes"}))
    assert "background and quiz answers" not in section(page, "retention")
    assert "personal codes" in section(page, "retention")
    assert "Number at" not in section(page, "stored")
    assert "when they agree" in section(page, "allocation")


def test_numbers_are_written_as_people_write_them() -> None:
    said = section(packet_page(study_in(StudyStatus.IN_REVIEW)), "background")
    assert "A number from 1 to 8" in said


def test_changes_are_named_in_words_and_languages() -> None:
    officer = person(Role.IRB_OFFICER)
    study = reviews.ask_for_changes(study_in(StudyStatus.IN_REVIEW), actor=officer, reason="Leave out the gender.")
    changed = definition(background=document()["background"][1:], watching={"mode": "optional", "share": 1})
    study = studies.submit_for_review(studies.change_definition(study, definition=changed, actor=study.owner), actor=study.owner)
    page = logged_in(officer).get(reverse("surveys:protocol_changes", args=[study.slug, 2]))
    said = words(html.fromstring(page.content))
    assert "background › gender › text › Deutsch" in said
    assert "quasi identifier" in said
    assert "watching › share 0.8 1" in said
    assert "quasi_identifier" not in said


def test_every_section_of_the_packet_has_a_heading_and_can_be_commented_on() -> None:
    page = packet_page(study_in(StudyStatus.IN_REVIEW))
    assert page.xpath('//div[@class="packet"]/section/@id') == [one.value for one in PacketSection]
    assert page.xpath('//section//input[@name="section"]/@value') == [one.value for one in PacketSection]
