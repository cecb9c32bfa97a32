"""All results on one screen: the numbers and verdicts of the stored results, the same on the page, as a file and in the API."""

import csv
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.models import RunKind
from surveys.models import Study
from tests.categories import with_frequency
from tests.factories import QUESTIONS, document, logged_in, page_of, recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people, compute

pytestmark = pytest.mark.django_db
NUMBERS = ("value", "low", "high")


def running(planned: int, cheaters: str = "any", **changes: Any) -> Study:
    study = recruiting_study(die={**TELLING_DIE, "cheaters": cheaters}, allocation={"planned_participants": planned}, **changes)
    add_finished_people(study, 400, cheaters=0.0, prevalence=0.3, effect=0.5)
    compute(study, RunKind.FIRST_RESULTS)
    return study


def api(client: Client, study: Study, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = client.get(reverse("analysis:api_results", args=[study.slug]) + query).json()
    return found


def ends(one: dict[str, Any]) -> dict[str, float]:
    return {"value": one["value"], "low": one["interval"]["low"], "high": one["interval"]["high"]}


def rows_of_page(client: Client, study: Study, query: str = "") -> list[list[str]]:
    page = page_of(client.get(reverse("analysis:results", args=[study.slug]) + query))
    first = page.xpath('//div[@id="results"]/*')[0]
    assert first.get("class") == "matrix"
    for link in first.xpath(".//tbody//a/@href"):
        assert page.xpath(f'//*[@id="{link.removeprefix("#")}"]'), link
    return [[" ".join(cell.text_content().split()) for cell in row] for row in first.xpath(".//tbody/tr")]


def test_no_two_lines_of_a_head_become_one_word() -> None:
    """On a narrow page the head is out of sight. Programs that read or copy it drop its line breaks."""
    study = running(600, questions=with_frequency())
    client = logged_in(study.owner)
    page = page_of(client.get(reverse("analysis:results", args=[study.slug])))
    heads = [cell.text_content() for cell in page.xpath("//table[contains(@class, 'matrix-table')]/thead//th")]
    assert "Did not follow the die of 100" in heads
    assert any("points more “yes” of 100 named answers: test of no effect on any" in head for head in heads)


def test_before_the_plan_it_says_what_is_true_at_every_look() -> None:
    study = running(600)
    client = logged_in(study.owner)
    found = api(client, study)
    assert [row["question"] for row in found["matrix"]] == list(QUESTIONS)
    for row, outcome in zip(found["matrix"], found["first_results"]["outcomes"], strict=True):
        look = outcome["sequence"]
        (effect,) = [one for one in look["effects"] if one["method"] == "efficient"]
        (cell,) = row["effects"]
        assert {name: cell[name] for name in NUMBERS} == ends(effect)
        assert cell["verdict"] == {1: "more", -1: "fewer", 0: "chance"}[effect["direction"]]
        assert row["cheater_proportion"] == ends(look["cheater_proportion"])
        assert (row["planned"], row["not_yet"], row["n"]) == (False, False, look["n"])
    verdicts = [row["effects"][0]["verdict"] for row in found["matrix"]]
    assert "more" in verdicts
    shown = rows_of_page(client, study)
    for cells, row in zip(shown, found["matrix"], strict=True):
        assert cells[1].startswith(f"{round(100 * row['effects'][0]['value']):+d}")
        assert cells[1].endswith({"more": "more say yes", "chance": "may be chance"}[row["effects"][0]["verdict"]])
    file = csv.DictReader(client.get(reverse("analysis:table", args=[study.slug, "matrix"])).content.decode().splitlines())
    effects = [{"value": float(row["estimate"]), "low": float(row["low"]), "high": float(row["high"])} for row in file if row["verdict"]]
    assert effects == [{name: row["effects"][0][name] for name in NUMBERS} for row in found["matrix"]]


def test_with_the_plan_it_has_the_planned_analysis_and_prevalence_by_arm() -> None:
    study = running(400, cheaters="always_no")
    client = logged_in(study.owner)
    found = api(client, study)
    for row, outcome in zip(found["matrix"], found["planned_analysis"]["outcomes"], strict=True):
        (effect,) = [one for one in outcome["effects"] if one["method"] == "efficient"]
        (cell,) = row["effects"]
        assert {name: cell[name] for name in NUMBERS} == ends(effect)
        assert (cell["verdict"] == "more") == (effect["adjusted_p_value"] < 0.05 and effect["honest_times_effect"]["value"] > 0)
        assert row["prevalence"] == [{"arm": one["arm"], **ends(one)} for one in outcome["prevalence"]]
        assert row["planned"]
    assert len(found["matrix"][0]["prevalence"]) == 2
    assert len(rows_of_page(client, study)[0]) == 5


@pytest.mark.parametrize("arms", [2, 3])
def test_whoever_is_blinded_sees_neither_effects_nor_arms_in_it(arms: int) -> None:
    sample = document()["arms"]
    third = [{**sample[1], "name": "third", "label": "A third arm"}] if arms == 3 else []
    study = running(400, arms=[*sample, *third])
    client = logged_in(study.owner)
    blinded = api(client, study, "?blinded=1")["matrix"]
    assert [(row["effects"], row["prevalence"]) for row in blinded] == [([], [])] * len(QUESTIONS)
    assert len(api(client, study)["matrix"][0]["effects"]) == arms - 1
    shown = rows_of_page(client, study, "?blinded=1")
    assert {len(row) for row in shown} == {2}
    file = client.get(reverse("analysis:table", args=[study.slug, "matrix"]) + "?blinded=1").content.decode()
    assert {row["quantity"] for row in csv.DictReader(file.splitlines())} == {"cheater_proportion"}
