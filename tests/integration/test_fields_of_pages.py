"""Fields are rendered and compressed one by one, and put together for each person in their order."""

import re

import pytest
from django.test import Client
from django.test.signals import template_rendered
from django.utils import translation

from surveys.journey import step_views
from surveys.journey.pages import own_page
from surveys.journey.visitors import participant_of
from surveys.models import Study
from tests.factories import address_of, document, recruiting_study, walk
from tests.integration.test_circle import CIRCLE
from tests.integration.test_question_kinds import BEGAN, CHECK, HABITS, NOTE, OPTIONS, STRESS

pytestmark = pytest.mark.django_db
COURSES = {
    "kind": "group",
    "name": "courses",
    "text": "Your courses?",
    "at_most": 2,
    "fields": [
        {"kind": "single_choice", "name": "course", "text": "Course", "role": "auxiliary", "options": OPTIONS},
        {"kind": "number", "name": "grade", "text": "Grade", "role": "auxiliary", "minimum": 1, "maximum": 6, "whole": False},
    ],
}
SPORTS = {"kind": "multiple_choice", "name": "sports", "text": "Sports? <b>&amp;</b>", "role": "auxiliary", "options": OPTIONS}
SCALE = {
    "kind": "ordinal_scale",
    "name": "mood",
    "text": "Mood?",
    "role": "auxiliary",
    "options": OPTIONS,
}
CHOICE = {"kind": "single_choice", "name": "often", "text": "How often?", "role": "auxiliary", "options": OPTIONS, "shuffle": True}
BACKGROUND = [CHECK, STRESS, BEGAN, {**HABITS, "shuffle": True, "show_if": []}, NOTE, COURSES, SPORTS, SCALE, CHOICE, CIRCLE]
NOTHING: dict[str, dict[str, str]] = {"background": {}}
TOKENS = re.compile(r'(name="csrfmiddlewaretoken" value=")\w+')


def study_of(*, shuffle: bool) -> Study:
    quiz = [{**item, "shuffle": shuffle} for item in document()["quiz"]]
    background = [{**one, "shuffle": shuffle} if "shuffle" in one else one for one in BACKGROUND]
    return recruiting_study(background=background, quiz=quiz, random_order=["background", "quiz"])


def text(content: bytes) -> str:
    return TOKENS.sub(r"\1", content.decode())


@pytest.mark.parametrize("step", ["background", "quiz"])
def test_a_page_put_together_of_its_fields_is_the_page_rendered_at_once(step: str) -> None:
    study = study_of(shuffle=True)
    for _person in range(4):
        walk(client := Client(), study, until=step, answers=NOTHING)
        shown = client.get(address_of(study))
        token, participant = participant_of(shown.wsgi_request, study.slug)
        assert participant is not None
        person = step_views.person_on_the_way(shown.wsgi_request, token, participant)
        context = step_views.STEP_PAGES[step].context(person)
        with translation.override(person.shown.spoken):
            whole = own_page(shown.wsgi_request, shown=person.shown, step=step, context=context)
        assert text(shown.content) == text(whole.content)


def test_another_order_of_the_same_fields_renders_nothing_anew() -> None:
    """Each person has an order of their own, out of more than any cache could keep."""
    study, rendered = study_of(shuffle=False), []

    def note(**_sent: object) -> None:
        rendered.append(1)

    walk(Client(), study, until="quiz", answers=NOTHING)
    template_rendered.connect(note)
    try:
        for _person in range(6):
            walk(Client(), study, until="quiz", answers=NOTHING)
    finally:
        template_rendered.disconnect(note)
    assert rendered == []
