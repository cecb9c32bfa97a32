"""A study’s pages in German, from beginning to archive: no sentence stays English, and what a page sends is what it showed."""

import json
from typing import Any

import pytest
from django.urls import reverse

from accounts.models import Role
from surveys.drafting.parts import PARTS
from surveys.imports.exporting import PROGRAMS
from surveys.languages.offered import LANGUAGE_NAMES
from surveys.models import Study, StudyStatus
from surveys.studies.forms import WORDS
from tests.categories import PROBATION, with_frequency
from tests.contracts.test_question_kinds import EARLIER, EXAMPLES
from tests.factories import document, draft_study, logged_in, page_of, person, recruiting_study, study_in
from tests.integration.test_builder import definition_of, errors, inputs
from tests.integration.test_builder_history import save
from tests.integration.test_imports import CONTENT, sent, uploaded
from tests.integration.test_staff_language import german, must_be_german, numbers, sentences
from tests.integration.test_ways_in import WAYS

pytestmark = pytest.mark.django_db
LABELS = " ".join(program.label for program in PROGRAMS.values())
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
    parts = [reverse(part.route, args=[study.slug]) for part in PARTS]
    found = definition_of(study)
    items = [
        reverse("surveys:build_item", args=[study.slug, part, one.name])
        for part in ("background", "quiz", "questions")
        for one in getattr(found, part)
    ]
    more = [reverse("surveys:build_add", args=[study.slug, part]) for part in ("background", "quiz", "questions")]
    more += [f"{more[0]}?kind=group", f"{more[2]}?kind=categories"]
    more += [reverse("surveys:build_paste", args=[study.slug, part]) for part in ("background", "quiz", "questions")]
    plan = reverse("analysis:study_plan", args=[study.slug])
    plans = [plan, f"{plan}?effect=0", f"{plan}?n=72&margin=10", f"{plan}?n=x&cap=0.01&effect=900&prevalence=2e9", f"{plan}?cheaters=99"]
    return [reverse("surveys:build", args=[study.slug]), *plans, *parts, *items, *more, reverse("surveys:build_history", args=[study.slug])]


def content_of(study: Study) -> str:
    """The words of the study in one line, and the names of languages in themselves."""
    rows = " ".join(f"{LONG} {row['text']}" for row in EXAMPLES["matrix"]["rows"])
    return f"{json.dumps(study.definition, ensure_ascii=False)} {rows} {' '.join(LANGUAGE_NAMES.values())} Mechanical Turk DESIGN.json"


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


@pytest.mark.parametrize("status", list(StudyStatus))
def test_the_study_and_its_steps_are_german_as_a_whole(status: StudyStatus) -> None:
    study, officer = study_in(status), person(Role.IRB_OFFICER)
    for reader in (study.owner, *([] if status == StudyStatus.DRAFT else [officer])):
        browser = logged_in(reader)
        steps = [reverse("surveys:action", args=[study.slug, name]) for name in WORDS]
        open_now = [page for page in steps if browser.get(page).status_code == 200]
        must_be_german(reader, [reverse("surveys:study", args=[study.slug]), *open_now], content_of(study))


@pytest.mark.parametrize(("status", "words"), [(StudyStatus.IN_REVIEW, "In Prüfung"), (StudyStatus.RECRUITING, "Nimmt Teilnehmende auf")])
def test_the_name_of_a_state_keeps_its_capitals_in_a_german_sentence(status: StudyStatus, words: str) -> None:
    study = study_in(status)
    for route in ("build", "build_questions"):
        assert words in page_of(german(study.owner).get(reverse(f"surveys:{route}", args=[study.slug]))).xpath("string(//main)"), route


def test_the_beginnings_are_german_as_a_whole(study: Study) -> None:
    pages = [reverse("surveys:new_study"), reverse("surveys:import_study"), reverse("surveys:duplicate_study", args=[study.slug])]
    must_be_german(study.owner, pages, content_of(study))


def test_what_a_german_page_sends_is_what_it_showed() -> None:
    """Numbers have commas on it, in its inputs as in its sentences."""
    given = full_document()
    scored = next(one for one in given["background"] if one["kind"] == "ordinal_scale")
    scored["options"] = [{**option, "score": score} for option, score in zip(scored["options"], (-1.5, 0.25, 3.75), strict=False)]
    fine = {"kind": "slider", "name": "fine", "text": LONG, "role": "sensitive", "minimum": -0.0001, "maximum": 0.0001, "step": 0.00002}
    given["background"].append(fine)
    margins = {"margins": {"attention": {"kind": "equivalence", "points": 2.5}}}
    study = draft_study(**given, watching={"mode": "required", "share": 0.333}, analysis=margins)
    before, browser, sent, seen = definition_of(study), german(study.owner), 0, set[str]()
    for page in pages_of(study):
        shown = browser.get(page)
        if b'id="builder-form"' not in shown.content or "/add/" in page or "/paste/" in page:
            continue
        seen |= numbers(shown)
        answered = browser.post(page, inputs(shown))
        assert answered.status_code == 302, (page, answered.status_code)
        assert definition_of(study) == before, page
        sent += 1
    assert sent > 15
    assert {"-1,5 0,25 3,75", "-0,0001", "0,0001", "0,00002", "33,3", "2,5"} <= seen
    assert not [number for number in seen if "." in number]
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


def test_the_ways_in_are_german_as_a_whole() -> None:
    study = recruiting_study(entry={"ways": WAYS})
    pages = [reverse(f"surveys:{name}", args=[study.slug]) for name in ("ways_in", "letters")]
    addresses = " ".join(page_of(logged_in(study.owner).get(pages[0])).xpath("//*[@class='link-box']/text()"))
    must_be_german(study.owner, pages, content_of(study) + addresses)
    poster = reverse("surveys:poster", args=[study.slug])
    sheet = page_of(german(study.owner).get(f"{poster}?way=poster&language=en"))
    assert (sheet.get("lang"), sheet.xpath("//section[contains(@class, 'poster')]/@lang")) == ("de", ["en"])
    assert {"Aushang drucken", "Ein Blatt A4. Druck es aus oder speichere es im Druckfenster als PDF."} < sentences(sheet)
    nothing = draft_study(slug="panel-only", entry={"kind": "prolific", "completion_url": WAYS[3]["completion_url"]})
    pages = [reverse(f"surveys:{name}", args=[nothing.slug]) for name in ("letters", "poster")]
    must_be_german(nothing.owner, pages, content_of(nothing))


def test_questions_from_and_to_other_programs_are_german_as_a_whole(study: Study) -> None:
    pages = [reverse("surveys:build_import", args=[study.slug])]
    pages += [reverse("surveys:build_export", args=[study.slug, program]) for program in PROGRAMS]
    must_be_german(study.owner, pages, content_of(study) + LABELS)


@pytest.mark.parametrize("name", CONTENT)
def test_the_report_of_a_file_is_german_as_a_whole(name: str) -> None:
    """Besides the words of the file there is nothing that both languages say alike."""
    study = draft_study()
    english = sentences(page_of(uploaded(logged_in(study.owner), study, name)))
    browser = german(study.owner)
    shown = uploaded(browser, study, name)
    words = " ".join([content_of(study), CONTENT["canteen.redcap.csv"].decode(), CONTENT[name].decode(errors="replace"), LABELS])
    left = [text for text in sentences(page_of(shown)) & english if " ".join(text.split()) not in " ".join(words.split())]
    assert [text for text in left if {"the", "its", "it", "is", "was", "cannot", "here"} & set(text.lower().split())] == []
    refused = page_of(uploaded(browser, study, "a.json", b"[{]")).text_content()
    assert "nicht als JSON lesbar" in refused
    assert sent(browser, study, shown, "accept").status_code == 302
    assert "hinzugefügt" in page_of(browser.get(reverse("surveys:build_background", args=[study.slug]))).text_content()
