"""Files move between a folder and an object store: whole, compared, resumable, and deleted only when their copy is certain."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.files.storage import FileSystemStorage, default_storage
from django.core.management import CommandError, call_command
from pytest_django import Settings

from analysis.evidence import services as evidence
from config.management.commands.move_media import _known
from surveys.media.stores.addresses import backend, place_at
from surveys.media.stores.moving import Known, Outcome, moved
from surveys.models import MediaFile, Study
from tests.evidence import report
from tests.factories import draft_study
from tests.object_store import BUCKET, KEYS, Store, object_store

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with object_store(tmp_path_factory.mktemp("objects") / "store") as running:
        yield running


@pytest.fixture
def study(settings: Settings, tmp_path: Path) -> Study:
    """In an installation with a folder of its own, and with a report of evidence."""
    settings.MEDIA_ROOT, settings.MEDIA_KEYS = str(tmp_path / "media"), KEYS
    study = draft_study()
    evidence.install(report())
    return study


def run(command: str, *arguments: str) -> str:
    said = StringIO()
    call_command(command, *arguments, stdout=said)
    return said.getvalue()


def files_below(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_there_and_back(store: Store, study: Study, settings: Settings, tmp_path: Path) -> None:
    before = files_below(tmp_path / "media")
    there = store.address(tmp_path.name)
    with pytest.raises(CommandError, match=f"{len(before)} are not: .* is missing there"):
        run("move_media", "--to", there, "--check")
    assert store.names(tmp_path.name) == set()
    said = run("move_media", "--to", there)
    assert f"{len(before)} of {len(before)} files are there as they were uploaded, {len(before)} of them new." in said
    assert {name.removeprefix(f"{tmp_path.name}/") for name in store.names(tmp_path.name)} == set(before)
    assert files_below(tmp_path / "media") == before, "nothing was deleted"
    assert f"{len(before)} of them new" not in run("move_media", "--to", there), "a second run has nothing to do"
    run("move_media", "--to", there, "--check")
    assert KEYS.secret not in said

    settings.MEDIA_BUCKET, at_store = store.settings(tmp_path.name)
    settings.STORAGES = {**settings.STORAGES, "default": at_store}
    assert "as they were stored" in run("verify_stored")
    run("move_media", "--from", f"file://{tmp_path}/media", "--to", there, "--delete-source")
    assert files_below(tmp_path / "media") == {}
    run("move_media", "--to", f"file://{tmp_path}/back")
    assert files_below(tmp_path / "back") == before
    default_storage.close()  # type: ignore[attr-defined]


def test_nothing_is_deleted_where_the_installation_still_looks(store: Store, study: Study, tmp_path: Path) -> None:
    there = store.address(tmp_path.name)
    with pytest.raises(CommandError, match="uses the new place already"):
        run("move_media", "--to", there, "--delete-source")
    with pytest.raises(CommandError, match="the place where the files are"):
        run("move_media", "--to", f"file://{tmp_path}/media", "--delete-source")
    with pytest.raises(CommandError, match="expected an address that begins with"):
        run("move_media", "--to", "/srv/media")
    assert store.names(tmp_path.name) == set()


def test_a_damaged_or_missing_file_is_named_and_stops_every_deletion(study: Study, settings: Settings, tmp_path: Path) -> None:
    damaged, missing = MediaFile.objects.order_by("pk")[:2]
    Path(damaged.file.path).write_bytes(b"something else")
    Path(missing.file.path).unlink()
    settings.MEDIA_ROOT = str(tmp_path / "new")
    before = files_below(tmp_path / "media")
    with pytest.raises(CommandError, match="2 are not: ") as failed:
        run("move_media", "--from", f"file://{tmp_path}/media", "--to", f"file://{tmp_path}/new", "--delete-source")
    assert f"{damaged.file.name} is not what was uploaded" in str(failed.value)
    assert f"{missing.file.name} is missing" in str(failed.value)
    assert files_below(tmp_path / "media") == before
    assert not (tmp_path / "new" / str(damaged.file.name)).exists()
    assert len(files_below(tmp_path / "new")) == len(before) - 1


def test_a_spoilt_copy_is_written_again(store: Store, study: Study, tmp_path: Path) -> None:
    run("move_media", "--to", store.address(tmp_path.name))
    name = sorted(store.names(tmp_path.name))[-1]
    store.client.put_object(Bucket=BUCKET, Key=name, Body=b"half")
    assert "1 of them new" in run("move_media", "--to", store.address(tmp_path.name))
    run("move_media", "--to", store.address(tmp_path.name), "--check")


def test_a_store_that_spoils_what_it_takes_is_found_out(study: Study, tmp_path: Path) -> None:
    class Spoiling(FileSystemStorage):
        def open(self, name: str, mode: str = "rb") -> object:  # type: ignore[override]
            path = Path(self.path(name))
            if path.exists():
                path.write_bytes(b"spoilt")
            return super().open(name, mode)

    target = Spoiling(location=tmp_path / "new")
    outcomes = {outcome for _file, outcome in moved(_known(default_storage), source=default_storage, target=target, only_look=False)}
    assert outcomes == {Outcome.SPOILT}


def test_a_run_that_was_killed_leaves_whole_files_and_the_next_one_goes_on(tmp_path: Path) -> None:
    """`kill -9` in the middle of a large file."""
    names = [f"studies/1/{number}" for number in range(4)]
    program = f"""
import sys; sys.path[:0] = [".", "platform"]
import django; django.setup()
from pathlib import Path
from django.core.files.storage import FileSystemStorage
from surveys.media.stores import moving
source, target = (FileSystemStorage(location=Path({str(tmp_path)!r}) / name) for name in ("old", "new"))
moving._CHUNK_BYTES = 1000
files = [moving.Known(name=name, sha256=moving.hash_of(source, name), size=0) for name in {names!r}]
for file, outcome in moving.moved(files, source=source, target=target, only_look=False):
    print(file.name, outcome, flush=True)
"""
    for name in names:
        path = tmp_path / "old" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(30_000_000))
    process = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == f"{names[0]} copied\n"
    time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    old = files_below(tmp_path / "old")
    for name, content in files_below(tmp_path / "new").items():
        assert name.endswith(".incoming") or content == old[name], "a file that has its name is whole"
    again = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert again[0] == f"{names[0]} was there"
    assert again[-1] == f"{names[-1]} copied"
    assert files_below(tmp_path / "new") == old


def test_a_store_that_is_away_ends_with_a_sentence(study: Study, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"does not answer as it should: .*goes on where it was"):
        run("move_media", "--to", "s3://lectures?endpoint=http://127.0.0.1:1")


def test_the_place_is_tried(store: Store, study: Study, settings: Settings, tmp_path: Path) -> None:
    assert "FAILED" not in run("check_media")
    settings.MEDIA_BUCKET, at_store = store.settings(tmp_path.name)
    settings.STORAGES = {**settings.STORAGES, "default": at_store}
    said = run("check_media")
    assert "FAILED" not in said
    assert "refuses it without a signature  well    with status 403" in said
    assert store.names(tmp_path.name) == set()
    store.client.put_object(Bucket=BUCKET, Key=f"{tmp_path.name}/studies/9/left-behind", Body=b"x")
    assert "1 files that no study knows can be deleted: studies/9/left-behind" in run("check_media")
    default_storage.close()  # type: ignore[attr-defined]


def test_a_place_that_cannot_be_used_says_why(study: Study, settings: Settings) -> None:
    settings.MEDIA_BUCKET = place_at("s3://lectures?endpoint=http://127.0.0.1:1")
    settings.STORAGES = {**settings.STORAGES, "default": backend(settings.MEDIA_BUCKET, KEYS)}
    said = StringIO()
    with pytest.raises(CommandError, match="cannot be kept there"):
        call_command("check_media", stdout=said)
    assert "FAILED  The store of files does not answer as it should" in said.getvalue()
    assert KEYS.secret not in said.getvalue()


def test_known_files_are_those_of_old_versions_too(study: Study) -> None:
    MediaFile.objects.filter(name__endswith=".vtt").update(current=False)
    known = _known(default_storage)
    assert {file.name for file in known} == {str(media.file) for media in MediaFile.objects.all()} | {"evidence/evidence.zip"}
    assert all(isinstance(file, Known) and file.size for file in known)
