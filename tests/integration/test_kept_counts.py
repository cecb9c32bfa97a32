"""Counts that are kept with each batch are those that the rows of people tell, whatever happens to people."""

import logging
import threading
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.answers.datasets import category_counts, cell_counts
from surveys.batches import numbers, selectors
from surveys.batches import services as batches
from surveys.batches.recount import check_counts, wrong_counts
from surveys.batches.selectors import counted_people, everybody, shown_counts
from surveys.batches.services import count_again, count_next_batch, show_who_is_on_the_way
from surveys.batches.tally import counted, counted_lines, kept_lines, lines_by_group, tally_of
from surveys.counts import exact_counts, present_people, taken_lines
from surveys.journey import services as participation
from surveys.models import KeptCounts, Participant, Response, ShownNumbers, Step, Study
from surveys.protocols import protocol_in_force
from surveys.retention.services import forget_operational_data
from surveys.studies.services import close
from surveys.tokens import hash_of_withdrawal_code
from tests.categories import with_frequency
from tests.factories import logged_in, recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people
from tests.jobs import catch

CODE = "0123-4567-89AB-CDEF"
GROUP = {"share": 0.3, "consent": "May we?"}


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> None:
    catch(monkeypatch)


def a_study(**changes: Any) -> Study:
    allocation = {"planned_participants": 900, "block_multiples": [1]}
    return recruiting_study(**{"allocation": allocation, "die": TELLING_DIE, "questions": with_frequency(), **changes})


def come(study: Study, people: int, *, seed: int, unfinished: float = 0.2) -> None:
    add_finished_people(study, people, seed=seed, unfinished=unfinished, counted=False)


def withdraw(study: Study, **wanted: object) -> bool:
    gone = Participant.objects.filter(study=study, **wanted).order_by("?").first()
    if gone is None:
        return False
    Participant.objects.filter(pk=gone.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    found = participation.withdraw(study, code=CODE) is not None
    study.refresh_from_db()
    return found


def require_right(study: Study) -> None:
    """Kept counts are those of the rows."""
    study = Study.objects.get(pk=study.pk)
    assert wrong_counts(study) in ({}, None)
    kept, found = tally_of(study.pk), counted(study=study.pk)
    assert kept == found
    assert everybody(study) == present_people(study)
    lines = counted_lines(study.pk, kept_lines(study.pk))
    assert lines_by_group(lines) == taken_lines(study)


@pytest.mark.django_db
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(st.sampled_from(["come", "batch", "leave", "leave unseen", "leave half-way", "renew", "end", "forget"]), max_size=14),
    direct=st.booleans(),
)
def test_after_anything_that_may_happen_kept_counts_are_those_of_a_recount(steps: list[str], direct: bool) -> None:
    study = a_study(slug=f"s-{Study.objects.count()}-{len(steps)}", direct_group=GROUP if direct else None)
    come(study, 130, seed=0)
    for number, step in enumerate(("batch", *steps), start=1):
        study.refresh_from_db()
        running = study.status == "recruiting"
        if step == "come" and running:
            come(study, 70, seed=number)
        elif step == "batch":
            count_next_batch(study)
        elif step.startswith("leave") and study.forgotten_on is None:
            wanted: dict[str, dict[str, object]] = {"leave": {"counted": True}, "leave unseen": {"counted": False, "step": Step.FINISHED}}
            withdraw(study, **wanted.get(step, {"step": Step.VIDEO}))
        elif step == "renew":
            show_who_is_on_the_way(study)
        elif step == "end" and running:
            study = close(study, actor=study.owner)
        elif step == "forget" and not running:
            forget_operational_data(study)
        require_right(study)
    study.refresh_from_db()
    if study.status == "closed":
        exact, shown = exact_counts(study), shown_counts(study)
        assert shown is not None
        assert (shown.consented, shown.assigned_by_group) == (exact.consented, exact.assigned_by_group)


@pytest.mark.django_db
def test_the_numbers_of_the_results_are_those_of_the_rows() -> None:
    study = a_study()
    come(study, 160, seed=1)
    assert count_next_batch(study)
    definition = protocol_in_force(study).definition
    in_rows = Response.objects.filter(participant__counted=True)
    for question, table in cell_counts(study, definition).items():
        assert table.sum() == in_rows.filter(question=question).count() > 0
        assert table[..., 1].sum() == in_rows.filter(question=question, reported_yes=True).count()
    assert all(table.sum() for table in category_counts(study, definition).values())


@pytest.mark.django_db
def test_a_page_a_poll_and_a_batch_count_nobody_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """With ever so many people on their way, too; the numbers of people are those that have finished, until the next minute."""
    monkeypatch.setattr(numbers, "MANY_ON_THEIR_WAY", 5)
    study = a_study()
    come(study, 160, seed=1)
    with CaptureQueriesContext(connection) as asked:
        assert count_next_batch(study)
    assert not [one["sql"] for one in asked if "allocationslot" in one["sql"]]
    study.refresh_from_db()
    shown = shown_counts(study)
    assert shown is not None
    assert shown.consented == shown.assigned == shown.finished > 0
    client, address = logged_in(study.owner), reverse("analysis:results", args=[study.slug])
    state = client.get(address).context["state"]
    for query in ({}, {"state": state}):
        with CaptureQueriesContext(connection) as asked:
            client.get(address, query)
        grouped = [one["sql"] for one in asked if "surveys_participant" in one["sql"] and "GROUP BY" in one["sql"]]
        assert not grouped
    assert show_who_is_on_the_way(study)
    renewed = shown_counts(study)
    assert renewed is not None
    assert renewed.consented > shown.consented


@pytest.mark.django_db
def test_a_wrong_count_is_found_named_and_repaired(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]) -> None:
    study = a_study()
    come(study, 160, seed=1)
    count_next_batch(study)
    call_command("recount")
    assert capsys.readouterr().out == f"{study.slug}: right\n"
    Response.objects.filter(participant__counted=True).first().delete()
    with pytest.raises(CommandError, match="of 1 studies are wrong"):
        call_command("recount", study.slug)
    assert "wrong: answers (" in capsys.readouterr().out
    with caplog.at_level(logging.ERROR):
        check_counts()
    assert "answers" in caplog.text
    assert wrong_counts(study) == {}
    with pytest.raises(CommandError, match="found nowhere"):
        call_command("recount", "nowhere")


@pytest.mark.django_db
def test_after_an_upgrade_rows_are_counted_until_the_counts_are_kept() -> None:
    study = a_study()
    come(study, 160, seed=1)
    count_next_batch(study)
    before = shown_counts(study), counted_people(study)
    KeptCounts.objects.all().delete()
    assert (shown_counts(study), counted_people(study)) == before
    withdraw(study, counted=True)
    require_right(study)
    KeptCounts.objects.all().delete()
    check_counts()
    assert KeptCounts.objects.get().changes
    require_right(study)


@pytest.mark.django_db
def test_counts_that_could_not_be_right_are_made_anew_and_stop_no_withdrawal() -> None:
    study = a_study()
    come(study, 160, seed=1)
    count_next_batch(study)
    KeptCounts.objects.update(people=[], answers=[])
    assert withdraw(study, counted=True)
    require_right(study)


@pytest.mark.django_db
def test_a_withdrawal_in_the_middle_of_a_request_shows_nobody_a_group_without_one_person(monkeypatch: pytest.MonkeyPatch) -> None:
    study = a_study()
    come(study, 160, seed=1)
    assert count_next_batch(study)
    study.refresh_from_db()
    before = shown_counts(study)
    assert before is not None
    code = "0123-4567-89AB-CDEF"
    gone = Participant.objects.filter(counted=True).first()
    assert gone is not None
    Participant.objects.filter(pk=gone.pk).update(withdrawal_hash=hash_of_withdrawal_code(code))

    def read_late(one: Study) -> Any:
        """The study was read before the withdrawal, and the counts after it."""
        assert participation.withdraw(study, code=code)
        return tally_of(one.pk)

    monkeypatch.setattr(selectors, "counted_people", read_late)
    assert not study.numbers_withheld
    assert shown_counts(study) is None


@pytest.mark.django_db
def test_numbers_that_are_renewed_too_late_leave_those_of_the_end() -> None:
    study = a_study()
    come(study, 160, seed=1)
    stale = Study.objects.get(pk=study.pk)
    close(study, actor=study.owner)
    at_the_end = ShownNumbers.objects.get(study=study).numbers
    ShownNumbers.objects.filter(study=study).update(comers=0)
    assert not show_who_is_on_the_way(stale)
    assert ShownNumbers.objects.get(study=study).numbers == at_the_end


@pytest.mark.django_db
def test_a_killed_worker_leaves_counts_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is one transaction: people and counts change together or not at all."""
    study = a_study()
    come(study, 160, seed=1)

    def die(*_arguments: object, **_others: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(batches, "lay_anew", die)
        with pytest.raises(KeyboardInterrupt):
            count_next_batch(study)
    assert not Participant.objects.filter(counted=True).exists()
    assert not KeptCounts.objects.filter(changes__gt=0).exists()
    assert count_next_batch(study)
    require_right(study)


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
def test_two_workers_and_people_who_leave_at_once_keep_the_counts_right() -> None:
    study = a_study()
    come(study, 260, seed=1)
    count_next_batch(study)
    come(study, 120, seed=2)
    codes = [f"0123-4567-89AB-CDE{letter}" for letter in "FGHJKM"]
    leaving = [*Participant.objects.filter(counted=True)[:3], *Participant.objects.filter(counted=False, step=Step.FINISHED)[:3]]
    for person, code in zip(leaving, codes, strict=True):
        Participant.objects.filter(pk=person.pk).update(withdrawal_hash=hash_of_withdrawal_code(code))
    errors: list[BaseException] = []

    def at_once(act: Any, *arguments: Any, **others: Any) -> threading.Thread:
        def run() -> None:
            try:
                act(*arguments, **others)
            except BaseException as error:
                errors.append(error)
            finally:
                connection.close()

        return threading.Thread(target=run)

    acts = [at_once(count_next_batch, study), at_once(count_next_batch, study), at_once(show_who_is_on_the_way, study)]
    acts += [at_once(participation.withdraw, study, code=code) for code in codes] + [at_once(count_again, study)]
    for one in acts:
        one.start()
    for one in acts:
        one.join()
    assert not errors
    assert Participant.objects.filter(pk__in=[person.pk for person in leaving]).count() == 0
    require_right(study)
