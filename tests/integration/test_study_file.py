"""`manage.py import_study` and `export_study`: there and back, and every way to fail with nothing half-written."""

import errno
import shutil
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Role, User
from surveys.drafting.translations import remembering
from surveys.models import MediaFile, Study
from surveys.studies.services import submit_for_review
from surveys.study_file import read_study_file, write_study_file
from tests.factories import LECTURES, SAMPLE, definition, draft_study, everything_stored, person, study_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> str:
    return person(Role.INVESTIGATOR, username="ada").username


def imported(file: Path, *, owner: str = "ada", **options: Any) -> str:
    """The output of the command."""
    out = StringIO()
    call_command("import_study", str(file), owner=owner, stdout=out, **options)
    return out.getvalue()


def exported(slug: str, *arguments: str) -> str:
    out = StringIO()
    call_command("export_study", slug, *arguments, stdout=out)
    return out.getvalue()


def files_below(folder: str) -> set[Path]:
    return {path for path in Path(folder).rglob("*") if path.is_file()}


def test_the_sample_study_is_imported_with_its_real_lectures(owner: str) -> None:
    assert imported(SAMPLE, media=LECTURES) == "lecture-videos: draft ready, ε = 1.3863 per question, 5.5452 in total.\n"
    study = Study.objects.get()
    assert (study.owner.username, study.status, study.accepts_bots) == ("ada", "draft", False)
    webm = MediaFile.objects.get(name="with-instructor.webm")
    assert webm.media_type == "video/webm"
    assert 20 < (webm.duration_seconds or 0) < 40
    assert webm.file.read() == (LECTURES / "with-instructor.webm").read_bytes()
    webm.file.close()
    assert submit_for_review(study, actor=study.owner).status == "in_review"


def test_an_exported_study_imports_the_same(tmp_path: Path, owner: str) -> None:
    imported(SAMPLE, media=LECTURES)
    exported("lecture-videos", "--output", str(tmp_path / "out" / "study.yaml"))
    assert (tmp_path / "out" / "slides-only.mp4").read_bytes() == (LECTURES / "slides-only.mp4").read_bytes()
    first = Study.objects.get().definition
    Study.objects.all().delete()
    imported(tmp_path / "out" / "study.yaml")
    assert Study.objects.get().definition == first
    assert read_study_file(exported("lecture-videos")) == remembering(read_study_file(SAMPLE.read_text(encoding="utf-8")))


def test_a_draft_is_replaced_when_asked_for(tmp_path: Path, owner: str) -> None:
    draft_study(owner=User.objects.get(username=owner))
    file = tmp_path / "study.yaml"
    file.write_text(write_study_file(definition(minimum_seconds=33)), encoding="utf-8")
    with pytest.raises(CommandError, match="a study called lecture-videos exists already"):
        imported(file, media=LECTURES)
    imported(file, media=LECTURES, replace=True)
    assert Study.objects.get().definition["minimum_seconds"] == 33


def refused(file: Path, **options: Any) -> str:
    """The sentence of an import that must change nothing, in the database and among the stored files."""
    from django.conf import settings

    before, files = everything_stored(), files_below(settings.MEDIA_ROOT)
    with pytest.raises(CommandError) as raised:
        imported(file, **options)
    assert everything_stored() == before
    assert files_below(settings.MEDIA_ROOT) == files
    return str(raised.value)


@pytest.mark.parametrize("role", [Role.IRB_OFFICER, Role.ANALYST])
def test_a_study_gets_no_owner_who_may_not_have_one(role: Role) -> None:
    person(role, username="ada")
    assert refused(SAMPLE, media=LECTURES) == "Only an investigator or an administrator can own a study; ada is neither."


def test_a_draft_of_somebody_else_is_not_replaced_in_the_name_of_another(owner: str) -> None:
    study = draft_study(owner=person(Role.INVESTIGATOR, username="grace"))
    assert refused(SAMPLE, media=LECTURES, replace=True) == "The study lecture-videos is that of grace; ada does not run it."
    assert imported(SAMPLE, media=LECTURES, owner="grace", replace=True).startswith("lecture-videos: draft ready")
    assert Study.objects.get().owner == study.owner


def test_a_missing_lecture_leaves_no_study_and_no_file(tmp_path: Path, owner: str) -> None:
    for path in LECTURES.iterdir():
        if path.name != "with-instructor.webp":  # the last in order: everything before it was stored already
            (tmp_path / path.name).symlink_to(path)
    assert refused(SAMPLE, media=tmp_path) == f"The study file names a file that is not there: {tmp_path / 'with-instructor.webp'}"


def test_a_lecture_that_is_none_leaves_no_study_and_no_file(tmp_path: Path, owner: str) -> None:
    for path in LECTURES.iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "with-instructor.webm").unlink()
    (tmp_path / "with-instructor.webm").write_bytes(b"%PDF-1.7")
    assert refused(SAMPLE, media=tmp_path).startswith("with-instructor.webm: The file is not an MP4 or WebM video")


def test_a_folder_in_place_of_a_lecture_is_an_error_and_not_a_crash(tmp_path: Path, owner: str) -> None:
    (tmp_path / "captions-de.vtt").mkdir()
    assert "Is a directory" in refused(SAMPLE, media=tmp_path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"slug: [", "study.yaml, line 1, column 8: not readable as YAML or JSON"),
        (b"slug: a b\n", "study.yaml, line 1: slug: expected 2 to 50 small letters"),
        (b"\xff\xfe", "study.yaml: expected text in UTF-8, found another byte at position 0"),
        (b"", "study.yaml: expected a mapping with title, consent, arms …, got nothing"),
    ],
)
def test_an_unreadable_study_file_is_refused_with_its_line(tmp_path: Path, owner: str, content: bytes, sentence: str) -> None:
    file = tmp_path / "study.yaml"
    file.write_bytes(content)
    assert refused(file).startswith(f"{tmp_path}/{sentence}")


def test_a_file_that_is_not_there_and_an_owner_who_is_not_there(tmp_path: Path, owner: str) -> None:
    assert "cannot be read" in refused(tmp_path / "nowhere.yaml")
    assert refused(SAMPLE, owner="nobody") == "There is no user called nobody."


def test_a_study_in_review_cannot_be_replaced() -> None:
    study = study_in("in_review")
    assert refused(SAMPLE, media=LECTURES, owner=study.owner.username, replace=True) == (
        "This study cannot be changed now; it is in review. It waits for the IRB officers; take it back from review first."
    )


def test_an_unknown_study_cannot_be_exported() -> None:
    with pytest.raises(CommandError, match=r"There is no study called nowhere\."):
        exported("nowhere")


def test_exporting_overwrites_nothing_and_writes_nothing_by_halves(tmp_path: Path) -> None:
    draft_study()
    (tmp_path / "slides-only.mp4").write_bytes(b"precious")
    with pytest.raises(CommandError, match=r"Not overwritten: .*slides-only\.mp4"):
        exported("lecture-videos", "--output", str(tmp_path / "study.yaml"))
    assert files_below(str(tmp_path)) == {tmp_path / "slides-only.mp4"}
    assert (tmp_path / "slides-only.mp4").read_bytes() == b"precious"


def test_an_export_to_a_folder_that_cannot_be_made_is_refused_in_words(tmp_path: Path) -> None:
    draft_study()
    (tmp_path / "file").write_text("precious")
    with pytest.raises(CommandError, match=r"Nothing was written: .*file"):
        exported("lecture-videos", "--output", str(tmp_path / "file" / "mine" / "study.yaml"))
    assert (tmp_path / "file").read_text() == "precious"


def test_an_export_that_finds_the_disk_full_leaves_nothing_in_the_way(owner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_content: object, copy: Any) -> None:
        copy.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    imported(SAMPLE, media=LECTURES)
    before, output = everything_stored(), tmp_path / "study.yaml"
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copyfileobj", full)
        with pytest.raises(CommandError, match=r"Nothing was written: .*No space left"):
            exported("lecture-videos", "--output", str(output))
    assert files_below(str(tmp_path)) == set()
    assert everything_stored() == before, "nothing went out, so the log has no entry"
    exported("lecture-videos", "--output", str(output))
    assert output.is_file()


def test_no_file_is_left_of_an_export_that_no_entry_tells(owner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imported(SAMPLE, media=LECTURES)

    def takes_nothing(**entry: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("surveys.management.commands.export_study.record", takes_nothing)
    with pytest.raises(CommandError, match="Nothing was written"):
        exported("lecture-videos", "-o", str(tmp_path / "there" / "study.yaml"))
    assert files_below(str(tmp_path)) == set()
