"""Names and words that the API does not know are refused: passed over, a misspelt one would change what is decided or seen, unnoticed."""

import ast
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.exceptions import ValidationError

from accounts.models import Role
from accounts.tokens.api_access import checked
from analysis.models import DataSet
from surveys.builder.serializers import StillRightSerializer
from surveys.models import Study, StudyStatus
from tests.api_requests import DESIGN, post, problem, told_at
from tests.factories import logged_in, person, recruiting_study, study_in
from tests.releases import closed_study, requested_release

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]
CHECKING = {"checked", "refuse_unknown_names"}


def test_an_officer_who_misspells_the_version_approves_nothing() -> None:
    study, officer = study_in(StudyStatus.IN_REVIEW), logged_in(person(Role.IRB_OFFICER))
    answer = problem(post(officer, f"studies/{study.slug}/actions/approve/", {"versoin": 7}), 400)
    assert "version" in answer["detail"].partition("found")[0]
    assert answer["detail"].endswith("found 'versoin'.")
    assert Study.objects.get(pk=study.pk).status == StudyStatus.IN_REVIEW
    problem(post(officer, f"studies/{study.slug}/actions/approve/", {"version": 7}), 409)
    assert post(officer, f"studies/{study.slug}/actions/approve/", {"version": 1}).status_code == 200


def test_a_release_is_not_approved_unseen() -> None:
    release = requested_release(closed_study())
    at = f"studies/{release.study.slug}/releases/{release.pk}/"
    answer = problem(post(logged_in(person(Role.IRB_OFFICER)), f"{at}approve/", {"sha265": "0" * 64}), 400)
    assert answer["detail"] == "Expected names among reason, sha256, attributes, found 'sha265'."
    release.refresh_from_db()
    assert release.status == "requested"


def test_a_plan_without_the_cheaters_that_were_meant_is_not_made() -> None:
    investigator = logged_in(person(Role.INVESTIGATOR))
    asked = {"design": DESIGN, "effect": 0.2, "n": 500}
    answer = problem(post(investigator, "power/", asked | {"cheater": "1/10"}), 400)
    assert told_at(answer)[""].endswith("found 'cheater'.")
    assert post(investigator, "power/", asked | {"cheaters": "1/10"}).status_code == 200


def test_a_place_inside_is_named() -> None:
    with pytest.raises(ValidationError) as found:
        checked(StillRightSerializer, {"still_right": [{"language": "de"}, {"langauge": "de"}]})
    assert list(found.value.detail) == ["still_right"]
    assert list(found.value.detail["still_right"]) == ["1"]
    assert "found 'langauge'." in str(found.value)


def test_files_with_an_unknown_field_are_not_brought() -> None:
    owner = logged_in(person(Role.INVESTIGATOR))
    for at in ("data-sets/", "data-sets/new/records/"):
        sent = {"file": SimpleUploadedFile("a.csv", b"a,b\n1,2\n"), "declartion": "{}"}
        assert problem(owner.post(f"/api/v1/{at}", sent), 400)["detail"].endswith("found 'declartion'."), at
    assert not DataSet.objects.exists()


def test_studies_in_an_order_that_there_is_not() -> None:
    investigator = logged_in(person(Role.INVESTIGATOR))
    answer = problem(investigator.get("/api/v1/studies/?ordering=slug,made_on"), 400)
    assert told_at(answer) == {"ordering": "Expected one of slug, title, status, created_on, launched_on, closed_on, found 'slug,made_on'."}
    assert investigator.get("/api/v1/studies/?ordering=-title,slug").status_code == 200


@pytest.mark.parametrize("address", ["counts/", "results/", "files/", "figures/participants.svg", "tables/enrolment.csv"])
def test_a_reader_who_asks_for_letters_in_another_word_does_not_see_the_arms(address: str) -> None:
    study = recruiting_study()
    answer = problem(logged_in(study.owner).get(f"/api/v1/studies/{study.slug}/{address}?blinded=true"), 400)
    assert told_at(answer) == {"blinded": "Expected one of 1, 0, found 'true'."}


def test_every_form_of_the_api_is_held_to_its_names() -> None:
    """`request=` names the form of a body in the description; a function above checks it."""
    described, held = set(), set()
    for module in (path for place in ("surveys", "analysis", "platform", "webhooks", "lti") for path in (ROOT / place).rglob("*.py")):
        for call in (node for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.Call)):
            described |= {name for word in call.keywords if word.arg == "request" for name in _forms(word.value)}
            if isinstance(call.func, ast.Name) and call.func.id in CHECKING:
                held |= set(_forms(call.args[0]))
    assert len(described) > 30
    assert described - held == set()


def _forms(node: ast.expr) -> list[str]:
    return [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and one.id.endswith("Serializer")]
