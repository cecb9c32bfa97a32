"""Questions with several answers on a phone: each with its own table, in every language of its study; and the page that makes one."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from surveys.models import CategoryResponse, Response, Study
from surveys.studies import services as studies
from surveys.study_file import define
from tests.browser.conftest import Complaints
from tests.browser.people import JOURNEY, TWO_QUESTIONS, become, recruiting_study, token_at_questions
from tests.browser.test_builder import investigator, open_page
from tests.browser.turning import button, roll
from tests.categories import FREQUENCY, PROBATION
from tests.factories import definition

fixtures = (investigator,)
Check = Callable[[Page], None]
NARROW = {"viewport": {"width": 390, "height": 844}, "reduced_motion": "reduce"}


def show_face(page: Page, face: int) -> None:
    page.add_init_script(f"crypto.getRandomValues = (bytes) => bytes.fill({face - 1})")


SAYS = {
    "en": (3, ["Answer no", "Answer “More often”", "Answer “Now”"]),
    "de": (2, ["Antworte mit Nein", "Antworte mit „Einmal“", "Antworte mit „Früher“"]),
}
MARKS = {"en": "This question describes who takes part.", "de": "Diese Frage beschreibt, wer teilnimmt."}


@pytest.mark.parametrize("language", SAYS)
def test_each_die_says_what_the_table_of_its_question_says(
    new_page: Callable[..., Page],
    site: str,
    transactional_db: None,
    assert_accessible: Check,
    assert_fits: Check,
    language: str,
) -> None:
    face, words = SAYS[language]
    study = recruiting_study(questions=[TWO_QUESTIONS[0], FREQUENCY, PROBATION])
    token = token_at_questions(study, subsample="1", language=language)
    page = new_page(**NARROW)
    become(page.context, site, token)
    show_face(page, face)
    page.goto(JOURNEY)
    names = {"en": ("Roll the die", "Next", "Submit answers"), "de": ("Würfeln", "Weiter", "Antworten abschicken")}[language]
    for index, said in enumerate(words):
        assert roll(page, button_name=names[0]) == said
        own = page.locator("[data-question-page]").nth(index)
        expect(own.locator(f"tr[data-faces~='{face}'] td")).to_have_text(said)
        expect(page.locator("[data-die-key]:visible")).to_have_count(1)
        expect(own.get_by_text(MARKS[language])).to_have_count(int(index == 2))
        assert_accessible(page)
        assert_fits(page)
        own.get_by_role("radio").last.check()
        button(page, names[1]).click()
    assert page.locator("[data-answer-to]").all_inner_texts() == [["No", "More often", "Now"], ["Nein", "Öfter", "Jetzt"]][language == "de"]
    button(page, names[2]).click()
    expect(page.locator("#completion-code")).to_be_visible()
    assert list(Response.objects.values_list("reported_yes", flat=True)) == [False]
    assert list(CategoryResponse.objects.values_list("category", flat=True)) == [2, 2]


LONG = "Rinderkennzeichnungsfleischetikettierungsüberwachungsaufgabenübertragungsgesetz"
WIDE_TABLE = {"text": {"en": "Read.", "de": f"| {LONG} | kurz |\n|---|---|\n| 1 | 2 |"}}


@pytest.mark.parametrize(("width", "letters"), [(320, "16px"), (390, "32px")], ids=["narrow", "with large letters"])
def test_long_words_are_broken_everywhere_and_buttons_stay_whole(
    new_page: Callable[..., Page], site: str, transactional_db: None, complaints: Complaints, assert_fits: Check, width: int, letters: str
) -> None:
    complaints.expected.append("422")
    study = recruiting_study(
        background=[{"kind": "number", "name": "age", "text": {"en": "Age", "de": LONG}, "minimum": 0, "maximum": 99, "role": "auxiliary"}],
        arms=[{"name": name, "label": name, "reading": WIDE_TABLE} for name in ("one", "other")],
        control="one",
        subgroups=[],
        questions=[FREQUENCY | {"categories": [*FREQUENCY["categories"][:2], {"name": "often", "text": {"en": "Often", "de": LONG}}]}],
    )
    page = new_page(viewport={"width": width, "height": 844}, reduced_motion="reduce", locale="de")
    page.add_init_script(f"addEventListener('DOMContentLoaded', () => {{ document.documentElement.style.fontSize = '{letters}' }})")
    page.goto(JOURNEY)
    button(page, "Los geht’s").click()
    button(page, "Ich stimme zu").click()
    page.get_by_label(LONG).fill("jung")
    button(page, "Weiter").click()
    expect(page.get_by_role("alert")).to_be_focused()
    assert_fits(page)
    page.get_by_label(LONG).fill("20")
    button(page, "Weiter").click()
    expect(page.get_by_role("table")).to_be_visible()
    assert_fits(page)
    become(page.context, site, token_at_questions(study, subsample="1", language="de"))
    show_face(page, 3)
    page.goto(JOURNEY)
    assert roll(page, button_name="Würfeln") == f"Antworte mit „{LONG}“"
    assert_fits(page)
    page.get_by_role("radio").last.check()
    button(page, "Weiter").click()
    change = page.get_by_role("button", name="Ändern")
    assert_fits(page)
    assert change.evaluate("(one) => one.clientHeight < 3.2 * parseFloat(getComputedStyle(one).fontSize)"), "its word is on one line"
    button(page, "Antworten abschicken").click()
    expect(page.locator("#completion-code")).to_be_visible()
    assert_fits(page)


def test_the_builders_page_asks_for_answers_and_faces_only_where_there_are_several(
    new_page: Callable[..., Page], investigator: User, assert_accessible: Check, assert_fits: Check
) -> None:
    study = studies.create_study(definition=definition(), owner=investigator)
    page = new_page(**NARROW)
    open_page(page, f"/studies/{study.slug}/build/questions/")
    page.get_by_role("link", name="Add a question with two to six answers").click()
    expect(page.get_by_label("Word for Yes (optional)")).to_have_count(0)
    page.get_by_role("radio", name="Yes or no").check()
    expect(page.get_by_label("Faces in subsample 1")).to_be_hidden()
    page.get_by_role("radio", name="One of two to six answers").check()
    assert_accessible(page)
    assert_fits(page)
    for name, lines in (("text", "How often?"), ("categories", "Never\nOnce\nOften")):
        for code in ("en", "de"):
            page.locator(f"[name='{name}.{code}']").fill(lines)
    page.get_by_role("button", name="Save").first.click()
    expect(page.get_by_text("Never · Once · Often")).to_be_visible()
    (question,) = define(Study.objects.get().definition).category_questions
    assert set(question.faces) == {"1", "2"}
