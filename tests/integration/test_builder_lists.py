"""Lists of questions: pasted as a whole, and copied one by one."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from surveys.models import Study
from tests.factories import draft_study, page_of
from tests.integration.test_builder import address, definition_of, errors

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return draft_study()


def names(study: Study, part: str) -> list[str]:
    return [item.name for item in getattr(definition_of(study), part)]


def look(browser: Client, study: Study, part: str, text: str) -> HttpResponse:
    return browser.post(address("build_paste", study, part), {"pasted": text})


def seen(answer: HttpResponse) -> dict[str, Any]:
    """The button below the questions sends this."""
    (button,) = page_of(answer).xpath('//button[@name="add"]/@value')
    return {"add": button, "pasted": page_of(answer).xpath('//textarea[@name="pasted"]')[0].value}


@pytest.mark.parametrize(
    ("part", "text", "shown"),
    [
        ("background", "How often?\n- Never\n- Often\nWhy?", ["How often?", "Never", "Often", "Why?"]),
        ("quiz", "2 + 2?\n- 3\n- *4", ["2 + 2?", "3", "4 (right)"]),
        ("questions", "Did you copy?\nDid you pay somebody?", ["Did you copy?", "Did you pay somebody?"]),
    ],
)
def test_a_pasted_list_is_shown_before_it_is_added(browser: Client, study: Study, part: str, text: str, shown: list[str]) -> None:
    before = names(study, part)
    answer = look(browser, study, part, text)
    found = [
        " ".join(one.xpath("normalize-space(text())") + " " + one.xpath("normalize-space(strong)") for one in [item]).strip()
        for item in page_of(answer).xpath('//ol[@class="builder-pasted"]//li')
    ]
    assert found == shown
    assert names(study, part) == before, "nothing is stored yet"
    assert browser.post(address("build_paste", study, part), seen(answer)).status_code == 302
    assert names(study, part)[: len(before)] == before
    questions = [line for line in text.splitlines() if not line.startswith("-")]
    texts = [item.text.root["en"] for item in getattr(definition_of(study), part)[len(before) :]]
    assert texts == questions


def test_a_reader_of_german_hears_what_is_right_in_german(browser: Client, study: Study) -> None:
    text = {"pasted": "2 + 2?\n- 3\n- *4"}
    (right,) = page_of(browser.post(address("build_paste", study, "quiz"), text, headers={"accept-language": "de"})).xpath("//ol//strong")
    assert (right.text, right.get("lang")) == ("(richtig)", "de")


def test_what_changed_after_the_look_is_looked_at_again(browser: Client, study: Study) -> None:
    before = names(study, "questions")
    sent = seen(look(browser, study, "questions", "Did you copy?")) | {"pasted": "Did you copy?\nDid you lie?"}
    answer = browser.post(address("build_paste", study, "questions"), sent)
    assert answer.status_code == 200
    assert "Did you lie?" in page_of(answer).xpath('string(//ol[@class="builder-pasted"])')
    assert names(study, "questions") == before


def test_a_list_that_cannot_be_read_comes_back_with_the_lines_that_are_wrong(browser: Client, study: Study) -> None:
    answer = look(browser, study, "quiz", "2 + 2?\n- 3\n- 4")
    assert answer.status_code == 422
    assert errors(answer)["pasted"].startswith("Line 1: expected a star")
    assert page_of(answer).xpath('//textarea[@name="pasted"]')[0].value.endswith("- 4")
    assert browser.get(address("build_paste", study, "arms")).status_code == 404


@pytest.mark.parametrize(
    ("part", "name"), [("background", "gender"), ("background", "courses"), ("quiz", "control"), ("questions", "retention")]
)
def test_a_question_is_copied_right_below_itself(browser: Client, study: Study, part: str, name: str) -> None:
    before = names(study, part)
    page = address(f"build_{part}", study)
    answer = browser.post(page, {"duplicate": name}, follow=True)
    after = names(study, part)
    assert after == [*before[: before.index(name) + 1], f"{name}_2", *before[before.index(name) + 1 :]]
    place = after.index(f"{name}_2") + 1
    assert f"Copied: the copy is number {place} of {len(after)}." in page_of(answer).text_content()
    assert page_of(answer).xpath("//*[@autofocus]/@value") == [f"{name}_2"], "the keyboard is at the copy"
    original, copy = getattr(definition_of(study), part)[place - 2 : place]
    assert copy == original.model_copy(update={"name": f"{name}_2"})
    assert browser.post(page, {"duplicate": "gone"}).status_code == 409


def test_pages_of_an_arm_keep_the_focus_when_they_move(browser: Client, study: Study) -> None:
    page = address("build_arm", study, "slides")
    browser.post(page, {"action": "add-page", "kind": "reading"})
    shown = browser.get(page)
    first = page_of(shown).xpath('//button[@name="move"]/@value')[0]
    moved = browser.post(page, {"action": "move-page", "move": first}, follow=True)
    assert len(page_of(moved).xpath("//*[@autofocus]")) == 1
