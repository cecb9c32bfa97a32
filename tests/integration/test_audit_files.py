"""The audit log as a file, all of it or a part: it verifies anywhere, and every change to it shows and is located."""

import hashlib
import json
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit import actions
from audit.exported import ExportedEntry, PartHead, lines_of_part, verify_lines
from audit.models import Entry, Head
from audit.selectors import EXPORTED, Asked, exported_log, verify
from audit.services import record

pytestmark = pytest.mark.django_db

OPENED = actions.register("test.opened", "A test was opened")


@pytest.fixture
def actor() -> Any:
    return get_user_model().objects.create_user("ada", password="correct horse")


@pytest.fixture
def three_entries(actor: Any) -> list[Entry]:
    return [record(actor=actor, action=OPENED, subject=actor, details={"number": number}) for number in (1, 2, 3)]


def exported(path: Path) -> list[str]:
    lines = list(exported_log())
    path.write_text("".join(lines), encoding="utf-8")
    return lines


def test_an_exported_log_verifies_without_the_database(three_entries: list[Entry], actor: Any, tmp_path: Path) -> None:
    record(actor=actor, action=OPENED, subject=None, details={"amount": 1e23, "name": "Ü", "nested": [{"again": 0.1}]})
    lines = exported(tmp_path / "log.jsonl")
    assert len(lines) == 4 + 1
    output = StringIO()
    with CaptureQueriesContext(connection) as queries:
        call_command("verify_audit_log", file=tmp_path / "log.jsonl", stdout=output)
    assert (output.getvalue(), len(queries)) == ("The audit log is intact: 4 entries.\n", 0)


@pytest.mark.parametrize("field", EXPORTED)
def test_a_changed_field_of_an_exported_entry_is_located(three_entries: list[Entry], field: str) -> None:
    lines = list(exported_log())
    changed = json.loads(lines[1])
    other = {"sequence": 9, "at": "2001-01-01T00:00:00+00:00", "actor_id": None, "details": {"number": 2.5}}
    changed[field] = other.get(field, f"{changed[field]}x")
    verification = verify_lines([lines[0], json.dumps(changed), *lines[2:]])
    assert (verification.intact, verification.broken_at) == (1, 2)


@pytest.mark.parametrize(
    ("order", "broken_at"),
    [((0, 2, 3), 2), ((0, 2, 1, 3), 2), ((1, 2, 3), 1), ((0, 1, 3), 3), ((0, 1), 3), ((0, 1, 2), 4), ((0, 1, 2, 3, 0), 5)],
)
def test_lines_that_are_missing_swapped_or_cut_off_are_located(three_entries: list[Entry], order: tuple[int, ...], broken_at: int) -> None:
    lines = list(exported_log())
    assert verify_lines(lines).broken_at is None
    assert verify_lines(lines[number] for number in order).broken_at == broken_at


def part_of_the_log(actor: Any) -> list[str]:
    """A file of entries 1, 3 and 4 of a log of five."""
    other = get_user_model().objects.create_user("bob")
    for number, subject in enumerate((actor, other, actor, actor, other), 1):
        record(actor=actor, action=OPENED, subject=subject, details={"number": number})
    return list(exported_log(Asked(subject=actor), part="entries about ada"))


def test_a_part_of_the_log_verifies_and_says_what_it_proves(actor: Any, tmp_path: Path) -> None:
    lines = part_of_the_log(actor)
    head = json.loads(lines[0])
    last = Entry.objects.latest("sequence")
    assert (head["part"], head["end"], head["hash"]) == ("entries about ada", 5, last.hash)
    assert "no entry is left out" in head["proves"]
    whole = set(exported_log())
    assert set(lines[1:-1]) < whole, "line for line as in the file of the whole log"
    assert [json.loads(line)["sequence"] for line in lines[1:-1]] == [1, 3, 4]
    (tmp_path / "part.jsonl").write_text("".join(lines), encoding="utf-8")
    output = StringIO()
    with CaptureQueriesContext(connection) as queries:
        call_command("verify_audit_log", file=tmp_path / "part.jsonl", stdout=output)
    assert output.getvalue().startswith(
        "This part of an audit log of 5 entries is intact: 3 entries (entries about ada).\nEach entry is as"
    )
    assert len(queries) == 0


def test_a_reader_of_a_part_confirms_no_guess_at_the_entry_beside_theirs(actor: Any) -> None:
    """Attack: the third entry holds the hash of the second, of which somebody guesses every field that a person could know."""
    lines = part_of_the_log(actor)
    second = Entry.objects.get(sequence=2)
    assert json.loads(lines[2])["previous_hash"] == second.hash == second.expected_hash()
    assert second.salt not in "".join(lines)
    assert len({entry.salt for entry in Entry.objects.all()}) == 5
    second.salt = ""
    assert second.expected_hash() != second.hash


def test_entries_from_before_there_was_a_salt_verify_as_they_were_written(actor: Any) -> None:
    """In the database and in files, also before entries that have one. The hash is that of version 0.2.0."""
    before = Entry(sequence=1, at=datetime(2026, 9, 1, tzinfo=UTC), action=OPENED, details={}, previous_hash="0" * 64)
    content = f'[1,"2026-09-01T00:00:00+00:00",null,"","{OPENED}","","",{{}},"{"0" * 64}"]'
    before.hash = hashlib.sha256(content.encode()).hexdigest()
    before.save()
    Head.objects.create(sequence=1, hash=before.hash)
    record(actor=actor, action=OPENED, subject=None)
    assert (verify().intact, verify().broken_at) == (2, None)
    lines = list(exported_log())
    assert [json.loads(line).get("salt") for line in lines[:2]] == [None, Entry.objects.get(sequence=2).salt]
    assert (verify_lines(lines).intact, verify_lines(lines).broken_at) == (2, None)
    lines[0] = lines[0].replace("}\n", ', "salt": ""}\n')
    assert verify_lines(lines).broken_at == 1


def test_every_single_byte_of_a_part_counts(actor: Any) -> None:
    lines = part_of_the_log(actor)
    assert (verify_lines(lines).intact, verify_lines(lines).broken_at) == (3, None)
    for number, line in enumerate(lines):
        for index in range(0, len(line) - 1, 5):
            forged = line[:index] + ("0" if line[index] != "0" else "1") + line[index + 1 :]
            found = verify_lines([*lines[:number], forged, *lines[number + 1 :]])
            assert found.broken_at is not None, (number, forged)
            if 0 < number < 4:
                assert found.broken_at in (number, number + 1), (number, forged)


@pytest.mark.parametrize(
    ("order", "broken_at"),
    [((0, 2, 3, 4), 4), ((0, 1, 2, 4), 4), ((0, 2, 1, 3, 4), 3), ((0, 1, 2, 3), 5), ((1, 2, 3, 4), 2), ((0, 1, 2, 3, 4, 4), 6), ((0,), 2)],
)
def test_lines_of_a_part_that_are_missing_swapped_or_cut_off_are_noticed(actor: Any, order: tuple[int, ...], broken_at: int) -> None:
    lines = part_of_the_log(actor)
    assert verify_lines(lines[number] for number in order).broken_at == broken_at


def test_a_forged_part_is_found_out_by_a_neighbour_or_the_end(actor: Any) -> None:
    part_of_the_log(actor)
    third, fourth = Entry.objects.get(sequence=3), Entry.objects.get(sequence=4)
    third.actor_name = fourth.actor_name = "eve"
    third.hash, fourth.hash = third.expected_hash(), fourth.expected_hash()
    head = PartHead(part="forged", end=5, hash=Entry.objects.get(sequence=5).hash)
    rows = {entry.sequence: ExportedEntry(**{name: getattr(entry, name) for name in EXPORTED}) for entry in Entry.objects.all()}
    rows |= {entry.sequence: ExportedEntry(**{name: getattr(entry, name) for name in EXPORTED}) for entry in (third, fourth)}
    found = verify_lines(lines_of_part([rows[1], rows[3], rows[4]], head=head))
    assert (found.intact, found.broken_at, found.reason) == (2, 4, "entry 4 does not follow from the entry before it")
    last = Entry.objects.get(sequence=5)
    last.actor_name = "eve"
    last.hash = last.expected_hash()
    forged = ExportedEntry(**{name: getattr(last, name) for name in EXPORTED})
    found = verify_lines(lines_of_part([rows[1], forged], head=head))
    assert (found.broken_at, found.reason) == (3, "entry 5 is not the entry that was recorded last")


def test_a_file_written_in_another_way_is_not_the_log(three_entries: list[Entry]) -> None:
    """JSON allows to say a thing twice: a program reads the last, a person the first."""
    lines = list(exported_log())
    twice = lines[1].replace('"actor_name"', '"actor_name": "eve", "actor_name"', 1)
    assert json.loads(twice) == json.loads(lines[1])
    assert verify_lines([lines[0], twice, *lines[2:]]).broken_at == 2


@pytest.mark.parametrize("value", ["NaN", '"\\ud800"', "1e400", "1" * 5000, '"\\u00fc"', "[" * 100_000])
def test_a_line_made_to_confuse_is_located(three_entries: list[Entry], value: str) -> None:
    lines = list(exported_log())
    confusing = lines[1].replace('{"number": 2}', f'{{"number": {value}}}')
    assert confusing != lines[1]
    assert verify_lines([lines[0], confusing, *lines[2:]]).broken_at == 2
    moved = lines[1].replace(json.loads(lines[1])["at"], "0001-01-01T00:00:00+14:00")
    assert verify_lines([lines[0], moved, *lines[2:]]).broken_at == 2


def test_every_single_byte_of_an_exported_log_counts(three_entries: list[Entry]) -> None:
    """Any byte replaced by another one breaks the entry it belongs to, or the one after it; white space, too."""
    lines = list(exported_log())
    position = 0
    for number, line in enumerate(lines, 1):
        for index in range(0, len(line) - 1, 7):
            forged = line[:index] + ("0" if line[index] != "0" else "1") + line[index + 1 :]
            found = verify_lines([*lines[: number - 1], forged, *lines[number:]]).broken_at
            assert found in (number, number - 1), (number, index, forged)
            position += 1
    assert position > 100
