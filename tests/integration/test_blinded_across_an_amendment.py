"""A blinded reader while an amendment is made, waits, is approved and opens: nothing joins a letter with an arm."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from analysis import services
from surveys.allocation.services import change_arm
from surveys.errors import DefinitionError
from surveys.models import MemberRole, Study, StudyMember
from surveys.review import services as reviews
from surveys.studies import services as studies
from tests.factories import definition, document, logged_in, person, recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people, compute

pytestmark = pytest.mark.django_db
ARMS = re.compile(r"slides|instructor", re.IGNORECASE)
SAME: dict[str, Any] = {
    "die": TELLING_DIE,
    "allocation": {"planned_participants": 400},
    "questions": [{"name": "attention", "text": "Did your attention wander?"}],
}
LETTERS = re.compile(r'"[AB]"|B − A|A − B|>[AB]<|,[AB],')
WITH_LETTERS = ("analysis:results", "analysis:api_results", "analysis:api_counts", "analysis:api_runs")
WITH_ARMS = (
    *("surveys:study", "surveys:api_study", "surveys:protocol", "surveys:api_protocol", "surveys:api_definition", "surveys:preview"),
    *("surveys:protocol_preregistration", "surveys:api_preregistration", "analysis:study_plan"),
)
CLOSED_TO_THEM = ("surveys:study_log", "surveys:api_study_log", "surveys:export_study_log", "surveys:arms", "surveys:api_arms")


@pytest.fixture
def study() -> Study:
    study = recruiting_study(**SAME)
    add_finished_people(study, 200, cheaters=0.0, prevalence=0.3, effect=0.4)
    compute(study)
    return study


def moments(study: Study) -> Iterator[str]:
    """The study before an amendment and at every step of it, with results that are computed again."""
    yield "before"
    changed = definition(consent="Consent that was written anew.", minimum_seconds=9, title="Another title", **SAME)
    study = studies.change_definition(study, definition=changed, actor=study.owner)
    yield "in the making"
    study = studies.submit_for_review(study, actor=study.owner)
    yield "waits"
    study = reviews.approve(study, actor=person(Role.IRB_OFFICER), reason="It has to.", conditions="Tell us.")
    yield "approved"
    study = studies.resume(reviews.acknowledge_conditions(study, actor=study.owner), actor=study.owner)
    compute(study)
    yield "opened"


def shown(client: Client, address: str) -> str:
    answer: Any = client.get(address)
    assert answer.status_code == 200, address
    return (b"".join(answer.streaming_content) if answer.streaming else answer.content).decode()


def contrasts(client: Client, study: Study) -> list[tuple[str, str]]:
    """The letters of every contrast, in the order in which a program reads them."""
    results = client.get(reverse("analysis:api_results", args=[study.slug])).json()
    assert results["blinded"]
    return [(one["treatment"], one["control"]) for outcome in results["full_results"]["outcomes"] for one in outcome["sequence"]["effects"]]


def test_no_page_and_no_file_joins_a_letter_with_an_arm_at_any_step_of_an_amendment(study: Study) -> None:
    viewer = person(Role.ANALYST)
    StudyMember.objects.create(study=study, user=viewer, role=MemberRole.BLINDED_VIEWER)
    client = logged_in(viewer)
    before = contrasts(client, study)
    assert before
    for moment in moments(study):
        files = client.get(reverse("analysis:api_files", args=[study.slug])).json()
        addresses = [one.get("svg") or one["csv"] for kind in ("figures", "tables") for one in files[kind]]
        for address in (*addresses, *(reverse(name, args=[study.slug]) for name in WITH_LETTERS)):
            assert not ARMS.search(shown(client, address)), (moment, address)
        for name in WITH_ARMS:
            page = shown(client, reverse(name, args=[study.slug]))
            assert ARMS.search(page), (moment, name)
            assert not LETTERS.search(page), (moment, name)
        for name in CLOSED_TO_THEM:
            assert client.get(reverse(name, args=[study.slug])).status_code == 404, (moment, name)
        assert contrasts(client, study) == before, f"{moment}: letters that change places tell more than letters"
    changes = shown(client, reverse("surveys:protocol_changes", args=[study.slug, 2]))
    assert "Another title" in changes
    assert not LETTERS.search(changes)
    studies.close(study, actor=study.owner)
    assert ARMS.search(shown(client, reverse("analysis:results", args=[study.slug])))


def test_arms_that_are_hidden_from_everybody_stay_so_at_every_step_of_an_amendment(study: Study) -> None:
    services.blind(study, on=True, actor=study.owner)
    client = logged_in(study.owner)
    for moment in moments(study):
        for name in WITH_LETTERS:
            assert not ARMS.search(shown(client, reverse(name, args=[study.slug]))), (moment, name)


def test_no_amendment_changes_what_a_letter_stands_for(study: Study) -> None:
    """The attack: an arm is renamed, added, taken away, moved or made larger, and the reader sees which letter follows."""
    first, second = document()["arms"]
    amended: dict[str, dict[str, Any]] = {
        "renamed": {"arms": [first, second | {"name": "other"}], "control": first["name"]},
        "called otherwise": {"arms": [first, second | {"label": {"en": "Another label", "de": "Ein anderer Name"}}]},
        "moved": {"arms": [second, first]},
        "made larger": {"arms": [first, second | {"weight": 3}]},
        "added": {"arms": [first, second, second | {"name": "third"}]},
        "control": {"control": next(one["name"] for one in (first, second) if one["name"] != document()["control"])},
        "a question less": {"questions": document()["questions"][1:]},
    }
    for parts in amended.values():
        changed = definition(**SAME | parts)
        with pytest.raises(DefinitionError, match="Since the launch these parts cannot be changed"):
            studies.change_definition(study, definition=changed, actor=study.owner)


def test_an_arm_that_is_stopped_while_an_amendment_waits_hides_numbers_by_letter(study: Study) -> None:
    """From then on one letter grows and the other does not. The reader learns neither that an arm was stopped nor which."""
    viewer = person(Role.ANALYST)
    StudyMember.objects.create(study=study, user=viewer, role=MemberRole.BLINDED_VIEWER)
    client, address = logged_in(viewer), reverse("analysis:api_results", args=[study.slug])

    def by_letter() -> list[object]:
        found: list[object] = client.get(address).json()["full_results"]["balance"]["differences"]
        return found

    assert by_letter()
    stopped = False
    for moment in moments(study):
        if moment == "waits":
            change_arm(study, arm="slides", actor=study.owner, quota=None, closed=True)
            stopped = True
        assert bool(by_letter()) != stopped, moment
