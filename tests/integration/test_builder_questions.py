"""Questions on the builder's pages: added, edited, put in order, removed; options keep their names."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from surveys.models import Study, StudyStatus
from tests.categories import FREQUENCY
from tests.factories import draft_study, logged_in, page_of, study_in
from tests.integration.test_builder import address, definition_of, errors, inputs

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """The sample, in English and German."""
    return draft_study()


def names(study: Study, part: str = "background") -> list[str]:
    return [item.name for item in getattr(definition_of(study), part)]


def add(browser: Client, study: Study, part: str, values: dict[str, Any], kind: str = "") -> HttpResponse:
    page = f"{address('build_add', study, part)}?kind={kind}"
    return browser.post(page, {"loaded": inputs(browser.get(page))["loaded"], **values})


@pytest.mark.parametrize("part", ["background", "quiz", "questions"])
def test_saving_a_question_as_it_is_changes_nothing(browser: Client, study: Study, part: str) -> None:
    before = definition_of(study)
    for name in names(study, part):
        page = address("build_item", study, part, name)
        response = browser.post(page, inputs(browser.get(page)))
        assert response.status_code == 302, errors(response)
    assert definition_of(study) == before


def test_a_question_with_options_is_added_with_names_from_its_texts(browser: Client, study: Study) -> None:
    values = {
        "kind": "single_choice",
        "text.en": "Where do you live?",
        "text.de": "Wo wohnst du?",
        "options.en": "With my parents\r\nAlone\r\n",
        "options.de": "Bei den Eltern\nAllein",
        "role": "quasi_identifier",
    }
    assert add(browser, study, "background", values).status_code == 302
    question = definition_of(study).background[-1]
    assert question.name == "where_do_you_live"
    assert [(option.name, option.text.root["de"]) for option in question.options] == [
        ("with_my_parents", "Bei den Eltern"),
        ("alone", "Allein"),
    ]


def test_names_of_options_are_kept_when_texts_are_polished_or_moved(browser: Client, study: Study) -> None:
    page = address("build_item", study, "background", "gender")
    sent = inputs(browser.get(page)) | {"options.en": "A man\nWoman\nAnother", "options.de": "Ein Mann\nFrau\nEin anderes"}
    assert browser.post(page, sent).status_code == 302
    question = next(item for item in definition_of(study).background if item.name == "gender")
    assert [option.name for option in question.options][1:] == ["woman", "other"]
    sent = inputs(browser.get(page)) | {"text.en": "Which gender have you?"}
    assert browser.post(page, sent).status_code == 302
    assert "gender" in names(study), "the question keeps its name"


def test_mistakes_stand_beside_their_fields(browser: Client, study: Study) -> None:
    response = add(browser, study, "background", {"kind": "number", "minimum": "9", "maximum": "3", "text.en": "", "options.en": "kept"})
    assert response.status_code == 422
    assert set(errors(response)) == {"text.en", "maximum", "role"}
    assert inputs(response)["minimum"] == "9"
    assert inputs(response)["options.en"] == "kept"
    sent = {"kind": "single_choice", "text.en": "Which?", "options.en": "One\nOne", "role": "auxiliary", "name": "gender"}
    assert errors(add(browser, study, "background", sent)) == {
        "name": "Another question is called gender already.",
        "options.en": "Two lines say the same.",
    }
    sent |= {"options.en": "One\nTwo", "options.de": "Eins", "name": ""}
    assert set(errors(add(browser, study, "background", sent))) == {"options.de"}


def test_a_group_is_edited_with_its_questions(browser: Client, study: Study) -> None:
    page = address("build_item", study, "background", "courses")
    sent = inputs(browser.get(page))
    sent |= {"fields.2.text.en": "Semester", "fields.2.kind": "number", "fields.2.minimum": "1", "fields.2.maximum": "20"}
    sent |= {"fields.2.role": "auxiliary", "fields.2.whole": "on", "fields.0.remove": "on"}
    response = browser.post(page, sent)
    assert response.status_code == 302, errors(response)
    group = next(item for item in definition_of(study).background if item.name == "courses")
    assert [field.name for field in group.fields] == ["grade", "semester"]


def test_a_quiz_item_says_which_option_is_right_by_a_star(browser: Client, study: Study) -> None:
    values = {"text.en": "1 + 1?", "text.de": "1 + 1?", "options.en": "1\n2\n3", "options.de": "1\n2\n3", "shuffle": "on"}
    assert set(errors(add(browser, study, "quiz", values))) == {"options.en"}
    assert add(browser, study, "quiz", values | {"options.en": "1\n* 2\n3"}).status_code == 302
    item = definition_of(study).quiz[-1]
    assert item.answer == "2"
    assert [option.text.root for option in item.options] == ["1", "2", "3"]


def test_questions_are_put_in_order_by_buttons_and_by_dragging(browser: Client, study: Study) -> None:
    page, before = address("build_background", study), names(study)
    response = browser.post(page, {"move": f"down:{before[0]}"}, follow=True)
    assert names(study) == [before[1], before[0], *before[2:]]
    assert page_of(response).xpath("//button[@autofocus]/@value") == [f"down:{before[0]}"], "the focus stays where the hand is"
    assert browser.post(page, {"order": " ".join(reversed(before))}).status_code == 302
    assert names(study) == before[::-1]
    response = browser.post(page, {"order": " ".join(before[1:])})
    assert response.status_code == 409, "a question that this list does not know is not lost"
    assert names(study) == before[::-1]


def test_a_question_is_removed_but_never_the_last_sensitive_one(browser: Client, study: Study) -> None:
    page = address("build_item", study, "background", "gender")
    assert browser.post(page, {"remove": "1", "loaded": inputs(browser.get(page))["loaded"]}).status_code == 302
    assert "gender" not in names(study)
    assert browser.get(page).status_code == 404
    for name in names(study, "questions")[1:]:
        page = address("build_item", study, "questions", name)
        browser.post(page, {"remove": "1", "loaded": inputs(browser.get(page))["loaded"]})
    page = address("build_item", study, "questions", names(study, "questions")[0])
    assert "Remove this question" not in browser.get(page).content.decode()
    refused = browser.post(page, {"remove": "1", "loaded": inputs(browser.get(page))["loaded"]}, follow=True)
    assert "at least one sensitive question" in refused.content.decode()
    assert len(names(study, "questions")) == 1
    page = address("build_item", study, "background", "year")
    stale = inputs(browser.get(page))["loaded"]
    browser.post(page, inputs(browser.get(page)) | {"text.en": "Which year?"})
    assert "was not removed" in browser.post(page, {"remove": "1", "loaded": stale}, follow=True).content.decode()
    assert "year" in names(study)


def test_one_question_is_no_obstacle_to_another(browser: Client, study: Study) -> None:
    first, second = (address("build_item", study, "background", name) for name in ("gender", "year"))
    mine, theirs = inputs(browser.get(first)), inputs(browser.get(second))
    assert browser.post(second, theirs | {"text.en": "Which year?"}).status_code == 302
    assert browser.post(first, mine | {"text.en": "Which gender?"}).status_code == 302
    stale = browser.post(first, mine | {"text.en": "Your gender?"})
    assert stale.status_code == 409
    assert "Which gender?" in page_of(stale).text_content()


def test_frozen_questions_are_not_moved() -> None:
    study = study_in(StudyStatus.IN_REVIEW)
    browser, page = logged_in(study.owner), address("build_background", study)
    assert "Move up" not in browser.get(page).content.decode()
    assert browser.post(page, {"move": f"down:{names(study)[0]}"}).status_code == 409


ASKED = {
    "kind": "categories",
    "text.en": "How often?",
    "text.de": "Wie oft?",
    "categories.en": "Never\nOnce\nNA",
    "categories.de": "Nie\nEinmal\nOft",
    "scores": "0 1 4,5",
    "expected": "Never",
}


def test_a_question_with_categories_is_added_with_proposed_faces_and_saved_again(browser: Client, study: Study) -> None:
    before = definition_of(study)
    assert add(browser, study, "questions", ASKED, kind="categories").status_code == 302
    question = definition_of(study).category_questions[0]
    assert [(one.name, one.text.root["de"], one.score) for one in question.categories] == [
        ("never", "Nie", 0),
        ("once", "Einmal", 1),
        ("na_answer", "Oft", 4.5),
    ]
    assert (question.ordered, question.cheaters, list(question.faces)) == (True, "never", ["1", "2"])
    page = address("build_item", study, "questions", "how_often")
    assert inputs(browser.get(page))["faces.1"].count("\n") == 2
    saved = definition_of(study)
    assert browser.post(page, inputs(browser.get(page))).status_code == 302
    assert definition_of(study) == saved
    listed = browser.get(address("build_questions", study)).content.decode()
    assert "Never · Once · NA" in listed
    assert f"ε = {saved.epsilon_total:.2f}" in listed
    assert browser.post(page, inputs(browser.get(page)) | {"kind": "yes_no"}).status_code == 302
    assert [one.name for one in definition_of(study).yes_no_questions] == [*(one.name for one in before.questions), "how_often"]


def test_a_background_question_is_privatised_with_one_button(browser: Client, study: Study) -> None:
    options = [{"name": name, "text": {"en": name, "de": german}} for name, german in (("no", "nein"), ("yes", "ja"))]
    asked = {"kind": "single_choice", "role": "sensitive", "name": "probation", "text": {"en": "Why?", "de": "Warum?"}, "options": options}
    before = definition_of(study)
    study.definition = {**study.definition, "background": [*study.definition["background"], asked], "subgroups": ["probation"]}
    study.save()
    page = address("build_item", study, "background", "probation")
    told = browser.post(page, {"privatise": "1", "loaded": inputs(browser.get(page))["loaded"]}, follow=True).content.decode()
    assert "subgroups needs the answer to probation, which is privatised in the browser" in told, "the reason is told"
    study.definition = {key: value for key, value in study.definition.items() if key != "subgroups"}
    study.save()
    assert browser.post(page, {"privatise": "1", "loaded": "of another"}).status_code == 302
    assert not definition_of(study).privatised_background, "somebody else was here"
    assert browser.post(page, {"privatise": "1", "loaded": inputs(browser.get(page))["loaded"]}).status_code == 302
    (moved,) = definition_of(study).privatised_background
    assert definition_of(study).background == before.background
    assert (moved.text.root["de"], moved.answers, moved.ordered) == ("Warum?", ("no_answer", "yes_answer"), False)
    assert definition_of(study).epsilon_total > before.epsilon_total
    saved, page = definition_of(study), address("build_item", study, "questions", "probation")
    assert browser.post(page, inputs(browser.get(page))).status_code == 302
    assert definition_of(study) == saved
    assert "Privatised in the browser, and asked with the die:" in browser.get(address("build_background", study)).content.decode()
    told = browser.get(address("build_export", study, "redcap")).content.decode()
    assert "<dt><code>probation</code></dt><dd>Left out: there is no die there" in told


FACES = {"faces.1": "1\n2\n3 4"}


@pytest.mark.parametrize(
    ("changes", "field", "sentence"),
    [
        ({"categories.en": "Never\nOnce\nOften\nA\nB\nC\nD"}, "categories.en", "Write from 2 to 6, one on each line."),
        (FACES | {"faces.2": "1\n2"}, "faces.2", "Write 3 lines, one for each answer; here are 2."),
        (FACES | {"faces.2": "1\n\n2"}, "faces.2", "Line 2 has no face. An answer that the die never says would give away what is true."),
        (FACES | {"faces.2": "1\n2\n2"}, "faces.2", "Face 2 stands there twice"),
        (FACES | {"faces.2": "1\n2\n3 4"}, "faces.2", "The subsamples must differ"),
        (FACES | {"faces.2": "1 2\n3 4\n5 6"}, "faces.2", "Leave at least one face for the truth"),
        ({"scores": "3 2 1"}, "", "scores must be increasing numbers"),
        ({"expected": "Always"}, "expected", "Write one of the options as it stands above; “Always” is none."),
    ],
)
def test_mistakes_of_categories_are_told(browser: Client, study: Study, changes: dict[str, str], field: str, sentence: str) -> None:
    response = add(browser, study, "questions", ASKED | changes, kind="categories")
    assert response.status_code == 422
    assert sentence.replace("'", "&#x27;") in response.content.decode()
    assert not field or field in errors(response)


def test_a_study_of_categories_alone_plans_with_their_answers() -> None:
    study = draft_study(questions=[FREQUENCY])
    browser = logged_in(study.owner)
    planned = page_of(browser.get(address("build_tests", study)))
    assert not planned.xpath("//input[contains(@name, '.family')]")
    said = " ".join(page_of(browser.get(address("build_allocation", study))).xpath("string(//*[@id='findable'])").split())
    assert said.startswith("48 people who answer with the die find 20 points more with the last answer 6 times in 100.")
    assert "truly say yes" not in said
    assert browser.get(reverse("surveys:build", args=[study.slug])).status_code == 200
