"""Months, sliders, rows, conditions and attention checks on their way through a study: built, asked, stored, counted, released."""

from dataclasses import replace
from typing import Any

import httpx
import pytest
from django.test import Client
from django.urls import reverse

from analysis.sources.study_tables import schema_of
from analysis.sources.tables import Role
from candor.packages.archive import files_in
from surveys.batches.selectors import shown_counts
from surveys.bots.population import Habits, Population
from surveys.bots.walker import Ending
from surveys.counts import comers, exact_consent_counts, exact_counts
from surveys.models import CounterKind, Participant, ShardedCounter, Study
from surveys.protocols import protocol_in_force
from surveys.studies import services as studies
from tests.factories import document, draft_study, logged_in, page_of, participant_of, recruiting_study, send, walk
from tests.finished_people import TELLING_DIE, add_finished_people, count_everybody
from tests.integration.test_bots import browser, walker
from tests.integration.test_builder import address, definition_of, errors, inputs
from tests.releases import built_release, package_of

pytestmark = pytest.mark.django_db
fixtures = (browser,)
OPTIONS = [{"name": name, "text": name.title()} for name in ("never", "often", "always")]
CHECK = {
    "kind": "ordinal_scale",
    "name": "check",
    "text": "Choose Often here.",
    "role": "auxiliary",
    "options": OPTIONS,
    "expected": "often",
}
STRESS = {"kind": "slider", "name": "stress", "text": "How stressful?", "role": "quasi_identifier", "minimum": 0, "maximum": 10}
BEGAN = {"kind": "date", "name": "began", "text": "Since when?", "role": "quasi_identifier", "earliest": "2020-10", "latest": "2025-09"}
HABITS = {
    "kind": "matrix",
    "name": "habits",
    "text": "How often?",
    "role": "quasi_identifier",
    "options": OPTIONS,
    "rows": [{"name": "late", "text": "Late"}, {"name": "early", "text": "Early"}],
    "show_if": [{"question": "stress", "at_least": 6}],
}
NOTE = {"kind": "short_text", "name": "note", "text": "Why {stress|that}?", "show_if": [{"question": "habits.late", "any_of": ["always"]}]}
EVERYTHING = [STRESS, BEGAN, HABITS, NOTE]


def background_page(client: Client, **changes: Any) -> Study:
    study = recruiting_study(languages=["en"], background=EVERYTHING, **changes)
    walk(client, study, until="background")
    return study


def names_on(response: Any) -> set[str]:
    return set(page_of(response).xpath("//form//*[self::input or self::select][not(@type='hidden')]/@name"))


def sent_back(response: Any) -> dict[str, Any]:
    """Everything that the page carries, as a browser sends it."""
    found: dict[str, Any] = {}
    for name, value in page_of(response).forms[0].form_values():
        found.setdefault(name, []).append(value)
    return {name: values for name, values in found.items() if name not in ("step", "csrfmiddlewaretoken")}


def test_questions_follow_from_answers_page_by_page_and_are_stored_at_once(client: Client) -> None:
    study = background_page(client)
    first = {"stress": "8", "began.month": "10", "began.year": "2021", "note": "smuggled"}
    second = send(client, study, "background", **first)
    assert (second.status_code, names_on(second)) == (200, {"habits.late", "habits.early"})
    assert participant_of(client).background == {}
    third = send(client, study, "background", **sent_back(second) | {"habits.late": "always", "note": "smuggled"})
    assert (third.status_code, names_on(third)) == (200, {"note"})
    assert "Why 8?" in page_of(third).text_content()
    mistaken = send(client, study, "background", **sent_back(third) | {"note": "me@uni.example"})
    assert (mistaken.status_code, names_on(mistaken)) == (422, {"habits.late", "habits.early", "note"})
    assert send(client, study, "background", **sent_back(mistaken) | {"note": "exams <b>"}).status_code == 303
    assert participant_of(client).background == {"stress": 8, "began": "2021-10", "habits.late": "always", "note": "exams <b>"}


def test_nobody_stores_an_answer_to_a_question_that_was_not_asked(client: Client) -> None:
    """Also not somebody who says that all pages were shown."""
    study = background_page(client)
    forged = {"stress": "5", "habits.late": "always", "note": "x", "asked": ["habits", "note"], "habits.unknown": "never"}
    assert send(client, study, "background", **forged).status_code == 303
    assert participant_of(client).background == {"stress": 5}


@pytest.mark.parametrize(
    ("sent", "complaint"),
    [
        ({"stress": "11"}, "from 0 to 10"),
        ({"stress": "2.5"}, "whole number"),
        ({"began.month": "10"}, "Choose the month and the year"),
        ({"began.month": "13", "began.year": "2021"}, "Choose one from the list"),
        ({"began.month": "09", "began.year": "2019"}, "Choose one from the list"),
    ],
)
def test_a_mistake_comes_back_with_what_was_expected(client: Client, sent: dict[str, str], complaint: str) -> None:
    study = background_page(client)
    response = send(client, study, "background", **sent)
    assert response.status_code == 422
    assert complaint in page_of(response).xpath("string(//*[contains(@class, 'error-summary')])")
    assert participant_of(client).background == {}


def test_a_month_of_the_first_year_before_the_earliest_is_a_mistake(client: Client) -> None:
    study = background_page(client)
    response = send(client, study, "background", **{"began.month": "03", "began.year": "2020"})
    assert response.status_code == 422
    assert "2020-10" in page_of(response).text_content()


def test_everybody_has_an_order_of_their_own_that_stays(client: Client) -> None:
    background = [{**STRESS, "name": f"s{number}", "text": f"S {number}?"} for number in range(12)]
    study = recruiting_study(languages=["en"], background=background, random_order=["background"])
    where = reverse("surveys:journey", args=[study.slug])
    seen = []
    for _person in range(2):
        browser = Client()
        walk(browser, study, until="background")
        pages = [page_of(browser.get(where)).xpath("//form//input[@type='text']/@name") for _visit in range(2)]
        assert pages[0] == pages[1]
        again = page_of(send(browser, study, "background", s3="77"))
        assert again.xpath("//form//input[@type='text']/@name") == pages[0], "with a mistake, too"
        seen.append(pages[0])
    assert sorted(seen[0]) == sorted(seen[1]) == sorted(question["name"] for question in background)
    assert seen[0] != seen[1], "12! orders"


def test_a_release_counts_months_by_year_and_rows_by_themselves() -> None:
    study = recruiting_study(
        languages=["en"],
        background=EVERYTHING,
        random_order=["background"],
        die=TELLING_DIE,
        allocation={"planned_participants": 60, "block_multiples": [1]},
    )
    add_finished_people(study, 40)
    for number, one in enumerate(Participant.objects.filter(study=study)):
        one.background = {"stress": 7, "began": f"202{1 + number % 2}-0{1 + number % 9}", "habits.late": "often", "note": "never released"}
        one.save()
    count_everybody(study)
    files = files_in(package_of(built_release(studies.close(study, actor=study.owner))))
    assert b"never released" not in b"".join(content for name, content in files.items() if name.endswith((".csv", ".json")))
    counts = files["background-counts.csv"].decode().splitlines()
    assert [line for line in counts if line.startswith("began,2021,")] == ["began,2021,20"] or ",202" in "".join(counts)
    assert not any("2021-0" in line for line in counts)
    assert "habits.late,often," in "\n".join(counts)
    codebook = files["codebook.md"].decode()
    assert "### `habits.late`" in codebook
    assert "`stress: >= 6`" in codebook


def test_bots_go_from_page_to_page_and_choose_what_is_expected(browser: httpx.Client) -> None:
    several = {"kind": "multiple_choice", "name": "tools", "text": "Which?", "role": "auxiliary", "options": OPTIONS}
    waits = {**HABITS, "show_if": [{"question": "stress", "at_least": 0}]}
    more = [{**STRESS, "name": f"more{number}", "text": "{stress|that}?"} for number in (1, 2)]
    background = [CHECK, several, STRESS, waits, *more, NOTE]
    study = recruiting_study(languages=["en"], accepts_bots=True, background=background, attention="exclude")
    crowd = Population.of(
        protocol_in_force(study).definition,
        prevalence=0.3,
        effect=0.0,
        cheater_proportion=0.0,
        behaviour="always_no",
        habits=Habits(declines=0, drops_out=0, leaves_blank=0, misunderstands=0),
    )
    bot = walker(study, crowd, seed=5, browser=browser)
    answers = {
        "check": "often",
        "tools": ["never", "always"],
        "stress": "7",
        "habits.late": "always",
        "more1": "1",
        "more2": "2",
        "note": "art",
    }
    bot.bot = replace(bot.bot, answers=answers)
    assert bot.walk() == Ending.FINISHED
    kept = Participant.objects.get(study=study).background
    assert kept == answers | {"stress": 7, "more1": 1, "more2": 2}
    bot = walker(study, crowd, seed=6, browser=browser)
    bot.bot = replace(bot.bot, answers=answers | {"check": "never"})
    assert bot.walk() == Ending.TURNED_AWAY
    assert Participant.objects.filter(study=study).count() == 1


def attentive_study(**changes: Any) -> Study:
    return recruiting_study(languages=["en"], background=[CHECK, STRESS], **changes)


def test_people_who_fail_an_attention_check_are_counted_and_stay(client: Client) -> None:
    study = attentive_study()
    walk(client, study, until="background")
    assert send(client, study, "background", check="never", stress="3").status_code == 303
    assert participant_of(client).background == {"check": "never", "stress": 3}
    other = Client()
    walk(other, study, until="background")
    assert send(other, study, "background", stress="3").status_code == 303, "leaving it out is no failure"
    assert exact_counts(study).attention_failed == 1
    assert exact_counts(study).consented == 2
    studies.close(study, actor=study.owner)
    shown = shown_counts(Study.objects.get(pk=study.pk))
    assert shown is not None
    assert (shown.attention_failed, shown.consented) == (0, 2), "in tens, after the end, too: it is a count of background answers"
    page = logged_in(study.owner).get(reverse("analysis:results", args=[study.slug])).content.decode()
    assert "0 people failed an attention check, counted in whole tens." in page


def test_where_the_protocol_says_so_they_are_told_deleted_and_counted(client: Client) -> None:
    study = attentive_study(attention="exclude")
    walk(client, study, until="background")
    token = client.cookies.output()
    response = send(client, study, "background", check="always", stress="3")
    assert response.status_code == 403
    assert "Everything you told was deleted" in page_of(response).text_content()
    assert not Participant.objects.filter(study=study).exists()
    assert token
    counts = exact_counts(study)
    assert (counts.attention_failed, counts.consented, counts.assigned, counts.withdrew) == (1, 1, 0, 0)
    assert comers(study) == counts.comers == 1
    assert [one.agreed for one in exact_consent_counts(study)] == [1]
    assert ShardedCounter.objects.get(study=study, kind=CounterKind.EXCLUDED).count == 1
    other = Client()
    walk(other, study, until="background")
    assert send(other, study, "background", check="often").status_code == 303
    assert exact_counts(study).assigned == 1


def test_the_builder_asks_what_is_expected_and_what_happens_then() -> None:
    study = draft_study(languages=["en"], background=[STRESS])
    browser = logged_in(study.owner)
    page, listed = address("build_add", study, "background"), address("build_background", study)
    sent = {"text.en": "Choose Often.", "options.en": "Never\nOften", "role": "auxiliary", "kind": "single_choice", "expected": "Sometimes"}
    loaded = {"loaded": inputs(browser.get(page))["loaded"]}
    assert "“Sometimes” is none" in errors(browser.post(page, sent | loaded))["expected"]
    assert browser.post(page, sent | loaded | {"expected": "Often", "show_if": "stress: 3 to 7"}).status_code == 302
    question = definition_of(study).background[-1]
    assert (question.expected, [one.line for one in question.show_if]) == ("often", ["stress: 3 to 7"])
    again = inputs(browser.get(address("build_item", study, "background", question.name)))
    assert (again["expected"], again["show_if"]) == ("Often", "stress: 3 to 7")
    for value in ("exclude", "count"):
        assert browser.post(listed, {"attention": value}).status_code == 302
        assert definition_of(study).attention == value
    for value, order in (("on", ("background",)), ("off", ())):
        assert browser.post(listed, {"chance": value}).status_code == 302
        assert definition_of(study).random_order == order
    refused = browser.post(listed, {"move": f"up:{question.name}"})
    assert "never looks forward" in refused.content.decode()
    removed = browser.post(
        address("build_item", study, "background", "stress"),
        {"remove": "1", "loaded": inputs(browser.get(address("build_item", study, "background", "stress")))["loaded"]},
        follow=True,
    )
    assert "never looks forward" in removed.content.decode()
    assert [one.name for one in definition_of(study).background] == ["stress", question.name]


def test_the_packet_says_who_sees_a_question_and_what_is_expected() -> None:
    study = recruiting_study(
        languages=["en"], background=[CHECK, *EVERYTHING], attention="exclude", random_order=["background", "quiz"], quiz=document()["quiz"]
    )
    text = " ".join(page_of(logged_in(study.owner).get(reverse("surveys:protocol", args=[study.slug]))).text_content().split())
    for words in (
        "the answer “Often” is expected",
        "told so and get no group",
        "stress: >= 6",
        "habits.late: always",
        "A slider from 0 to 10",
        "A month and its year, 2020 to 2025; no day",
        "Each of these rows is answered by one of",
        "An earlier answer of the same person stands in place of",
        "Everybody sees these questions in an order of their own",
        "Everybody sees these items in an order of their own",
        "Words are no part of any estimate",
    ):
        assert words in text, words


def test_a_quiz_follows_the_background_answers_and_is_skipped_where_nothing_is_left(client: Client) -> None:
    def item(name: str, text: str, least: int) -> dict[str, Any]:
        return {"name": name, "text": text, "options": OPTIONS, "answer": "often", "show_if": [{"question": "stress", "at_least": least}]}

    quiz = [item("rest", "You said {note|nothing}. Do people rest?", 6), item("sleep", "Do people sleep?", 9)]
    study = background_page(client, quiz=quiz)
    answers = {"stress": "8", "habits.late": "always", "note": "exams <b>", "asked": ["habits", "note"]}
    send(client, study, "background", **answers)
    page = walk(client, study, until="quiz", answers={"background": answers})
    assert (names_on(page), "You said exams <b>. Do people rest?" in page_of(page).text_content()) == ({"quiz-rest"}, True)
    assert send(client, study, "quiz", **{"quiz-rest": "often", "quiz-sleep": "often"}).status_code == 303
    assert (participant_of(client).quiz, participant_of(client).step) == ({"rest": "often"}, "die")

    calm = Client()
    walk(calm, study, until="background")
    send(calm, study, "background", stress="1")
    send(calm, study, "video")
    assert (participant_of(calm).quiz, participant_of(calm).step) == ({}, "die")
    columns = {column.name: column for column in schema_of(protocol_in_force(study).definition).columns}
    assert (columns["quiz.rest"].role, columns["quiz.rest"].right) == (Role.BACKGROUND, None), "nobody is wrong who was not asked"


def test_the_builder_keeps_conditions_of_the_quiz() -> None:
    study = draft_study(languages=["en"], background=EVERYTHING)
    browser, page = logged_in(study.owner), address("build_item", study, "quiz", "control")
    sent = inputs(browser.get(page))
    assert "stress: 0 to 10" in browser.get(page).content.decode()
    assert browser.post(page, sent | {"show_if": "stress: >= 3", "text.en": "And {stress|that}?"}).status_code == 302
    found = next(one for one in definition_of(study).quiz if one.name == "control")
    assert [one.line for one in found.show_if] == ["stress: >= 3"]
    preview = browser.get(f"{reverse('surveys:preview', args=[study.slug])}?step=quiz").content.decode()
    assert "And that?" in preview
    refused = browser.post(page, inputs(browser.get(page)) | {"show_if": "stress: >= 11"})
    assert "quiz: control would never be shown" in refused.content.decode()
