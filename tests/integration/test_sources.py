"""The table of a closed study: who is in it, what stands there, and that nothing tells who came when."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from analysis.ledger.opening import agreed_budget
from analysis.ledger.selectors import asked_with
from analysis.ledger.services import ask
from analysis.models import Snapshot, Source
from analysis.sources import services
from analysis.sources.selectors import obstacle, table_of
from analysis.sources.services import delete_when_data_are_forgotten, make_again, renew_after_withdrawal
from analysis.sources.study_tables import schema_of, table_of_study
from analysis.sources.tables import FREE, MISSING, Table
from analysis.sources.unpacked import UNPACKED
from audit.models import Entry
from candor.errors import DataError
from surveys.batches.services import count_again
from surveys.journey.services import withdraw
from surveys.models import Participant, Response, Study
from surveys.protocols import protocol_in_force
from surveys.retention.services import forget_operational_data
from surveys.tokens import hash_of_withdrawal_code
from tests.factories import definition
from tests.jobs import catch, claimed, work_on
from tests.ledgers import DELTA, Solved, budget_of, make_snapshot, open_source, solved, study_with_budget
from tests.simultaneous import at_once

pytestmark = pytest.mark.django_db


def table(source: Source) -> Table:
    found = table_of(source, source.snapshots.latest("number").number)
    assert found is not None
    return found


def test_the_schema_declares_every_column_of_the_sample_study() -> None:
    schema = schema_of(definition())
    assert [column.name for column in schema.columns] == [
        "arm",
        "subsample",
        "background.gender",
        "background.year",
        "background.devices",
        "background.courses",
        "background.courses.course",
        "background.courses.grade",
        "quiz.groups",
        "quiz.control",
        "answer.attention",
        "answer.retention",
        "answer.judgement",
        "answer.comprehension",
    ]
    free = [column.name for column in schema.columns if column.role in FREE]
    assert free == ["arm", "subsample", *[f"answer.{name}" for name in ("attention", "retention", "judgement", "comprehension")]]
    assert schema.column("quiz.groups").right == definition().quiz[0].answer


def test_the_table_holds_what_the_database_holds_in_another_order() -> None:
    source = open_source()
    found, study = table(source), source.study
    people = Participant.objects.filter(study=study)
    assert found.n == people.count() == 96
    for name in ("gender", "year"):
        column, given = found.schema.column(f"background.{name}"), [one.background.get(name) for one in people]
        if column.values:
            there = [None if code == MISSING else column.names[code] for code in found[column.name]]
        else:
            there = [None if np.isnan(value) else int(value) for value in found[column.name]]
        assert sorted(map(str, there)) == sorted(map(str, given))
    devices = found.schema.column("background.devices")
    for place, option in enumerate(devices.names):
        assert (found[devices.name][:, place] == 1).sum() == sum(option in one.background["devices"] for one in people)
    entries = [one.background.get("courses") for one in people]
    assert np.nansum(found["background.courses"]) == sum(len(one) for one in entries if one)
    assert np.isnan(found["background.courses"]).sum() == sum(one is None for one in entries)
    grades = found["background.courses.grade"]
    assert sorted(grades[~np.isnan(grades)]) == sorted(entry["grade"] for one in entries if one for entry in one)
    for question in protocol_in_force(study).definition.questions:
        yes = Response.objects.filter(participant__study=study, question=question.name, reported_yes=True).count()
        assert (found[f"answer.{question.name}"] == 1).sum() == yes


def test_a_row_is_one_participant() -> None:
    source = open_source()
    found = table(source)
    gender, attention = found["background.gender"], found["answer.attention"]
    women = found.schema.column("background.gender").names.index("woman")
    reported = Response.objects.filter(question="attention", reported_yes=True, participant__background__gender="woman").count()
    assert ((gender == women) & (attention == 1)).sum() == reported


def test_the_rows_stand_in_no_order() -> None:
    source = open_source()
    before = np.stack([table(source)[name] for name in ("arm", "subsample", "background.gender", "answer.attention")], axis=1)
    again = table_of_study(source.study, protocol_in_force(source.study).definition, tell=lambda rows: None)
    after = np.stack([again[name] for name in ("arm", "subsample", "background.gender", "answer.attention")], axis=1)
    assert sorted(before.tolist()) == sorted(after.tolist())
    assert before.tolist() != after.tolist()


def test_what_the_protocol_does_not_declare_is_not_in_the_table() -> None:
    source = Source.objects.get(study=study_with_budget())
    someone = Participant.objects.filter(study=source.study)[0]
    someone.background = {"gender": "martian", "year": 1e9, "devices": ["phone", "abacus"], "courses": "many", "unknown": 1}
    someone.quiz = {"groups": ["a", "list"]}
    someone.save()
    for other in Participant.objects.filter(study=source.study).exclude(pk=someone.pk):
        other.background, other.quiz = {}, {}
        other.save()
    make_snapshot(source)
    found = table(source)
    [row] = np.flatnonzero(~np.isnan(found["background.year"]))
    assert found["background.year"][row] == found.schema.column("background.year").maximum
    assert found["background.gender"][row] == found["quiz.groups"][row] == MISSING
    assert found["background.devices"][row].sum() == 1
    assert np.isnan(found["background.courses"][row])


def test_people_and_bots_are_never_in_one_table() -> None:
    source = Source.objects.get(study=study_with_budget())
    keys = list(Participant.objects.filter(study=source.study).values_list("pk", flat=True)[:50])
    Participant.objects.filter(pk__in=keys).update(is_bot=True)
    assert make_snapshot(source).n == 46
    only_bots = Source.objects.get(study=study_with_budget(slug="only-bots", bots=True))
    assert make_snapshot(only_bots).n == 96


def test_a_snapshot_that_failed_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source.objects.get(study=study_with_budget())
    claimed(Snapshot.objects.get()).fail("The disk is full.")
    assert "The disk is full" in obstacle(source)
    assert make_again(source, actor=source.study.owner)
    assert not make_again(source, actor=source.study.owner)
    assert make_snapshot(source).n == 96
    assert obstacle(source) == ""
    assert Entry.objects.filter(action="source.made_again").count() == 1


@pytest.mark.parametrize("meanwhile", ["deletion", "withdrawal"])
def test_a_table_that_is_made_again_is_not_missed_by_whoever_takes_it_away(
    postgresql: None, meanwhile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack: it is asked for in the moment in which the data are deleted, and keeps background answers; or in which somebody leaves."""
    catch(monkeypatch)
    study = study_with_budget()
    source, code = Source.objects.get(study=study), "0123-4567-89AB-CDEF"
    claimed(Snapshot.objects.get()).fail("The disk is full.")
    person = Participant.objects.filter(study=study, counted=True)[0]
    Participant.objects.filter(pk=person.pk).update(withdrawal_hash=hash_of_withdrawal_code(code))
    is_asked, take = threading.Event(), services.take_snapshot

    def take_slowly(source: Source) -> Snapshot:
        found = take(source)
        is_asked.set()
        time.sleep(0.5)
        return found

    def ask_again() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(services, "take_snapshot", take_slowly)
            assert make_again(source, actor=study.owner)

    def take_away() -> None:
        assert is_asked.wait(10)
        if meanwhile == "deletion":
            forget_operational_data(Study.objects.get(pk=study.pk))
        else:
            assert withdraw(study, code=code)

    at_once(ask_again, take_away)
    expected = ["failed", "deleted"] if meanwhile == "deletion" else ["failed", "replaced", "making"]
    assert list(Snapshot.objects.order_by("number").values_list("status", flat=True)) == expected


def test_everybody_agreed_to_the_budget() -> None:
    """The smallest of all versions under which somebody took part; none as soon as one of them knew no budget."""
    study = study_with_budget(epsilon=2.0)
    assert agreed_budget(study).epsilon == 2.0
    first = study.protocol
    assert first is not None
    smaller = type(first).objects.create(
        study=study,
        version=2,
        definition={**first.definition, "privacy_budget": {"epsilon": 0.5, "delta": DELTA}},
        media=first.media,
        sha256="0" * 64,
    )
    someone = Participant.objects.filter(study=study)[0]
    Participant.objects.filter(pk=someone.pk).update(protocol=smaller)
    count_again(study)
    assert agreed_budget(study).epsilon == 0.5
    unknowing = type(first).objects.create(
        study=study,
        version=3,
        definition={name: part for name, part in first.definition.items() if name != "privacy_budget"},
        media=first.media,
        sha256="1" * 64,
    )
    Participant.objects.filter(pk=someone.pk).update(protocol=unknowing)
    count_again(study)
    assert agreed_budget(study) is None


@pytest.fixture
def warm() -> Iterator[Source]:
    """A source of which this process keeps a column."""
    UNPACKED.forget_all()
    source = open_source()
    table(source)["background.gender"]
    assert {number for _, _, number in UNPACKED.snapshots()} == {1}
    yield source
    UNPACKED.forget_all()


def test_a_kept_column_is_read_without_the_stored_rows(warm: Source, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1) as asked:
        table_of(warm, 1)["background.gender"]
    assert '"data"' not in asked.captured_queries[0]["sql"]


def test_no_kept_column_answers_after_a_withdrawal(warm: Source) -> None:
    """Neither where the withdrawal happened nor in another worker, which still has the column in its memory."""
    before = table(warm)
    renew_after_withdrawal(None, study_id=warm.study_id)
    assert UNPACKED.snapshots(), "as in a worker that did not hear of it: only the commit tells this process"
    assert table_of(warm, 1) is None
    assert not UNPACKED.snapshots(), "the rows leave the memory with the next question"
    with pytest.raises(DataError, match="somebody withdrew"):
        before["background.year"]
    make_snapshot(warm)
    assert table(warm)["background.gender"].size == 96
    assert {number for _, _, number in UNPACKED.snapshots()} == {2}


@pytest.mark.django_db(transaction=True)
def test_deleted_rows_leave_the_memory_at_once_where_they_are_deleted() -> None:
    source = open_source()
    table(source)["background.gender"]
    assert UNPACKED.snapshots()
    delete_when_data_are_forgotten(None, study_id=source.study_id)
    assert not UNPACKED.snapshots()
    assert table_of(source, 1) is None


def test_a_worker_that_reads_on_after_a_withdrawal_draws_no_noise(warm: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody withdraws between the exact count, from kept columns, and the noise: the charge is returned."""
    asked = ask(warm, solved(item="quiz.groups", epsilon=0.1), actor=warm.study.owner)
    exact = Solved.exact

    def withdraw_meanwhile(self: Solved, rows: Table) -> Any:
        found = exact(self, rows)
        renew_after_withdrawal(None, study_id=warm.study_id)
        return found

    monkeypatch.setattr(Solved, "exact", withdraw_meanwhile)
    work_on(asked.charge.asking)
    assert asked_with(budget_of(warm), asked.charge.number).state == "returned"
