"""The end of the audit log, published once a day: a copy that anybody kept betrays a log that was cut or written anew."""

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.utils import timezone

from accounts.models import Role
from audit import triggers
from audit.models import Entry, PublishedHead
from audit.selectors import exported_log
from audit.services import publish_head, verify_and_record
from jobs.models import Routine
from surveys.tasks import publish_log_head
from tests.factories import person

pytestmark = pytest.mark.django_db


@pytest.fixture
def log() -> None:
    """A log of some entries."""
    officer = person(Role.IRB_OFFICER)
    for _ in range(3):
        verify_and_record(actor=officer)


def published() -> list[dict[str, Any]]:
    response = Client().get("/data/log-heads.json")
    assert response.status_code == 200
    found: list[dict[str, Any]] = response.json()["heads"]
    return found


def kept(tmp_path: Path) -> Path:
    """A reader's copy of the published file."""
    file = tmp_path / "log-heads.json"
    file.write_bytes(Client().get("/data/log-heads.json").content)
    return file


def verified(*arguments: str) -> str:
    output = StringIO()
    call_command("verify_audit_log", *arguments, stdout=output)
    return output.getvalue()


def tamper(*statements: str) -> None:
    """Change the database as somebody can who owns its tables."""
    with triggers.LOG_IS_APPEND_ONLY.lifted(connection), connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def test_the_logs_end_is_published_once_a_day_for_everybody(log: None, monkeypatch: pytest.MonkeyPatch) -> None:
    publish_log_head()
    last = Entry.objects.order_by("-sequence")[0]
    today = timezone.now().date()
    assert published() == [{"day": today.isoformat(), "entries": last.sequence, "hash": last.hash}]
    verify_and_record(actor=None)
    publish_log_head()
    assert len(published()) == 1, "the day's end of the log stays"
    tomorrow = timezone.now() + timedelta(days=1)
    monkeypatch.setattr(timezone, "now", lambda: tomorrow)
    publish_log_head()
    assert [head["entries"] for head in published()] == [last.sequence, last.sequence + 1]


def test_it_is_a_routine_and_the_page_of_public_data_leads_to_it(log: None) -> None:
    assert "log_head" in Routine.EVERY
    assert "/data/log-heads.json" in Client().get("/data/").content.decode()


def test_an_empty_log_has_no_end() -> None:
    assert not Entry.objects.exists()
    publish_head()
    assert published() == []


def test_a_log_that_leads_to_every_published_end_is_confirmed(log: None, tmp_path: Path) -> None:
    publish_head()
    heads = kept(tmp_path)
    verify_and_record(actor=None)
    assert "leads to all 1 published ends" in verified("--heads", str(heads))
    exported = tmp_path / "log.jsonl"
    exported.write_text("".join(exported_log()), encoding="utf-8")
    assert "leads to all 1 published ends" in verified("--file", str(exported), "--heads", str(heads))


def test_a_log_that_was_written_anew_from_the_beginning_is_betrayed(log: None, tmp_path: Path) -> None:
    """All hashes of the forged log fit each other. The database has the published end, too; only the copy that a reader kept betrays
    somebody who writes that anew as well.
    """
    publish_head()
    heads = kept(tmp_path)
    entries = list(Entry.objects.order_by("sequence"))
    previous, statements = entries[0].previous_hash, []
    for entry in entries:
        entry.actor_name, entry.previous_hash = "eve", previous
        previous = entry.expected_hash()
        statements.append(
            f"UPDATE audit_entry SET actor_name = 'eve', previous_hash = '{entry.previous_hash}', hash = '{previous}' "
            f"WHERE sequence = {entry.sequence}"
        )
    tamper(*statements, f"UPDATE audit_head SET hash = '{previous}'")
    with pytest.raises(CommandError, match=f"Entry {len(entries)} is broken: it is not the entry that was published as the log's end"):
        verified()
    with triggers.PUBLISHED_HEADS_ARE_KEPT.lifted(connection):
        tamper(f"UPDATE audit_publishedhead SET hash = '{previous}'")
    assert "intact" in verified()
    with pytest.raises(CommandError, match="not the one that was published"):
        verified("--heads", str(heads))


def test_a_log_that_was_cut_is_betrayed(log: None, tmp_path: Path) -> None:
    publish_head()
    heads = kept(tmp_path)
    last = Entry.objects.order_by("-sequence")[0]
    tamper(
        f"DELETE FROM audit_entry WHERE sequence = {last.sequence}",
        f"UPDATE audit_head SET sequence = {last.sequence - 1}, hash = '{last.previous_hash}'",
    )
    with pytest.raises(CommandError, match=f"Entry {last.sequence} is broken: entries {last.sequence} to {last.sequence} are missing"):
        verified()
    with triggers.PUBLISHED_HEADS_ARE_KEPT.lifted(connection):
        tamper("DELETE FROM audit_publishedhead")
    assert "intact" in verified()
    with pytest.raises(CommandError, match="no such entry"):
        verified("--heads", str(heads))


@pytest.mark.parametrize("statement", ["UPDATE audit_publishedhead SET hash = ''", "DELETE FROM audit_publishedhead"])
def test_the_database_refuses_to_change_what_was_published(log: None, statement: str) -> None:
    publish_head()
    with pytest.raises(DatabaseError, match="neither changed nor deleted"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert PublishedHead.objects.exclude(hash="").count() == 1


@pytest.mark.parametrize(
    "content", ["", "[]", '{"heads": [{"day": 1}]}', json.dumps({"heads": [{"day": "x", "entries": "y", "hash": "z"}]})]
)
def test_another_file_is_explained(log: None, tmp_path: Path, content: str) -> None:
    file = tmp_path / "other.json"
    file.write_text(content)
    with pytest.raises(CommandError, match=r"expected the file from /data/log-heads\.json"):
        verified("--heads", str(file))
