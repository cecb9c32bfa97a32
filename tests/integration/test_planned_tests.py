"""Tests that the protocol names: built on a page, frozen at the launch, read by officers, computed by workers, shown once."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.urls import reverse

from analysis.answers.datasets import cell_counts
from analysis.models import RunKind
from analysis.releases import building
from candor.equivalence.margin_tests import margin_tests
from candor.equivalence.margins import Margin
from candor.packages import replicate
from candor.packages.archive import files_in
from surveys.errors import DefinitionError
from surveys.models import Study, StudyStatus
from surveys.protocols import protocol_in_force
from surveys.studies import services as studies
from tests.factories import QUESTIONS, definition, draft_study, logged_in, page_of, recruiting_study, study_in
from tests.finished_people import TELLING_DIE, add_finished_people, compute
from tests.releases import built_release, closed_study, package_of

pytestmark = pytest.mark.django_db
PLANNED = {
    "families": {"main": ["attention", "retention"]},
    "margins": {
        "attention": {"kind": "equivalence", "points": 20},
        "retention": {"kind": "non_inferiority", "points": 95, "worse": "more_yes"},
    },
}


def words_of(response: HttpResponse) -> str:
    return " ".join(page_of(response).xpath("string(//main)").split())


def answered_study(people: int, **changes: Any) -> Study:
    study = recruiting_study(allocation={"planned_participants": 200}, die=TELLING_DIE, analysis=PLANNED, **changes)
    add_finished_people(study, people, cheaters=0.0, prevalence=0.4, effect=0.3)
    compute(study)
    return study


def results(study: Study, query: str = "") -> HttpResponse:
    return logged_in(study.owner).get(reverse("analysis:results", args=[study.slug]) + query)


def test_tests_for_one_look_are_shown_to_nobody_before_the_planned_number_has_answered() -> None:
    study = answered_study(190)
    assert "Tests named in the protocol" not in words_of(results(study))
    client = logged_in(study.owner)
    address = reverse("analysis:api_results", args=[study.slug])
    assert client.get(address).json()["planned_tests"] is None
    assert client.get(reverse("analysis:table", args=[study.slug, "planned-tests"])).status_code == 404


def test_at_the_planned_number_the_page_the_file_and_the_programs_have_the_same_numbers() -> None:
    study = answered_study(200)
    found = protocol_in_force(study).definition
    (expected,) = margin_tests(cell_counts(study, found)["attention"], design=found.design(), margin=Margin(size=0.2))
    words = words_of(results(study))
    assert "Every group differs from the control by less than 20 percentage points (equivalence)." in words
    assert "Not shown: a difference as large as the margin remains possible." in words
    assert "No group says yes more often than the control by 95 percentage points or more (non-inferiority). Shown." in words
    interval = f"{expected.interval.low:z.4f} to {expected.interval.high:z.4f}".replace("-", "−")
    assert f"{interval} {expected.p_value:.4f}" in words
    client = logged_in(study.owner)
    document = client.get(reverse("analysis:api_results", args=[study.slug])).json()["planned_tests"]
    assert document["n"] == 200
    assert document["margins"][0]["tests"][0]["p_value"] == expected.p_value
    attention, retention = document["families"]
    smaller, larger = sorted((attention, retention), key=lambda one: one["p_value"])
    assert smaller["adjusted_p_value"] == pytest.approx(min(1, 2 * smaller["p_value"]))
    assert larger["adjusted_p_value"] >= larger["p_value"]
    rows = client.get(reverse("analysis:table", args=[study.slug, "planned-tests"])).content.decode().splitlines()
    assert rows[1].startswith("attention,equivalence,,")
    assert len(rows) == 1 + 2 + 2


def test_they_are_shown_after_the_end_of_a_study_that_stayed_small() -> None:
    study = answered_study(150)
    studies.close(study, actor=study.owner)
    compute(study, RunKind.FIRST_RESULTS)
    assert "Tests named in the protocol" in words_of(results(study))


def test_blinded_readers_do_not_see_directions() -> None:
    study = answered_study(200)
    assert "Tests named in the protocol" not in words_of(results(study, "?blinded=1"))


def test_a_study_without_planned_tests_has_no_such_part() -> None:
    study = recruiting_study(allocation={"planned_participants": 200}, die=TELLING_DIE)
    add_finished_people(study, 200)
    compute(study, RunKind.FIRST_RESULTS)
    assert "Tests named in the protocol" not in words_of(results(study))


def test_the_builder_stores_what_was_typed_and_shows_it_again() -> None:
    study = draft_study()
    client, address = logged_in(study.owner), reverse("surveys:build_tests", args=[study.slug])
    page = page_of(client.get(address))
    (loaded,) = page.xpath('//input[@name="loaded"]/@value')
    typed = {f"{name}.kind": "none" for name in QUESTIONS} | {
        "loaded": loaded,
        "attention.kind": "equivalence",
        "attention.points": "7,5",
        "attention.family": "main",
        "retention.kind": "more_yes",
        "retention.points": "5",
        "retention.family": "main",
    }
    assert client.post(address, typed).status_code == 302
    study.refresh_from_db()
    assert study.definition["analysis"] == {
        "families": {"main": ["attention", "retention"]},
        "margins": {
            "attention": {"kind": "equivalence", "points": 7.5},
            "retention": {"kind": "non_inferiority", "points": 5.0, "worse": "more_yes"},
        },
    }
    again = page_of(client.get(address))
    assert again.xpath('//input[@name="attention.points"]/@value') == ["7.5"]
    assert again.xpath('//input[@name="retention.kind"][@checked]/@value') == ["more_yes"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"attention.kind": "equivalence"}, "Write how many percentage points would matter."),
        ({"attention.kind": "equivalence", "attention.points": "0"}, "The margin must be a number from 0.1 to 99"),
        ({"attention.kind": ""}, "Choose what is to be shown."),
        ({"attention.family": "My Family!"}, "analysis.families"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_typed_is_lost(typed: dict[str, str], said: str) -> None:
    study = draft_study()
    before = study.definition
    client, address = logged_in(study.owner), reverse("surveys:build_tests", args=[study.slug])
    (loaded,) = page_of(client.get(address)).xpath('//input[@name="loaded"]/@value')
    response = client.post(
        address, {f"{name}.kind": "none" for name in QUESTIONS} | {"retention.family": "kept"} | typed | {"loaded": loaded}
    )
    assert response.status_code == 422
    assert said in words_of(response)
    assert page_of(response).xpath('//input[@name="retention.family"]/@value') == ["kept"]
    study.refresh_from_db()
    assert study.definition == before


@pytest.mark.parametrize(
    ("analysis", "said"),
    [
        ({"margins": {"smoking": {"kind": "equivalence", "points": 5}}}, "questions that are not there: smoking"),
        ({"families": {"a": ["attention"], "b": ["attention"]}}, "a question belongs to one family, and once: attention"),
        ({"margins": {"attention": {"kind": "non_inferiority", "points": 5}}}, "non_inferiority needs more_yes or fewer_yes"),
        ({"margins": {"attention": {"kind": "equivalence", "points": 5, "worse": "more_yes"}}}, "equivalence has no direction"),
        ({"margins": {"attention": {"kind": "equivalence", "points": 0}}}, "expected a number above 0, got 0"),
        ({"families": {"a": []}}, "at least 1"),
    ],
)
def test_a_study_file_with_impossible_tests_is_refused(analysis: dict[str, object], said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        definition(analysis=analysis)


def test_officers_read_them_and_they_stay_as_they_are_after_the_launch() -> None:
    study = study_in(StudyStatus.IN_REVIEW, analysis=PLANNED)
    packet = words_of(logged_in(study.owner).get(reverse("surveys:protocol", args=[study.slug])))
    assert "Every group differs from the control by less than 20 percentage points (equivalence)." in packet
    assert "These questions share the level of 5 %, by Holm’s method" in packet
    running = recruiting_study(slug="running-study", analysis=PLANNED)
    changed = definition(slug="running-study", analysis={"margins": {"attention": {"kind": "equivalence", "points": 50}}})
    with pytest.raises(DefinitionError, match="analysis"):
        studies.change_definition(running, definition=changed, actor=running.owner)


def test_the_stored_document_is_plain_json() -> None:
    study = answered_study(200)
    assert json.loads(json.dumps(compute(study, RunKind.FIRST_RESULTS)))["families"][0]["family"] == "main"


def test_a_release_brings_them_and_anybody_computes_them_again(tmp_path: Path) -> None:
    """The family has a question that is not released: it counts as untested."""
    study = closed_study(people=200, analysis=PLANNED)
    package = package_of(built_release(study))
    files = files_in(package)
    planned = json.loads(files["protocol.json"])["analysis"]
    assert planned["families"] == PLANNED["families"]
    found = json.loads(files["results.json"])["planned_tests"]
    (equivalence,) = found["margins"]["attention"]
    assert (equivalence["kind"], equivalence["margin"]) == ("equivalence", 0.2)
    attention, retention = found["families"]
    assert attention["adjusted_p_value"] == pytest.approx(min(1, 2 * attention["p_value"]))
    assert retention["p_value"] is None
    assert building.recomputation(package)["different"] == 0
    # A package of another p-value is noticed.
    unpacked = {name: content for name, content in files.items() if name != "results.json"}
    told = equivalence | {"p_value": 0.001}
    forged = json.loads(files["results.json"]) | {"planned_tests": found | {"margins": {"attention": [told]}}}
    for name, content in {**unpacked, "results.json": json.dumps(forged).encode()}.items():
        (tmp_path / name).write_bytes(content)
    assert replicate.main(tmp_path) == 1


def test_the_page_of_planned_tests_replaces_the_family_of_an_older_draft() -> None:
    study = draft_study()
    Study.objects.filter(pk=study.pk).update(definition=study.definition | {"family": "study"})
    client, address = logged_in(study.owner), reverse("surveys:build_tests", args=[study.slug])
    page = page_of(client.get(address))
    assert page.xpath('//input[@name="judgement.family"]/@value') == ["study"]
    (loaded,) = page.xpath('//input[@name="loaded"]/@value')
    assert client.post(address, {f"{name}.kind": "none" for name in QUESTIONS} | {"loaded": loaded}).status_code == 302
    study.refresh_from_db()
    assert {"family", "analysis"}.isdisjoint(study.definition)
