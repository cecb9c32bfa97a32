"""Nobody who comes or withdraws waits for somebody else's computing: it is done before the study is held, and then only stored."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import pytest
from django.db import OperationalError, connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from analysis.models import Release
from surveys.allocation.services import change_arm, take_slot
from surveys.batches import services as batches
from surveys.batches.order_of_arrival import HELD_AT_ONCE
from surveys.batches.recount import wrong_counts
from surveys.batches.rules import LEAST
from surveys.batches.selectors import by_group, shown_counts, waiting_people
from surveys.batches.services import count_again, count_next_batch, show_who_is_on_the_way
from surveys.batches.tally import tally_of
from surveys.journey import services as participation
from surveys.journey.withdrawals import Receipt
from surveys.lifecycle.steps import locked
from surveys.models import Participant, ShownNumbers, Step, Study, StudyStatus
from surveys.protocols import protocol_in_force
from surveys.studies import services as studies
from surveys.tokens import hash_of_withdrawal_code
from tests.factories import recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people
from tests.jobs import catch, work_on
from tests.releases import closed_study, started_release

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("postgresql")]
Result = TypeVar("Result")
CODE = "0123-4567-89AB-CDEF"
COMPUTED = ("GROUP BY", "WITH gone AS")
"""In statements that count people one by one, or lay them anew."""


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> Study:
    """A batch was counted, another one waits, and a fifth of the people stopped half-way."""
    catch(monkeypatch)
    made = recruiting_study(allocation={"planned_participants": 600, "block_multiples": [1]}, die=TELLING_DIE)
    add_finished_people(made, 180, seed=1, counted=False, unfinished=0.2)
    assert count_next_batch(made)
    add_finished_people(made, 180, seed=2, counted=False, unfinished=0.2)
    return made


def under_a_lock(act: Callable[[], object]) -> list[list[str]]:
    """The statements between the moment at which a study is held and the end of the transaction."""
    with CaptureQueriesContext(connection) as asked:
        act()
    found: list[list[str]] = []
    held = False
    for sql in (one["sql"] for one in asked):
        if held and sql.startswith(("COMMIT", "ROLLBACK")) and "SAVEPOINT" not in sql:
            held = False
        elif held:
            found[-1].append(sql)
        elif '"surveys_study"' in sql and sql.endswith(("FOR UPDATE", "FOR NO KEY UPDATE")):
            held = True
            found.append([])
    return found


def computed_in(statements: list[str]) -> list[str]:
    return [sql for sql in statements if any(part in sql for part in COMPUTED)]


def until_stored(statements: list[str]) -> list[str]:
    """Without what follows once nobody is left who is not counted: then such people are counted in no time."""
    stored = [place for place, sql in enumerate(statements) if sql.startswith('UPDATE "surveys_shownnumbers"')]
    return statements[: stored[-1]] if stored else statements


@contextmanager
def beside(act: Callable[[], Result], *, at: str) -> Iterator[list[Result | BaseException]]:
    """Before the first statement with these words, somebody else acts, and waits 50 ms for a lock at most."""
    outcome: list[Result | BaseException] = []

    def try_it() -> None:
        try:
            with connections["default"].cursor() as cursor:
                cursor.execute("SET lock_timeout = '50ms'")
            outcome.append(act())
        except BaseException as error:
            outcome.append(error)
        finally:
            connections.close_all()

    def watch(execute: Any, sql: str, *rest: Any) -> Any:
        if at in sql and not outcome:
            thread = threading.Thread(target=try_it)
            thread.start()
            thread.join()
        return execute(sql, *rest)

    with connection.execute_wrapper(watch):
        yield outcome


def until_somebody_waits() -> None:
    """Return once somebody waits for what this transaction holds."""
    deadline = time.monotonic() + 30
    with connection.cursor() as cursor:
        while time.monotonic() < deadline:
            cursor.execute("SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))")
            if cursor.fetchone() is not None:
                return
            time.sleep(0.01)
    raise AssertionError("nobody waits")


@contextmanager
def somebody_leaves(study: Study, **wanted: object) -> Iterator[list[Receipt | BaseException | None]]:
    """As soon as people are being counted one by one, somebody else of the study takes data out."""
    person = Participant.objects.filter(study=study, **wanted)[0]
    Participant.objects.filter(pk=person.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    with beside(lambda: participation.withdraw(study, code=CODE), at="GROUP BY") as outcome:
        yield outcome


def assert_left(study: Study, outcome: list[Receipt | BaseException | None]) -> None:
    assert [type(one) for one in outcome] == [Receipt], outcome
    assert not Participant.objects.filter(withdrawal_hash=hash_of_withdrawal_code(CODE)).exists()
    assert wrong_counts(study) == {}


SHOWN, WAITS, HALF_WAY = {"counted": True}, {"counted": False, "step": Step.FINISHED}, {"counted": False, "step": Step.VIDEO}
WHO = pytest.mark.parametrize("who", [SHOWN, WAITS, HALF_WAY], ids=["shown", "waits", "half-way"])


@WHO
def test_somebody_leaves_while_a_batch_is_counted(study: Study, who: dict[str, object]) -> None:
    noted: list[str] = []
    with somebody_leaves(study, **who) as outcome:
        assert count_next_batch(study, note=lambda: noted.append("batch"))
    assert noted == ["batch"]
    assert_left(study, outcome)
    study.refresh_from_db()
    assert not study.numbers_withheld
    groups = tally_of(study.pk).groups()
    assert all(people % LEAST == 0 for people in groups.values()), groups


def test_a_worker_killed_before_a_batch_is_sealed_leaves_nobody_in_it_and_no_order(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of those who were drawn are laid by then: their ages tell no more than their keys."""
    shown = set(Participant.objects.filter(counted=True).values_list("pk", flat=True))

    def killed(*_arguments: object) -> None:
        raise SystemExit

    last = max(ages().values())
    with monkeypatch.context() as patch:
        patch.setattr(batches, "_seal", killed)
        with pytest.raises(SystemExit):
            count_next_batch(study)
    assert set(Participant.objects.filter(counted=True).values_list("pk", flat=True)) == shown
    laid = {key: age for key, age in ages().items() if age > last}
    assert len(laid) >= 40
    assert len(set(laid.values())) <= -(-len(laid) // HELD_AT_ONCE)
    assert [laid[key] for key in sorted(laid)] == sorted(laid.values())
    assert count_next_batch(study)
    assert wrong_counts(study) == {}


def ages() -> dict[Any, int]:
    """The number of the transaction that wrote the row of each person."""
    rows = Participant.objects.extra(select={"age": "surveys_participant.xmin::text::bigint"})
    return dict(rows.values_list("pk", "age"))


@WHO
def test_somebody_leaves_while_the_numbers_of_people_on_their_way_are_renewed(study: Study, who: dict[str, object]) -> None:
    with somebody_leaves(study, **who) as outcome:
        assert show_who_is_on_the_way(study)
    assert_left(study, outcome)
    renewed = ShownNumbers.objects.get(study=study)
    batches.keep_shown_numbers(study)
    again = ShownNumbers.objects.get(study=study)
    assert (renewed.comers, renewed.numbers) == (again.comers, again.numbers), "the numbers are those without the person"


def test_somebody_leaves_while_everybody_is_counted_after_the_end(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "FEW", 20)
    studies.close(study, actor=study.owner)
    with somebody_leaves(study, **SHOWN) as outcome:
        batches.count_people_of_closed_studies()
    assert_left(study, outcome)
    assert shown_counts(Study.objects.get(pk=study.pk)) is not None


def test_somebody_leaves_while_all_are_counted_again(study: Study) -> None:
    with somebody_leaves(study, **SHOWN) as outcome:
        count_again(study)
    assert_left(study, outcome)


def test_somebody_who_was_shown_leaves_while_a_small_study_is_closed(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "FEW", 1000)
    with somebody_leaves(study, **SHOWN) as outcome:
        studies.close(study, actor=study.owner)
    assert_left(study, outcome)
    closed = Study.objects.get(pk=study.pk)
    assert closed.status == StudyStatus.CLOSED
    exact = shown_counts(closed)
    assert exact is not None
    assert exact.withdrew == 1


def test_a_batch_is_stored_by_a_few_statements(study: Study) -> None:
    [statements] = under_a_lock(lambda: count_next_batch(study))
    assert computed_in(statements) == []
    assert len(statements) <= 16, statements


def test_renewed_numbers_are_stored_by_a_few_statements(study: Study) -> None:
    [statements] = under_a_lock(lambda: show_who_is_on_the_way(study))
    assert computed_in(statements) == []
    assert len(statements) <= 6, statements


def test_parts_of_the_count_after_the_end_are_stored_by_a_few_statements(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "FEW", 20)
    studies.close(study, actor=study.owner)
    *parts, _together = held = list(map(until_stored, under_a_lock(batches.count_people_of_closed_studies)))
    assert len(parts) > 1
    assert [computed_in(statements) for statements in held] == [[]] * len(held)
    assert max(map(len, parts)) <= 6, parts


def test_a_small_study_is_closed_without_counting_under_its_lock(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "FEW", 1000)
    held = list(map(until_stored, under_a_lock(lambda: studies.close(study, actor=study.owner))))
    assert [computed_in(statements) for statements in held] == [[]] * len(held)


def test_somebody_who_leaves_deletes_before_others_wait(study: Study) -> None:
    person = Participant.objects.filter(study=study, counted=True)[0]
    Participant.objects.filter(pk=person.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    [statements] = under_a_lock(lambda: participation.withdraw(study, code=CODE))
    assert computed_in(statements) == []
    assert not [sql for sql in statements if sql.startswith("DELETE") and "surveys_participant" in sql]


def test_a_package_is_written_before_the_study_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    catch(monkeypatch)
    closed = closed_study()
    release = started_release(closed)
    held = under_a_lock(lambda: work_on(release))
    release.refresh_from_db()
    assert release.status == "built"
    assert held
    assert len(bytes(release.package or b"")) > 10_000
    assert max(len(sql) for statements in held for sql in statements) < 10_000


def test_a_package_that_nobody_has_compared_yet_is_no_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its worker is killed after it was written; before another one takes over, somebody in it leaves."""
    from analysis.releases import building
    from analysis.releases.findings import findings_of
    from analysis.releases.selectors import preview

    catch(monkeypatch)
    closed = closed_study()
    release = started_release(closed)

    def killed(*_arguments: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(building, "compared_people", killed)
        with pytest.raises(SystemExit):
            work_on(release)
    release.refresh_from_db()
    assert (release.status, bool(release.package)) == ("building", True)
    assert not preview(release, of_people=True).rows
    assert findings_of(release) is None
    Release.fail(release, "given up")
    release.refresh_from_db()
    assert (release.status, release.package) == ("failed", None)


def test_people_who_waited_while_no_worker_was_there_enter_in_parts_of_whole_tens(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "SEALED_AT_ONCE", 40)
    shown, noted, seen = tally_of(study.pk).groups(), [], []
    seal = batches._seal

    def seal_and_look(*given: Any) -> bool:
        done = seal(*given)
        seen.append(tally_of(study.pk).groups())
        return done

    monkeypatch.setattr(batches, "_seal", seal_and_look)
    assert count_next_batch(study, note=lambda: noted.append("batch"))
    assert noted == ["batch"]
    assert len(seen) > 1
    for before, after in pairwise([shown, *seen]):
        assert 0 < after.total() - before.total() <= 40
        assert all((after[group] - before[group]) % LEAST == 0 for group in after)
    left = by_group(waiting_people(study.pk))
    assert all(LEAST <= people < 2 * LEAST for people in left.values()), left
    assert wrong_counts(study) == {}


def test_after_the_end_no_batch_holds_people_who_hide_somebody_that_leaves(study: Study) -> None:
    """Closing waits for the few people whose rows are just laid anew; then a batch that was being drawn lays nobody else."""
    keys = list(Participant.objects.filter(study=study, step=Step.FINISHED).values_list("pk", flat=True))
    hold_as_closing_does = transaction.atomic(lambda: locked(study))
    with beside(hold_as_closing_does, at="WITH gone AS") as outcome:
        assert sorted(batches._laid_anew(study, keys)) == sorted(keys)
    assert [type(one) for one in outcome] == [OperationalError], "closing waits"
    Study.objects.filter(pk=study.pk).update(status=StudyStatus.CLOSED)
    assert batches._laid_anew(study, keys) == []


def test_somebody_gets_a_line_of_the_other_arm_while_one_is_changed(study: Study) -> None:
    """Each line of the closed arm before theirs is passed over."""
    change_arm(study, arm="instructor", actor=study.owner, quota=None, closed=True)
    with beside(transaction.atomic(lambda: take_slot(study, protocol_in_force(study).definition)), at="audit_") as outcome:
        change_arm(study, arm="instructor", actor=study.owner, quota=400, closed=False)
    assert [getattr(one, "arm", one) for one in outcome] == ["slides"]


@pytest.mark.parametrize("stays", [True, False])
@pytest.mark.parametrize("limited", [True, False])
def test_a_new_quota_waits_for_somebody_who_is_just_taking_a_line(study: Study, *, limited: bool, stays: bool) -> None:
    """Whether that person stays or their line is given back, the quota is exact. Without the wait it would have counted too few."""
    definition, taken = protocol_in_force(study).definition, study.allocation_slots.filter(status="taken", arm="slides")
    quota = taken.count() + 3
    change_arm(study, arm="slides", actor=study.owner, quota=quota + 5 if limited else None, closed=False)
    change = partial(change_arm, study, arm="slides", actor=study.owner, quota=quota, closed=False)
    with transaction.atomic(), connection.cursor() as cursor:
        while take_slot(study, definition).arm != "slides":
            pass
        with beside(change, at="the change") as outcome:
            cursor.execute("SELECT 'the change'")
        assert [type(one) for one in outcome] == [OperationalError]
        transaction.set_rollback(not stays)
    change()
    for _ in range(20):
        take_slot(study, definition)
    assert taken.count() == quota


def test_a_line_that_is_given_back_while_somebody_waits_for_a_place_is_not_passed_over(study: Study) -> None:
    """Somebody has picked the line after it, and waits for the place of whoever gives theirs back."""
    definition = protocol_in_force(study).definition
    change_arm(study, arm="instructor", actor=study.owner, quota=None, closed=True)
    change_arm(study, arm="slides", actor=study.owner, quota=400, closed=False)
    come = transaction.atomic(partial(take_slot, study, definition))
    first, second = study.allocation_slots.filter(arm="slides", status="free").order_by("position")[:2]
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            come()
            waits = pool.submit(come)
            until_somebody_waits()
            transaction.set_rollback(True)
        waits.result(30)
        pool.submit(connections.close_all).result()
    for line in (first, second):
        line.refresh_from_db()
    assert [first.status, second.status] == ["free", "taken"]


@pytest.mark.parametrize(("places", "fills"), [(1, True), (2, False), (None, False)])
def test_nobody_who_waited_for_an_arm_gets_it_once_it_is_full_or_closed(study: Study, places: int | None, *, fills: bool) -> None:
    """Neither the other arm, which takes everybody, nor another study is a reason to give a line of this one."""
    recruiting_study(slug="another-study")
    definition, slides = protocol_in_force(study).definition, partial(change_arm, study, arm="slides", actor=study.owner)
    slides(quota=places and study.allocation_slots.filter(status="taken", arm="slides").count() + places)
    study.allocation_slots.filter(status="free").update(arm="slides")
    come = transaction.atomic(partial(take_slot, study, definition))
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            if fills:
                come()
            else:
                slides(closed=True)
            waits = pool.submit(come)
            until_somebody_waits()
        assert waits.result(30).arm == "instructor"
        pool.submit(connections.close_all).result()
