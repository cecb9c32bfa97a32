"""Questions with named answers on the results page: once, by the library's estimates, in words, figures, tables and for programs."""

import csv
import io
import json
from dataclasses import asdict, replace
from itertools import product
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.answers.datasets import category_counts
from analysis.models import Run, RunKind
from analysis.stored_results import ONCE, document_of, read_results
from candor.categories.distribution import estimate_distribution
from candor.categories.estimates import estimate_categories
from candor.categories.results import CategoryOutcome
from surveys.batches.services import count_again
from surveys.models import CategoryResponse, Participant, Response, Study
from surveys.protocols import protocol_in_force
from tests.categories import PROBATION, with_frequency
from tests.factories import document, logged_in, page_of, recruiting_study
from tests.finished_people import add_finished_people, compute

pytestmark = pytest.mark.django_db
ONE_YES_NO = document()["questions"][:1]


def running(n: int, *, planned: int = 300, yes_no: bool = True, of_categories: Any = None, **changes: Any) -> Study:
    """Very different arms; the answers are the same each time."""
    questions = [*(ONE_YES_NO if yes_no else ()), with_frequency(**(of_categories or {}))[-1]]
    study = recruiting_study(questions=questions, allocation={"planned_participants": planned, "block_multiples": [1]}, **changes)
    add_finished_people(study, n, cheaters=0.0, prevalence=0.05, effect=0.9)
    return study


def expected(study: Study) -> CategoryOutcome:
    definition = protocol_in_force(study).definition
    (question,) = definition.category_questions
    return estimate_categories(category_counts(study, definition)["copying"], design=definition.category_design(question))


def api(client: Client, study: Study, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = client.get(reverse("analysis:api_results", args=[study.slug]) + query).json()
    return found


def words_of(client: Client, study: Study, query: str = "") -> str:
    page = page_of(client.get(reverse("analysis:results", args=[study.slug]) + query))
    return " ".join(page.xpath('//div[@id="results"]')[0].text_content().split())


def table(client: Client, study: Study, name: str, query: str = "") -> list[dict[str, str]]:
    file = client.get(reverse("analysis:table", args=[study.slug, name]) + query).content.decode()
    return list(csv.DictReader(io.StringIO(file)))


def test_before_the_planned_number_nothing_is_computed_and_everything_says_why() -> None:
    study = running(240)
    found = compute(study)
    assert found["categories"] == {"copying": {"n": 240, "not_yet": ONCE}}
    client = logged_in(study.owner)
    assert "hold at every look are not known for questions with categories" in words_of(client, study)
    (told,) = api(client, study)["categories"]
    assert (told["n"], told["planned_analysis"]) == (240, None)
    assert "at every look" in told["not_yet"]
    row = api(client, study)["matrix"][-1]
    assert (row["question"], row["not_yet"], row["has_categories"], row["effects"]) == ("copying", True, True, [])
    assert table(client, study, "categories") == []
    for figure in ("categories-copying", "shares-copying"):
        assert client.get(reverse("analysis:figure", args=[study.slug, figure, "svg"])).status_code == 404


@pytest.mark.parametrize("yes_no", [True, False])
def test_with_the_planned_number_page_table_figure_and_api_have_the_estimates(yes_no: bool) -> None:
    study = running(300, yes_no=yes_no)
    outcome = expected(study)
    for kind in RunKind:
        results = read_results(compute(study, kind))
        assert results is not None
        assert {name: replace(one, with_covariates=None) for name, one in results.categories.items()} == {"copying": outcome}
        assert (results.categories["copying"].with_covariates is None) == (kind == RunKind.FIRST_RESULTS)
        assert results.n == 300
        assert set(results.outcomes) == ({"attention"} if yes_no else set())
        assert read_results(document_of(results)) == results
    client = logged_in(study.owner)
    found = api(client, study)
    (told,) = found["categories"]
    assert told["not_yet"] is None
    for name in ("effects", "no_effect", "prevalence", "cheater_proportion"):
        stored = json.loads(json.dumps(document_of(results)["categories"]["copying"][name]))
        assert told["planned_analysis"][name] == stored
    row = found["matrix"][-1]
    assert [(one["verdict"], one["value"], one["p_value"]) for one in row["effects"]] == [
        ("different", None, outcome.no_effect[0].adjusted_p_value)
    ]
    words = words_of(client, study)
    often = next(one for one in outcome.effects if (one.measure, one.category) == ("category", "often"))
    assert often.value is not None
    assert f"Of 100 honest students, about {round(often.value * 100)} more would answer “More often” with" in words
    assert "changes how honest students answer" in words
    assert "Where no arm changes an answer, at most 5 of 100 studies say that one does" in words
    assert "privacy loss of ε = 1.0987" in words  # faces 1 : 1 of 6, truth 2 of 6: ln 3
    assert "the answers differ" in words
    rows = table(client, study, "categories")
    both = [row for row in rows if row["quantity"].startswith("effect_on_")]
    effects, adjusted = ([row for row in both if row["for_publication"] == public] for public in ("True", "False"))
    with_covariates = results.categories["copying"].with_covariates
    assert [float(row["estimate"]) for row in adjusted] == [one.value for one in with_covariates.effects]
    assert {row["method"] for row in adjusted} == {"efficient_with_covariates"}
    assert told["planned_analysis"]["with_covariates"] == json.loads(json.dumps(asdict(with_covariates)))
    numbers = page_of(client.get(reverse("analysis:results", args=[study.slug]))).xpath('//*[contains(@id, "table-numbers")]')[-1]
    assert numbers.text_content().count("not for publication") == len(adjusted) + 1
    assert [float(row["estimate"]) for row in effects] == [one.value for one in outcome.effects]
    assert [float(row["low"]) for row in effects] == [one.interval and one.interval.low for one in outcome.effects]
    assert {row["quantity"] for row in rows} == {
        "cheater_proportion",
        "no_effect",
        *(f"effect_on_{one}" for one in ("category", "at_least", "mean_score")),
    }
    drawn = client.get(reverse("analysis:figure", args=[study.slug, "categories-copying", "svg"])).content.decode()
    assert all(f"{round(abs(one.value) * 100)}" in drawn for one in outcome.effects if one.category and one.value is not None)
    assert client.get(reverse("analysis:figure", args=[study.slug, "categories-copying", "png"]))["Content-Type"] == "image/png"


def test_missing_answers_are_said_and_their_bounds_are_in_page_table_and_api() -> None:
    study = running(300)
    gone = list(Participant.objects.filter(study=study, arm="instructor").values_list("pk", flat=True)[:30])
    CategoryResponse.objects.filter(participant__in=gone).delete()
    outcome = read_results(compute(study)).categories["copying"]
    assert outcome.n == 270
    assert (outcome.missing_answers.missing, len(outcome.missing_answers.contrasts)) == (30, 3)
    client = logged_in(study.owner)
    assert "30 of 300 people did not answer this question. Answers are not missing equally often in all groups" in words_of(client, study)
    assert words_of(client, study).count("whatever the missing answers are (xτ)") == 3
    worst = [row for row in table(client, study, "categories") if row["quantity"] == "missing_worst_case"]
    told = api(client, study)["categories"][0]["planned_analysis"]["missing_answers"]
    for row, one, bounds in zip(worst, outcome.missing_answers.contrasts, told["contrasts"], strict=True):
        assert (row["category"], float(row["low"]), float(row["high"])) == (one.category, *one.worst_case)
        assert bounds["worst_case"] == list(one.worst_case)
    blinded = api(client, study, "?blinded=1")["categories"][0]["planned_analysis"]["missing_answers"]
    assert (blinded["missing"], blinded["contrasts"]) == (30, [])
    assert "whatever the missing" not in words_of(client, study, "?blinded=1")


def test_shares_by_arm_are_shown_where_the_design_tells_them() -> None:
    study = running(300, of_categories={"cheaters": "never"})
    compute(study, RunKind.FIRST_RESULTS)
    outcome, client = expected(study), logged_in(study.owner)
    assert len(outcome.prevalence) == 12
    arms, answers = ("slides", "instructor"), ("never", "once", "often")
    shares = [row for row in table(client, study, "categories") if row["quantity"] == "category"]
    assert [(row["arm"], row["category"]) for row in shares] == [*product(arms, answers)]
    assert [float(row["estimate"]) for row in shares] == [one.value for one in outcome.prevalence if one.measure == "category"]
    assert "True answers of honest people, Slides only" in words_of(client, study)
    drawn = client.get(reverse("analysis:figure", args=[study.slug, "shares-copying", "svg"])).content.decode()
    assert "so many truly give this answer" in drawn


@pytest.mark.parametrize("arms", [2, 3])
def test_a_blinded_reader_learns_neither_the_control_nor_an_arm(arms: int) -> None:
    sample = document()["arms"]
    third = [{**sample[1], "name": "third", "label": "A third arm"}] if arms == 3 else []
    study = running(300, of_categories={"cheaters": "never"}, arms=[*sample, *third])
    compute(study, RunKind.FIRST_RESULTS)
    client, outcome = logged_in(study.owner), expected(study)
    (told,) = api(client, study, "?blinded=1")["categories"]
    found = told["planned_analysis"]
    assert found["notes"] == []
    assert {one["arm"] for one in found["prevalence"]} == set("ABC"[:arms])
    assert [one["arm"] for one in found["prevalence"]] == sorted(one["arm"] for one in found["prevalence"])
    if arms == 3:
        assert (found["effects"], found["no_effect"]) == ([], [])
    else:
        assert {(one["treatment"], one["control"]) for one in (*found["effects"], *found["no_effect"])} == {("B", "A")}
        values = [one["value"] for one in found["effects"]]
        straight = [one.value for one in outcome.effects]
        assert values in (straight, [-one for one in straight if one is not None])
        compute(study, RunKind.FULL_RESULTS)
        adjusted = api(client, study, "?blinded=1")["categories"][0]["planned_analysis"]["with_covariates"]
        assert (adjusted["notes"], {(one["treatment"], one["control"]) for one in adjusted["effects"]}) == ([], {("B", "A")})
    shown = words_of(client, study, "?blinded=1")
    assert not [name for name in ("Slides only", "Slides with the instructor", "A third arm") if name in shown.split("Participants")[0]]
    row = api(client, study, "?blinded=1")["matrix"][-1]
    assert (row["effects"], row["prevalence"]) == ([], [])
    named = {row["arm"] for row in table(client, study, "categories", "?blinded=1")}
    assert named <= {"", "A", "B", "C"}


def test_a_privatised_background_question_is_described_and_no_outcome() -> None:
    study = recruiting_study(
        questions=[*ONE_YES_NO, PROBATION], allocation={"planned_participants": 300, "block_multiples": [1]}, die=document()["die"]
    )
    add_finished_people(study, 300, cheaters=0.0, prevalence=0.5, effect=0.0)
    compute(study, RunKind.FIRST_RESULTS)
    definition = protocol_in_force(study).definition
    counts = category_counts(study, definition)["probation"]
    outcome = estimate_distribution(counts, design=definition.category_design(definition.questions[1]))
    client = logged_in(study.owner)
    found = api(client, study)
    assert [row["question"] for row in found["matrix"]] == ["attention"]
    (told,) = found["categories"]
    assert told["privatised_background"]
    assert told["planned_analysis"]["prevalence"] == json.loads(json.dumps([asdict(one) for one in outcome.prevalence]))
    assert {one["arm"] for one in told["planned_analysis"]["prevalence"]} == {"all arms"}
    words = words_of(client, study)
    assert "Background question, privatised in the browser" in words
    assert "those of all arms count together" in words
    assert "Balance: chance alone could explain how" in words
    assert "would truly answer “Now”" in words
    assert "changes how honest students answer" not in words
    assert {row["quantity"] for row in table(client, study, "categories")} == {"cheater_proportion", "balance", "category"}
    drawn = client.get(reverse("analysis:figure", args=[study.slug, "shares-probation", "svg"])).content.decode()
    assert "all arms" in drawn
    (blinded,) = api(client, study, "?blinded=1")["categories"]
    assert blinded["planned_analysis"]["prevalence"] == told["planned_analysis"]["prevalence"]
    assert "balance of all answers" in words_of(client, study, "?blinded=1")


def test_people_of_no_whole_batch_and_people_who_did_not_finish_are_in_no_count() -> None:
    """The attack: what somebody who waits has said would be the difference between two exact counts."""
    study = running(120, planned=120)
    definition, before = protocol_in_force(study).definition, category_counts(study, protocol_in_force(study).definition)["copying"]
    assert before.sum() == 120
    waiting = list(Participant.objects.filter(study=study).values_list("pk", flat=True)[:7])
    Participant.objects.filter(pk__in=waiting).update(counted=False)
    count_again(study)
    after = category_counts(study, definition)["copying"]
    assert after.sum() == 113
    left = CategoryResponse.objects.exclude(participant__in=waiting).count()
    assert left == 113 == Response.objects.exclude(participant__in=waiting).count()
    Participant.objects.exclude(pk__in=waiting).filter(study=study).update(step="questions", finished_on=None)
    count_again(study)
    assert category_counts(study, definition)["copying"].sum() == 0


def test_stored_results_of_a_yes_no_study_have_no_trace_of_categories() -> None:
    study = recruiting_study(questions=ONE_YES_NO, allocation={"planned_participants": 120, "block_multiples": [1]})
    add_finished_people(study, 120)
    assert "categories" not in compute(study, RunKind.FIRST_RESULTS)
    assert Run.objects.get(study=study).results is not None
    client = logged_in(study.owner)
    assert api(client, study)["categories"] == []
    assert client.get(reverse("analysis:table", args=[study.slug, "categories"])).status_code == 404
