"""Rehearsals: bots walk a copy of the study, in parts that survive their workers; the page says whether planted effects are found."""

from typing import Any

import pytest
from django.http import Http404
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from analysis.models import Run, RunKind
from analysis.rehearsal.page import rehearsal_view
from analysis.runs import runner
from audit.models import Entry
from jobs.errors import TakenError
from surveys.access import Seat, access_study, studies_of
from surveys.batches.selectors import nobody_comes_any_more
from surveys.bots import rehearsal
from surveys.bots.walker import UnexpectedPageError
from surveys.counts import exact_counts
from surveys.errors import TransitionError
from surveys.journey.visitors import BOT_COOKIE, bot_ticket
from surveys.models import BotRun, BotRunStatus, DirectAnswer, MediaFile, Participant, Response, Study, StudyStatus
from surveys.protocols import protocol_in_force, protocol_view_for
from surveys.rehearsal.selectors import rehearsal_of
from surveys.rehearsal.services import Planted, RehearsalError, delete_rehearsal, rehearse, stop_rehearsal
from surveys.studies import services as studies
from tests.categories import PROBATION, with_frequency
from tests.factories import (
    address_of,
    document,
    draft_study,
    everything_stored,
    heading,
    logged_in,
    page_of,
    person,
    recruiting_study,
    study_in,
)
from tests.finished_people import compute
from tests.jobs import Sent, catch, claimed, fall_silent, is_unfinished, keys, swept, work_on

pytestmark = pytest.mark.usefixtures("transactional_db")

FEW = {"bots": 20, "prevalence": 0.4, "effect": 0.2, "cheater_proportion": 0.1, "behaviour": "always_no", "drops_out": 0.1}


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """The messages to the broker, collected instead of sent. One bot walks at a time, because all share the test's database in memory."""
    monkeypatch.setattr(rehearsal, "WORKERS", 1)
    return catch(monkeypatch)


def start(study: Study, **changes: Any) -> BotRun:
    return rehearse(study, protocol=protocol_view_for(Seat(study.owner, study)), planted=Planted(**{**FEW, **changes}), actor=study.owner)


def turns(crowd: BotRun) -> int:
    """Do the work as the workers do, a few bots after the other; gives how many times some were sent."""
    times = 0
    while is_unfinished(crowd):
        work_on(crowd)
        times += 1
    return times


def computed(sandbox: Study) -> dict[str, Any]:
    """The first results of all bots who have come."""
    Run.objects.all().delete()
    return compute(sandbox, RunKind.FIRST_RESULTS)


def page_text(study: Study) -> str:
    response = logged_in(study.owner).get(reverse("analysis:rehearsal", args=[study.slug]))
    assert response.status_code == 200
    return " ".join(page_of(response).text_content().split())


def test_bots_walk_a_copy_and_the_page_says_whether_what_was_planted_is_found(queued: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "FEW", 30)
    study = draft_study()
    form = {"action": "start", "bots": "70", "prevalence": "40", "effect": "20", "cheaters": "0", "behaviour": "random", "dropout": "10"}
    client, address = logged_in(study.owner), reverse("analysis:rehearsal", args=[study.slug])
    assert client.post(address, form).status_code == 302
    crowd = BotRun.objects.get()
    assert keys(queued, "rehearsal") == [str(crowd.pk)]
    assert turns(crowd) == 3
    crowd.refresh_from_db()
    sandbox = crowd.study
    counts = exact_counts(sandbox)
    assert (crowd.status, sum(crowd.endings.values())) == (BotRunStatus.DONE, 70)
    assert counts.finished == crowd.endings["finished"] > 0
    assert counts.consented + counts.declined == 70
    assert not Participant.objects.filter(study=study).exists()
    assert set(Participant.objects.values_list("is_bot", flat=True)) == {True}

    found = computed(sandbox)["outcomes"]["attention"]["effects"][0]["interval"]
    text = page_text(study)
    inside = (found["low"] is None or found["low"] <= 0.2) and (found["high"] is None or found["high"] >= 0.2)
    if found["low"] is None and found["high"] is None:
        assert "Too few bots answered to tell the effect" in text
    else:
        assert f"The planted effect .20 lies {'inside' if inside else 'outside'} the interval" in text
    assert f"Rehearsal: {counts.finished} bots answered." in text
    assert "All 70 bots have come" in text
    logged = Entry.objects.filter(action__in=("study.rehearsed", "study.bots_sent")).order_by("sequence")
    assert [(entry.action, entry.subject_id) for entry in logged] == [
        ("study.rehearsed", str(study.pk)),
        ("study.bots_sent", str(study.pk)),
    ]


def study_that_asks_some_directly() -> Study:
    return draft_study(direct_group={"share": 0.5, "consent": "May we?"}, background=None, quiz=None)


def test_bots_who_all_deny_say_no_where_they_are_asked_without_a_die() -> None:
    crowd = start(study_that_asks_some_directly(), prevalence=1.0, effect=0.0, under_reports=1.0)
    assert turns(crowd) == 1
    assert set(DirectAnswer.objects.values_list("yes", flat=True)) == {False}


def test_the_denial_that_was_planted_stands_beside_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "FEW", 80)
    study = study_that_asks_some_directly()
    client, address = logged_in(study.owner), reverse("analysis:rehearsal", args=[study.slug])
    form = {"action": "start", "bots": "80", "prevalence": "60", "effect": "0", "cheaters": "0", "behaviour": "random", "dropout": "0"}
    assert client.post(address, form).status_code == 422, "the page asks how many deny"
    assert client.post(address, form | {"under_reporting": "20"}).status_code == 302
    crowd = BotRun.objects.get()
    assert turns(crowd) == 1
    outcomes = computed(crowd.study)["direct_group"]["outcomes"]
    # About 8 of 16 people in an arm say yes: fewer than five, which would be withheld, for all questions in both arms, is as good as
    # impossible.
    found = [one["value"] for outcome in outcomes for one in outcome["under_reporting"] if one["value"] is not None]
    questions = rehearsal_view(crowd.study, language="en").questions
    shown = [one for question in questions for one in question.comparisons if one.what.startswith("Denied without a die")]
    assert [one.estimate for one in shown] == found != []
    assert [one.planted for one in shown] == pytest.approx([0.2 * 0.6] * len(found))
    assert "deny it without a die: 0.20" in page_text(study)


def test_a_study_that_asks_everybody_with_a_die_is_not_asked_who_denies() -> None:
    study = draft_study()
    page = logged_in(study.owner).get(reverse("analysis:rehearsal", args=[study.slug])).content.decode()
    assert "Denial" not in page
    with pytest.raises(RehearsalError, match="asks nobody without a die"):
        start(study, under_reports=0.2)


def test_nobody_but_bots_of_this_installation_comes_in() -> None:
    sandbox = start(draft_study(slug="another")).study
    for ticket in ("", "forged", bot_ticket("another-study")):
        client = Client()
        client.cookies[BOT_COOKIE] = ticket
        for response in (client.get(address_of(sandbox)), client.post(address_of(sandbox), {"step": "welcome", "language": "en"})):
            assert (response.status_code, heading(response)) == (403, "This is a rehearsal")
    assert not Participant.objects.exists()


def test_a_rehearsal_is_no_study_among_studies() -> None:
    study = draft_study()
    sandbox = start(study).study
    for user in (study.owner, person(Role.ADMINISTRATOR), person(Role.IRB_OFFICER)):
        assert sandbox not in studies_of(user)
        with pytest.raises(Http404):
            access_study(user, sandbox.slug)
    for name in ("privacy", "consent_copy", "allocation"):
        assert Client().get(reverse(f"surveys:{name}", args=[sandbox.slug])).status_code == 404
    for step in (studies.pause, studies.close):
        with pytest.raises(TransitionError):
            step(sandbox, actor=study.owner)
    with pytest.raises(TransitionError):
        start(sandbox)


def test_a_worker_that_is_killed_in_the_middle_loses_nobody_and_counts_nobody_twice(queued: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "FEW", 8)
    crowd = start(draft_study(slug="another"))
    work_on(crowd)
    real = rehearsal.send_bots

    def killed(study: Study, **options: Any) -> Any:
        real(study, **{**options, "n": 3})
        raise KeyboardInterrupt  # not even the failure is noted

    monkeypatch.setattr(rehearsal, "send_bots", killed)
    with pytest.raises(KeyboardInterrupt):
        work_on(crowd)
    monkeypatch.setattr(rehearsal, "send_bots", real)

    assert swept(queued, "rehearsal") == []
    assert BotRun.claim(crowd.pk) is None
    killed_one = BotRun.objects.get()
    fall_silent(crowd)
    assert swept(queued, "rehearsal") == [str(crowd.pk)]
    with pytest.raises(TakenError):
        killed_one.wait()
    assert turns(crowd) == 2
    crowd.refresh_from_db()
    counts = exact_counts(crowd.study)
    assert crowd.status == BotRunStatus.DONE
    assert counts.consented + counts.declined == 20
    assert Response.objects.count() == 4 * counts.finished


def test_the_sweep_sends_on_what_the_broker_forgot_and_gives_up_in_the_end(queued: Sent) -> None:
    crowd = start(draft_study(slug="another"))
    for _again in range(2):  # a message that was lost is no worker that fell silent
        assert swept(queued, "rehearsal") == [str(crowd.pk)]
    for _silent in range(BotRun.MOST_ATTEMPTS):
        assert swept(queued, "rehearsal") == [str(crowd.pk)]
        claimed(crowd)
        fall_silent(crowd)
    assert swept(queued, "rehearsal") == []
    crowd.refresh_from_db()
    assert (crowd.status, crowd.error) == (BotRunStatus.FAILED, "Given up after 5 workers fell silent.")


def test_bots_that_meet_a_broken_page_say_so(queued: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    study = draft_study()
    crowd = start(study)

    def broken(*args: Any, **options: Any) -> Any:
        raise UnexpectedPageError("POST /s/: status 500")

    monkeypatch.setattr(rehearsal, "send_bots", broken)
    with pytest.raises(UnexpectedPageError):
        work_on(crowd)
    assert "status 500" in page_text(study)
    assert swept(queued, "rehearsal") == []


def test_bots_that_are_stopped_stay_where_they_are() -> None:
    study = draft_study()
    crowd = start(study)
    assert stop_rehearsal(study, actor=study.owner)
    assert BotRun.claim(crowd.pk) is None
    assert not stop_rehearsal(study, actor=study.owner)
    assert "Stopped after 0 of 20 bots." in page_text(study)
    other = start(draft_study(slug="another"))
    assert nobody_comes_any_more(crowd.study), "the bots of another rehearsal do not come here"
    assert not nobody_comes_any_more(other.study)


def test_a_deleted_rehearsal_leaves_nothing_but_its_lines_in_the_log() -> None:
    study = recruiting_study()
    before = everything_stored()
    crowd = start(study, bots=6)
    assert turns(crowd) == 1
    runner.queue_run(crowd.study_id, kind=RunKind.FULL_RESULTS)
    assert delete_rehearsal(study, actor=study.owner)
    after = everything_stored()
    changed = {name for name in after if after[name] != before[name]}
    assert changed <= {"audit.Entry", "audit.Head", "jobs.Routine"}, "beside the log, only when routines are due"
    assert not delete_rehearsal(study, actor=study.owner)


def test_a_new_rehearsal_takes_the_place_of_the_old_one() -> None:
    study = draft_study()
    first = start(study)
    second = start(study, bots=30)
    assert rehearsal_of(study) == second.study != first.study
    assert list(BotRun.objects.all()) == [second]
    assert BotRun.claim(first.pk) is None


def test_a_small_study_with_a_privacy_budget_is_rehearsed_with_many_bots() -> None:
    """Its δ would be too large for so many people; nobody asks about bots."""
    study = draft_study(privacy_budget={"epsilon": 1.0, "delta": 1e-3}, allocation={"planned_participants": 60})
    sandbox = start(study, bots=400).study
    assert protocol_in_force(sandbox).definition.privacy_budget is not None
    assert "400" in page_text(study)


def test_quotas_grow_and_shrink_with_the_bots() -> None:
    """Otherwise most of many bots would be turned away, and few would never fill an arm."""
    arms = [{**arm, "quota": quota} for arm, quota in zip(document()["arms"], (36, 12), strict=True)]
    study = draft_study(arms=arms, allocation={"planned_participants": 48})
    for bots, quotas in ((400, {300, 100}), (10, {8, 3})):
        assert set(start(study, bots=bots).study.arm_states.values_list("quota", flat=True)) == quotas


def test_a_draft_without_its_videos_and_with_codes_can_be_rehearsed() -> None:
    study = draft_study(languages=["de"], entry={"kind": "codes"})
    MediaFile.objects.filter(study=study).delete()
    crowd = start(study, bots=3, drops_out=0.0)
    assert turns(crowd) == 1
    crowd.refresh_from_db()
    assert crowd.endings.get("finished", 0) + crowd.endings.get("declined", 0) == 3
    assert study.status == StudyStatus.DRAFT


def test_a_submitted_study_is_rehearsed_once_it_is_frozen() -> None:
    study = study_in(StudyStatus.IN_REVIEW)
    sandbox = start(study).study
    assert sandbox.definition["questions"] == study.definition["questions"]
    assert sandbox.protocol is not None
    assert sandbox.protocol.media == study.protocol.media


@pytest.mark.parametrize(
    "changes", [{"bots": 0}, {"bots": 5001}, {"prevalence": 0.9, "effect": 0.2}, {"cheater_proportion": 1.1}, {"under_reports": 2}]
)
def test_effects_that_cannot_be_planted_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(RehearsalError):
        Planted(**{**FEW, **changes})


def test_a_mistake_in_the_form_is_named_and_nothing_is_made() -> None:
    study = draft_study()
    form = {"action": "start", "bots": "9999", "prevalence": "90", "effect": "20", "cheaters": "0", "behaviour": "random", "dropout": "x"}
    response = logged_in(study.owner).post(reverse("analysis:rehearsal", args=[study.slug]), form)
    assert response.status_code == 422
    named = page_of(response).xpath("//*[@role='alert']//a/@href")
    assert named == ["#bots", "#dropout", "#effect"]
    assert not BotRun.objects.exists()


def test_bots_answer_with_categories_and_every_answer_is_compared(queued: Sent) -> None:
    study = draft_study(questions=[with_frequency()[0], with_frequency(cheaters="never")[-1], PROBATION])
    crowd = start(study, bots=40, drops_out=0.0, behaviour="always_yes")
    turns(crowd)
    found = computed(BotRun.objects.get().study)["categories"]["copying"]
    view = rehearsal_view(BotRun.objects.get().study, language="en")
    assert [one.name for one in view.questions] == ["attention", "copying", "probation"]
    about_people = {one.what: one.planted for one in view.questions[2].comparisons}
    assert about_people["True answers “Now”: all arms"] == 0.4
    assert not [what for what in about_people if what.startswith("Effect")]
    assert "cheaters answer otherwise than these bots do" in view.warning
    compared = {one.what: one for one in view.questions[1].comparisons}
    effects = {one["category"]: one for one in found["effects"] if one["measure"] == "category"}
    for answer, label, planted in (("never", "Never", -0.1), ("once", "Once", -0.1), ("often", "More often", 0.2)):
        effect = compared[f"Effect on “{label}”: Slides with the instructor minus Slides only"]
        assert effect.planted == pytest.approx(planted)
        assert (effect.estimate, effect.low, effect.high) == (
            effects[answer]["value"],
            effects[answer]["interval"]["low"],
            effects[answer]["interval"]["high"],
        )
        share = {"Slides only": 0.4, "Slides with the instructor": 0.6}
        for arm, last in share.items():
            expected = last if answer == "often" else (1 - last) / 2
            assert compared[f"True answers “{label}”: {arm}"].planted == pytest.approx(expected)
    assert compared["Share who did not follow the die"].planted == 0.1
    assert "Effect on “More often”" in page_text(study)
