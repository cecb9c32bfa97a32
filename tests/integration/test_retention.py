"""At the end of a study's time some data are deleted, some stay, and nothing goes wrong in the middle."""

from collections.abc import Callable
from datetime import date, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from analysis import services
from analysis.answers.datasets import cell_counts
from analysis.live.progress import progress_of
from analysis.models import Run, RunKind, RunStatus
from analysis.runs import runner
from audit.models import Entry
from jobs import tasks
from surveys import actions
from surveys.counts import exact_counts
from surveys.errors import JourneyError, TransitionError
from surveys.journey import services as participation
from surveys.models import EntryBook, EntryCode, PanelMember, Participant, Response, Step, Study, StudyStatus
from surveys.protocols import protocol_in_force
from surveys.recruitment.services import add_entry_codes
from surveys.retention import services as retention
from surveys.retention.selectors import day_of_forgetting
from surveys.review import services as reviews
from surveys.studies import services as studies
from surveys.tokens import hash_of_token, hash_of_withdrawal_code, panel_hash
from tests.factories import (
    code_on,
    definition,
    draft_study,
    everything_stored,
    heading,
    logged_in,
    participant_of,
    person,
    recruiting_study,
    study_in,
    token_of,
    walk,
)
from tests.finished_people import compute
from tests.jobs import catch, keys, work_off

pytestmark = pytest.mark.django_db

GRADE, MEMBER = "97.125", "panel-member-unmistakable-17"


LEFT = ("background", "quiz", "questions")
NO_PARTICIPANTS = (
    "audit.",
    "auth",
    "sessions.",
    "accounts.",
    *(f"surveys.{name}" for name in ("Study", "Protocol", "Preregistration", "AllocationList", "Decision")),
)


def closed_study(*, finished: int = 2, unfinished: tuple[str, ...] = LEFT, **changes: Any) -> tuple[Study, Client, str]:
    """A study that is closed after some people walked it; with the browser and the withdrawal code of one who finished."""
    study = recruiting_study(entry={"kind": "sona"}, **changes)
    client, code = Client(), ""
    for number in range(finished):
        client = Client()
        entry = {"survey_code": f"{MEMBER}-{number}"}
        code = code_on(walk(client, study, answers={"welcome": {"language": "de", **entry}}), "withdrawal")
    for number, step in enumerate(unfinished):
        walk(Client(), study, until=step, answers={"welcome": {"survey_code": f"{MEMBER}-left-{number}"}})
    add_entry_codes(study, codes=["SECRET-CODE-1", "SECRET-CODE-2"], actor=study.owner)
    return studies.close(study, actor=study.owner), client, code


def planted(study: Study, client: Client, code: str) -> dict[str, str]:
    """The data that must be gone, as stored in the tables."""
    participant = participant_of(client)
    return {
        "panel number": EntryBook.objects.get(study=study).members[panel_hash(code)],
        "panel hash": panel_hash(code),
        "token": hash_of_token(token_of(client)),
        "withdrawal code": hash_of_withdrawal_code(code),
        "background": "probability",
        "quiz": "alike",
        "unfinished participant": str(Participant.objects.filter(study=study).exclude(step=Step.FINISHED)[0].pk),
        "day": repr(participant.consented_on),
        "language": repr("de"),
    }


def people_stored() -> str:
    """Every table but those of the definition, the log and the runs, whose days and words are no participant's."""
    return repr({label: rows for label, rows in everything_stored().items() if not label.startswith(NO_PARTICIPANTS)})


def number_at_the_panel_is_stored() -> bool:
    return EntryBook.objects.exists() or PanelMember.objects.exists()


def numbers_of(study: Study) -> tuple[Any, ...]:
    """Every count, and everything that determines the estimates that may be published."""
    definition = protocol_in_force(study).definition
    progress = progress_of(study, definition, names={arm.name: arm.name for arm in definition.arms})
    cells = {question: counts.tolist() for question, counts in cell_counts(study, definition).items()}
    return exact_counts(study), progress.flow, cells, runner.first_results(study, definition)


def test_identifying_data_go_and_every_count_and_estimate_stays() -> None:
    study, client, code = closed_study(finished=4)
    before, secrets = numbers_of(study), planted(study, client, code)
    stored = people_stored()
    assert not [name for name, secret in secrets.items() if secret not in stored], "the test must see what it looks for"
    retention.forget_operational_data(study)
    stored = people_stored()
    assert [name for name, secret in secrets.items() if secret in stored] == []
    assert not number_at_the_panel_is_stored()
    assert not EntryCode.objects.exists()
    assert numbers_of(study) == before
    assert set(Participant.objects.values_list("step", "consented_on", "finished_on", "watched_tenths", "language")) == {
        (Step.FINISHED, None, None, 0, "")
    }
    assert Response.objects.count() == 4 * 4


def test_it_is_done_on_the_day_of_the_protocol_and_not_before() -> None:
    study, _client, _code = closed_study(finished=1, unfinished=(), retention={"months_after_closing": 1})
    Study.objects.filter(pk=study.pk).update(closed_on=date(2026, 1, 31))
    study.refresh_from_db()
    assert day_of_forgetting(study) == date(2026, 2, 28)
    assert retention.forget_what_is_due(date(2026, 2, 27)) == []
    assert number_at_the_panel_is_stored()
    assert retention.forget_what_is_due(date(2026, 2, 28)) == [study.slug]
    assert retention.forget_what_is_due(date(2026, 3, 1)) == []
    assert not number_at_the_panel_is_stored()


@pytest.mark.parametrize(("first", "then", "kept"), [(1, 24, 1), (24, 1, 1)])
def test_nobodys_data_are_kept_for_longer_than_they_agreed_to(first: int, then: int, kept: int) -> None:
    study = recruiting_study(retention={"months_after_closing": first})
    walk(Client(), study)
    changed = definition(retention={"months_after_closing": then})
    study = studies.submit_for_review(studies.change_definition(study, definition=changed, actor=study.owner), actor=study.owner)
    study = studies.resume(reviews.approve(study, actor=person(Role.IRB_OFFICER)), actor=study.owner)
    about = Client().get(reverse("surveys:transparency", args=[study.slug]), HTTP_ACCEPT_LANGUAGE="en").content.decode()
    assert "One month after the end of the study" in about
    study = studies.close(study, actor=study.owner)
    Study.objects.filter(pk=study.pk).update(closed_on=date(2026, 1, 15))
    study.refresh_from_db()
    assert day_of_forgetting(study) == date(2026, 1 + kept, 15)


def test_the_day_of_the_deletion_does_not_move_with_the_last_person_of_a_version_who_leaves() -> None:
    """Attack: everybody can read how long data are kept, and so the moment at which the only one who agreed to less took theirs out."""
    study, client = recruiting_study(retention={"months_after_closing": 1}), Client()
    code = code_on(walk(client, study), "withdrawal")
    changed = definition(retention={"months_after_closing": 24})
    study = studies.submit_for_review(studies.change_definition(study, definition=changed, actor=study.owner), actor=study.owner)
    study = studies.resume(reviews.approve(study, actor=person(Role.IRB_OFFICER)), actor=study.owner)
    address = reverse("surveys:transparency", args=[study.slug])
    before = Client().get(address).content
    assert participation.withdraw(study, code=code)
    assert Client().get(address).content == before


def amended(study: Study, months: int) -> Study:
    changed = definition(slug=study.slug, retention={"months_after_closing": months})
    study = studies.submit_for_review(studies.change_definition(study, definition=changed, actor=study.owner), actor=study.owner)
    return studies.resume(reviews.approve(study, actor=person(Role.IRB_OFFICER)), actor=study.owner)


def test_the_day_of_the_deletion_does_not_tell_whether_somebody_agreed_to_a_version_between() -> None:
    """Attack: a version promised one month for a while. If the page says so only once somebody agreed to it, everybody learns who came."""
    study = amended(recruiting_study(retention={"months_after_closing": 24}), 1)
    nobody_came = amended(recruiting_study(slug="nobody", retention={"months_after_closing": 24}), 1)
    walk(Client(), study, until="video")
    for one in (amended(study, 24), amended(nobody_came, 24)):
        about = Client().get(reverse("surveys:transparency", args=[one.slug]), HTTP_ACCEPT_LANGUAGE="en").content.decode()
        assert "One month after the end of the study" in about
        closed = studies.close(one, actor=one.owner)
        Study.objects.filter(pk=closed.pk).update(closed_on=date(2026, 1, 15))
        closed.refresh_from_db()
        assert day_of_forgetting(closed) == date(2026, 2, 15)


def test_a_version_of_before_the_launch_keeps_nothing_short() -> None:
    """Nobody could agree to it."""
    study = draft_study(retention={"months_after_closing": 1})
    study = reviews.approve(studies.submit_for_review(study, actor=study.owner), actor=person(Role.IRB_OFFICER))
    changed = definition(slug=study.slug, retention={"months_after_closing": 7})
    study = studies.submit_for_review(studies.change_definition(study, definition=changed, actor=study.owner), actor=study.owner)
    study = studies.launch(reviews.approve(study, actor=person(Role.IRB_OFFICER)), actor=study.owner)
    study = studies.close(study, actor=study.owner)
    Study.objects.filter(pk=study.pk).update(closed_on=date(2026, 1, 15))
    study.refresh_from_db()
    assert day_of_forgetting(study) == date(2026, 8, 15)


def test_a_study_that_keeps_nothing_is_left_a_day_for_its_last_results() -> None:
    study, _client, _code = closed_study(finished=1, unfinished=(), retention={"months_after_closing": 0})
    assert retention.forget_what_is_due(timezone.localdate()) == []
    assert retention.forget_what_is_due(timezone.localdate() + timedelta(days=1)) == [study.slug]


def test_results_that_are_computed_on_the_day_are_waited_for_and_not_longer() -> None:
    """A withdrawal has them computed anew; without the background answers that could never be done again."""
    study, _client, _code = closed_study(finished=1, unfinished=(), retention={"months_after_closing": 0})
    day = timezone.localdate() + timedelta(days=1)
    Run.objects.filter(study=study).delete()
    assert runner.queue_run(study.pk, kind=RunKind.FULL_RESULTS) is not None
    assert retention.forget_what_is_due(day) == []
    assert number_at_the_panel_is_stored()
    compute(study, RunKind.FULL_RESULTS)
    assert retention.forget_what_is_due(day) == [study.slug]
    assert Run.objects.filter(study=study, kind=RunKind.FULL_RESULTS, status=RunStatus.DONE).exists()
    other, _client, _code = closed_study(finished=1, unfinished=(), retention={"months_after_closing": 0}, slug="never-computed")
    runner.queue_run(other.pk, kind=RunKind.FULL_RESULTS)
    assert retention.forget_what_is_due(day) == []
    assert retention.forget_what_is_due(day + timedelta(days=1)) == [other.slug], "a day later nothing is waited for"


@pytest.mark.parametrize("status", [StudyStatus.APPROVED, StudyStatus.RECRUITING, StudyStatus.PAUSED])
def test_a_study_that_is_not_closed_keeps_everything(status: StudyStatus) -> None:
    study = study_in(status)
    with pytest.raises(TransitionError, match="once a study is closed"):
        retention.forget_operational_data(study)
    assert retention.forget_what_is_due(date(2100, 1, 1)) == []
    assert Study.objects.get(pk=study.pk).forgotten_on is None


def killed_after(step: Callable[..., object]) -> Callable[..., object]:
    """The same, but each worker that does a chunk dies before the next."""

    def deadly(*arguments: object) -> None:
        step(*arguments)
        raise KeyboardInterrupt

    return deadly


def test_a_kill_in_the_middle_loses_nothing_and_the_next_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    study, client, code = closed_study(finished=5)
    before, secrets = numbers_of(study), planted(study, client, code)
    monkeypatch.setattr(retention, "CHUNK", 2)
    steps = (retention._forget_some_finished, retention._forget_some_unfinished)
    for step in steps:
        monkeypatch.setattr(retention, step.__name__, killed_after(step))
    for chunks in range(5):  # three of those who finished, two of those who did not
        with pytest.raises(KeyboardInterrupt):
            retention.forget_operational_data(study)
        assert numbers_of(study) == before, chunks
    for step in steps:
        monkeypatch.setattr(retention, step.__name__, step)
    assert retention.forget_what_is_due(timezone.localdate() + timedelta(days=1)) == [study.slug]
    stored = people_stored()
    assert [name for name, secret in secrets.items() if secret in stored] == []
    assert numbers_of(study) == before
    recorded = list(Entry.objects.filter(action__startswith="study.forg").order_by("sequence").values_list("action", "details"))
    assert [action for action, _details in recorded] == [actions.FORGETTING_BEGUN, actions.FORGOTTEN]
    assert recorded[0][1] == {
        "finished_participants": 5,
        "unfinished_participants": 3,
        "panel_members": 8,
        "entry_codes": 2,
        "due_on": str(day_of_forgetting(study)),
    }


def test_a_deletion_begun_while_another_runs_does_not_wait_for_the_next_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    (first, *_), (second, *_) = closed_study(), closed_study(slug="another-study")
    retention.begin_forgetting(first, actor=first.owner)
    forget = retention.forget_operational_data

    def begin_another(study: Study, **options: Any) -> None:
        if study == first:
            retention.begin_forgetting(second, actor=second.owner)
        forget(study, **options)

    monkeypatch.setattr(retention, "forget_operational_data", begin_another)
    assert retention.forget_what_is_due() == [first.slug, second.slug]


def test_twice_changes_nothing() -> None:
    study, _client, _code = closed_study(finished=1)
    retention.forget_operational_data(study)
    before = everything_stored()
    retention.forget_operational_data(study)
    assert everything_stored() == before


def test_people_who_withdraw_afterwards_are_told_the_truth() -> None:
    study, _client, code = closed_study(finished=1, unfinished=())
    retention.forget_operational_data(study)
    page = Client().get(reverse("surveys:withdraw", args=[study.slug]), HTTP_ACCEPT_LANGUAGE="en")
    assert heading(page) == "Your answers can no longer be found"
    with pytest.raises(JourneyError, match="can be found any more"):
        participation.withdraw(study, code=code)
    counts = exact_counts(study)
    assert (counts.finished, counts.withdrew) == (1, 0)


def test_results_that_use_background_answers_stay_and_say_when_they_were_computed() -> None:
    study, _client, _code = closed_study(finished=10, unfinished=())
    compute(study, RunKind.FIRST_RESULTS)
    Run.objects.filter(study=study, kind=RunKind.FULL_RESULTS).delete()
    kept = Run.objects.create(study=study, kind=RunKind.FULL_RESULTS, status=RunStatus.DONE, n=2, results={"outcomes": {}, "n": 2})
    under_way = Run.objects.create(study=study, kind=RunKind.FULL_RESULTS, status=RunStatus.RUNNING, data=b"background answers")
    retention.forget_operational_data(study)
    under_way.refresh_from_db()
    assert (under_way.status, under_way.data) == (RunStatus.SUPERSEDED, None)
    study.refresh_from_db()
    with pytest.raises(TransitionError, match="Background answers are deleted"):
        services.request_full_results(study, actor=study.owner)
    services.request_refresh(study.pk, kind=RunKind.FULL_RESULTS)
    assert not Run.objects.filter(study=study, kind=RunKind.FULL_RESULTS, status=RunStatus.QUEUED).exists()
    assert Run.objects.get(pk=kept.pk).results == kept.results
    client = logged_in(study.owner)
    page = client.get(f"/studies/{study.slug}/results/").content.decode()
    assert "Everything that uses them was computed before the deletion" in page
    assert "Compute all methods again" not in page
    assert client.get(f"/api/v1/studies/{study.slug}/results/").json()["background_deleted_on"] == str(study.forgotten_on)


def test_results_that_are_asked_for_in_the_moment_of_the_deletion_replace_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: everything is computed again from background answers of which some or all are gone."""
    study, _client, _code = closed_study(finished=10, unfinished=())
    compute(study, RunKind.FULL_RESULTS)
    before = list(Run.objects.filter(kind=RunKind.FULL_RESULTS, status=RunStatus.DONE).values_list("pk", flat=True))

    def forget_meanwhile(*_given: object) -> timedelta:
        retention.forget_operational_data(Study.objects.get(pk=study.pk))
        return timedelta(0)

    monkeypatch.setattr(runner, "_gathering", forget_meanwhile)
    services.request_refresh(study.pk, kind=RunKind.FULL_RESULTS)
    work_off(Run.objects.get(kind=RunKind.FULL_RESULTS, status=RunStatus.QUEUED))
    assert list(Run.objects.filter(kind=RunKind.FULL_RESULTS, status=RunStatus.DONE).values_list("pk", flat=True)) == before


@pytest.mark.parametrize(("today", "reminded"), [(date(2026, 12, 15), False), (date(2026, 12, 16), True), (date(2027, 1, 15), True)])
def test_the_owner_is_reminded_from_thirty_days_before(today: date, reminded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    study, officer = study_in(StudyStatus.CLOSED), person(Role.IRB_OFFICER)
    Study.objects.filter(pk=study.pk).update(closed_on=date(2026, 1, 15))
    monkeypatch.setattr(timezone, "localdate", lambda *args: today)
    for reader, told in ((study.owner, reminded), (officer, False)):
        page = logged_in(reader).get(f"/studies/{study.slug}/").content.decode()
        assert ("do it before" in page) is told


def test_the_owner_can_do_it_early_by_typing_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    study, _client, _code = closed_study(finished=1)
    queued = catch(monkeypatch)
    client, address = logged_in(study.owner), reverse("surveys:forget", args=[study.slug])
    before = everything_stored()["surveys.Participant"]
    wrong = client.post(address, {"confirmation": "yes"})
    assert (wrong.status_code, queued, everything_stored()["surveys.Participant"]) == (422, [], before)
    assert client.post(address, {"confirmation": study.slug}).status_code == 302
    assert keys(queued, "retention") == ["retention"]
    tasks.work("retention", "retention")
    assert not number_at_the_panel_is_stored()
    assert Entry.objects.get(action=actions.FORGETTING_BEGUN).actor == study.owner


def test_the_command_asks_for_the_name_too(monkeypatch: pytest.MonkeyPatch) -> None:
    study, _client, _code = closed_study(finished=1)
    with pytest.raises(CommandError, match="Nothing was deleted"):
        call_command("forget_operational_data", study.slug, confirm="another")
    monkeypatch.setattr("sys.stdin", StringIO())  # of a script, whom nobody answers
    with pytest.raises(CommandError, match=r"Nothing was deleted: expected .*, got nothing"):
        call_command("forget_operational_data", study.slug)
    assert number_at_the_panel_is_stored()
    output = StringIO()
    call_command("forget_operational_data", study.slug, confirm=study.slug, stdout=output)
    assert output.getvalue() == f"The operational data of {study.slug} are deleted.\n"
    assert not number_at_the_panel_is_stored()


def test_the_flow_still_tells_who_watched_and_left() -> None:
    study, _client, _code = closed_study(finished=0, unfinished=("background", "video", "quiz", "quiz", "questions"))
    definition = protocol_in_force(study).definition
    names = {arm.name: arm.name for arm in definition.arms}
    retention.forget_operational_data(study)
    flow = progress_of(study, definition, names=names).flow
    assert (flow.consented, flow.assigned, flow.finished, sum(group.watched for group in flow.groups)) == (5, 4, 0, 3)
