"""Numbers of people and results for programs: the stored ones, with letters in place of arms where the page has them."""

import re
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import Role, TokenScope
from accounts.services import issue_token
from analysis import services
from analysis.models import RunKind
from surveys.models import Study, StudyStatus
from surveys.studies import services as studies
from tests.api_requests import API, get, problem
from tests.factories import QUESTIONS, document, draft_study, logged_in, person, recruiting_study, study_in
from tests.finished_people import TELLING_DIE, add_finished_people, compute

pytestmark = pytest.mark.django_db
ARMS = re.compile(r"slides|instructor", re.IGNORECASE)
DOCUMENT = Path(__file__).parents[2] / "docs" / "api.md"


def answered_study(**changes: Any) -> Study:
    study = recruiting_study(
        **{
            "allocation": {"planned_participants": 400},
            "die": TELLING_DIE,
            "questions": [{"name": "attention", "text": "Did your attention wander?"}],
            **changes,
        }
    )
    add_finished_people(study, 200, cheaters=0.0, prevalence=0.3, effect=0.4)
    return study


def test_counts_are_those_of_the_page_and_groups_are_for_those_who_see_results() -> None:
    study = answered_study()
    found = get(study.owner, f"studies/{study.slug}/counts/")
    assert (found["totals"]["finished"], found["totals"]["consented"], found["planned"]) == (200, 200, 400)
    assert sum(group["finished"] for group in found["groups"]) == 200
    assert {(group["arm"], group["subsample"]) for group in found["groups"]} == {
        (arm, subsample) for arm in ("slides", "instructor") for subsample in ("1", "2")
    }
    reviewed = get(person(Role.IRB_OFFICER), f"studies/{study.slug}/counts/")
    assert (reviewed["totals"], reviewed["groups"]) == (found["totals"], None)


def test_a_draft_has_nobody_and_no_results() -> None:
    study = draft_study()
    counts = get(study.owner, f"studies/{study.slug}/counts/")
    assert (counts["totals"]["consented"], counts["groups"], counts["planned"]) == (0, [], None)
    results = get(study.owner, f"studies/{study.slug}/results/")
    assert (results["first_results"], results["full_results"], results["blinded"]) == (None, None, False)


def test_results_are_the_stored_ones_and_keep_their_mark() -> None:
    study = answered_study()
    compute(study)
    found = get(study.owner, f"studies/{study.slug}/results/")
    stored = study.runs.get(kind=RunKind.FIRST_RESULTS).results["outcomes"]["attention"]
    (outcome,) = found["first_results"]["outcomes"]
    assert (outcome["question"], outcome["n"], found["control"]) == ("attention", 200, "slides")
    assert outcome["sequence"]["cheater_proportion"] == stored["sequence"]["cheater_proportion"]
    shown = [{name: value for name, value in one.items() if name != "said_direction"} for one in outcome["sequence"]["effects"]]
    assert shown == stored["sequence"]["effects"], "the words of a page are added, and nothing else"
    marks = {effect["method"]: effect["for_publication"] for effect in found["full_results"]["outcomes"][0]["sequence"]["effects"]}
    assert marks == {"efficient": True, "efficient_with_covariates": False}
    assert found["full_results"]["balance"]["for_publication"] is False


def test_intervals_and_p_values_for_one_look_come_with_the_planned_number() -> None:
    study = answered_study(allocation={"planned_participants": 200})
    compute(study)
    planned = get(study.owner, f"studies/{study.slug}/results/")["planned_analysis"]
    assert (planned["n"], planned["planned"], planned["reached_the_plan"], planned["kind"]) == (200, 200, True, "full_results")
    effects = {effect["method"]: effect for effect in planned["outcomes"][0]["effects"]}
    assert {method: effect["for_publication"] for method, effect in effects.items()} == {
        "difference_in_means": True,
        "efficient": True,
        "doubly_robust": False,
        "efficient_with_covariates": False,
    }
    assert effects["efficient"]["bootstrap"]["seed"] == planned["seed"]
    assert effects["efficient"]["p_value"] is not None


def test_too_few_answers_are_said_in_words() -> None:
    study = recruiting_study()
    compute(study)
    outcomes = get(study.owner, f"studies/{study.slug}/results/")["first_results"]["outcomes"]
    assert [outcome["question"] for outcome in outcomes] == list(QUESTIONS), "in the order of the study"
    assert all(outcome["not_yet"] for outcome in outcomes)
    assert all(outcome["sequence"] is None for outcome in outcomes)


def test_a_blinded_study_is_blinded_in_every_answer_until_it_is_closed() -> None:
    study = answered_study()
    compute(study)
    path = f"studies/{study.slug}/"
    open_groups = get(study.owner, path + "counts/")["groups"]
    services.blind(study, on=True, actor=study.owner)
    client = logged_in(study.owner)
    for name in ("results/", "counts/", "runs/", "results/?blinded=0"):
        answer = client.get(API + path + name)
        assert answer.status_code == 200
        assert not ARMS.search(answer.content.decode()), name
    results, groups = get(study.owner, path + "results/"), get(study.owner, path + "counts/")["groups"]
    assert (results["blinded"], results["arms"], results["control"]) == (True, ["A", "B"], None)
    for kind in ("first_results", "full_results"):
        effects = results[kind]["outcomes"][0]["sequence"]["effects"]
        assert {(one["treatment"], one["control"]) for one in effects} in ({("A", "B")}, {("B", "A")})
    assert {one["arm"] for one in groups} == {"all"}
    assert sum(one["finished"] for one in groups) == sum(one["finished"] for one in open_groups)
    studies.close(study, actor=study.owner)
    assert get(study.owner, path + "results/")["control"] == "slides"


def test_with_three_arms_a_blinded_study_shows_no_contrast() -> None:
    arms = document()["arms"]
    third = {**arms[1], "name": "instructor-two"}
    study = answered_study(arms=[*arms, third])
    compute(study)
    services.blind(study, on=True, actor=study.owner)
    answer = logged_in(study.owner).get(f"{API}studies/{study.slug}/results/")
    assert not ARMS.search(answer.content.decode())
    results = answer.json()
    for kind in ("first_results", "full_results"):
        assert [one["sequence"]["effects"] for one in results[kind]["outcomes"]] == [[]]
    assert results["full_results"]["balance"]["differences"] == []


def test_people_who_ask_for_letters_get_them() -> None:
    study = answered_study()
    compute(study)
    for name in ("results", "counts"):
        answer = logged_in(study.owner).get(f"{API}studies/{study.slug}/{name}/?blinded=1")
        assert not ARMS.search(answer.content.decode())


@pytest.mark.parametrize("name", ["results", "runs"])
def test_results_are_not_for_officers_and_analysts(name: str) -> None:
    study = recruiting_study()
    for role in (Role.IRB_OFFICER, Role.ANALYST):
        problem(logged_in(person(role)).get(f"{API}studies/{study.slug}/{name}/"), 404)


def test_runs_come_newest_first_without_data_and_in_few_queries(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    study = answered_study()
    compute(study)
    client = logged_in(study.owner)
    with django_assert_max_num_queries(5):  # session, user, study, count, page
        runs = client.get(f"{API}studies/{study.slug}/runs/").json()["results"]
    assert [(run["kind"], run["status"], run["n"]) for run in runs] == [("full_results", "done", 200), ("first_results", "done", 200)]
    assert set(runs[0]) == {"id", "kind", "status", "n", "seed", "method_version", "finished_on"}


def test_more_people_take_no_more_queries(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    study = answered_study()
    compute(study)
    client = logged_in(study.owner)
    for name in ("", "counts/", "results/"):
        client.get(f"{API}studies/{study.slug}/{name}")  # the protocol is read once per process
        with django_assert_max_num_queries(14):
            client.get(f"{API}studies/{study.slug}/{name}")


def answered_here(request: httpx.Request) -> httpx.Response:
    """The response of the application in this process."""
    kind, token = request.headers.get("Content-Type", ""), request.headers["Authorization"]
    answer = Client(headers={"Authorization": token}).generic(request.method, request.url.path, request.content, content_type=kind)
    return httpx.Response(answer.status_code, content=answer.content, headers=dict(answer.items()))


def test_the_example_of_the_document_runs_as_it_stands_there(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Against the application in this process; while it waits, people finish."""
    study = study_in(StudyStatus.APPROVED, allocation={"planned_participants": 400}, die=TELLING_DIE)
    token = issue_token(user=study.owner, name="example", scope=TokenScope.WRITE, days=1)

    def people_finish(seconds: float) -> None:
        add_finished_people(study, 200, cheaters=0.0, prevalence=0.3, effect=0.4)
        compute(study)

    monkeypatch.setenv("CANDOR_TOKEN", token)
    monkeypatch.setenv("CANDOR", "http://testserver")
    monkeypatch.setattr(time, "sleep", people_finish)
    client = httpx.Client
    monkeypatch.setattr(httpx, "Client", lambda **given: client(**given, transport=httpx.MockTransport(answered_here)))
    (code,) = [part for part in re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL) if "CANDOR_TOKEN" in part]
    exec(compile(code, str(DOCUMENT), "exec"), {})
    study.refresh_from_db()
    assert study.status == StudyStatus.RECRUITING
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].endswith("people are needed")
    assert len([line for line in printed if line.startswith("attention efficient ")]) == 1
