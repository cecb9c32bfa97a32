"""The design page: its numbers are the command line's, its address is the plan, and a mistake spoils nothing else."""

import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from candor.cli import main
from surveys.models import StudyStatus
from surveys.review import services as reviews
from surveys.studies import services as studies
from tests.factories import definition, draft_study, logged_in, page_of, person, study_in

pytestmark = pytest.mark.django_db
PLAN = "/plan/"
THREE_ARMS_AND_THREE_SUBSAMPLES: dict[str, Any] = {
    "die": {
        "sides": 6,
        "subsamples": {"first": {"yes": [1], "no": [2, 3]}, "second": {"yes": [1, 2], "no": [3]}, "third": {"yes": [1], "no": [2]}},
        "weights": {"first": 2},
        "cheaters": 0.3,
    },
}


@pytest.fixture
def client() -> Client:
    return logged_in(person(Role.INVESTIGATOR))


def on_the_command_line(response: HttpResponse, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The output of the command on the page, about the design on the page."""
    document, command = (str(one.text_content()) for one in page_of(response).xpath('//*[@id="command-line"]//pre'))
    (folder / "DESIGN.json").write_text(document, encoding="utf-8")
    monkeypatch.chdir(folder)
    program, *arguments = shlex.split(command)
    assert program == "candor"
    result = CliRunner().invoke(main, [*arguments, "--format=json"])
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.output))


@pytest.mark.parametrize(
    "query",
    [
        "",
        "n=72&effect=-12,5&prevalence=33.3&cheaters=7&questions=4&cap=2&power=90",
        "die=20&group1=yyynnnnnnnnttttttttt&group2=nnnyyyyyyyyttttttttt",
        "die=2d6&group1=tnttnyntttt&group2=tyttynytttt&model=always_no",
        "die=6&group1=ynnttt&group2=nyyttt&group3=yntttt",
        "die=6&group1=yntttt&group2=yynntt",
        "effect=0&weight1=3",
        "covariates=30&truth=40&prevalence=5",
        "section=25&icc=5",
        "margin=15&effect=0",
        "margin=10&worse=fewer_yes&effect=5",
    ],
)
def test_the_numbers_are_those_of_the_command_line(query: str, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    response = client.get(f"{PLAN}?{query}")
    plan = response.context["planned"].plan
    assert on_the_command_line(response, tmp_path, monkeypatch) == {
        "design": response.context["planned"].design.to_document(),
        **json.loads(json.dumps(asdict(plan))),
        "front": json.loads(json.dumps([asdict(one) for one in response.context["planned"].front])),
    }


def test_a_study_is_planned_with_its_own_die_arms_and_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = draft_study(**THREE_ARMS_AND_THREE_SUBSAMPLES)
    response = logged_in(study.owner).get(reverse("analysis:study_plan", args=[study.slug]))
    planned, defined = response.context["planned"], definition(**THREE_ARMS_AND_THREE_SUBSAMPLES)
    assert planned.design == defined.design()
    assert planned.plan.n == defined.allocation.planned_participants
    assert planned.plan.questions == len(defined.questions)
    assert planned.plan.epsilon == pytest.approx(study.epsilon_per_question)
    assert planned.plan.epsilon_total == pytest.approx(study.epsilon_total)
    assert planned.form.die.weights == (2, 1, 1)
    assert not response.context["over_cap"]
    assert on_the_command_line(response, tmp_path, monkeypatch)["contrasts"] == json.loads(json.dumps(asdict(planned.plan)))["contrasts"]


def test_the_page_says_the_computed_numbers(client: Client) -> None:
    response = client.get(f"{PLAN}?n=940&questions=4")
    said = " ".join(page_of(response).xpath('//*[@id="plan-results"]')[0].text_content().split())
    plan = response.context["planned"].plan
    contrast = plan.contrasts[0]
    assert f"{plan.epsilon:.4f}{plan.epsilon_total:.4f} in total" in said
    assert f"{100 * contrast.standard_error:.1f}points; ordinary trial: {100 * contrast.ordinary_standard_error:.1f}" in said
    assert f"{contrast.cost_of_privacy:.2f} ×" in said
    assert f"{contrast.participants_needed}ordinary trial: {contrast.ordinary_participants_needed}" in said


def test_the_page_says_how_many_students_a_margin_needs(client: Client) -> None:
    said = page_of(client.get(f"{PLAN}?margin=15&effect=0&n=1000")).get_element_by_id("plan-headline").text_content()
    needed = client.get(f"{PLAN}?margin=15&effect=0&n=1000").context["planned"].plan.margins[0].participants_needed
    assert f"smaller than 15 points in either direction the study needs {needed:,} students; 1,000 show it about" in said
    beyond = page_of(client.get(f"{PLAN}?margin=15&worse=more_yes&effect=20")).get_element_by_id("plan-headline").text_content()
    assert "No number of students shows that the effect stays below the margin: it is expected at 20 points." in beyond
    page = page_of(client.get(f"{PLAN}?margin=15&section=20"))
    assert "the plan leaves it out" in page.get_element_by_id("margin-error").text_content()
    assert "To show that" not in page.get_element_by_id("plan-headline").text_content()


def test_a_margin_of_a_die_that_leaves_the_size_open_is_said_to_hold_for_everybody_together(client: Client) -> None:
    """Of 100 people 90 are honest, so that an effect of 20 points is one of 18 over all: it is below 19, and not among the honest."""
    left_open = "die=6&group1=yntttt&group2=yynntt&cheaters=10&margin=19&worse=more_yes&effect=20"
    response = client.get(f"{PLAN}?{left_open}")
    assert not response.context["planned"].plan.identified
    said = page_of(response).get_element_by_id("plan-headline").text_content()
    assert "makes yes more frequent by less than 19 points the study needs" in said
    assert "It shows this for everybody together" in said
    identified = page_of(client.get(f"{PLAN}?margin=15&effect=0")).get_element_by_id("plan-headline").text_content()
    assert "It shows this for everybody together" not in identified


def test_a_study_is_planned_with_the_margin_of_its_analysis_plan() -> None:
    question = definition().questions[0].name
    study = draft_study(analysis={"margins": {question: {"kind": "non_inferiority", "points": 12, "worse": "more_yes"}}})
    form = logged_in(study.owner).get(reverse("analysis:study_plan", args=[study.slug])).context["planned"].form
    assert [(one.size, one.worse) for one in form.margins] == [(0.12, "more_yes")]


def test_sections_move_the_designs_to_choose_from(client: Client) -> None:
    alone, together = (client.get(f"{PLAN}?{query}").context["planned"] for query in ("", "section=25&icc=10"))
    assert together.front[0].participants_needed > 1.5 * alone.front[0].participants_needed


@pytest.mark.parametrize(
    ("asked", "then"),
    [
        ("change=turn:0:5", {"group1": "ynntty", "group2": "nyyttt"}),
        ("change=add:", {"group3": "yntttt"}),
        ("change=use:20", {"die": "20", "group1": "yyynnnnnnnnttttttttt"}),
        ("die=8&group1=ynnttt&group2=nyyttt", {"die": "8", "group1": "ynnnnttt"}),
        ("die=6&group1=yntttt&group2=yntttt&change=mirror:", {"group2": "nytttt"}),
        ("die=6&group1=ynnttt&group2=nyyttt&group3=yntttt&change=remove:", {"group2": "nyyttt"}),
        ("change=nonsense", {"group1": "ynnttt"}),
        ("change=turn:7:99", {"group1": "ynnttt"}),
        pytest.param(f"change=turn:{'1' * 5000}:0", {"group1": "ynnttt"}, id="a group of thousands of digits"),
        ("change=use:7", {"die": "6"}),
    ],
)
def test_a_button_leads_to_the_address_of_the_plan_that_it_asks_for(asked: str, then: dict[str, str], client: Client) -> None:
    response = client.get(f"{PLAN}?n=72&{asked}")
    assert response.status_code == 302
    address = urlsplit(response["Location"])
    query = {name: values[0] for name, values in parse_qs(address.query).items()}
    assert address.path == PLAN
    assert "change" not in query
    assert query.items() >= {"n": "72", **then}.items()
    assert ("group3" in query) == ("group3" in then)
    assert client.get(response["Location"]).status_code == 200


def test_every_point_of_the_front_leads_to_the_plan_with_its_die(client: Client) -> None:
    response = client.get(f"{PLAN}?n=1000&cheaters=15")
    page, front = page_of(response), response.context["front"]
    for figure in front.figures:
        points = page.xpath(f'//*[@id="figure-{figure.name}"]//a')
        assert sorted(one.get("href") for one in points) == sorted(row.address for row in front.rows)
        assert all(one.get("aria-label").startswith("Use design ") for one in points)
    assert [one.get("href") for one in page.xpath('//*[@id="front"]//td/a')] == [row.address for row in front.rows]
    for row in (front.rows[0], front.rows[1], front.rows[-1]):
        there = client.get(f"{PLAN}{row.address}")
        assert f"{there.context['plan'].contrasts[0].participants_needed:,}" == row.needed
        assert f"{100 * there.context['plan'].contrasts[0].standard_error:.1f}" == row.effect_error
        assert [one.in_use for one in there.context["front"].rows] == [one == row for one in front.rows]
        assert there.context["form"].value("n") == 1000


def test_a_mistake_is_named_at_its_field_and_the_rest_keeps_working(client: Client) -> None:
    response = client.get(f"{PLAN}?n=72&cheaters=abc")
    page = page_of(response)
    assert response.status_code == 200
    assert page.xpath('//*[@id="cheaters"]/@aria-invalid') == ["true"]
    assert "not “abc”" in page.xpath('//*[@id="cheaters-error"]')[0].text
    assert page.xpath('//*[@id="cheaters"]/@value') == ["abc"]
    assert page.xpath('//*[@role="alert"]//a/@href') == ["#cheaters"]
    assert "With 72 students" in page.xpath('//*[@id="plan-headline"]')[0].text_content()


@pytest.mark.parametrize(
    ("faces", "reason"),
    [
        ("group1=yyyttt&group2=nyyttt", "epsilon is infinite"),
        ("group1=ynnttt&group2=ynnttt", "must play different forced responses"),
        ("group1=yyynnn&group2=nyyttt", "never asks for the truth"),
        ("group1=<b>ttt&group2=nyyttt", "Every face says y"),
    ],
)
def test_a_die_that_cannot_work_is_explained_and_the_usual_one_is_planned(faces: str, reason: str, client: Client) -> None:
    response = client.get(f"{PLAN}?die=6&{faces}")
    page = page_of(response)
    assert reason in page.xpath('//*[@id="die-error"]')[0].text
    assert response.context["plan"].epsilon == pytest.approx(1.3863, abs=1e-4)
    assert "<b>" not in response.content.decode()


def test_an_officer_plans_what_was_submitted_and_not_what_the_owner_has_changed_since() -> None:
    study = study_in(StudyStatus.IN_REVIEW)
    officer, owner = person(Role.IRB_OFFICER), study.owner
    study = reviews.ask_for_changes(study, actor=officer, reason="more students")
    studies.change_definition(study, definition=definition(allocation={"planned_participants": 4000}), actor=owner)
    address = reverse("analysis:study_plan", args=[study.slug])
    assert logged_in(owner).get(address).context["plan"].n == 4000
    assert logged_in(officer).get(address).context["plan"].n == 48


def test_the_pages_of_studies_lead_to_their_plans() -> None:
    study = draft_study()
    client = logged_in(study.owner)
    assert len(page_of(client.get(reverse("surveys:studies"))).xpath(f'//a[@href="{PLAN}"]')) == 1
    assert page_of(client.get(reverse("surveys:study", args=[study.slug]))).xpath(f'//a[@href="/studies/{study.slug}/plan/"]')
    assert not page_of(logged_in(person(Role.ANALYST)).get(reverse("surveys:studies"))).xpath(f'//a[@href="{PLAN}"]')


def test_planning_changes_nothing_and_is_only_read(client: Client) -> None:
    assert client.post(PLAN).status_code == 405
