"""The contract of every kind of work. A new kind is held as soon as it is registered, and needs an example here."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import asdict, replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone
from kombu.exceptions import OperationalError

from analysis.diagnosis.services import Asked, diagnose
from analysis.ledger.services import ask
from analysis.models import Chunk, RunKind, Snapshot, SweepPart
from analysis.record_sets.services import start_package
from analysis.records.services import start_sweep
from analysis.releases.protecting import USUAL
from analysis.runs import runner
from jobs import heartbeats, tasks
from jobs.errors import ExpectedError, TakenError
from jobs.models import Lease, Routine
from jobs.registry import JOBS, job, job_of
from lti.models import Platform
from lti.services import make_batch
from surveys.access import Seat
from surveys.allocation.services import AT_ONCE
from surveys.bots import rehearsal
from surveys.credit.selectors import Place
from surveys.models import CreditBook, ListDrawing, StudyStatus
from surveys.protocols import protocol_view_for
from surveys.rehearsal.services import Planted, rehearse
from surveys.studies.services import launch
from tests.deposits import shelf_in_use
from tests.factories import draft_study, everything_stored, recruiting_study, study_in
from tests.finished_people import TELLING_DIE, add_finished_people
from tests.heartbeats import wait_for_a_beat
from tests.jobs import Sent, attempt, catch, claimed, fall_silent, swept
from tests.ledgers import open_source, solved, study_with_budget
from tests.record_sets import record_set
from tests.releases import closed_study, started_release
from tests.simultaneous import at_once
from webhooks.models import Delivery, Event
from webhooks.services import add_webhook, emit

pytestmark = pytest.mark.django_db


def run_of(kind: RunKind, people: int = 0) -> Lease:
    study = recruiting_study(allocation={"planned_participants": 48}, die=TELLING_DIE)
    add_finished_people(study, people)
    run = runner.queue_run(study.pk, kind=kind, after=timedelta(0))
    assert run is not None
    return run


def chunk() -> Lease:
    run = run_of(RunKind.FULL_RESULTS, people=48)
    attempt(claimed(run))
    return Chunk.objects.filter(run=run.pk).order_by("pk")[0]


def crowd() -> Lease:
    study = draft_study()
    planted = Planted(bots=2, prevalence=0.4, effect=0.2, cheater_proportion=0.1, behaviour="random", drops_out=0.0)
    return rehearse(study, protocol=protocol_view_for(Seat(study.owner, study)), planted=planted, actor=study.owner)


def delivery() -> Lease:
    """A message to a computer that is not there."""
    study = recruiting_study()
    add_webhook(study, address="http://127.0.0.1:9/", events=list(Event), site="https://candor.example.org", actor=study.owner)
    emit(study.pk, Event.STUDY_CLOSED)
    return Delivery.objects.get()


def credit_batch() -> Lease:
    """Credit for a student of a platform that is not there."""
    address = "http://127.0.0.1:9"
    addresses = dict.fromkeys(("issuer", "login_address", "token_address", "keys_address"), address)
    platform = Platform.objects.create(name="Moodle", client_id="candor", deployment_id="1", **addresses)
    study = recruiting_study()
    place = asdict(Place(platform=platform.pk, issuer=address, sub="ada", line_item=f"{address}/items/1"))
    CreditBook.objects.create(study=study, waiting=[place])
    batch = make_batch(study)
    assert batch is not None
    return batch


def simulations() -> Lease:
    study = draft_study()
    asked = Asked(people=60, prevalence=0.4, effect=0.2, cheater_proportion=0.1, drop_out=0.1, studies=10)
    return diagnose(study, definition=protocol_view_for(Seat(study.owner, study)).definition, asked=asked, actor=study.owner)


def sweep_of_records() -> Lease:
    study = closed_study()
    return start_sweep(study, simulated=False, actor=study.owner)


def part_of_a_sweep() -> Lease:
    sweep = sweep_of_records()
    attempt(claimed(sweep))
    return SweepPart.objects.filter(sweep=sweep.pk).order_by("pk")[0]


def package_of_records() -> Lease:
    made = record_set()
    return start_package(
        made, chosen=USUAL, authors=["Lovelace, Ada"], licence="CC0-1.0", site="https://candor.example.org", actor=made.owner
    )


def deposit_of_a_release() -> Lease:
    return started_release(closed_study(), with_doi=True).deposit


def snapshot() -> Lease:
    study_with_budget()
    return Snapshot.objects.get()


def question() -> Lease:
    source = open_source()
    return ask(source, solved(rho=0.001), actor=source.whole.owner).charge.asking


def long_list() -> Lease:
    """The list of a study that opens with its last line."""
    study = study_in(StudyStatus.APPROVED, allocation={"planned_participants": AT_ONCE + 1})
    launch(study, actor=study.owner)
    return ListDrawing.objects.get()


# For each kind, an object that waits for a worker.
EXAMPLES: dict[str, Callable[[], Lease]] = {
    RunKind.FIRST_RESULTS: partial(run_of, RunKind.FIRST_RESULTS),
    RunKind.FULL_RESULTS: partial(run_of, RunKind.FULL_RESULTS),
    "bootstrap_chunk": chunk,
    "deposit": deposit_of_a_release,
    "release": lambda: started_release(closed_study()),
    "rehearsal": crowd,
    "diagnosis": simulations,
    "record_sweep": sweep_of_records,
    "record_sweep_part": part_of_a_sweep,
    "record_package": package_of_records,
    "delivery": delivery,
    "credit_batch": credit_batch,
    "snapshot": snapshot,
    "allocation_lists": long_list,
    "question": question,
} | {kind: partial(Routine.objects.create, name=kind, due_at=timezone.now()) for kind in Routine.EVERY}

every_kind = pytest.mark.parametrize("kind", sorted(JOBS))


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sent]:
    """The messages to the broker, collected instead of sent. One bot walks at a time: all share the test's database in memory."""
    with pytest.MonkeyPatch.context() as patch:  # of its own, because no study is made in another way by these: their rows are kept
        patch.setattr(rehearsal, "WORKERS", 1)
        patch.setattr("analysis.records.sweeping.SIZES", (2, 5))  # nobody looks at what a sweep finds
        yield catch(monkeypatch)


@pytest.fixture
def work(kind: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lease]:
    with shelf_in_use(monkeypatch) if kind == "deposit" else nullcontext():
        yield EXAMPLES[kind]()


def row(lease: Lease) -> dict[str, Any]:
    return type(lease)._default_manager.filter(pk=lease.pk).values().get()


def whole_of(lease: Lease) -> Lease:
    """The object that hears of the failure: the work itself, or the whole of which it is a part."""
    part_of = job_of(lease).part_of
    whole: Lease = getattr(lease, part_of) if part_of else lease
    whole.refresh_from_db()
    return whole


def message_key(lease: Lease) -> str:
    """The object that a message about the work names."""
    part_of = job_of(lease).part_of
    return str(getattr(lease, f"{part_of}_id") if part_of else lease.pk)


def swept_now(sent: Sent, kind: str) -> list[str]:
    """The keys of the work that the sweep sends to be done at once."""
    del sent[:]
    tasks.sweep()
    return [message["key"] for message in sent if message["kind"] == kind and message["countdown"] < 1]


def doing(monkeypatch: pytest.MonkeyPatch, kind: str, do: Callable[[Any], None]) -> None:
    monkeypatch.setitem(JOBS, kind, replace(JOBS[kind], do=do))


def failing(error: Exception) -> Callable[[Any], None]:
    def do(_lease: Any) -> None:
        raise error

    return do


def test_every_kind_has_an_example_here() -> None:
    assert set(EXAMPLES) == set(JOBS), "give the contract something of the new kind to hold"


def test_a_kind_is_registered_once() -> None:
    with pytest.raises(ValueError, match="found rehearsal twice"):
        job(kind="rehearsal", model=Routine)(lambda _row: None)


@every_kind
def test_the_example_is_of_its_kind_and_waits(kind: str, work: Lease) -> None:
    assert job_of(work).kind == kind
    assert (work.holder, work.attempts, work.due_at is not None) == (None, 0, True)


@every_kind
@pytest.mark.usefixtures("postgresql")
def test_two_workers_cannot_both_hold_it(work: Lease) -> None:
    taken = [one for one in at_once(*[partial(type(work).claim, work.pk)] * 4) if one is not None]
    assert len(taken) == 1
    assert row(work)["holder"] == taken[0].holder


@every_kind
def test_a_silent_worker_is_replaced_and_can_write_nothing_any_more(work: Lease, sent: Sent) -> None:
    silent = claimed(work)
    kind = job_of(work).kind
    assert swept_now(sent, kind) == []
    fall_silent(work)
    assert message_key(work) in swept_now(sent, kind)
    newer = claimed(work)
    assert (newer.attempts, newer.holder != silent.holder) == (2, True)
    before = everything_stored()
    for write in (silent.write, silent.wait, silent.spread, silent.finish, partial(silent.fail, "late")):
        with pytest.raises(TakenError):
            write()
    with pytest.raises(RuntimeError):
        tasks.attempt(replace(JOBS[kind], do=failing(RuntimeError("late"))), silent)
    assert everything_stored() == before


@every_kind
@pytest.mark.usefixtures("postgresql")
def test_a_worker_that_works_for_long_is_heard_of(work: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeats, "BEAT_SECONDS", 0.05)
    taken = claimed(work)
    with taken.beating():
        wait_for_a_beat(taken.mine(), "due_at")


@every_kind
def test_after_the_most_attempts_it_is_given_up(kind: str, work: Lease, sent: Sent) -> None:
    for attempts in range(1, type(work).MOST_ATTEMPTS + 1):
        assert claimed(work).attempts == attempts
        fall_silent(work)
        tasks.sweep()
    assert message_key(work) not in swept_now(sent, kind)
    told = whole_of(work)
    assert told.error in ("no answer", f"Given up after {type(work).MOST_ATTEMPTS} workers fell silent.")
    assert_ended(told)


@every_kind
def test_a_message_that_is_lost_is_sent_again_by_the_sweep(kind: str, work: Lease, sent: Sent) -> None:
    for _lost in range(2):
        assert message_key(work) in swept_now(sent, kind)
    claimed(work)
    assert swept_now(sent, kind) == []


@every_kind
def test_a_worker_that_does_not_know_the_kind_leaves_it_to_others(
    kind: str, work: Lease, sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While two versions run; it was a KeyError before."""
    tasks.sweep()
    before = everything_stored()
    with monkeypatch.context() as older:
        older.delitem(JOBS, kind)
        tasks.work(kind, str(work.pk))
        tasks.sweep()
    assert everything_stored() == before


@every_kind
def test_what_is_cancelled_stops(kind: str, work: Lease, sent: Sent) -> None:
    taken = claimed(work)
    whole = whole_of(work)
    type(whole).end(type(whole)._default_manager.filter(pk=whole.pk), **whole.FAILED)
    with pytest.raises(TakenError):
        taken.write()
    before = everything_stored()
    tasks.attempt(replace(JOBS[kind], do=lambda lease: lease.write()), taken)
    assert everything_stored() == before
    assert type(work).claim(work.pk) is None
    assert swept_now(sent, kind) == []


@pytest.mark.parametrize(("kind", "error"), [(one.kind, error) for one in JOBS.values() for error in (ExpectedError, *one.expects)])
def test_an_expected_failure_is_told_and_not_raised(
    kind: str, error: type[Exception], work: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    doing(monkeypatch, kind, failing(error("Because it is so.")))
    attempt(claimed(work))
    told = whole_of(work)
    assert told.error.startswith("Because it is so.")
    assert_ended(told)


@every_kind
def test_a_bug_is_told_and_raised(kind: str, work: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    doing(monkeypatch, kind, failing(ZeroDivisionError("a bug")))
    with pytest.raises(ZeroDivisionError):
        attempt(claimed(work))
    told = whole_of(work)
    assert told.error == "ZeroDivisionError: a bug"
    assert_ended(told)


@every_kind
def test_what_was_taken_away_is_neither_told_nor_raised(kind: str, work: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    doing(monkeypatch, kind, failing(TakenError()))
    taken = claimed(work)
    before = everything_stored()
    attempt(taken)
    assert everything_stored() == before


@every_kind
@pytest.mark.django_db(transaction=True)
def test_done_it_leaves_no_clock_time_and_done_twice_it_does_no_harm(kind: str, work: Lease, sent: Sent) -> None:
    whole = whole_of(work)
    follow = {kind, job_of(whole).kind, *(one.kind for one in JOBS.values() if one.part_of)}
    sent[:] = [{"kind": kind, "key": message_key(work)}]
    done = []
    while sent:  # with all that follows
        message = sent.pop()
        if message.get("countdown", 0) > 1 or message["kind"] not in follow:
            continue
        tasks.work(message["kind"], message["key"])
        done.append(message)
    if kind in ("delivery", "credit_batch"):  # nobody answers there, so it waits for its next time
        whole.refresh_from_db()
        assert (whole.holder, whole.attempts, whole.error) == (None, 1, "no answer: ConnectError")
    else:
        assert_ended(whole)
        assert whole.error == ""
    before = everything_stored()
    for message in done:
        tasks.work(message["kind"], message["key"])
    assert everything_stored() == before


@every_kind
def test_a_broker_that_is_away_loses_nothing(kind: str, work: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*arguments: object, **message: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(tasks.work, "apply_async", away)
    before = everything_stored()
    tasks.send(work)
    tasks.sweep()
    assert row(work) == {**row(work), "holder": None, "attempts": 0}
    assert before["surveys.Study"] == everything_stored()["surveys.Study"]
    assert message_key(work) in swept(catch(monkeypatch), kind)


@every_kind
def test_a_message_goes_out_with_its_priority_and_never_waits_for_the_broker(kind: str, work: Lease, sent: Sent) -> None:
    work.due_at = timezone.now() + timedelta(seconds=30)
    work.save()
    del sent[:]
    tasks.send(work)
    [message] = sent
    assert message["kind"] == kind
    assert (message["queue"], message["priority"], message["retry"]) == (JOBS[kind].queue, JOBS[kind].priority, False)
    tasks.sweep()
    [(key, again)] = {(one["key"], one["countdown"]) for one in sent[1:] if one["kind"] == kind}
    assert key == message_key(work)
    assert 20 < message["countdown"] <= 30
    assert again == 0 if JOBS[kind].part_of else 20 < again < message["countdown"], "neither message comes before its time"


def assert_ended(work: Lease) -> None:
    """Nobody holds the work, and no time is left; a routine waits for its next one."""
    work.refresh_from_db()
    assert work.holder is None
    if isinstance(work, Routine):
        assert work.due_at is not None
        assert work.due_at > timezone.now()
    else:
        assert (work.due_at, work.is_spread) == (None, False)
