"""Texts and names that an author may give, and that pages of participants could take for something else."""

import pytest
from django.test import Client

from tests.factories import ANSWERS, STEPS, address_of, answer, document, page_of, participant_of, recruiting_study, send, walk

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", ["evil", "csrf_token", "fields", "resume_url", "roll_key", "withdrawal_code"])
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
