"""People enter the shown numbers in whole batches; within a batch nothing moves but the number of people until the next one."""

from collections import Counter
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from analysis import services as analysis
from analysis.models import Run, RunKind, RunStatus
from analysis.runs import runner
from surveys import tasks
from surveys.batches.rules import LEAST, WAITING_PER_GROUP
from surveys.batches.selectors import batch_is_complete, batch_progress, by_group, consent_counts, finished_people, shown_counts
from surveys.batches.services import count_next_batch, show_who_is_on_the_way
from surveys.errors import TransitionError
from surveys.journey import services as participation
from surveys.models import CounterKind, Participant, ShardedCounter, Step, Study
from surveys.protocols import protocol_in_force
from surveys.studies.services import close
from surveys.tokens import hash_of_withdrawal_code
from tests.factories import logged_in, person, recruiting_study, walk
from tests.finished_people import TELLING_DIE, add_finished_people
from tests.jobs import Sent, catch, work_off

pytestmark = pytest.mark.django_db
GROUPS = 4
FIRST = GROUPS * WAITING_PER_GROUP


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    return catch(monkeypatch)


@pytest.fixture
def study() -> Study:
    return recruiting_study(allocation={"planned_participants": 600, "block_multiples": [1]}, die=TELLING_DIE)


def come(study: Study, people: int, *, seed: int) -> None:
    add_finished_people(study, people, seed=seed, counted=False)


def compute_what_waits(study: Study) -> None:
    while (run := Run.objects.filter(study=study, status=RunStatus.QUEUED).order_by("pk").first()) is not None:
        work_off(run)


def batch(study: Study) -> None:
    """As at the end of a journey: a complete batch is counted and computed."""
    analysis.refresh_when_answers_change(Study, study_id=study.pk)
    compute_what_waits(study)


def withdraw(study: Study, *, counted: bool, **group: object) -> Participant:
    gone = Participant.objects.filter(study=study, counted=counted, step=Step.FINISHED, **group).first()
    assert gone is not None
    code = "0123-4567-89AB-CDEF"
    Participant.objects.filter(pk=gone.pk).update(withdrawal_hash=hash_of_withdrawal_code(code))
    assert participation.withdraw(study, code=code)
    study.refresh_from_db()
    return gone


def counts(client: Client, study: Study) -> Any:
    return client.get(reverse("analysis:api_counts", args=[study.slug])).json()


def results(client: Client, study: Study) -> Any:
    return client.get(reverse("analysis:api_results", args=[study.slug])).json()


def test_within_a_batch_only_the_people_until_the_next_one_move(study: Study, django_capture_on_commit_callbacks: Any) -> None:
    come(study, FIRST, seed=1)
    batch(study)
    reader = logged_in(study.owner)
    before, answers = counts(reader, study), results(reader, study)
    assert before["totals"]["finished"] == GROUPS * LEAST
    until_next = before["batch"].pop("until_next")
    for _ in range(3):
        with django_capture_on_commit_callbacks(execute=True):
            walk(Client(), study)
        now, until_next = counts(reader, study), until_next - 1
        assert now["batch"].pop("until_next") == until_next
        assert now == before
        found = results(reader, study)
        assert found.pop("batch") != answers.get("batch")
        assert found == {name: part for name, part in answers.items() if name != "batch"}
    assert Run.objects.filter(status=RunStatus.QUEUED).count() == 0


def test_nobody_can_have_numbers_computed_with_the_people_who_wait(study: Study) -> None:
    come(study, FIRST, seed=1)
    batch(study)
    come(study, LEAST, seed=2)
    analysis.request_full_results(study, actor=study.owner)
    compute_what_waits(study)
    assert {run.n for run in Run.objects.filter(study=study, status=RunStatus.DONE)} == {GROUPS * LEAST}


def test_the_last_person_of_a_batch_has_it_counted_and_computed(study: Study, django_capture_on_commit_callbacks: Any) -> None:
    come(study, FIRST - 1, seed=1)
    assert not count_next_batch(study)
    with django_capture_on_commit_callbacks(execute=True):
        walk(Client(), study)
    run = Run.objects.get(status=RunStatus.QUEUED)
    assert runner.DEBOUNCE[RunKind.FIRST_RESULTS].total_seconds() <= 0.2, "a full batch is on the page within a second"
    work_off(run)
    assert set(Run.objects.values_list("kind", "status")) == {("first_results", "done"), ("full_results", "queued")}
    compute_what_waits(study)
    assert set(Run.objects.values_list("n", "status")) == {(GROUPS * LEAST, "done")}


def test_the_moment_of_a_batch_depends_on_no_group(study: Study) -> None:
    """Everybody in one group, or all alike: the same number of people completes it."""
    come(study, FIRST - 1, seed=1)
    Participant.objects.filter(study=study).update(subsample="1", arm="slides")
    assert not batch_is_complete(study)
    assert batch_progress(study).until_next == 1


def test_after_every_batch_each_group_has_grown_by_whole_steps_and_keeps_one_back(study: Study) -> None:
    shown: Counter[Any] = Counter()
    for seed in range(1, 8):
        come(study, 40 + 7 * seed, seed=seed)
        if count_next_batch(study):
            now = Counter(by_group(finished_people(study.pk, counted=True)))
            assert all((now[group] - shown[group]) % LEAST == 0 for group in now)
            assert all(back >= LEAST for back in by_group(finished_people(study.pk, counted=False)).values())
            shown = now
    assert shown.total() > 0


def test_after_bots_and_people_mixed_a_batch_never_follows_at_once(study: Study) -> None:
    """Groups that bots and people halve keep up to 19 each; the next batch still needs ten people for each group."""
    for seed in range(1, 5):
        come(study, 100, seed=seed)
        half = Participant.objects.filter(study=study, counted=False).values_list("pk", flat=True)[::2]
        Participant.objects.filter(pk__in=half).update(is_bot=True)
        if count_next_batch(study):
            assert (batch_progress(study).until_next or 0) >= GROUPS * LEAST


def test_a_reader_sees_all_numbers_move_in_steps_and_stay_in_order(study: Study) -> None:
    come(study, FIRST, seed=1)
    batch(study)
    found = shown_counts(study)
    assert found is not None
    for group in found.finished_by_group:
        assert found.assigned_by_group[group] >= found.watched_by_group[group] >= found.finished_by_group[group] > 0
    assert found.consented >= found.assigned >= found.finished
    assert all(getattr(found, name) % LEAST == 0 for name in ("consented", "assigned", "finished", "declined", "withdrew"))


def test_who_is_on_the_way_is_shown_anew_only_after_ten_more_people_have_come(study: Study) -> None:
    """Somebody who declines moves no number; nor does the tenth of them, unless it is the tenth person to come."""
    for number in range(1, 3 * LEAST + 1):
        participation.decline(study, version=1)
        renewed = show_who_is_on_the_way(study)
        assert renewed == (number % LEAST == 0)
        found = shown_counts(study)
        assert found is not None
        assert found.declined == max(number // LEAST - 1, 0) * LEAST


def test_the_moment_at_which_numbers_are_renewed_does_not_tell_who_moved_them(study: Study) -> None:
    """The thirtieth person who declines comes between two renewals: nothing moves until enough others have come."""
    ShardedCounter.objects.create(study=study, kind=CounterKind.DECLINED, version=1, shard=0, count=29)
    assert show_who_is_on_the_way(study)
    participation.decline(study, version=1)
    tasks.renew_shown_numbers()
    found = shown_counts(study)
    assert found is not None
    assert found.declined == LEAST
    assert [(one.version, one.declined) for one in consent_counts(study)] == [(1, LEAST)]


def test_a_withdrawal_of_a_counted_person_deletes_every_result_that_saw_them(study: Study) -> None:
    come(study, FIRST, seed=1)
    batch(study)
    assert Run.objects.filter(results__isnull=False).count() == 2
    waiting = runner.queue_run(study.pk, kind=RunKind.FULL_RESULTS)
    assert waiting is not None
    withdraw(study, counted=True)
    assert Run.objects.count() == 0
    reader = logged_in(study.owner)
    assert counts(reader, study)["totals"] is None
    assert counts(reader, study)["groups"] == []
    assert counts(reader, study)["batch"]["withheld"] is True
    found = results(reader, study)
    assert (found["first_results"], found["full_results"]) == (None, None)
    page = reader.get(reverse("analysis:results", args=[study.slug])).content.decode()
    assert "recomputed with the next batch" in page
    assert "Drawn into a group" not in page
    for table in ("participants", "running", "enrolment"):
        assert reader.get(reverse("analysis:table", args=[study.slug, table])).status_code == 404
    with pytest.raises(TransitionError, match="next batch"):
        analysis.request_full_results(study, actor=study.owner)


def test_the_next_batch_after_a_withdrawal_shows_whole_steps_again(study: Study) -> None:
    come(study, FIRST, seed=1)
    batch(study)
    gone = withdraw(study, counted=True)
    come(study, 60, seed=2)
    batch(study)
    study.refresh_from_db()
    assert not study.numbers_withheld
    groups = by_group(finished_people(study.pk, counted=True))
    assert all(people % LEAST == 0 for people in groups.values()), f"{groups} tells that somebody in {gone.arm} withdrew"
    assert Run.objects.filter(status=RunStatus.DONE).count() == 2


def test_a_withdrawal_of_somebody_who_waits_changes_no_number(study: Study) -> None:
    come(study, FIRST, seed=1)
    batch(study)
    reader = logged_in(study.owner)
    before = counts(reader, study)
    withdraw(study, counted=False)
    now = counts(reader, study)
    assert now["batch"].pop("until_next") == before["batch"].pop("until_next") + 1
    assert now == before
    assert Run.objects.filter(status=RunStatus.DONE).count() == 2


def test_a_run_that_computed_with_the_person_stores_nothing(study: Study) -> None:
    """The person withdraws between reading the answers and storing the result."""
    come(study, FIRST, seed=1)
    batch(study)
    queued = runner.queue_run(study.pk)
    assert queued is not None
    run = Run.claim(queued.pk)
    assert run is not None
    found = runner.first_results(study, protocol_in_force(study).definition)
    Study.objects.filter(pk=study.pk).update(numbers_withheld=True)
    runner.store(run, found)
    assert list(Run.objects.filter(pk=run.pk).values_list("status", "results")) == [(RunStatus.SUPERSEDED, None)]


def test_closing_counts_everybody_and_shows_no_remainder_of_one(study: Study) -> None:
    come(study, FIRST, seed=1)
    batch(study)
    shown = by_group(finished_people(study.pk, counted=True))
    close(study, actor=study.owner)
    study.refresh_from_db()
    final = by_group(finished_people(study.pk, counted=True))
    assert sum(final.values()) == FIRST
    assert all(final[group] - shown.get(group, 0) >= LEAST for group in final)
    found = shown_counts(study)
    assert found is not None
    assert found.finished == found.consented == FIRST


def test_closing_keeps_back_the_last_few_of_a_group_that_was_shown(study: Study) -> None:
    """People who waited withdrew until fewer than ten were left: with the others counted, the group would grow by these few."""
    come(study, FIRST, seed=1)
    batch(study)
    group, waiting = next(iter(by_group(finished_people(study.pk, counted=False)).items()))
    for _one in range(waiting - LEAST + 1):
        gone = finished_people(study.pk, counted=False).filter(subsample=group[0], arm=group[1]).first()
        assert gone is not None
        gone.delete()
    shown = by_group(finished_people(study.pk, counted=True))
    close(study, actor=study.owner)
    study.refresh_from_db()
    final = by_group(finished_people(study.pk, counted=True))
    assert final[group] == shown[group]
    assert all(final[one] - shown[one] >= LEAST for one in final if one != group)
    assert batch_progress(study).held_back


def test_a_study_that_ends_with_fewer_than_ten_people_shows_no_results(study: Study) -> None:
    come(study, LEAST - 1, seed=1)
    close(study, actor=study.owner)
    study.refresh_from_db()
    for kind in RunKind:
        runner.queue_run(study.pk, kind=kind)
    compute_what_waits(study)
    reader = logged_in(study.owner)
    assert results(reader, study)["first_results"] is None
    assert results(reader, study)["batch"]["too_few"] is True
    assert "fewer than ten people" in reader.get(reverse("analysis:results", args=[study.slug])).content.decode()


def test_withdrawals_after_the_end_are_shown_in_steps(study: Study) -> None:
    come(study, 60, seed=1)
    close(study, actor=study.owner)
    study.refresh_from_db()
    before = shown_counts(study)
    withdraw(study, counted=True)
    now = shown_counts(study)
    assert before is not None
    assert now is not None
    assert (now.withdrew, now.consented, now.assigned) == (before.withdrew, before.consented, before.assigned)
    assert set(Run.objects.values_list("kind", "status")) == {("first_results", "queued"), ("full_results", "queued")}


def test_those_who_hide_a_withdrawal_after_the_end_hide_it_for_good(study: Study) -> None:
    """Attack: the rows after each of several withdrawals. If others were drawn each time, only those who left would always be missing."""
    come(study, 160, seed=1)
    close(study, actor=study.owner)
    study.refresh_from_db()
    held_back, group = set[Any](), dict[str, object]()
    for _withdrawal in range(2):
        gone = withdraw(study, counted=True, **group)
        before, group = held_back, {"subsample": gone.subsample, "arm": gone.arm}
        held_back = set(Participant.objects.filter(counted=False, **group).values_list("pk", flat=True))
        assert (before <= held_back, len(held_back - before)) == (True, LEAST - 1)


def test_a_batch_of_which_nobody_took_notice_is_counted_within_a_minute(study: Study) -> None:
    come(study, FIRST, seed=1)
    runner.count_complete_batches()
    compute_what_waits(study)
    assert batch_progress(study).until_next == GROUPS * WAITING_PER_GROUP - (FIRST - GROUPS * LEAST)


def test_the_list_of_studies_and_the_page_say_when_numbers_come_next(study: Study) -> None:
    reader = logged_in(study.owner)
    addresses = [reverse("surveys:studies"), *(reverse(name, args=[study.slug]) for name in ("surveys:study", "analysis:results"))]
    for address in addresses:
        assert f"Next numbers after {FIRST} more people." in reader.get(address).content.decode()
    officer = logged_in(person(Role.IRB_OFFICER))
    shown = officer.get(reverse("surveys:study", args=[study.slug])).content.decode()
    assert f"Next numbers after {FIRST} more people." in shown
    assert "than one batch needs" not in shown


def test_a_study_that_plans_for_less_than_a_batch_says_when_its_numbers_come() -> None:
    study = recruiting_study(allocation={"planned_participants": FIRST - 40, "block_multiples": [1]}, die=TELLING_DIE)
    shown = logged_in(study.owner).get(reverse("surveys:study", args=[study.slug])).content.decode()
    assert f"Next numbers after {FIRST} more people." in shown
    assert "The study plans for fewer people than one batch needs." in shown
