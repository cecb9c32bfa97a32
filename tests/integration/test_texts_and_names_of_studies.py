"""Texts and names that an author may give, and that pages of participants could take for something else."""

import pytest
from django.test import Client

from tests.factories import ANSWERS, STEPS, address_of, answer, document, page_of, participant_of, recruiting_study, send, walk

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", ["evil", "csrf_token", "fields", "resume_url", "whose", "withdrawal_code"])
def test_no_text_of_a_study_can_hold_a_secret_of_its_reader_or_break_a_page(client: Client, name: str) -> None:
    """Where pages had placeholders of two characters, a text with both broke every page, or showed the reader's link within it."""
    mark = f"before \ue000{name}\ue001 after"
    texts = document(title=mark, summary=mark, consent=mark, debrief=mark, contact=mark)
    texts["questions"] = [{"name": "attention", "text": mark, "hint": mark}]
    answers = {"questions": {"answer-attention": "1"}}
    own = recruiting_study(**{key: texts[key] for key in ("title", "summary", "consent", "debrief", "contact", "questions")})
    for step in STEPS:
        shown = client.get(address_of(own))
        assert shown.status_code == 200
        assert name in shown.content.decode().partition("before \ue000")[2][:40], step
        if step != "finished":
            assert send(client, own, step, **answers.get(step, ANSWERS[step])).status_code == 303


@pytest.mark.parametrize("name", ["step", "asked", "csrfmiddlewaretoken", "courses-0-grade"])
def test_a_question_may_have_the_name_of_an_input_that_its_page_has_already(client: Client, name: str) -> None:
    """Its answer was taken for the step, so that nobody could go on, or for an answer to another question."""
    asks = {"kind": "number", "name": name, "text": "How many?", "role": "auxiliary", "minimum": 0, "maximum": 100}
    own = recruiting_study(background=[*document()["background"], asks])
    (form,) = page_of(walk(client, own, until="background")).xpath('//form[.//input[@name="step"]]')
    (input_of_its_own,) = form.xpath('.//label[contains(., "How many?")]/@for')
    assert form.xpath("count(.//input[@name=$name])", name=input_of_its_own) == 1
    assert answer(client, own, "background", **{input_of_its_own: "7"}).status_code == 303
    person = participant_of(client)
    assert person.step == "video"
    assert person.background[name] == 7
    assert person.background["courses"] == [{"course": "probability", "grade": 85}]


def test_entries_of_two_groups_do_not_share_an_input(client: Client) -> None:
    """The first entry of the group `a` has an input `a-0-1-x`, as the second entry of the group `a-0` would; a question, too."""
    number: dict[str, object] = {"kind": "number", "role": "auxiliary", "minimum": 0, "maximum": 100}
    date = {"kind": "date", "role": "auxiliary", "earliest": "2020-01", "latest": "2025-12"}
    groups = [
        {
            "kind": "group",
            "name": "a",
            "text": "First",
            "at_most": 2,
            "fields": [number | {"name": "1-x", "text": "One"}, date | {"name": "1-y", "text": "When"}],
        },
        {
            "kind": "group",
            "name": "a-0",
            "text": "Second",
            "at_most": 2,
            "fields": [number | {"name": "x", "text": "Two"}, date | {"name": "y", "text": "Then"}],
        },
    ]
    own = recruiting_study(background=[*groups, number | {"name": "a-0-1-x", "text": "Three"}])
    (form,) = page_of(walk(client, own, until="background")).xpath('//form[.//input[@name="step"]]')
    names = form.xpath(".//input[not(@type='hidden')]/@name | .//select/@name")
    assert len(names) == len(set(names)) == 13
    one, two, three = (form.xpath(f'.//label[normalize-space()="{text}"]/@for') for text in ("One", "Two", "Three"))
    month, year = (next(name for name in names if name.startswith(f"a-0-1-y.{part}") and name.endswith(".")) for part in ("month", "year"))
    sent = {one[0]: "1", two[0]: "5", two[1]: "6", three[0]: "3", month: "04", year: "2021"}
    assert answer(client, own, "background", **sent).status_code == 303
    person = participant_of(client)
    assert person.background["a"] == [{"1-x": 1}]
    assert person.background["a-0"] == [{"x": 5}, {"x": 6, "y": "2021-04"}]
    assert person.background["a-0-1-x"] == 3
