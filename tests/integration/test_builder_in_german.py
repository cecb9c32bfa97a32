"""The builder in German: no sentence stays English, and what a German page sends is what it showed."""

import json
from typing import Any

import pytest
from django.urls import reverse

from surveys.drafting.parts import PARTS
from surveys.languages.offered import LANGUAGE_NAMES
from surveys.models import Study, StudyStatus
from tests.categories import PROBATION, with_frequency
from tests.contracts.test_question_kinds import EARLIER, EXAMPLES
from tests.factories import document, draft_study, logged_in, study_in
from tests.integration.test_builder import definition_of, errors, inputs
from tests.integration.test_builder_history import save
from tests.integration.test_staff_language import german, must_be_german

pytestmark = pytest.mark.django_db
ENGLISH_YET = {"surveys:build_import", "analysis:build_die"}
"""Pages that are not there in German."""
LONG = "A question that nobody needs to answer"


def full_document() -> dict[str, Any]:
    background = [EARLIER, *({"kind": kind, "name": f"one-{kind}", "text": LONG, **more} for kind, more in EXAMPLES.items())]
    background[2]["show_if"] = [{"question": "asked", "any_of": ["low"]}]
    return {
        "background": json.loads(json.dumps(background).replace("one-", "one_")),
        "questions": [*with_frequency(), PROBATION],
        "random_order": ["quiz"],
    }


def pages_of(study: Study) -> list[str]:
    """Every page of the builder that is there in German, with each kind of question that can be added."""
    parts = [reverse(part.route, args=[study.slug]) for part in PARTS if part.route not in ENGLISH_YET]
    found = definition_of(study)
    items = [
        reverse("surveys:build_item", args=[study.slug, part, one.name])
        for part in ("background", "quiz", "questions")
        for one in getattr(found, part)
    ]
    more = [reverse("surveys:build_add", args=[study.slug, part]) for part in ("background", "quiz", "questions")]
    more += [f"{more[0]}?kind=group", f"{more[2]}?kind=categories"]
    more += [reverse("surveys:build_paste", args=[study.slug, part]) for part in ("background", "quiz", "questions")]
    return [reverse("surveys:build", args=[study.slug]), *parts, *items, *more, reverse("surveys:build_history", args=[study.slug])]


def content_of(study: Study) -> str:
    """The words of the study in one line, and the names of languages in themselves."""
    rows = " ".join(f"{LONG} {row['text']}" for row in EXAMPLES["matrix"]["rows"])
    return f"{json.dumps(study.definition, ensure_ascii=False)} {rows} {' '.join(LANGUAGE_NAMES.values())} Mechanical Turk"


@pytest.fixture
def study() -> Study:
    return draft_study(**full_document())


def test_every_page_is_german_as_a_whole(study: Study) -> None:
    must_be_german(study.owner, pages_of(study), content_of(study))


def test_a_survey_and_a_running_study_are_german_as_a_whole() -> None:
    survey = draft_study(arms=[{"name": "all", "label": "Everybody here"}], control="all", background=[], quiz=[], slug="a-survey")
    must_be_german(survey.owner, pages_of(survey), content_of(survey))
    running = study_in(StudyStatus.RECRUITING)
    must_be_german(running.owner, pages_of(running), content_of(running))


def test_the_beginnings_are_german_as_a_whole(study: Study) -> None:
    pages = [reverse("surveys:new_study"), reverse("surveys:import_study"), reverse("surveys:duplicate_study", args=[study.slug])]
    must_be_german(study.owner, pages, content_of(study))


def test_what_a_german_page_sends_is_what_it_showed(study: Study) -> None:
    """Numbers have commas on it."""
    before, browser, sent = definition_of(study), german(study.owner), 0
    for page in pages_of(study):
        shown = browser.get(page)
        if b'id="builder-form"' not in shown.content or "/add/" in page or "/paste/" in page:
            continue
        answered = browser.post(page, inputs(shown))
        assert answered.status_code == 302, (page, answered.status_code)
        assert definition_of(study) == before, page
        sent += 1
    assert sent > 15
    assert document()["languages"] == ["en", "de"]


def test_the_history_and_mistakes_are_german_as_a_whole(study: Study) -> None:
    before = content_of(study)
    save(logged_in(study.owner), study, "build_about", title__en="One title")
    history = reverse("surveys:build_history", args=[study.slug])
    study.refresh_from_db()
    must_be_german(
        study.owner,
        [history, f"{history}?version=1", f"{history}?version=2"],
        before + content_of(study) + "title › Deutsch title › English",
    )
    german_browser = german(study.owner)
    for route, wrong in (
        ("build_about", {"title.en": "", "title.de": "", "languages": []}),
        ("build_consent", {"consent.en": "", "consent.de": ""}),
        ("build_allocation", {"planned_participants": "many", "minimum_seconds": "-1"}),
        ("build_plans", {"months": "never"}),
    ):
        page = reverse(f"surveys:{route}", args=[study.slug])
        answered = german_browser.post(page, inputs(german_browser.get(page)) | wrong)
        assert answered.status_code == 422, route
        said = errors(answered).values()
        assert said, route
        english = {"Write", "Choose", "must", "the", "Expected"}
        assert not [one for one in said if english & set(one.split())], (route, list(said))
