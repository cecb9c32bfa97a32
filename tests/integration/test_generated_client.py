"""A client that a program wrote from the OpenAPI document runs a whole study: nothing is known to it but what the document says."""

import io
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from accounts.models import Role
from analysis.models import Release
from candor.packages.verification import faults_of
from surveys.models import Study
from tests.factories import person
from tests.finished_people import add_finished_people
from tests.generated_client import PACKAGE, asks_as, generate, importable, one_connection
from tests.jobs import work_on

pytestmark = pytest.mark.django_db
SLUG = "lecture-videos"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    made = tmp_path_factory.mktemp("client")
    return made, generate(made)


@pytest.fixture
def client(folder: tuple[Path, str]) -> Iterator[ModuleType]:
    with importable(folder[0]) as package, one_connection():
        yield package


def model(name: str, **values: Any) -> Any:
    """A value of a class of the client."""
    return getattr(import_module(f"{PACKAGE}.models"), name).from_dict(values)


def test_the_generator_understands_the_whole_document(folder: tuple[Path, str]) -> None:
    assert "WARNING" not in folder[1].upper(), folder[1]


def test_it_runs_a_study_from_a_draft_to_data_that_verify(client: ModuleType) -> None:
    investigator, officer = person(Role.INVESTIGATOR), person(Role.IRB_OFFICER)
    ask, decide = asks_as(investigator, client), asks_as(officer, client)

    # A draft, of which the definition is a typed value.
    begun = ask("new_study.studies_begin", body=model("NewStudy", example=SLUG))
    assert (begun.slug, begun.status.value, begun.missing) == (SLUG, "draft", [])
    defined = ask("studies.studies_definition", SLUG)
    assert [arm.name for arm in defined.arms] == ["slides", "instructor"]
    assert {question.name for question in defined.questions} >= {"attention", "comprehension"}

    # Its plan, and a change by somebody who has seen the newest version.
    subsamples = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
    design = {"arms": ["slides", "instructor"], "control": "slides", "subsamples": subsamples}
    plan = ask("power.power", body=model("PlanRequest", design=design, effect=0.3, power=0.8))
    assert plan.n > 100
    changed = {"allocation": {"planned_participants": 96}, "minimum_seconds": 0}
    ask("studies.studies_change_definition", SLUG, body=model("StudyDefinitionPatch", **changed), if_match="*")
    assert ask("studies.studies_definition", SLUG).allocation.planned_participants == 96
    assert len(ask("studies.studies_history", SLUG)) == 2

    # A colleague, by an invitation.
    colleague = person(Role.INVESTIGATOR)
    offered = ask("studies.studies_invite", SLUG, body=model("Invite", addressee=colleague.username, role="viewer"))
    token = offered.link.rstrip("/").rpartition("/")[2]
    assert asks_as(colleague, client)("invitations.invitations_accept", token).slug == SLUG
    assert [one.person for one in ask("studies.studies_people", SLUG).members] == [colleague.username]

    # Review, approval, launch.
    step = "studies.studies_take_action"
    kinds = import_module(f"{PACKAGE}.models").StudiesTakeActionAction
    ask(step, SLUG, kinds.SUBMIT, body=model("ActionData"))
    assert [one.study for one in decide("review.review_queue").waiting] == [SLUG]
    decide("studies.studies_comment", SLUG, body=model("NewComment", section="consent", text="Clear to me."))
    version = decide("studies.studies_review", SLUG).submitted_version
    assert decide(step, SLUG, kinds.APPROVE, body=model("ActionData", version=version)).status.value == "approved"
    assert ask(step, SLUG, kinds.LAUNCH, body=model("ActionData")).status.value == "recruiting"

    # People answer; the study ends.
    add_finished_people(Study.objects.get(slug=SLUG), 96)
    assert ask("studies.studies_counts", SLUG).totals.finished == 96
    assert ask(step, SLUG, kinds.CLOSE, body=model("ActionData")).status.value == "closed"

    # A release: built, looked at, asked for, approved, downloaded.
    questions = [question.name for question in defined.questions]
    chosen = model("StartRelease", title="Lecture videos", authors=["Lovelace, Ada"], questions=questions)
    number = ask("studies.studies_start_release", SLUG, body=chosen).number
    work_on(Release.objects.get())
    built = ask("studies.studies_release", SLUG, number)
    assert (built.status.value, built.steps, built.rows) == ("built", ["discard", "request"], []), built.error
    assert len(decide("studies.studies_release", SLUG, number).rows) == 10
    steps = import_module(f"{PACKAGE}.models").StudiesReleaseStepStep
    asked = ask("studies.studies_release_step", SLUG, number, steps.REQUEST, body=model("ReleaseStep"))
    approval = model("ReleaseStep", sha256=asked.package_sha256)
    assert decide("studies.studies_release_step", SLUG, number, steps.APPROVE, body=approval).status.value == "published"
    package = ask("releases.releases_package", SLUG, 1).payload.read()
    with zipfile.ZipFile(io.BytesIO(package)) as files:
        assert "lecture-videos-1/data.csv" in files.namelist() or "data.csv" in files.namelist()
    assert faults_of(package, key=Release.objects.get().public_key.encode()) == []
