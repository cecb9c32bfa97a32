"""The audit log: recorded entries stay, in order, and every change to them shows."""

import sqlite3
from contextlib import closing
from decimal import Decimal
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.db.models import ProtectedError

from audit import actions, triggers
from audit.models import AppendOnlyError, Entry, Head
from audit.selectors import entries_about, verify
from audit.services import record
from tests.simultaneous import at_once

pytestmark = pytest.mark.django_db

OPENED = actions.register("test.opened", "A test was opened")


@pytest.fixture
def actor() -> Any:
    return get_user_model().objects.create_user("ada", password="correct horse")


@pytest.fixture
def three_entries(actor: Any) -> list[Entry]:
    return [record(actor=actor, action=OPENED, subject=actor, details={"number": number}) for number in (1, 2, 3)]


def tamper(sql: str) -> None:
    """Change the log as somebody with the database's password could: without the triggers."""
    triggers.remove(connection)
    with connection.cursor() as cursor:
        cursor.execute(sql)


def test_an_entry_says_who_did_what_to_what(actor: Any) -> None:
    entry = record(actor=actor, action=OPENED, subject=actor, details={"reason": "to see"})
    entry.refresh_from_db()
    assert (entry.sequence, entry.actor, entry.actor_name, entry.action) == (1, actor, "ada", "test.opened")
    assert (entry.subject_kind, entry.subject_id, entry.details) == ("accounts.user", str(actor.pk), {"reason": "to see"})


def test_the_platform_itself_can_act() -> None:
    entry = record(actor=None, action=OPENED, subject=None)
    assert (entry.actor, entry.actor_name, entry.subject_kind, entry.subject_id, entry.details) == (None, "", "", "", {})
    assert verify().broken_at is None


def test_every_entry_holds_the_hash_of_the_one_before(three_entries: list[Entry]) -> None:
    first, second, third = three_entries
    assert first.previous_hash == "0" * 64
    assert (second.previous_hash, third.previous_hash) == (first.hash, second.hash)
    assert len({first.hash, second.hash, third.hash}) == 3
    head = Head.objects.get()
    assert (head.sequence, head.hash) == (3, third.hash)


def test_an_unregistered_action_is_refused(actor: Any) -> None:
    with pytest.raises(actions.UnregisteredActionError, match=r"test\.closed"):
        record(actor=actor, action="test.closed", subject=None)
    assert not Entry.objects.exists()


def test_an_action_cannot_be_registered_with_two_meanings() -> None:
    assert actions.register("test.opened", "A test was opened") == OPENED
    with pytest.raises(ValueError, match="registered already"):
        actions.register("test.opened", "Something else")


def test_a_rolled_back_act_is_not_recorded(actor: Any) -> None:
    with transaction.atomic():
        record(actor=actor, action=OPENED, subject=None)
        transaction.set_rollback(True)
    assert not Entry.objects.exists()
    assert record(actor=actor, action=OPENED, subject=None).sequence == 1


@pytest.mark.parametrize("number", [0.1, 1.0, 1e22, 1e23, 1e-7, -0.0, 2**70, 1.7976931348623157e308, 5e-324])
def test_any_number_survives_the_database(actor: Any, number: float) -> None:
    record(actor=actor, action=OPENED, subject=None, details={"number": number, "nested": [{"again": number}]})
    assert verify().intact == 1


def test_details_are_stored_as_plain_json(actor: Any) -> None:
    entry = record(actor=actor, action=OPENED, subject=None, details={"amount": Decimal("0.10"), "names": ("a", "ü"), 3: None})
    assert entry.details == {"amount": "0.10", "names": ["a", "ü"], "3": None}
    with pytest.raises(ValueError, match="not JSON compliant"):
        record(actor=actor, action=OPENED, subject=None, details={"amount": float("nan")})
    assert verify().intact == 1


def test_an_intact_log_verifies(three_entries: list[Entry]) -> None:
    verification = verify()
    assert (verification.intact, verification.broken_at) == (3, None)
    output = StringIO()
    call_command("verify_audit_log", stdout=output)
    assert output.getvalue() == "The audit log is intact: 3 entries.\n"


@pytest.mark.parametrize(
    "column",
    [
        "at = '2001-01-01T00:00:00Z'",
        "actor_id = NULL",
        "actor_name = 'eve'",
        "action = 'test.other'",
        "subject_kind = 'surveys.study'",
        "subject_id = '77'",
        "details = '{\"number\": 9}'",
    ],
)
def test_a_changed_entry_is_located(three_entries: list[Entry], column: str) -> None:
    tamper(f"UPDATE audit_entry SET {column} WHERE sequence = 2")
    verification = verify()
    assert (verification.intact, verification.broken_at) == (1, 2)
    assert verification.reason == "its content is not what was recorded"


def test_changed_hashes_are_located(three_entries: list[Entry]) -> None:
    with transaction.atomic():
        tamper("UPDATE audit_entry SET previous_hash = hash WHERE sequence = 2")
        assert (verify().broken_at, verify().reason) == (2, "it does not follow from the entry before it")
        transaction.set_rollback(True)
    tamper("UPDATE audit_entry SET hash = SUBSTR(hash, 1, 63) || CASE WHEN hash LIKE '%a' THEN 'b' ELSE 'a' END WHERE sequence = 3")
    assert (verify().broken_at, verify().reason) == (3, "its content is not what was recorded")


def test_two_entries_that_changed_places_are_located(three_entries: list[Entry]) -> None:
    tamper("UPDATE audit_entry SET sequence = 99 WHERE sequence = 1")
    tamper("UPDATE audit_entry SET sequence = 1 WHERE sequence = 2")
    tamper("UPDATE audit_entry SET sequence = 2 WHERE sequence = 99")
    assert (verify().intact, verify().broken_at) == (0, 1)


def test_a_changed_entry_with_a_new_hash_breaks_the_next_one(three_entries: list[Entry]) -> None:
    forged = three_entries[1]
    forged.actor_name = "eve"
    tamper(f"UPDATE audit_entry SET actor_name = 'eve', hash = '{forged.expected_hash()}' WHERE sequence = 2")
    verification = verify()
    assert (verification.broken_at, verification.reason) == (3, "it does not follow from the entry before it")


def test_a_last_entry_changed_with_its_hash_is_missed_by_the_head(three_entries: list[Entry]) -> None:
    forged = three_entries[2]
    forged.actor_name = "eve"
    tamper(f"UPDATE audit_entry SET actor_name = 'eve', hash = '{forged.expected_hash()}' WHERE sequence = 3")
    assert (verify().broken_at, verify().reason) == (3, "it is not the entry that was recorded last")


@pytest.mark.parametrize(("deleted", "reason"), [(1, "it is missing; the next one is 2"), (2, "it is missing; the next one is 3")])
def test_a_deleted_entry_is_located(three_entries: list[Entry], deleted: int, reason: str) -> None:
    tamper(f"DELETE FROM audit_entry WHERE sequence = {deleted}")
    assert (verify().broken_at, verify().reason) == (deleted, reason)


def test_entries_cut_off_at_the_end_are_missed(three_entries: list[Entry]) -> None:
    tamper("DELETE FROM audit_entry WHERE sequence >= 2")
    verification = verify()
    assert (verification.intact, verification.broken_at, verification.reason) == (1, 2, "entries 2 to 3 are missing")


def test_an_entry_added_past_the_end_is_located(three_entries: list[Entry]) -> None:
    tamper("UPDATE audit_head SET sequence = 2, hash = (SELECT hash FROM audit_entry WHERE sequence = 2)")
    assert (verify().broken_at, verify().reason) == (3, "it was added past the log's end")


def test_the_command_names_the_broken_entry(three_entries: list[Entry]) -> None:
    tamper("UPDATE audit_entry SET actor_name = 'eve' WHERE sequence = 2")
    with pytest.raises(CommandError, match=r"Entry 2 is broken: its content is not what was recorded\. Intact before it: 1\."):
        call_command("verify_audit_log")


def test_the_models_refuse_to_change_or_delete(three_entries: list[Entry]) -> None:
    entry = three_entries[0]
    for attempt in (entry.save, entry.delete, Entry.objects.all().delete, lambda: Entry.objects.update(actor_name="eve")):
        with pytest.raises(AppendOnlyError):
            attempt()
    with pytest.raises(AppendOnlyError):
        Entry.objects.bulk_update([entry], ["actor_name"])


INSTEAD = "INTO audit_entry (sequence, at, actor_name, action, subject_kind, subject_id, details, previous_hash, hash)"


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE audit_entry SET actor_name = 'eve' WHERE sequence = 2",
        "DELETE FROM audit_entry WHERE sequence = 3",
        "DELETE FROM audit_head",
        pytest.param(
            f"INSERT {INSTEAD} SELECT sequence, at, 'eve', action, subject_kind, subject_id, details, previous_hash, hash FROM audit_entry"
            " WHERE true ON CONFLICT (sequence) DO UPDATE SET actor_name = 'eve'",
            id="upsert",
        ),
    ],
)
def test_the_database_refuses_to_change_or_delete(three_entries: list[Entry], sql: str) -> None:
    with pytest.raises(DatabaseError, match="neither changed nor deleted"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql)
    assert verify().intact == 3


def test_the_log_goes_on_under_the_triggers(three_entries: list[Entry], actor: Any) -> None:
    assert record(actor=actor, action=OPENED, subject=None).sequence == 4
    assert verify().intact == 4


def test_a_person_with_entries_cannot_be_deleted(three_entries: list[Entry], actor: Any) -> None:
    with pytest.raises(ProtectedError):
        actor.delete()


def test_entries_about_one_subject_are_listed_latest_first(three_entries: list[Entry], actor: Any) -> None:
    other = get_user_model().objects.create_user("bob")
    record(actor=actor, action=OPENED, subject=other)
    assert [entry.sequence for entry in entries_about(actor)] == [3, 2, 1]


def test_sqlite_refuses_to_replace_an_entry(tmp_path: Path) -> None:
    """`INSERT OR REPLACE` deletes what is in its way without asking the trigger on deletion. By another file, on any database."""
    with closing(sqlite3.connect(tmp_path / "log.sqlite3")) as database, database:
        database.execute("CREATE TABLE audit_entry (sequence INTEGER PRIMARY KEY, actor_name TEXT, hash TEXT UNIQUE)")
        database.execute("CREATE TABLE audit_head (id INTEGER PRIMARY KEY)")
        for statement in triggers.LOG_IS_APPEND_ONLY.statements("sqlite"):
            database.execute(statement)
        database.execute("INSERT INTO audit_entry VALUES (1, 'ada', 'a'), (2, 'ada', 'b')")
        for values in ("(1, 'eve', 'c')", "(3, 'eve', 'b')"):
            for verb in ("REPLACE", "INSERT OR REPLACE"):
                with pytest.raises(sqlite3.IntegrityError, match="neither changed nor deleted"):
                    database.execute(f"{verb} INTO audit_entry VALUES {values}")
        assert database.execute("SELECT * FROM audit_entry").fetchall() == [(1, "ada", "a"), (2, "ada", "b")]


def test_the_log_is_in_no_page_of_the_admin() -> None:
    """The log has pages of its own, which keep from a blinded viewer what the admin would show."""
    assert Entry not in admin.site._registry


def test_writers_at_the_same_time_make_one_chain(postgresql: None, actor: Any) -> None:
    """Sixteen at once, some of which change their mind: no gap, no fork, nobody turned away."""

    def write(number: int) -> None:
        for attempt in range(5):
            with transaction.atomic():
                record(actor=actor, action=OPENED, subject=None, details={"writer": number, "attempt": attempt})
                transaction.set_rollback(attempt == 4)

    at_once(*(partial(write, number) for number in range(16)))
    assert (verify().intact, verify().broken_at) == (16 * 4, None)


def test_the_database_refuses_to_empty_the_log(postgresql: None, three_entries: list[Entry]) -> None:
    for sql in ("TRUNCATE audit_entry", "TRUNCATE audit_head"):
        with pytest.raises(DatabaseError, match="neither changed nor deleted"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql)
