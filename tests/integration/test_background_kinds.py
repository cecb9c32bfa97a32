"""Scales and short texts among the background questions: built, answered, read after the end, counted or never released."""

from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from audit.models import Entry
from candor.packages.archive import files_in
from surveys import actions
from surveys.bots.population import Population
from surveys.journey import services as participation
from surveys.journey.fields import field_view
from surveys.journey.forms import errors_of, read_fields
from surveys.models import MemberRole, Participant, Study, StudyMember, StudyStatus
from surveys.questions.background import OrdinalScale, ShortText
from surveys.studies import services as studies
from surveys.studies.examples import SAMPLE
from surveys.study_file import read_study_file
from surveys.tokens import hash_of_withdrawal_code
from surveys.words import selectors
from tests.factories import document, draft_study, logged_in, page_of, participant_of, person, recruiting_study, study_in, walk
from tests.finished_people import TELLING_DIE, add_finished_people, count_everybody
from tests.integration.test_builder import address, definition_of, errors, inputs
from tests.releases import built_release, package_of
from tests.unit.surveys.journey.test_forms import typed

pytestmark = pytest.mark.django_db
GRADES = [{"name": name, "text": name.upper(), "score": score} for name, score in (("a", 4), ("b", 3), ("f", 0))]
SCALE = {
    "kind": "ordinal_scale",
    "name": "grade",
    "text": {"en": "Last grade?", "de": "Letzte Note?"},
    "role": "sensitive",
    "options": GRADES,
}
WORDS = {"kind": "short_text", "name": "subject", "text": {"en": "Which subject?", "de": "Welches Fach?"}, "longest": 30}
WRITTEN = "calligraphy-of-one-person"


def scores_of(study: Study) -> dict[str, float]:
    question = definition_of(study).background[-1]
    assert isinstance(question, OrdinalScale)
    return question.scores


def test_a_scale_and_words_are_built_and_stay_as_they_are() -> None:
    study = draft_study(languages=["en"], background=[])
    browser = logged_in(study.owner)
    page = reverse("surveys:build_add", args=[study.slug, "background"])
    sent = {"text.en": "Which grade?", "options.en": "A\nB\nC", "role": "sensitive", "kind": "ordinal_scale", "scores": "4; 3,7 2"}
    loaded = {"loaded": inputs(browser.get(page))["loaded"]}
    assert browser.post(page, sent | loaded).status_code == 302
    assert scores_of(study) == {"a": 4, "b": 3.7, "c": 2}
    edit = address("build_item", study, "background", "which_grade")
    assert inputs(browser.get(edit))["scores"] == "4 3.7 2"
    assert browser.post(edit, inputs(browser.get(edit)) | {"scores": ""}).status_code == 302
    assert scores_of(study) == {"a": 1, "b": 2, "c": 3}
    for scores, complaint in (
        ("1 2", "3 options and 2 scores"),
        ("1 3 2", "must rise, or fall"),
        ("1 x 2", "“x” is none"),
        ("1 2 1e300", "is none"),
    ):
        response = browser.post(edit, inputs(browser.get(edit)) | {"scores": scores})
        assert complaint in errors(response)["scores"]
        assert inputs(response)["scores"] == scores, "nothing that was typed is lost"

    words = {"text.en": "Which subject?", "kind": "short_text", "longest": "201", "loaded": inputs(browser.get(page))["loaded"]}
    assert "from 1 to 200" in errors(browser.post(page, words))["longest"]
    assert browser.post(page, words | {"longest": "30"}).status_code == 302
    assert definition_of(study).background[-1] == ShortText(kind="short_text", name="which_subject", text="Which subject?", longest=30)
    listed = page_of(browser.get(address("build_background", study))).text_content()
    assert "A scale" in listed
    assert "A few words" in listed


@pytest.mark.parametrize(
    ("language", "said"), [("en", "At most 30 characters, and nothing that tells who you are."), ("de", "Höchstens 30 Zeichen")]
)
def test_the_page_says_who_reads_the_words_and_keeps_what_was_typed(client: Client, language: str, said: str) -> None:
    study = recruiting_study(background=[SCALE, WORDS])
    page = page_of(walk(client, study, until="background", answers={"welcome": {"language": language}}))
    field = page.get_element_by_id("subject")
    hint = page.get_element_by_id(field.get("aria-describedby").strip())
    assert said in hint.text_content()
    assert [radio.get("value") for radio in page.xpath("//input[@name='grade']")] == ["a", "b", "f", ""]
    where = reverse("surveys:journey", args=[study.slug])
    wrong = page_of(client.post(where, {"step": "background", "grade": "b", "subject": "ask me@uni.example"}))
    assert wrong.get_element_by_id("subject").get("value") == "ask me@uni.example"
    assert wrong.get_element_by_id("subject").get("aria-invalid") == "true"
    assert wrong.xpath("//input[@name='grade' and @value='b']/@checked")
    client.post(where, {"step": "background", "grade": "b", "subject": " Media  and arts "})
    assert participant_of(client).background == {"grade": "b", "subject": "Media and arts"}


def closed_with_words(*, writers: int) -> Study:
    """A closed study of forty people, of whom some wrote words."""
    background = [*document()["background"], SCALE, WORDS]
    study = recruiting_study(background=background, die=TELLING_DIE, allocation={"planned_participants": 60, "block_multiples": [1]})
    add_finished_people(study, 40)
    for number, one in enumerate(Participant.objects.filter(study=study)):
        one.background |= {"grade": "ab"[number % 2]} | ({"subject": f"subject {chr(122 - number)}"} if number < writers else {})
        one.save()
    count_everybody(study)
    return studies.close(study, actor=study.owner)


def lines_of(study: Study, browser: Client) -> list[str]:
    return [
        item.text_content()
        for item in page_of(browser.get(reverse("surveys:words", args=[study.slug]))).xpath("//main//ul[@class='written-words']/li")
    ]


def test_words_are_read_after_the_end_in_alphabetical_order_by_those_who_run_the_study() -> None:
    study = closed_with_words(writers=12)
    viewer = person(Role.ANALYST)
    StudyMember.objects.create(study=study, user=viewer, role=MemberRole.VIEWER)
    page, browser = reverse("surveys:words", args=[study.slug]), logged_in(study.owner)
    assert lines_of(study, browser) == [f"subject {letter}" for letter in "opqrstuvwxyz"]
    browser.get(page)
    assert Entry.objects.filter(action=actions.WORDS_READ).count() == 1, "that somebody read them stands in the log, once a day"
    assert logged_in(viewer).get(page).status_code == 404
    assert logged_in(person(Role.IRB_OFFICER)).get(page).status_code == 404
    assert page in browser.get(reverse("surveys:study", args=[study.slug])).content.decode()


def test_texts_that_differ_in_capitals_alone_are_one_line() -> None:
    study = closed_with_words(writers=12)
    for place, one in enumerate(Participant.objects.filter(study=study, background__has_key="subject")):
        one.background |= {"subject": ("biology", "Biology", "art")[place % 3]}
        one.save()
    assert lines_of(study, logged_in(study.owner)) == ["art × 4", "Biology × 8"]


def test_words_are_not_shown_while_the_study_runs_nor_those_of_few_people() -> None:
    running = recruiting_study(background=[WORDS])
    response = logged_in(running.owner).get(reverse("surveys:words", args=[running.slug]))
    assert "once the study is closed" in response.content.decode()
    assert not Entry.objects.filter(action=actions.WORDS_READ).exists()


def test_nine_writers_are_too_few() -> None:
    study = closed_with_words(writers=9)
    assert lines_of(study, logged_in(study.owner)) == []


def test_bots_do_not_fill_up_the_words_of_few_people() -> None:
    study = closed_with_words(writers=12)
    written = Participant.objects.filter(study=study, background__has_key="subject")
    written.filter(pk__in=list(written.values_list("pk", flat=True)[:9])).update(is_bot=True)
    assert lines_of(study, logged_in(study.owner)) == []
    Participant.objects.filter(study=study).update(is_bot=True)
    assert len(lines_of(study, logged_in(study.owner))) == 12, "where nobody but bots came, as in a demonstration"


def test_after_a_withdrawal_no_second_list_tells_what_was_taken_out() -> None:
    study = closed_with_words(writers=12)
    browser = logged_in(study.owner)
    assert len(lines_of(study, browser)) == 12
    gone = Participant.objects.filter(study=study, background__has_key="subject")[0]
    Participant.objects.filter(pk=gone.pk).update(withdrawal_hash=hash_of_withdrawal_code("0123-4567-89AB-CDEF"))
    assert participation.withdraw(study, code="0123-4567-89AB-CDEF")
    assert lines_of(study, browser) == []
    assert "is not shown any more" in browser.get(reverse("surveys:words", args=[study.slug])).content.decode()


def test_a_withdrawal_while_the_list_is_being_read_takes_nothing_out_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: a list that lacks one person's words, because they withdrew after it was found that nobody had."""
    study = closed_with_words(writers=12)
    gone = Participant.objects.filter(study=study, background__has_key="subject")[0]
    Participant.objects.filter(pk=gone.pk).update(withdrawal_hash=hash_of_withdrawal_code("0123-4567-89AB-CDEF"))
    looked = selectors.others_are_shown_than_at_the_end

    def and_then_somebody_does(study: Study) -> bool:
        found = looked(study)
        participation.withdraw(study, code="0123-4567-89AB-CDEF")
        return found

    monkeypatch.setattr(selectors, "others_are_shown_than_at_the_end", and_then_somebody_does)
    browser = logged_in(study.owner)
    assert len(lines_of(study, browser)) == 12, "as before they left"
    assert lines_of(study, browser) == []


def test_a_withdrawal_behind_which_nobody_can_be_held_back_closes_the_list_too() -> None:
    """The last one of a group: nobody else is alike."""
    study = closed_with_words(writers=12)
    gone = Participant.objects.filter(study=study, background__has_key="subject")[0]
    alike = Participant.objects.filter(study=study, subsample=gone.subsample, arm=gone.arm).exclude(pk=gone.pk)
    alike.update(subsample="1" if gone.subsample == "2" else "2")
    Participant.objects.filter(pk=gone.pk).update(withdrawal_hash=hash_of_withdrawal_code("0123-4567-89AB-CDEF"))
    assert participation.withdraw(study, code="0123-4567-89AB-CDEF")
    assert not Participant.objects.filter(study=study, counted=False).exists()
    assert lines_of(study, logged_in(study.owner)) == []


def test_after_the_deletion_of_operational_data_there_are_no_words() -> None:
    study = closed_with_words(writers=12)
    Study.objects.filter(pk=study.pk).update(forgotten_on=timezone.localdate())
    assert lines_of(study, logged_in(study.owner)) == []


def test_a_release_counts_the_scale_and_knows_nothing_of_the_words() -> None:
    study = closed_with_words(writers=12)
    one = Participant.objects.filter(study=study).first()
    assert one is not None
    one.background |= {"subject": WRITTEN}
    one.save()
    files = files_in(package_of(built_release(study)))
    assert WRITTEN not in repr(files), "never released"
    counts = files["background-counts.csv"].decode().splitlines()
    grades = dict(line.removeprefix("grade,").split(",") for line in counts if line.startswith("grade,"))
    assert list(grades) == ["a", "b", "f", "not answered"]
    assert sorted(grades.values()) == ["", "", "", "20"], "nobody chose f and all answered, so one more is hidden"
    assert not [line for line in counts if line.startswith("subject,")]
    assert "They are never released" in files["codebook.md"].decode()
    assert '"A"' in files["protocol.json"].decode()


def test_a_study_that_asks_for_words_alone_has_no_background_to_count() -> None:
    study = study_in(StudyStatus.CLOSED, background=[WORDS])
    assert definition_of(study).countable_background == ()


def test_the_packet_tells_officers_what_becomes_of_words_and_scores() -> None:
    study = study_in(StudyStatus.IN_REVIEW, background=[SCALE, WORDS])
    page = page_of(logged_in(person(Role.IRB_OFFICER)).get(reverse("surveys:protocol", args=[study.slug])))
    text = " ".join(page.text_content().split())
    assert "never released" in text
    assert "once the study is closed, short texts in alphabetical order" in text
    assert "Words are no part of any estimate, export or release" in text
    scored = [" ".join(item.text_content().split()) for item in page.xpath("//ol//ul/li")]
    assert [item for item in scored if item.endswith(")")] == ["A (4)", "B (3)", "F (0)"]


@pytest.mark.parametrize(
    ("background", "said"), [([SCALE, WORDS], "in one list, apart from everything else"), ([SCALE], "No page shows them")]
)
def test_the_public_page_says_who_reads_words(client: Client, background: list[Any], said: str) -> None:
    study = recruiting_study(background=background)
    assert said in client.get(reverse("surveys:transparency", args=[study.slug])).content.decode()


def test_bots_answer_every_kind_as_people_do() -> None:
    definition = read_study_file((SAMPLE / "recorded-lectures.yaml").read_text(encoding="utf-8"))
    population = Population.of(definition, prevalence=0.4, effect=0.2, cheater_proportion=0.1, behaviour="random")
    rng = np.random.default_rng(1)
    fields = tuple(field_view(question, "en") for question in definition.background)
    answered: dict[str, Any] = {}
    for _bot in range(40):
        bot = population.draw(rng)
        answers, filled = read_fields(fields, typed(**bot.answers))
        assert errors_of(filled) == []
        answered |= answers
        assert all(abs(value) < 4 for value in bot.standardised.values())
    assert set(answered) == {question.name for question in definition.background}
    assert {"year", "interest", "recorded"} <= set(population.model.background_effects)
