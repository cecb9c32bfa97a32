"""A study with many people closes at once, and its people are counted part by part, while nobody is shown a number."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.test import Client

from analysis.models import Run, RunKind
from analysis.releases.selectors import obstacles
from analysis.runs import runner
from analysis.services import request_full_results
from audit.selectors import entries_about
from jobs.errors import TakenError
from jobs.models import Routine
from surveys import actions
from surveys.batches import services as batches
from surveys.batches.order_of_arrival import stays_running
from surveys.batches.recount import wrong_counts
from surveys.batches.rules import LEAST
from surveys.batches.selectors import batch_progress, shown_counts
from surveys.batches.services import EVERYONE_COUNTED, count_next_batch
from surveys.batches.tally import tally_of
from surveys.batches.the_end import Ending, the_end_of
from surveys.counts import exact_counts
from surveys.errors import StudyClosedError, TransitionError
from surveys.journey import services as participation
from surveys.lifecycle.steps import locked
from surveys.models import Participant, Response, ShownNumbers, Step, Study, StudyStatus
from surveys.protocols import protocol_in_force
from surveys.retention.services import begin_forgetting, forget_operational_data
from surveys.studies import services as studies
from surveys.tokens import hash_of_withdrawal_code
from tests.factories import answer, heading, logged_in, recruiting_study, walk
from tests.finished_people import TELLING_DIE, add_finished_people
from tests.jobs import catch, work_on
from tests.simultaneous import at_once

pytestmark = pytest.mark.django_db(transaction=True)
CODE = "0123-4567-89AB-CDEF"


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> Study:
    """A study in which a batch was counted, a second one waits, and a tenth of the people stopped half-way."""
    catch(monkeypatch)
    monkeypatch.setattr(batches, "FEW", 20)
    made = recruiting_study(allocation={"planned_participants": 480, "block_multiples": [1]}, die=TELLING_DIE)
    add_finished_people(made, 150, seed=1, counted=False, unfinished=0.1)
    assert count_next_batch(made)
    add_finished_people(made, 80, seed=2, counted=False, unfinished=0.1)
    return made


def closed(study: Study) -> Study:
    studies.close(Study.objects.get(pk=study.pk), actor=study.owner)
    return Study.objects.get(pk=study.pk)


def after_each_part(study: Study) -> Iterator[int]:
    """Count everybody as a worker does who is killed after each part, until the last one ends; how many people are left then."""
    count, parts_left = batches._count, 0

    def count_one_part(*given: Any, **named: Any) -> None:
        nonlocal parts_left
        if not parts_left:
            raise SystemExit
        parts_left -= 1
        count(*given, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "HELD_AT_ONCE", 10)
        patch.setattr(batches, "_count", count_one_part)
        left = 0
        while Study.objects.filter(pk=study.pk, numbers_withheld=True).exists():
            before, left = left, Participant.objects.filter(study=study, counted=False).count()
            parts_left = 1 if left != before else 1000  # the people who are left are counted together
            with suppress(SystemExit):
                batches.count_people_of_closed_studies()
            yield Participant.objects.filter(study=study, counted=False).count()


def work_off(study: Study) -> Study:
    work_on(Routine.objects.get(pk=EVERYONE_COUNTED))
    return Study.objects.get(pk=study.pk)


def test_it_closes_at_once_and_shows_numbers_when_everybody_is_counted(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    study = closed(study)
    assert study.status == StudyStatus.CLOSED
    assert entries_about(study).filter(action=actions.CLOSED).count() == 1
    assert shown_counts(study) is None
    batch = batch_progress(study)
    assert (batch.withheld, batch.until_next, batch.held_back, batch.too_few, batch.shows_results) == (True, None, False, False, False)
    assert batch.being_counted > 0
    assert batch.being_counted % LEAST == 0
    study = work_off(study)
    exact, shown = exact_counts(study), shown_counts(study)
    assert shown is not None
    assert (shown.finished, shown.consented, shown.assigned) == (exact.finished, exact.consented, exact.assigned)
    assert shown.assigned_by_group == exact.assigned_by_group
    assert not Participant.objects.filter(study=study, counted=False).exists()
    assert wrong_counts(study) == {}
    assert batch_progress(study).being_counted == 0


def test_the_numbers_are_those_of_a_study_whose_people_are_counted_together(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    with transaction.atomic():
        monkeypatch.setattr(batches, "FEW", 10_000)
        closed(study)
        together = tally_of(study.pk), ShownNumbers.objects.get(study=study).numbers
        transaction.set_rollback(True)
    monkeypatch.setattr(batches, "FEW", 20)
    work_off(closed(study))
    assert (tally_of(study.pk), ShownNumbers.objects.get(study=study).numbers) == together


def test_a_killed_worker_is_replaced_and_no_number_is_shown_meanwhile(study: Study) -> None:
    study = closed(study)
    owner, left = logged_in(study.owner), [10_000]
    for people in after_each_part(study):
        found = Study.objects.get(pk=study.pk)
        assert people <= left[-1], "each worker goes on where the one before was"
        left.append(people)
        if found.numbers_withheld:
            assert shown_counts(found) is None
            assert owner.get(f"/studies/{study.slug}/results/").status_code == 200
            assert not owner.get(f"/studies/{study.slug}/results/").context["batch"].shows_results
    assert len(left) > 4, "there were several parts"
    assert shown_counts(Study.objects.get(pk=study.pk)) is not None
    assert wrong_counts(study) == {}


def test_nothing_else_is_done_with_people_of_whom_some_are_counted(study: Study) -> None:
    study = closed(study)
    with pytest.raises(TransitionError, match="is being counted"):
        begin_forgetting(study, actor=study.owner)
    assert obstacles(study, simulated=False) == ["Everybody who took part is being counted. Data can be released after that."]
    with pytest.raises(TransitionError, match="is being counted"):
        request_full_results(study, actor=study.owner)


def test_a_computation_that_read_half_of_the_people_stores_nothing(study: Study) -> None:
    run = runner.queue_run(study.pk, kind=RunKind.FIRST_RESULTS)
    assert run is not None
    held = Run.claim(run.pk)
    assert held is not None
    study = closed(study)
    found = runner.first_results(study, protocol_in_force(study).definition)
    work_off(study)
    with pytest.raises(TakenError):
        runner.store(held, found)
    assert not Run.objects.filter(pk=run.pk, status="done").exists()


@pytest.mark.parametrize("counted", [True, False])
def test_somebody_who_leaves_while_everybody_is_counted_is_hidden(study: Study, counted: bool) -> None:
    before = tally_of(study.pk).groups()
    study = closed(study)
    gone = Participant.objects.filter(study=study, counted=counted, step=Step.FINISHED)[0]
    Participant.objects.filter(pk=gone.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    assert participation.withdraw(study, code=CODE)
    study = work_off(study)
    assert not study.numbers_withheld
    assert wrong_counts(study) == {}
    after = tally_of(study.pk).groups()
    assert all(after[group] - people >= LEAST - counted for group, people in before.items())


@pytest.mark.parametrize("comes", [True, False])
def test_an_end_that_was_read_before_somebody_came_or_left_is_read_again(
    study: Study, comes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of a small study is read before the study is held."""

    def read(study: Study) -> Ending:
        found = the_end_of(study)
        if comes:
            add_finished_people(study, 10, seed=3, counted=False)
        else:
            gone = Participant.objects.filter(study=study, counted=True, step=Step.FINISHED)[0]
            Participant.objects.filter(pk=gone.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
            assert participation.withdraw(study, code=CODE)
        return found

    monkeypatch.setattr(batches, "FEW", 10_000)
    monkeypatch.setattr(studies, "the_end_of", read)
    study = closed(study)
    exact, shown = exact_counts(study), shown_counts(study)
    assert shown is not None
    assert (shown.finished, shown.consented, shown.withdrew) == (exact.finished, exact.consented, exact.withdrew)
    assert exact.withdrew == (not comes)
    assert not Participant.objects.filter(study=study, counted=False).exists()


def test_a_group_of_which_too_few_wait_is_shown_after_the_end_as_before(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody of it left, so nobody is hidden."""
    group, shown = next(iter(tally_of(study.pk).groups().items()))
    alike = dict(zip(batches.GROUP, group, strict=True))
    del alike["answered"]
    waiting = Participant.objects.filter(study=study, counted=False, step=Step.FINISHED, **alike)
    Participant.objects.filter(pk__in=waiting[LEAST - 1 :]).delete()
    left = waiting.count()
    monkeypatch.setattr(batches, "FEW", 10_000)
    study = closed(study)
    assert (tally_of(study.pk).groups()[group], waiting.count()) == (shown, left)


def test_a_group_whose_last_people_left_keeps_ten_back_when_a_counted_one_left_too(study: Study) -> None:
    """Without it the group would be one person smaller than it was shown, and nobody else in it would have changed."""
    group, shown = next(iter(tally_of(study.pk).groups().items()))
    alike = dict(zip(batches.GROUP, group, strict=True))
    del alike["answered"]
    Participant.objects.filter(study=study, counted=False, step=Step.FINISHED, **alike).delete()
    study = closed(study)
    gone = Participant.objects.filter(study=study, counted=True, step=Step.FINISHED, **alike)[0]
    Participant.objects.filter(pk=gone.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    assert participation.withdraw(study, code=CODE)
    study = work_off(study)
    assert tally_of(study.pk).groups()[group] == shown - 1 - LEAST
    assert batch_progress(study).held_back


def test_people_who_are_held_back_stay_so_when_their_rows_are_deleted(study: Study) -> None:
    """People who did not finish go with the operational data; the numbers lack those who hid a withdrawal as much as before."""
    study = work_off(closed(study))
    gone = Participant.objects.filter(study=study, counted=True).exclude(step=Step.FINISHED)[0]
    Participant.objects.filter(pk=gone.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    assert not batch_progress(study).held_back
    assert participation.withdraw(study, code=CODE)
    assert batch_progress(study).held_back
    forget_operational_data(study)
    study.refresh_from_db()
    assert batch_progress(study).held_back


def test_a_worker_that_lost_the_count_lets_nobody_in_who_is_held_back(study: Study) -> None:
    """Attack: it stands still, another one takes over and ends, somebody who left is hidden among ten; then it wakes up, and goes on."""
    group, shown = next(iter(tally_of(study.pk).groups().items()))
    alike = dict(zip(batches.GROUP, group, strict=True))
    del alike["answered"]
    Participant.objects.filter(study=study, counted=False, step=Step.FINISHED, **alike).delete()
    read_before = closed(study)
    gone = Participant.objects.filter(study=study, counted=True, step=Step.FINISHED, **alike)[0]
    Participant.objects.filter(pk=gone.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    assert participation.withdraw(study, code=CODE)
    work_off(study)
    hidden = Participant.objects.filter(study=study, counted=False).count()
    assert hidden == LEAST
    batches.count_everyone_in_parts(read_before)
    assert tally_of(study.pk).groups()[group] == shown - 1 - LEAST
    assert Participant.objects.filter(study=study, counted=False).count() == hidden


def test_nobody_goes_on_who_waited_until_they_were_counted(postgresql: None, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: a row that was waited for stands beside the study as it was before it was closed."""
    person = Participant.objects.filter(study=study, counted=False, step=Step.VIDEO)[0]
    Participant.objects.filter(pk=person.pk).update(step=Step.QUESTIONS)
    person = participation.read_participant(person.token_hash)
    assert person is not None
    monkeypatch.setattr(batches, "FEW", 10_000)
    monkeypatch.setattr(participation, "move", lambda *_given: False)  # their row was just laid anew
    is_counted, go_on = threading.Event(), threading.Event()

    def close() -> None:
        with transaction.atomic():
            closed(study)
            is_counted.set()
            assert go_on.wait(20)

    def send() -> None:
        assert is_counted.wait(20)
        threading.Timer(0.5, go_on.set).start()
        with pytest.raises(StudyClosedError):
            participation.record_responses(person, reported=dict.fromkeys(("attention", "retention", "judgement", "comprehension"), True))

    at_once(close, send)
    assert not Response.objects.filter(participant=person).exists()
    assert wrong_counts(study) == {}


def test_somebody_who_was_sending_their_answers_is_counted_with_them(postgresql: None, study: Study) -> None:
    """Their transaction began before the study was closed, and ends after it."""
    person = Participant.objects.filter(study=study, counted=False, step=Step.VIDEO)[0]
    Participant.objects.filter(pk=person.pk).update(step=Step.QUESTIONS)
    person = participation.read_participant(person.token_hash)
    assert person is not None
    sending, is_closed = threading.Event(), threading.Event()

    def send() -> None:
        with transaction.atomic():
            participation.record_responses(person, reported=dict.fromkeys(("attention", "retention", "judgement", "comprehension"), True))
            sending.set()
            assert is_closed.wait(20)
            threading.Event().wait(0.3)  # the worker is waiting for this person by now

    def close() -> None:
        assert sending.wait(20)
        closed(study)
        is_closed.set()
        work_off(study)

    at_once(send, close)
    counted = Participant.objects.get(pk=person.pk)
    assert (counted.step, counted.counted) == (Step.FINISHED, True)
    assert Response.objects.filter(participant=person).count() == 4
    assert wrong_counts(study) == {}


def test_whoever_sends_a_page_after_the_end_is_told_so_at_once(study: Study) -> None:
    client = Client()
    walk(client, study, until="quiz")
    closed(study)
    sent = answer(client, study, "quiz")
    assert sent.status_code == 403
    assert heading(sent) == "This study has ended"
    assert not Participant.objects.filter(study=study, step=Step.DIE).exists()


def test_somebody_who_closes_a_study_waits_for_rows_that_are_laid_anew_and_nobody_else_does(postgresql: None) -> None:
    study, held, looked = recruiting_study(), threading.Event(), threading.Event()

    def lay() -> bool:
        with transaction.atomic():
            held.set() if stays_running(study) else None
            return looked.wait(10)

    def look() -> bool:
        assert held.wait(10)
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '50ms'")
                locked(study, no_key=True)
                with pytest.raises(OperationalError):
                    locked(study)
        finally:
            looked.set()
        return True

    assert at_once(lay, look) == [True, True]
    studies.close(study, actor=study.owner)
    assert not stays_running(study)
