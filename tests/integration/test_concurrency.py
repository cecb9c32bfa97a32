"""Many people at once, and one person in many tabs, on PostgreSQL with real threads and committed transactions."""

import contextlib
import copy
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from itertools import chain
from typing import Any

import pytest
from django.db import transaction
from django.db.models import Sum
from django.http import HttpResponse
from django.template.base import Template
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from audit.models import Entry
from surveys.allocation.services import change_arm, take_slot
from surveys.errors import StudyFullError, StudyNotOpenError, TransitionError
from surveys.journey import services as participation
from surveys.journey.services import Visit
from surveys.models import (
    AllocationSlot,
    CounterKind,
    Decision,
    DirectAnswer,
    EntryBook,
    EntryCode,
    Participant,
    Response,
    ShardedCounter,
    SlotStatus,
    Study,
    StudyStatus,
    Verdict,
)
from surveys.protocols import protocol_in_force
from surveys.recruitment.services import add_entry_codes
from surveys.review import services as reviews
from surveys.studies import services as studies
from surveys.tokens import new_token, withdrawal_code
from tests.factories import QUESTIONS, answer, document, follow, person, recruiting_study, send, study_in, token_of, walk, write_down
from tests.simultaneous import at_once, outcomes_at_once

pytestmark = pytest.mark.usefixtures("postgresql")

ARMS, SUBSAMPLES = ("slides", "instructor"), ("1", "2")


@pytest.fixture(autouse=True)
def _templates_that_tell_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Django's client copies the context of every template rendered meanwhile, in whatever thread; nobody needs that here."""
    monkeypatch.setattr(Template, "_render", lambda template, context: template.nodelist.render(context))


def people_at(study: Study, step: str, several: int, **answers: dict[str, Any]) -> list[Client]:
    """Browsers of people whose next page is that of `step`."""
    clients = [Client() for _ in range(several)]
    for client in clients:
        walk(client, study, until=step, answers=answers)
    return clients


def tab_of(client: Client) -> Client:
    """Another tab of the same browser."""
    tab = Client()
    tab.cookies = copy.deepcopy(client.cookies)
    write_down(tab, token_of(client))
    return tab


def answers_at_once(clients: list[Client], study: Study, step: str) -> Counter[int]:
    """The statuses that all of them get who send the page of `step` at the same moment."""
    return statuses(at_once(*(partial(answer, client, study, step) for client in clients)))


def withdraw(client: Client, study: Study) -> HttpResponse:
    code = withdrawal_code(token_of(client))
    return client.post(reverse("surveys:withdraw", args=[study.slug]), {"code": code, "stage": "confirm"})


def statuses(responses: list[HttpResponse]) -> Counter[int]:
    return Counter(response.status_code for response in responses)


def counter(study: Study, kind: CounterKind) -> int:
    return ShardedCounter.objects.filter(study=study, kind=kind).aggregate(total=Sum("count"))["total"] or 0


def taken(study: Study) -> list[AllocationSlot]:
    return list(study.allocation_slots.filter(status=SlotStatus.TAKEN).order_by("position"))


def assert_everybody_has_one_line(study: Study, *, withdrawn: int = 0) -> None:
    """Each assigned participant took one line of the list; each kind lost as many lines as people were assigned to it."""
    lines = Counter((slot.subsample, slot.arm) for slot in taken(study))
    people = Counter(Participant.objects.filter(study=study).exclude(arm="").values_list("subsample", "arm"))
    assert lines.total() == people.total() + withdrawn
    assert people <= lines


def blocks(labels: list[str], size: int) -> Iterator[list[str]]:
    yield from (labels[start : start + size] for start in range(0, len(labels) - size + 1, size))


def test_64_people_at_once_walk_the_whole_journey() -> None:
    study = recruiting_study(allocation={"planned_participants": 96, "block_multiples": [2]})
    pages = at_once(*(partial(walk, Client(), study) for _ in range(64)))
    assert all("Completion code" in page.content.decode() for page in pages)
    assert Participant.objects.filter(study=study, step="finished").count() == 64
    assert Counter(Response.objects.values_list("question", flat=True)) == dict.fromkeys(QUESTIONS, 64)
    assert counter(study, CounterKind.COMPREHENSION_PASSED) == 64
    assert_everybody_has_one_line(study)
    lines = taken(study)
    assert [slot.position for slot in lines] == list(range(1, 65))
    assert all(Counter(block) == dict.fromkeys(SUBSAMPLES, 2) for block in blocks([slot.subsample for slot in lines], 4))
    for subsample in SUBSAMPLES:
        arms = [slot.arm for slot in lines if slot.subsample == subsample]
        assert len(arms) == 32
        assert all(Counter(block) == dict.fromkeys(ARMS, 2) for block in blocks(arms, 4))


@pytest.mark.parametrize("step", ["consent", "background", "video", "quiz", "die", "questions"])
def test_one_person_in_four_tabs_takes_each_step_once(step: str) -> None:
    study = recruiting_study()
    [client] = people_at(study, step, 1)
    tabs = [tab_of(client) for _ in range(4)]
    assert answers_at_once(tabs, study, step) == {303: 4}
    person = Participant.objects.get()
    assert person.step == {"consent": "background", "background": "video", "video": "quiz", "quiz": "die", "die": "questions"}.get(
        step, "finished"
    )
    assert len(taken(study)) == (step != "consent")
    assert counter(study, CounterKind.COMPREHENSION_PASSED) == (step in ("die", "questions"))
    assert Response.objects.count() == 4 * (step == "questions")


def test_four_tabs_with_different_answers_leave_the_answers_of_one() -> None:
    study = recruiting_study()
    [client] = people_at(study, "questions", 1)
    tabs = [tab_of(client) for _ in range(4)]
    different = [{f"answer-{name}": said for name in QUESTIONS} for said in "0101"]
    at_once(*(partial(send, tab, study, "questions", **answers) for tab, answers in zip(tabs, different, strict=True)))
    answers = Response.objects.values_list("reported_yes", flat=True)
    assert len(answers) == 4
    assert len(set(answers)) == 1


def test_one_of_two_people_with_the_same_code_enters() -> None:
    study = recruiting_study(entry={"kind": "codes"})
    add_entry_codes(study, codes=["a-code-for-one"], actor=study.owner)
    clients = people_at(study, "consent", 4, welcome={"language": "en", "code": "a-code-for-one"})
    assert answers_at_once(clients, study, "consent") == {303: 1, 403: 3}
    assert Participant.objects.count() == 1
    assert EntryBook.objects.get().codes == [EntryCode.objects.get().code_hash]


NUMBER = "5f1c0000000000000000000a"


@pytest.mark.parametrize("panel", ["prolific", "sona"])
def test_a_panel_member_who_comes_twice_at_once_enters_once(panel: str) -> None:
    study = recruiting_study(entry={"kind": panel})
    clients = people_at(study, "consent", 4, welcome={"language": "en", "PROLIFIC_PID": NUMBER, "survey_code": NUMBER})
    assert answers_at_once(clients, study, "consent") == {303: 1, 403: 3}
    assert Participant.objects.count() == len(EntryBook.objects.get().members) == 1


def test_withdrawals_at_once_and_twice_delete_and_count_everybody_once() -> None:
    study = recruiting_study()
    clients = people_at(study, "finished", 8)
    stay = people_at(study, "finished", 2)
    pages = at_once(*(partial(withdraw, tab_of(client), study) for client in clients * 2))
    assert set(statuses(pages)) <= {200, 422}
    assert Participant.objects.count() == len(stay)
    assert Response.objects.count() == 4 * len(stay)
    assert counter(study, CounterKind.WITHDREW) == 8
    assert_everybody_has_one_line(study, withdrawn=8)


@pytest.mark.parametrize("step", ["background", "die", "questions"])
def test_a_withdrawal_in_one_tab_holds_while_another_sends_a_page(step: str) -> None:
    study = recruiting_study(allocation={"planned_participants": 2})
    clients = people_at(study, step, 8)
    pairs = [(partial(answer, tab_of(client), study, step), partial(withdraw, tab_of(client), study)) for client in clients]
    assert set(statuses(at_once(*chain.from_iterable(pairs)))) <= {200, 303, 409}
    assert Participant.objects.count() == Response.objects.count() == 0
    assert counter(study, CounterKind.WITHDREW) == 8


def test_an_arm_that_closes_while_people_are_assigned_gets_nobody_afterwards() -> None:
    study = recruiting_study()
    clients = people_at(study, "background", 24)
    close = partial(change_arm, study, arm="instructor", actor=study.owner, quota=None, closed=True)
    _closed, *pages = at_once(close, *(partial(answer, client, study, "background") for client in clients))
    assert statuses(pages) == {303: 24}
    assert_everybody_has_one_line(study)
    assert Participant.objects.exclude(arm="").count() == 24
    before = Participant.objects.filter(arm="instructor").count()
    people_at(study, "video", 6)
    assert Participant.objects.filter(arm="instructor").count() == before
    assert_everybody_has_one_line(study)


@pytest.mark.parametrize("background", [None, "as in the sample"])
def test_a_list_that_runs_out_is_extended_once_for_all_who_wait(background: str | None) -> None:
    study = recruiting_study(allocation={"planned_participants": 8}, **({} if background else {"background": None}))
    step = "background" if background else "consent"
    clients = people_at(study, step, 40)
    assert answers_at_once(clients, study, step) == {303: 40}
    assert Participant.objects.filter(step="video").count() == 40
    assert_everybody_has_one_line(study)
    assert list(study.allocation_lists.values_list("length", flat=True)) == [8, 64]


def test_a_quota_holds_while_more_people_than_places_come_at_once() -> None:
    arms = [arm | {"quota": 5} for arm in document()["arms"]]
    study = recruiting_study(arms=arms, allocation={"planned_participants": 4})
    clients = people_at(study, "background", 24)
    assert answers_at_once(clients, study, "background") == {303: 10, 403: 14}
    assert Counter(Participant.objects.exclude(arm="").values_list("arm", flat=True)) == dict.fromkeys(ARMS, 5)
    assert_everybody_has_one_line(study)


@pytest.mark.parametrize("fails", [None, 3], ids=["everybody stays", "one of three is refused after all"])
def test_quotas_are_exact_while_people_come_at_once_and_they_change(fails: int | None) -> None:
    """No arm is over its quota, and none is under it: a place that was given back is taken by somebody else.

    Fewer people come while quotas change than the smaller one has places: an arm may take them all while the other one is closed.
    """
    quotas = dict(zip(ARMS, (40, 27), strict=True))
    study = recruiting_study(allocation={"planned_participants": 48})
    definition = protocol_in_force(study).definition

    def come(times: int) -> None:
        for number in range(times):
            with contextlib.suppress(StudyFullError), transaction.atomic():
                take_slot(study, definition)
                transaction.set_rollback(fails is not None and number % fails == 0)

    def change() -> None:
        for arm, quota in quotas.items():
            for most, closed in ((60, False), (quota, True), (None, False), (quota, False)):
                change_arm(study, arm=arm, actor=study.owner, quota=most, closed=closed)

    at_once(change, *[partial(come, 3)] * 8)
    at_once(*[partial(come, 14)] * 8)
    assert Counter(slot.arm for slot in taken(study)) == quotas
    assert set(study.arm_states.values_list("places", flat=True)) == {0}


def test_arms_that_change_while_people_consent_and_are_assigned_block_nobody() -> None:
    study = recruiting_study(background=None, allocation={"planned_participants": 8})
    clients = people_at(study, "consent", 24)

    def change(arm: str) -> None:
        for closed in (True, False) * 3:
            change_arm(study, arm=arm, actor=study.owner, quota=None, closed=closed and arm == ARMS[0])

    changes = [partial(change, arm) for arm in ARMS * 2]
    pages = at_once(*(partial(answer, client, study, "consent") for client in clients), *changes)
    assert statuses(pages[:24]) == {303: 24}
    assert Participant.objects.filter(step="video").count() == 24
    assert_everybody_has_one_line(study)


def test_one_of_two_officers_who_decide_at_once_does_and_the_other_is_told() -> None:
    study = study_in(StudyStatus.IN_REVIEW)
    approve = partial(reviews.approve, study, actor=person(Role.IRB_OFFICER), version=1)
    reject = partial(reviews.reject, study, actor=person(Role.IRB_OFFICER), reason="no", version=1)
    errors = [one for one in outcomes_at_once(*[approve, reject] * 4) if isinstance(one, BaseException)]
    assert [type(error) for error in errors] == [TransitionError] * 7
    assert {str(error) for error in errors} == {"Nothing of this study waits for a decision. Somebody else may have decided already."}
    decision = Decision.objects.get()
    study.refresh_from_db()
    assert study.status == (StudyStatus.APPROVED if decision.verdict == Verdict.APPROVED else StudyStatus.DRAFT)
    assert Entry.objects.filter(action__in=("study.approved", "study.rejected")).count() == 1


def test_an_approval_that_ends_while_people_consent_pauses_the_study_once_and_lets_nobody_in_afterwards() -> None:
    study = recruiting_study()
    clients = people_at(study, "consent", 12)
    Study.objects.filter(pk=study.pk).update(approved_until=timezone.localdate() - timedelta(days=1))
    outcomes = at_once(*[reviews.pause_expired_studies] * 4, *(partial(answer, client, study, "consent") for client in clients))
    assert sum(map(len, outcomes[:4])) == 1
    assert statuses(outcomes[4:]) == {403: 12}
    assert not Participant.objects.exists()
    assert Entry.objects.filter(action="study.approval_expired").count() == 1


def test_a_study_that_lapses_while_its_renewal_is_asked_for_is_closed_once_or_not_at_all() -> None:
    study = recruiting_study()
    Study.objects.filter(pk=study.pk).update(approved_until=timezone.localdate() - timedelta(days=91))
    renew = partial(studies.submit_for_review, study, actor=study.owner)
    closed, renewed = 0, 0
    for outcome in outcomes_at_once(*[studies.close_lapsed_studies] * 4, renew):
        closed += outcome == [study.slug]
        renewed += isinstance(outcome, Study)
    assert closed + renewed == 1
    assert Entry.objects.filter(action="study.closed").count() == closed


def test_nobody_who_consents_while_an_officer_suspends_a_study_is_stored_afterwards() -> None:
    study, officer = recruiting_study(), person(Role.IRB_OFFICER)
    clients = people_at(study, "consent", 12)
    read_before = Study.objects.get(pk=study.pk)

    def suspend() -> int:
        reviews.suspend(study, actor=officer, reason="A student complained.")
        return Participant.objects.count()

    def agree(client: Client) -> int:
        return answer(client, study, "consent").status_code

    stored, *answers = at_once(suspend, *(partial(agree, client) for client in clients))
    assert set(answers) <= {303, 403}
    assert Participant.objects.count() == stored == answers.count(303)
    with pytest.raises(StudyNotOpenError):
        participation.enrol(read_before, visit=Visit(token=new_token(), language="en"))


def test_one_person_in_four_tabs_is_drawn_once_and_asked_once_without_a_die() -> None:
    study = recruiting_study(direct_group={"share": 0.5, "consent": "May we?"})
    AllocationSlot.objects.filter(study=study, position=1).update(subsample="direct")
    client = Client()
    follow(client, study, until="direct_consent")
    for step in ("direct_consent", "direct_questions"):
        follow(client, study, until=step)
        tabs = [tab_of(client) for _ in range(4)]
        assert answers_at_once(tabs, study, step) == {303: 4}
    assert [slot.subsample for slot in taken(study)] == ["direct"]
    assert DirectAnswer.objects.count() == 4
    assert Participant.objects.get().step == "finished"


def test_people_of_several_strata_at_once_each_take_one_line_of_their_own() -> None:
    """Their lists are continued while others wait; nobody gets a line of another stratum."""
    genders = ("woman", "man", "other")
    study = recruiting_study(allocation={"planned_participants": 4, "strata": ["gender"], "block_multiples": [1]})
    AllocationSlot.objects.filter(study=study, stratum="woman", position__gt=4).update(status=SlotStatus.CLOSED)
    clients = people_at(study, "background", 36)
    steps = [partial(answer, client, study, "background", gender=genders[number % 3]) for number, client in enumerate(clients)]
    assert statuses(at_once(*steps)) == {303: 36}
    assert_everybody_has_one_line(study)
    for gender in genders:
        people = Counter(Participant.objects.filter(background__gender=gender).values_list("subsample", "arm"))
        lines = Counter((slot.subsample, slot.arm) for slot in taken(study) if slot.stratum == gender)
        assert people == lines
        assert people.total() == 12
    assert study.allocation_lists.filter(stratum="woman").count() == 2
