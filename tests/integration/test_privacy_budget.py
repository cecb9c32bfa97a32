"""The privacy budget in the protocol: typed, refused, approved, kept, and told to students in plain words."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation
from lxml import html

from surveys.errors import DefinitionError
from surveys.models import Study, StudyStatus
from surveys.privacy.budgets import bought_by, in_how_many, in_words
from surveys.privacy.exact import shown_exactly
from surveys.questions.plans import PrivacyBudget
from surveys.review.packets import changes_since
from surveys.review.services import approve
from surveys.studies.services import change_definition, submit_for_review
from surveys.study_file import define, read_study_file, write_study_file
from tests.data_sets import data_set
from tests.factories import ATTENTION_CHECK, definition, document, draft_study, logged_in, person, recruiting_study, study_in

pytestmark = pytest.mark.django_db
BUDGET = {"epsilon": 1.0, "delta": 1e-6}


def page_of(response: Any) -> Any:
    return html.fromstring(response.content)


def words_of(response: Any) -> str:
    return " ".join(page_of(response).text_content().split())


def builder(study: Study) -> tuple[Client, str, str]:
    client, address = logged_in(study.owner), reverse("analysis:build_budget", args=[study.slug])
    (loaded,) = page_of(client.get(address)).xpath('//input[@name="loaded"]/@value')
    return client, address, loaded


@pytest.mark.parametrize("rarity", [4801, 49_999, 1_000_000, 3_000_000, 99_999_999_999_999])
def test_a_failure_is_told_no_rarer_than_it_may_be(rarity: int) -> None:
    assert in_how_many(1 / rarity) == f"{rarity:,}"
    assert in_how_many(1 / (rarity + 0.5)) == f"{rarity:,}"


def test_the_smallest_doubles_are_told_too() -> None:
    assert in_how_many(5e-324) == in_how_many(1e-300) == "100,000,000,000,000"


def test_the_builder_stores_the_budget_shows_it_again_and_takes_it_out() -> None:
    study = draft_study()
    client, address, loaded = builder(study)
    assert client.post(address, {"wanted": "on", "epsilon": "1,5", "rarity": "3000000", "loaded": loaded}).status_code == 302
    study.refresh_from_db()
    assert study.definition["privacy_budget"] == {"epsilon": 1.5, "delta": 1 / 3_000_000}
    page = page_of(client.get(address))
    assert page.xpath('//input[@name="epsilon"]/@value') == ["1.5"]
    assert page.xpath('//input[@name="rarity"]/@value') == ["3000000"]
    (loaded,) = page.xpath('//input[@name="loaded"]/@value')
    assert client.post(address, {"epsilon": "1.5", "rarity": "3000000", "loaded": loaded}).status_code == 302
    study.refresh_from_db()
    assert "privacy_budget" not in study.definition


def test_a_delta_that_nobody_typed_stays_as_it_is() -> None:
    study = draft_study(privacy_budget={"epsilon": 1, "delta": 3e-5})
    client, address, loaded = builder(study)
    (rarity,) = page_of(client.get(address)).xpath('//input[@name="rarity"]/@value')
    assert client.post(address, {"wanted": "on", "epsilon": "2", "rarity": rarity, "loaded": loaded}).status_code == 302
    study.refresh_from_db()
    assert study.definition["privacy_budget"] == {"epsilon": 2.0, "delta": 3e-5}


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"epsilon": "0"}, "The budget ε must be a number from 0.01 to 10, not “0”."),
        ({"epsilon": "11"}, "The budget ε must be a number from 0.01 to 10, not “11”."),
        ({"epsilon": "much"}, "The budget ε must be a number from 0.01 to 10, not “much”."),
        ({"epsilon": ""}, "Write how large the budget is."),
        ({"rarity": "480"}, "This number must be a number from 481 to 100,000,000,000,000, not “480”."),
        ({"rarity": ""}, "Write in how many cases one may fail."),
    ],
)
def test_an_impossible_budget_is_refused_and_nothing_typed_is_lost(typed: dict[str, str], said: str) -> None:
    study = draft_study()
    client, address, loaded = builder(study)
    response = client.post(address, {"wanted": "on", "epsilon": "1", "rarity": "1000000", "loaded": loaded} | typed)
    assert response.status_code == 422
    assert said in words_of(response)
    ((name, value),) = typed.items()
    assert page_of(response).xpath(f'//input[@name="{name}"]/@value') == [value]
    study.refresh_from_db()
    assert "privacy_budget" not in study.definition


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        ({"epsilon": 0, "delta": 1e-6}, "epsilon: expected a number above 0, got 0"),
        ({"epsilon": -1, "delta": 1e-6}, "expected a number above 0"),
        ({"epsilon": 10.5, "delta": 1e-6}, "of at most 10, got 10.5"),
        ({"epsilon": 1, "delta": 0}, "delta: expected a number above 0"),
        (
            {"epsilon": 1, "delta": 1 / 480},
            r"privacy_budget.delta must be below 1 / \(10 × 48 planned participants\) = 0.00208333, got 0.00208333",
        ),
        ({"epsilon": 1}, "this part is missing"),
        ({"epsilon": float("nan"), "delta": 1e-6}, "finite"),
        ({"epsilon": 1, "delta": 1e-6, "rho": 1}, "there is no part of this name"),
    ],
)
def test_a_study_file_with_an_impossible_budget_is_refused(budget: dict[str, float], said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        define(document(privacy_budget=budget))


def test_the_study_file_keeps_the_budget() -> None:
    written = write_study_file(definition(privacy_budget=BUDGET))
    assert read_study_file(written).privacy_budget == PrivacyBudget(**BUDGET)


def test_the_page_says_while_typing_what_it_buys() -> None:
    study = draft_study(allocation={"planned_participants": 912})
    client, address, loaded = builder(study)
    response = client.post(address, {"wanted": "on", "epsilon": "3", "rarity": "1000000", "loaded": loaded}, headers={"HX-Request": "true"})
    said = words_of(response)
    assert response.status_code == 200
    assert "A single count to ± 1 of 912 people" in said
    assert "About 40 counts, each to ± 21 of 912 people" in said
    assert "at most 96 % sure" in said
    study.refresh_from_db()
    assert "privacy_budget" not in study.definition, "looking saves nothing"


def test_a_count_that_is_coarser_than_what_is_counted_says_so_wherever_it_is_told() -> None:
    coarse = "(too coarse to be of use)"
    lines = [(one, in_words(one)) for one in bought_by(PrivacyBudget(**BUDGET), people=30)]
    assert [(one.counts, line.endswith(coarse)) for one, line in lines] == [(1, False), (10, True), (40, True), (100, True)]
    study = study_in(StudyStatus.IN_REVIEW, privacy_budget=BUDGET, allocation={"planned_participants": 30})
    section = page_of(logged_in(person("irb_officer")).get(reverse("surveys:protocol", args=[study.slug]))).get_element_by_id("budget")
    assert section.text_content().count(coarse) == 3
    made = data_set()  # of 60 students
    assert words_of(logged_in(made.owner).get(reverse("analysis:data_set", args=[made.slug]))).count(coarse) == 2


def test_the_officer_reads_the_budget_and_what_it_does_not_cover_and_sees_when_it_changes() -> None:
    study = study_in(StudyStatus.IN_REVIEW, privacy_budget=BUDGET, subgroups=["gender"])
    client = logged_in(person("irb_officer"))
    page = page_of(client.get(reverse("surveys:protocol", args=[study.slug])))
    (section,) = page.xpath('//section[@id="budget"]')
    said = " ".join(section.text_content().split())
    assert "at most 74 % sure" in said
    assert "1 in 1,000,000" in said
    assert "An approval of the protocol approves it." in said
    for sentence in shown_exactly(definition(subgroups=["gender"])):
        assert sentence in said
    without = draft_study(slug="another-one")
    page = page_of(logged_in(without.owner).get(reverse("surveys:protocol", args=[without.slug])))
    assert "The study has no privacy budget." in page.xpath('//section[@id="budget"]')[0].text_content()


def test_a_changed_budget_is_a_change_of_its_own_section() -> None:
    study = recruiting_study(privacy_budget=BUDGET)
    lower = {"epsilon": 0.5, "delta": 1e-6}
    study = change_definition(study, definition=definition(slug=study.slug, privacy_budget=lower), actor=study.owner)
    study = submit_for_review(study, actor=study.owner)
    assert study.protocol
    assert study.submitted
    ((section, (change,)),) = changes_since(study.protocol, study.submitted)
    assert (section, change.label, change.old, change.new) == ("budget", "privacy budget › epsilon", "1", "0.5")
    study = approve(study, actor=person("irb_officer"))
    with pytest.raises(DefinitionError, match="it can be lowered, not raised or removed"):
        change_definition(study, definition=definition(slug=study.slug, privacy_budget=BUDGET), actor=study.owner)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (BUDGET, {"epsilon": 1.1, "delta": 1e-6}, "not raised"),
        (BUDGET, {"epsilon": 0.9, "delta": 1e-5}, "not raised"),
        (BUDGET, None, "not raised or removed"),
        (None, BUDGET, "none can be added any more"),
    ],
)
def test_nobody_who_took_part_loses_protection(before: dict[str, float] | None, after: dict[str, float] | None, said: str) -> None:
    study = recruiting_study(privacy_budget=before)
    with pytest.raises(DefinitionError, match=said):
        change_definition(study, definition=definition(slug=study.slug, privacy_budget=after), actor=study.owner)


@pytest.mark.parametrize(("language", "said"), [("en", "at most 74 % sure"), ("de", "höchstens 74 % sicher")])
def test_students_read_what_the_budget_means(language: str, said: str) -> None:
    study = recruiting_study(privacy_budget=BUDGET)
    for name in ("surveys:transparency", "surveys:privacy"):
        assert said in words_of(Client().get(reverse(name, args=[study.slug]), headers={"Accept-Language": language}))
    without = recruiting_study(slug="without-a-budget")
    for name in ("surveys:transparency", "surveys:privacy"):
        assert said not in words_of(Client().get(reverse(name, args=[without.slug]), headers={"Accept-Language": language})), name


def test_the_list_of_exact_numbers_names_what_this_study_shows() -> None:
    with translation.override("en"):
        plain = shown_exactly(definition(background=None))
        whole = shown_exactly(definition(subgroups=["gender"]), reasons_for_counts=["The journal wants them."])
        checked = shown_exactly(definition(background=[ATTENTION_CHECK]))
    with translation.override("de"):
        assert "„Was ist dein Geschlecht?“" in shown_exactly(definition(subgroups=["gender"]))[4]
    assert len(plain) == 2
    assert "How many people failed an attention check, in whole tens. Those who see the study read it." in checked
    assert len(whole) == 6
    assert "Effects by the answers to “" in whole[4]
    assert whole[-1] == "Counts or records of background answers in a data package. The reason: The journal wants them."
