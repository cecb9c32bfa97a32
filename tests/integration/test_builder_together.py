"""Two people on one page of the builder: what they change in different places is brought together, and the same place asks."""

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from accounts.models import User
from surveys.models import Study
from tests.factories import draft_study, logged_in, page_of
from tests.integration.test_builder import address, definition_of, inputs
from tests.integration.test_builder_history import by_itself, colleague, refused, study

pytestmark = pytest.mark.django_db
fixtures = (colleague, study)
AGE = {"kind": "number", "name": "age", "text": {"en": "How old?", "de": "Wie alt?"}, "role": "auxiliary", "minimum": 0, "maximum": 99}


def with_what_it_knows(answer: Any, sent: dict[str, Any]) -> dict[str, Any]:
    """The form of an open page after an answer came: its texts, and the version that they are of."""
    (form,) = page_of(answer).xpath('//form[@id="builder-form"]')
    return sent | {"loaded": form.get("data-mine") or form.fields["loaded"]}


def test_changes_in_different_places_are_both_kept(browser: Client, study: Study, colleague: User) -> None:
    page, other = address("build_plans", study), logged_in(colleague)
    mine, theirs = inputs(browser.get(page)), inputs(other.get(page))
    assert not refused(by_itself(other, page, theirs | {"months": "3", "analysis_plan.en": "Their plan."}))
    mine |= {"release_plan.en": "My plan."}
    answer = by_itself(browser, page, mine)
    assert not refused(answer)
    assert "Both changes are kept." in page_of(answer).xpath('string(//*[@id="builder-conflict"])')
    assert inputs(answer)["analysis_plan.en"] == "Their plan.", "so that a script can show it"

    def stored() -> tuple[Any, ...]:
        found = definition_of(study)
        return found.retention.months_after_closing, *(one.root["en"] for one in (found.analysis_plan, found.release_plan))

    assert stored() == (3, "Their plan.", "My plan.")
    mine = with_what_it_knows(answer, mine) | {"release_plan.en": "My plan. More."}
    answer = by_itself(browser, page, mine)
    assert not refused(answer), "a page that still shows the old months does not bring them back"
    assert stored() == (3, "Their plan.", "My plan. More.")
    mine = with_what_it_knows(answer, mine) | {"months": "6"}
    assert refused(by_itself(browser, page, mine)), "one place asks"
    assert stored() == (3, "Their plan.", "My plan. More.")


def test_the_button_brings_together_too_and_says_so(browser: Client, study: Study, colleague: User) -> None:
    page, other = address("build_consent", study), logged_in(colleague)
    mine, theirs = inputs(browser.get(page)), inputs(other.get(page))
    assert other.post(page, theirs | {"consent.de": "Ihre Worte."}).status_code == 302
    told = browser.post(page, mine | {"consent.en": "My words."}, follow=True)
    assert "Both changes are kept." in page_of(told).text_content()
    assert definition_of(study).consent.root == {"en": "My words.", "de": "Ihre Worte."}
    same = inputs(browser.get(page)) | {"consent.en": "Same", "consent.de": "Same"}
    assert browser.post(page, same).status_code == 302
    mine, theirs = inputs(browser.get(page)), inputs(other.get(page))
    assert other.post(page, theirs | {"consent.de": "Gleich"}).status_code == 302
    assert browser.post(page, mine | {"consent.en": "Equal"}).status_code == 302, "also of a text that was the same in both"
    assert definition_of(study).consent.root == {"en": "Equal", "de": "Gleich"}


def test_what_comes_of_both_passes_the_page_or_somebody_chooses(colleague: User) -> None:
    study = draft_study(owner=colleague, slug="ages", background=[AGE])
    first, second = logged_in(colleague), logged_in(colleague)
    page = address("build_item", study, "background", "age")
    mine, theirs = inputs(first.get(page)), inputs(second.get(page))
    assert not refused(by_itself(second, page, theirs | {"minimum": "50"}))
    answer = by_itself(first, page, mine | {"maximum": "40"})
    assert refused(answer), "from 50 to 40 is nothing"
    assert "50" in page_of(answer).xpath('string(//*[@id="builder-conflict"])')
    age = definition_of(study).background[0]
    assert (age.minimum, age.maximum) == (50, 99)
    assert not refused(by_itself(first, page, mine | {"maximum": "90"}))
    age = definition_of(study).background[0]
    assert (age.minimum, age.maximum) == (50, 90)


@pytest.mark.parametrize(
    ("page", "field", "other"),
    [("build_allocation", "planned_participants", "arms.slides.weight"), ("build_plans", "months", "release_plan.en")],
)
def test_somebody_chooses_where_people_try_things_and_where_the_beginning_is_forgotten(
    browser: Client, study: Study, colleague: User, page: str, field: str, other: str
) -> None:
    where, second = address(page, study), logged_in(colleague)
    mine, theirs = inputs(browser.get(where)), inputs(second.get(where))
    assert {field, other} <= set(mine), sorted(mine)
    assert second.post(where, theirs | {field: "24"}).status_code == 302
    if page == "build_plans":
        cache.clear()
    assert browser.post(where, mine | {other: "2"}).status_code == 409
    assert browser.post(where, mine | {other: "2", "loaded": "x" * 64}).status_code == 409, "nor is a version that nobody loaded believed"
