"""Rehearsals for programs: those of the page, in proportions."""

from typing import Any

import pytest

from accounts.models import Role, User
from audit.models import Entry
from surveys.bots import rehearsal
from surveys.models import BotRun, BotRunStatus, MemberRole, Study, StudyMember
from tests.api_requests import API, get, post, problem, told_at
from tests.factories import draft_study, logged_in, person
from tests.integration.test_rehearsal import computed, turns
from tests.jobs import Sent, catch, keys

pytestmark = pytest.mark.usefixtures("transactional_db")


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """The messages to the broker, collected instead of sent. One bot walks at a time, because all share the test's database in memory."""
    monkeypatch.setattr(rehearsal, "WORKERS", 1)
    return catch(monkeypatch)


def test_bots_are_sent_and_what_they_were_planted_is_compared_with_what_is_found(queued: Sent) -> None:
    study = draft_study()
    address = f"studies/{study.slug}/rehearsal/"
    assert get(study.owner, address) == {"study": study.slug, "rehearsal": None}
    sent = post(logged_in(study.owner), address, {"bots": 40, "prevalence": "2/5", "cheaters": 0, "behaviour": "random", "dropout": 0})
    assert sent.status_code == 202, sent.content
    crowd = BotRun.objects.get()
    assert keys(queued, "rehearsal") == [str(crowd.pk)]
    waiting = get(study.owner, address)["rehearsal"]
    planted = {"bots": 40, "prevalence": 0.4, "effect": 0.2, "cheaters": 0, "behaviour": "random", "dropout": 0, "under_reporting": 0}
    assert (waiting["status"], waiting["sent"], waiting["is_working"]) == ("walking", 0, True)
    assert waiting["planted"] == {**planted, "seed": crowd.seed}
    assert turns(crowd) == 2
    results = computed(crowd.study)
    found = get(study.owner, address)["rehearsal"]
    assert (found["status"], found["sent"], found["counts"]["consented"] + found["counts"]["declined"]) == ("done", 40, 40)
    effect = found["questions"][0]["comparisons"][0]
    stored = results["outcomes"][found["questions"][0]["question"]]["effects"][0]
    assert (effect["planted"], effect["estimate"]) == (0.2, stored["value"])
    assert (effect["low"], effect["high"]) == (stored["interval"]["low"], stored["interval"]["high"])


def test_a_rehearsal_is_stopped_and_deleted_and_each_step_is_recorded() -> None:
    study = draft_study()
    address, client = f"studies/{study.slug}/rehearsal/", logged_in(study.owner)
    assert post(client, f"{address}stop/").json()["rehearsal"] is None
    assert post(client, address, {}).status_code == 202
    assert post(client, f"{address}stop/").json()["rehearsal"]["status"] == BotRunStatus.STOPPED
    for _again in range(2):
        assert client.delete(API + address).status_code == 204
    assert not Study.objects.filter(rehearsal_of=study).exists()
    recorded = Entry.objects.filter(action__contains="rehears").order_by("sequence").values_list("action", flat=True)
    assert list(recorded) == ["study.rehearsed", "study.rehearsal_stopped", "study.rehearsal_deleted"]


@pytest.mark.parametrize(
    ("planted", "field"),
    [
        ({"bots": 5001}, "bots"),
        ({"prevalence": 40}, "prevalence"),
        ({"cheaters": 0.96}, "cheaters"),
        ({"dropout": "nan"}, "dropout"),
        ({"behaviour": "shout"}, "behaviour"),
        ({"prevalence": 0.9, "effect": 0.2}, ""),
        ({"under_reporting": 1.1}, "under_reporting"),
        ({"under_reporting": 0.1}, ""),  # nobody is asked directly
    ],
)
def test_effects_that_cannot_be_planted_are_refused(planted: dict[str, Any], field: str) -> None:
    study = draft_study()
    answer = problem(post(logged_in(study.owner), f"studies/{study.slug}/rehearsal/", planted), 400)
    assert set(told_at(answer)) == ({field} if field else set())
    assert not BotRun.objects.exists()


def test_only_those_who_may_change_the_study_rehearse_it() -> None:
    study = draft_study()
    address = f"{API}studies/{study.slug}/rehearsal/"

    def member(role: MemberRole) -> User:
        user = person(Role.ANALYST)
        StudyMember.objects.create(study=study, user=user, role=role)
        return user

    for user in (member(MemberRole.VIEWER), person(Role.INVESTIGATOR), person(Role.IRB_OFFICER)):
        client = logged_in(user)
        for answer in (client.get(address), client.post(address), client.post(f"{address}stop/"), client.delete(address)):
            problem(answer, 404)
    assert post(logged_in(member(MemberRole.EDITOR)), f"studies/{study.slug}/rehearsal/", {}).status_code == 202
