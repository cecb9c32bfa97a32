"""The drill: a back-up is restored elsewhere, checked, and forgets again everybody who withdrew after it was made. On both databases."""

import errno
import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from surveys.batches import remembered_withdrawals as withdrawals
from surveys.journey import services
from surveys.journey.services import replay_withdrawals, withdraw
from surveys.models import Participant
from surveys.tasks import forget_moments_of_withdrawals
from surveys.tokens import withdrawal_code
from tests.crowds import build_study
from tests.factories import recruiting_study, token_of, walk
from tests.prepared_python import run_python
from tests.processes import ROOT, Site, built, copy_of_embedded
from tests.services import postgresql_programs

WITHDRAW = """
from unittest.mock import patch
from surveys.journey import services
from surveys.models import Participant
leaver = Participant.objects.filter(study__slug="lecture-videos", withdrawal_hash__gt="").first()
with patch.object(services, "hash_of_withdrawal_code", lambda code: code):  # a bot keeps no code
    assert services.withdraw(leaver.study, code=leaver.withdrawal_hash)
"""
A_BUDGET = "from tests.ledgers import open_source; open_source(slug='a-quiz')"
ASK = """
from analysis.ledger.services import freeze
from analysis.models import Source
from analysis.publications.remembered import keep_publications
from tests.ledgers import asked_and_answered, register
from tests.releases import published_release
register()
source = Source.objects.get()
assert asked_and_answered(source, rho=0.001).state == "answered"
freeze(source, reason="People asked.", actor=source.study.owner)
published_release(source.study, background="left_out")
keep_publications()
"""
CHECKS = [
    *("restored", "brought up to date", "audit log", "lectures and packages"),
    *("withdrawals", "published", "charges", "withdrawals, again", "published, again", "charges, again"),
]


@pytest.fixture(params=["embedded", "production"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    """With the demonstration study and people in it; one on SQLite, one on PostgreSQL. Nothing of it runs, nor needs to."""
    if request.param == "embedded":
        embedded = copy_of_embedded(tmp_path / "var", like=request.getfixturevalue("migrated_folder"))
        build_study(embedded)
        yield peopled(embedded)
    else:
        with built(tmp_path / "production", like=request.getfixturevalue("built_study")) as production:
            yield peopled(production)


def peopled(site: Site) -> Site:
    site.manage("send_bots", "lecture-videos", "--n=4", "--decline=0", "--dropout=0")
    return site


def back_up(site: Site, folder: Path) -> Path:
    """As docs/operations.md says; the file that holds the database."""
    folder.mkdir()
    shutil.copytree(site.folder / "media", folder / "media")
    if address := site.environment.get("DATABASE_URL"):
        file = folder / "candor.dump"
        subprocess.run([postgresql_programs() / "pg_dump", "--format=custom", "--file", file, address], check=True)
        return file
    file = folder / "candor.sqlite3"
    with closing(sqlite3.connect(site.folder / "candor.sqlite3")) as now, closing(sqlite3.connect(file)) as then:
        now.backup(then)
    return file


def forge_the_log(copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as database:
        triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit_entry'"
        for (trigger,) in database.execute(triggers).fetchall():
            database.execute(f'DROP TRIGGER "{trigger}"')
        database.execute("UPDATE audit_entry SET actor_name = 'nobody' WHERE sequence = 2")
        database.commit()


def drill(site: Site, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = site.environment | {"PATH": f"{postgresql_programs()}{os.pathsep}{os.environ['PATH']}"}
    return run_python("manage.py", "drill", str(folder), cwd=ROOT, env=environment)


def lines(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """The findings, without the spaces that align them."""
    rows = [[part.strip() for part in line.split("  ") if part.strip()] for line in done.stdout.splitlines()]
    return {row[0]: " ".join(row[1:]) for row in rows}


def test_a_good_back_up_comes_back_and_forgets_who_withdrew_since(site: Site, tmp_path: Path) -> None:
    site.manage("shell", "--no-imports", "--command", A_BUDGET)
    file = back_up(site, tmp_path / "backups")
    site.manage("shell", "--no-imports", "--command", WITHDRAW + ASK)
    people = site.number("SELECT COUNT(*) FROM surveys_participant")
    done = drill(site, file.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    found = lines(done)
    assert list(found) == CHECKS
    assert all(finding.startswith("well") for finding in found.values())
    assert found["withdrawals"] == "well 1 withdrawals are remembered, 1 were done again."
    assert found["withdrawals, again"] == "well 1 withdrawals are remembered, 0 were done again."
    assert found["published"] == "well The data of 1 studies were marked as public again."
    assert found["published, again"] == "well The data of 0 studies were marked as public again."
    assert found["charges"] == "well 1 charges were made again, 1 budgets were frozen or lowered again."
    assert found["charges, again"] == "well 0 charges were made again, 0 budgets were frozen or lowered again."
    assert site.number("SELECT COUNT(*) FROM surveys_participant") == people, "the running installation was not touched"
    assert not [path for path in (file.parent / "media").iterdir() if path.name.startswith(".")], "nor was the back-up"

    # The same back-up with a lecture and an entry of the log that were changed, and then cut off: the drill sees all three.
    lecture = next(path for path in (file.parent / "media" / "studies").rglob("*") if path.is_file())
    lecture.write_bytes(lecture.read_bytes()[:-1] + b"?")
    if file.suffix == ".sqlite3":
        forge_the_log(file)
    spoilt = drill(site, file.parent)
    assert spoilt.returncode == 1
    assert lines(spoilt)["audit log"].startswith("FAILED") == (file.suffix == ".sqlite3")
    assert "is not what was uploaded" in lines(spoilt)["lectures and packages"]
    file.write_bytes(file.read_bytes()[:1000])
    cut = drill(site, file.parent)
    assert cut.returncode == 1
    assert "FAILED" in cut.stdout


def test_a_folder_without_a_back_up_says_what_was_expected(migrated_folder: Path, tmp_path: Path) -> None:
    done = drill(copy_of_embedded(tmp_path / "var", like=migrated_folder), tmp_path)
    assert done.returncode == 1
    assert "expected a file that ends in .dump (PostgreSQL) or .sqlite3, found none." in done.stdout


@pytest.mark.django_db
def test_a_withdrawal_is_remembered_without_a_name_or_a_time(client: Client) -> None:
    study = recruiting_study()
    walk(client, study)
    code, left = withdrawal_code(token_of(client)), Participant.objects.get().withdrawal_hash
    assert withdraw(study, code=code)
    folder = withdrawals.folder_of_withdrawals()
    assert left in withdrawals.remembered_withdrawals(folder)
    assert code not in repr(withdrawals.remembered_withdrawals(folder))
    for path in (folder, folder / left):
        changed = datetime.fromtimestamp(path.stat().st_mtime, tz=timezone.get_current_timezone())
        assert changed.time().isoformat() == "00:00:00"


@pytest.mark.django_db
def test_a_person_who_comes_back_with_a_back_up_leaves_again_once(client: Client) -> None:
    walk(client, recruiting_study())
    withdrawals.remember_withdrawal(withdrawal_hash=Participant.objects.get().withdrawal_hash, panel_number="")
    folder = withdrawals.folder_of_withdrawals()
    assert replay_withdrawals(folder).again == 1
    assert not Participant.objects.exists()
    assert replay_withdrawals(folder).again == 0


@pytest.mark.django_db
def test_a_withdrawal_that_cannot_be_remembered_is_not_promised(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**hashes: str) -> None:
        raise OSError("No space left on device")

    study = recruiting_study()
    walk(client, study)
    monkeypatch.setattr(services, "remember_withdrawal", full)
    with pytest.raises(OSError, match="No space"):
        withdraw(study, code=withdrawal_code(token_of(client)))
    assert Participant.objects.exists(), "the person is told that it failed, and can try again"


@pytest.mark.django_db
def test_a_full_disk_keeps_nothing_of_a_withdrawal_and_tells_so(
    client: Client, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that stayed would bear the second in which somebody tried, and the hash of their panel number."""

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    settings.MEDIA_ROOT = str(tmp_path)
    study = recruiting_study()
    walk(client, study)
    code = withdrawal_code(token_of(client))
    monkeypatch.setattr(withdrawals.os, "fsync", full)
    response = Client(raise_request_exception=False).post(
        reverse("surveys:withdraw", args=[study.slug]), {"code": code, "stage": "confirm"}, HTTP_ACCEPT_LANGUAGE="en"
    )
    said = response.content.decode()
    assert (response.status_code, "disk is full" in said, "upload" in said) == (507, True, False)
    assert Participant.objects.exists()
    assert list(withdrawals.folder_of_withdrawals().iterdir()) == []


def test_once_a_day_the_file_system_forgets_the_second_of_each_withdrawal(settings: Any, tmp_path: Path) -> None:
    """A file system numbers files as they come, and notes itself when each was made and changed."""
    settings.MEDIA_ROOT = str(tmp_path)
    names = ["c" * 64, "b" * 64, "a" * 64]
    for name in names:
        withdrawals.remember_withdrawal(withdrawal_hash=name, panel_number=name[:3])
    folder = withdrawals.folder_of_withdrawals()
    yesterday = folder.joinpath(names[0]).stat().st_mtime - 24 * 3600
    os.utime(folder / names[0], (yesterday, yesterday))
    before = {name: folder.joinpath(name).stat() for name in names}
    time.sleep(0.02)  # the file system's clock ticks
    forget_moments_of_withdrawals()
    after = {name: folder.joinpath(name).stat() for name in names}
    assert [after[name].st_mtime for name in names] == [before[name].st_mtime for name in names]
    assert min(one.st_ctime_ns for one in after.values()) > max(one.st_ctime_ns for one in before.values())
    in_order = [after[name].st_ctime_ns for name in sorted(names)]
    assert in_order == sorted(in_order), "they follow from the names, not from the withdrawals"
    assert withdrawals.remembered_withdrawals(folder) == {name: name[:3] for name in sorted(names)}


def test_withdrawals_are_forgotten_when_no_back_up_can_hold_them(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = str(tmp_path)
    withdrawals.remember_withdrawal(withdrawal_hash="a" * 64, panel_number="")
    old = withdrawals.folder_of_withdrawals() / ("a" * 64)
    long_ago = old.stat().st_mtime - (settings.BACKUP_DAYS + 2) * 24 * 3600
    os.utime(old, (long_ago, long_ago))
    withdrawals.remember_withdrawal(withdrawal_hash="b" * 64, panel_number="")
    assert list(withdrawals.remembered_withdrawals(withdrawals.folder_of_withdrawals())) == ["b" * 64]


@pytest.mark.django_db
def test_other_files_in_the_folder_of_withdrawals_are_nobodys(settings: Any, tmp_path: Path) -> None:
    """A copy of the folder may hold what a file manager or a disk left there."""
    settings.MEDIA_ROOT = str(tmp_path)
    withdrawals.remember_withdrawal(withdrawal_hash="a" * 64, panel_number="")
    folder = withdrawals.folder_of_withdrawals()
    (folder / "Thumbs.db").write_bytes(b"\xd0\xcf\xff")
    (folder / "lost+found").mkdir()
    assert list(withdrawals.remembered_withdrawals(folder)) == ["a" * 64]
    assert replay_withdrawals(folder).remembered == 1
    forget_moments_of_withdrawals()
    assert list(withdrawals.remembered_withdrawals(folder)) == ["a" * 64]
