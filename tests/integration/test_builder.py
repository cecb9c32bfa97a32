"""The builder: every page edits one part of a draft, and nobody's work is lost."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from audit.models import Entry
from surveys.drafting.translations import in_languages
from surveys.models import Study, StudyStatus
from surveys.questions.parts import Text
from surveys.study_file import define, document_of
from tests.factories import draft_study, everything_stored, logged_in, page_of, study_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """A draft in one language."""
    study = draft_study()
    study.definition = document_of(in_languages(define(study.definition | {"languages": ["en"]}), ["en"]))
    study.save()
    return study


def address(page: str, study: Study, *more: str) -> str:
    return reverse(f"surveys:{page}", args=[study.slug, *more])


def inputs(response: HttpResponse, form: str = "builder-form") -> dict[str, Any]:
    """The data that a browser would send from the form as it stands."""
    found = page_of(response).xpath(f'//form[@id="{form}"]')[0]
    values = {name: found.fields[name] for name in found.fields if name}
    return {name: list(value) if isinstance(value, set) or hasattr(value, "remove") else value or "" for name, value in values.items()}


def definition_of(study: Study) -> Any:
    study.refresh_from_db()
    return define(study.definition)


def errors(response: HttpResponse) -> dict[str, str]:
    """The error summary: field → message."""
    links = page_of(response).xpath('//div[@class="error-summary"]//li/a')
    return {link.get("href").removeprefix("#"): link.text_content() for link in links}


@pytest.mark.parametrize("page", ["build_about", "build_ways", "build_consent", "build_debrief"])
def test_saving_a_page_as_it_is_changes_nothing(browser: Client, study: Study, page: str) -> None:
    before = definition_of(study)
    shown = browser.get(address(page, study))
    assert shown.status_code == 200
    assert browser.post(address(page, study), inputs(shown)).status_code == 302
    assert definition_of(study) == before


def test_about_is_changed_on_its_page(browser: Client, study: Study) -> None:
    page = address("build_about", study)
    sent = inputs(browser.get(page)) | {"title.en": "Lectures"}
    assert browser.post(page, sent).status_code == 302
    assert definition_of(study).title == Text("Lectures")
    assert study.title == "Lectures"
    assert Entry.objects.filter(action="study.changed", subject_id=str(study.pk)).count() == 1


def test_a_refused_form_comes_back_with_all_that_was_typed(browser: Client, study: Study) -> None:
    page, before = address("build_about", study), everything_stored()
    sent = inputs(browser.get(page)) | {"title.en": " ", "contact.en": "", "summary.en": "New words"}
    response = browser.post(page, sent)
    assert response.status_code == 422
    assert set(errors(response)) == {"title.en", "contact.en"}
    for name in errors(response):
        assert page_of(response).xpath(f'//*[@id="{name}"]'), "the summary leads to the field"
    assert inputs(response)["summary.en"] == "New words"
    after = everything_stored()
    assert {name for name in after if after[name] != before[name]} <= {"sessions.Session"}


def test_another_language_gives_every_text_a_gap_that_must_be_filled(browser: Client, study: Study) -> None:
    page = address("build_about", study)
    sent = inputs(browser.get(page)) | {"title.en": "Lectures", "languages": ["en", "fr"]}
    assert browser.post(page, sent).status_code == 302
    changed = definition_of(study)
    assert changed.languages == ("en", "fr")
    assert changed.title.root == {"en": "Lectures", "fr": "[[translate: Lectures]]"}
    assert "[[translate: " in changed.arms[0].label.root["fr"]
    left = browser.get(address("build", study)).content.decode()
    assert "About (Français): fill in “translate: Lectures”." in left
    sent = inputs(browser.get(page)) | {"title.fr": "Cours", "languages": ["fr"]}
    assert browser.post(page, sent).status_code == 302
    assert definition_of(study).title.root == "Cours"


def test_two_people_never_overwrite_each_other(browser: Client, study: Study) -> None:
    page = address("build_consent", study)
    mine, theirs = inputs(browser.get(page)), inputs(browser.get(page))
    about = inputs(browser.get(address("build_about", study)))
    assert browser.post(page, theirs | {"consent.en": "Their words."}).status_code == 302
    response = browser.post(page, mine | {"consent.en": "My words."})
    assert response.status_code == 409
    assert definition_of(study).consent == Text("Their words.")
    text = page_of(response).text_content()
    assert "Their words." in text
    assert "My words." in text
    assert inputs(response)["consent.en"] == "My words."
    assert browser.post(page, inputs(response)).status_code == 302, "take mine"
    assert definition_of(study).consent == Text("My words.")
    assert browser.post(address("build_about", study), about).status_code == 302, "another part is not in the way"


def test_the_preview_stands_beside_the_page_that_is_built(browser: Client, study: Study) -> None:
    shown = browser.get(address("build_arm", study, "instructor"))
    (frame,) = page_of(shown).xpath("//iframe/@src")
    assert "step=video" in frame
    assert "arm=instructor" in frame
    assert "frame-src 'self'" in shown["Content-Security-Policy"]
    framed = browser.get(frame)
    assert (framed.status_code, framed["X-Frame-Options"]) == (200, "SAMEORIGIN")
    last = framed.wsgi_request.get_full_path().replace("step=video", "step=questions")
    there = browser.post(last, {})["Location"]
    assert "framed=1" in browser.post(there, {})["Location"], "after the last page comes the first, not the choice of pages"
    assert not page_of(browser.get(address("build_plans", study))).xpath("//iframe"), "participants see nothing of it"


def test_a_frozen_protocol_can_be_read_only_until_a_new_version_is_made() -> None:
    study = study_in(StudyStatus.APPROVED)
    browser = logged_in(study.owner)
    for page in ("build_about", "build_consent"):
        shown = browser.get(address(page, study))
        assert page_of(shown).xpath('//form[@id="builder-form"]/fieldset[@disabled]')
        assert browser.post(address(page, study), inputs(shown)).status_code == 409
    overview = address("build", study)
    assert "Make a new version" in browser.get(overview).content.decode()
    assert browser.post(overview, {"reason": " "}).status_code == 422
    assert browser.post(overview, {"reason": "the consent is too long"}).status_code == 302
    study.refresh_from_db()
    assert study.status == StudyStatus.DRAFT
    assert Entry.objects.get(action="study.taken_back").details == {"reason": "the consent is too long"}


def test_a_running_study_can_be_amended_only_where_no_answer_depends_on_it() -> None:
    study = study_in(StudyStatus.RECRUITING)
    browser, in_force = logged_in(study.owner), study.protocol_id
    overview = browser.get(address("build", study)).content.decode()
    assert "amendment" in overview
    assert "Make a new version" not in overview
    assert "there is nothing to submit" in overview
    assert "submit it for review" not in overview
    page = address("build_consent", study)
    assert browser.post(page, inputs(browser.get(page)) | {"consent.en": "Better words."}).status_code == 302
    assert definition_of(study).consent.root["en"] == "Better words."
    assert "there is nothing to submit" not in browser.get(address("build", study)).content.decode()
    assert (study.status, study.protocol_id) == (StudyStatus.RECRUITING, in_force)
    page = address("build_about", study)
    assert browser.post(page, inputs(browser.get(page)) | {"languages": ["en"]}).status_code == 422
    page = address("build_item", study, "questions", "attention")
    assert page_of(browser.get(page)).xpath('//form[@id="builder-form"]/fieldset[@disabled]')
    assert browser.post(page, inputs(browser.get(page))).status_code == 409


def test_ways_in_are_added_named_and_taken_out_on_their_page(browser: Client, study: Study) -> None:
    page = address("build_ways", study)
    one = inputs(browser.get(page)) | {"ways.0.kind": "sona", "ways.0.completion_url": "https://sona.example/{identifier}"}
    assert browser.post(page, one).status_code == 302
    entry = definition_of(study).entry
    assert (entry.kind, entry.completion_url, entry.ways) == ("sona", "https://sona.example/{identifier}", ())
    two = inputs(browser.get(page)) | {"ways.0.name": "psychology", "ways.1.kind": "open", "ways.1.name": "poster", "listed": "on"}
    assert browser.post(page, two).status_code == 302
    entry = definition_of(study).entry
    assert [(way.name, way.kind, way.completion_url) for way in entry.ways] == [
        ("psychology", "sona", "https://sona.example/{identifier}"),
        ("poster", "open", None),
    ]
    assert entry.listed
    before = definition_of(study)
    assert browser.post(page, inputs(browser.get(page))).status_code == 302
    assert definition_of(study) == before
    assert browser.post(page, inputs(browser.get(page)) | {"ways.0.remove": "on"}).status_code == 302
    assert definition_of(study).entry.model_dump(exclude_defaults=True) == {"listed": True}


@pytest.mark.parametrize(
    ("typed", "wrong"),
    [
        ({"ways.1.kind": "open"}, {"ways.0.name", "ways.1.name"}),
        ({"ways.1.kind": "open", "ways.0.name": "a", "ways.1.name": "a"}, {"ways.0.name", "ways.1.name"}),
        ({"ways.0.name": "one", "ways.1.kind": "open", "ways.1.name": "My Poster!"}, {"ways.1.name"}),
        ({"ways.1.label": "Words alone"}, {"ways.0.name", "ways.1.kind", "ways.1.name"}),
        ({"ways.0.completion_url": "http://x", "ways.0.declined_url": "ftp://x"}, {"ways.0.completion_url", "ways.0.declined_url"}),
        ({"ways.0.kind": "sona", "ways.0.panel_study": "5f"}, {"ways.0.panel_study"}),
        ({"ways.0.kind": "codes", "listed": "on"}, {"listed"}),
        ({"ways.0.remove": "on"}, {"ways.0.kind"}),
    ],
)
def test_mistakes_in_ways_in_are_named_at_their_fields(browser: Client, study: Study, typed: dict[str, str], wrong: set[str]) -> None:
    page = address("build_ways", study)
    response = browser.post(page, inputs(browser.get(page)) | typed)
    assert (response.status_code, set(errors(response))) == (422, wrong)
