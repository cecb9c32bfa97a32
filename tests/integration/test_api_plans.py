"""Plans for programs, which are those of the command line, and the description of the whole API."""

import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import yaml
from click.testing import CliRunner
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from jsonschema import Draft202012Validator
from rest_framework.pagination import PageNumberPagination

from accounts.models import Role, User
from candor.cli import main
from tests.api_requests import API, DESIGN, post, problem, told_at
from tests.audits.test_permissions import own_routes
from tests.audits.who_may_enter import ARGUMENTS
from tests.factories import draft_study, logged_in, person

pytestmark = pytest.mark.django_db

THREE_ANSWERS = {
    "categories": ["never", "once", "often"],
    "subsamples": {"1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}},
}


@pytest.fixture
def investigator() -> User:
    return person(Role.INVESTIGATOR)


def test_a_plan_is_the_document_of_the_command_line(tmp_path: Path, investigator: User) -> None:
    path = tmp_path / "design.json"
    path.write_text(json.dumps(DESIGN))
    options = ["--effect=0.2", "--cheaters=1/10", "--n=500", "--questions=4", "--equivalence-margin=0.3", "--format=json"]
    printed = CliRunner().invoke(main, ["plan", "--design", str(path), *options])
    assert printed.exit_code == 0, printed.output
    asked = {"design": DESIGN, "effect": 0.2, "cheaters": "1/10", "n": 500, "questions": 4, "equivalence_margin": 0.3}
    for user in (investigator, person(Role.IRB_OFFICER), person(Role.ADMINISTRATOR)):
        assert post(logged_in(user), "power/", asked).json() == json.loads(printed.output)
    assert post(logged_in(investigator), "power/", {**asked, "effect": 0.9, "effects": {"instructor": 0.2}}).json() == json.loads(
        printed.output
    )
    problem(post(logged_in(person(Role.ANALYST)), "power/", asked), 403)
    in_sections = {**asked, "equivalence_margin": None, "cluster_size": 25, "icc": 0.05}
    assert post(logged_in(investigator), "power/", in_sections).json()["contrasts"][0]["participants_needed"] > 945
    problem(post(logged_in(investigator), "power/", {**asked, "non_inferiority": 0.1}), 422)  # in which direction?


@pytest.mark.parametrize(
    ("changes", "field", "expected"),
    [
        ({"prevalence": 1.5}, "prevalence", 'Expected a number from 0 to 1 or a fraction like "2/6", found 1.5.'),
        ({"prevalence": ""}, "prevalence", "found nothing."),
        ({"prevalence": "nan"}, "prevalence", "found 'nan'."),
        ({"cheaters": "1e999999999"}, "cheaters", "found '1e999999999'."),
        ({"effect": True}, "effect", "found true."),
        ({"effects": {"instructor": 2}}, "effects", "Expected a number from -1 to 1"),
        ({"effect": "1/0"}, "effect", "found '1/0'."),
        ({"n": 2.5}, "n", "Expected a whole number from 1 to 1000000000, found 2.5."),
        ({"n": 10**15}, "n", "Expected a whole number from 1 to 1000000000, found 1000"),
        ({"design": "slides"}, "design", "Expected an object, found 'slides'."),
        ({"design": {}}, "design", "the design lacks arms, control, subsamples"),
        ({"design": {**DESIGN, "control": "radio"}}, "design", "not 'radio'"),
        ({"design": {**DESIGN, "arms": [str(number) for number in range(21)]}}, "design", "Expected at most 20 arms, found 21."),
        ({"design": {**DESIGN, **THREE_ANSWERS}}, "design", "yes/no questions, but the design has the categories never, once, often"),
        (
            {"design": {**DESIGN, "subsamples": {"1": {"forced_no": "1e-999999999", "forced_yes": "1/6"}}}},
            "design",
            "fraction like \"2/6\", not '1e-999999999'",
        ),
    ],
)
def test_a_number_that_does_not_fit_is_named_with_what_was_expected(
    changes: dict[str, Any], field: str, expected: str, investigator: User
) -> None:
    answer = problem(post(logged_in(investigator), "power/", {"design": DESIGN, "effect": 0.2, **changes}), 400)
    assert {place.partition(".")[0] for place in told_at(answer)} == {field}
    assert expected in " ".join(told_at(answer).values())
    assert answer["detail"].splitlines() == [f"{one['place']}: {one['detail']}" for one in answer["errors"]]


def test_a_plan_that_cannot_be_made_says_why(investigator: User) -> None:
    client = logged_in(investigator)
    assert "neither" in told_at(problem(post(client, "power/", {"design": DESIGN}), 400))["effect"]
    nobody_honest = problem(post(client, "power/", {"design": DESIGN, "effect": 0.2, "cheaters": 1}), 422)
    assert "below 1" in nobody_honest["detail"]
    assert "found 1.1" in problem(post(client, "power/", {"design": DESIGN, "effect": 0.7}), 422)["detail"]
    problem(client.post(API + "power/", data="{", content_type="application/json"), 400)
    problem(post(client, "power/", [1]), 400)
    assert "at most 100,000 bytes" in problem(post(client, "power/", {"design": "x" * 100_000}), 400)["detail"]


@pytest.mark.parametrize(
    "changes",
    [
        {"n": 1},
        {"n": 1_000_000_000, "questions": 1000},
        {"prevalence": 0, "effect": 0, "n": 10},
        {"prevalence": 0, "effect": 1, "n": 10},
        {"cheaters": 0.999999, "n": 10},
        {"effect": 0.000001, "power": 0.999999},
        {"level": 0.999999999, "n": 10, "power": 0.5},
        {"level": 0, "n": 10},
        {"power": 1},
        {"epsilon_cap": 0.000001, "n": 10},
        {"epsilon_cap": 100, "n": 10},
    ],
)
def test_extreme_numbers_give_a_plan_or_a_reason(changes: dict[str, Any], investigator: User) -> None:
    response = post(logged_in(investigator), "power/", {"design": DESIGN, "effect": 0.2, **changes})
    assert response.status_code in (200, 422), response.content


def test_the_schema_is_valid_and_complete(tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    call_command("spectacular", "--validate", "--fail-on-warn", "--format", "openapi-json", "--file", str(path))
    schema = json.loads(path.read_text())
    given = {"slug": "x", **ARGUMENTS}
    routes = [reverse(name, kwargs={one: given[one] for one in parameters}) for name, parameters in own_routes().items() if "api_" in name]
    assert sorted(re.sub(r"\{(\w+)\}", lambda one: str(given[one[1]]), address) for address in schema["paths"]) == sorted(routes)
    for address, operations in schema["paths"].items():
        for operation in operations.values():
            assert "application/problem+json" in operation["responses"]["4XX"]["content"]
            public = address.startswith("/api/v1/releases/")  # published data are for everybody
            assert public or operation["security"] == [{"tokenAuth": []}, {"cookieAuth": []}]
    as_yaml, as_json = (Client().get(f"{API}schema/?format={kind}").content for kind in ("yaml", "json"))
    assert yaml.load(as_yaml, yaml.CSafeLoader) == json.loads(as_json)


def test_pages_of_a_list_are_what_the_document_says(investigator: User) -> None:
    """By JSON Schema itself, which OpenAPI 3.1 is: programs that read both versions are lenient about `nullable`, a word of 3.0."""
    document = json.loads(Client().get(f"{API}schema/?format=json").content)
    listed = document["paths"][f"{API}studies/"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    client = logged_in(investigator)
    for slug in ("one", "two"):
        draft_study(owner=investigator, slug=slug)
    with patch.object(PageNumberPagination, "page_size", 1):
        pages = [client.get(f"{API}studies/?page={number}").json() for number in (1, 2)]
    assert [(page["previous"] is None, page["next"] is None) for page in pages] == [(True, False), (False, True)]
    validator = Draft202012Validator({**document, **listed})
    assert [error.message for page in pages for error in validator.iter_errors(page)] == []
