"""Templates: each is ready for review after three saved pages, in both languages, and asks in words of its own."""

import re

import pytest
from django.test import Client
from django.urls import resolve, reverse

from accounts.models import Role
from surveys.models import Study, StudyStatus
from surveys.privacy.limits import reason_is_needed
from surveys.studies.gallery import LANGUAGES, NAMES, templates
from surveys.studies.readiness import to_do
from surveys.studies.services import missing_before_review, submit_for_review
from surveys.study_file import define
from tests.factories import logged_in, page_of, person
from tests.integration.test_builder import inputs

pytestmark = pytest.mark.django_db
MOST_EDITS = 3


def filled(typed: str | list[str]) -> str | list[str]:
    if isinstance(typed, list):
        return typed
    return re.sub(r"\[\[(.*?)\]\]", "the people at example.org", typed)


def begin(browser: Client, name: str) -> Study:
    answer = browser.post(reverse("surveys:new_study"), {"example": name})
    assert answer.status_code == 302
    return Study.objects.get(slug=resolve(answer.headers["Location"]).kwargs["slug"])


@pytest.mark.parametrize("name", NAMES)
def test_three_saved_pages_make_a_template_ready_for_review(name: str) -> None:
    owner = person(Role.INVESTIGATOR)
    browser, edits = logged_in(owner), 0
    study = begin(browser, name)
    while gaps := [one for one in to_do(study) if one.needed]:
        page = gaps[0].address.partition("#")[0]
        assert browser.post(page, {key: filled(value) for key, value in inputs(browser.get(page)).items()}).status_code == 302
        study.refresh_from_db()
        edits += 1
        assert edits <= MOST_EDITS, [one.sentence for one in gaps]
    assert to_do(study) == [], "no advice is left either"
    assert missing_before_review(study) == []
    assert submit_for_review(study, actor=owner).status == StudyStatus.IN_REVIEW


@pytest.mark.parametrize("name", NAMES)
def test_a_template_is_sound(name: str) -> None:
    template = next(one for one in templates() if one.name == name)
    study = define(template.for_slug(name))
    assert study.languages == LANGUAGES
    assert study.design().identification.effect or study.is_survey
    designs = [study.design(), *(study.design_of(question) for question in study.category_questions)]
    assert all(design.identification.prevalence for design in designs) or not study.is_survey
    assert not study.files(), "nothing is left to upload"
    assert not reason_is_needed(study)
    assert study.warnings() == []
    assert re.search(r"\(\d{4}\)", template.source), "the source has a year"


def test_a_template_asks_how_often() -> None:
    template = next(one for one in templates() if one.name == "substance-use")
    (asked,) = define(template.for_slug("often")).category_questions
    assert (len(asked.categories), asked.ordered, asked.cheaters) == (4, True, asked.answers[0])


def test_the_page_offers_each_with_its_source() -> None:
    page = page_of(logged_in(person(Role.INVESTIGATOR)).get(reverse("surveys:new_study")))
    words = " ".join(page.text_content().split())
    for template in templates():
        assert template.about.in_language("en") in words
        assert template.source in words
        (button,) = page.xpath(f'//button[@name="example" and @value="{template.name}"]')
        assert page.get_element_by_id(button.get("aria-describedby")).text_content() == template.about.in_language("en")


def test_a_template_can_be_begun_twice() -> None:
    browser = logged_in(person(Role.INVESTIGATOR))
    assert {begin(browser, NAMES[0]).slug, begin(browser, NAMES[0]).slug} == {NAMES[0], f"{NAMES[0]}-2"}
