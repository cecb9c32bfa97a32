"""A back-up that is restored does not let the same records be published twice, in other classes or without one student."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from accounts.models import Role
from analysis.models import DataSet, RecordPackage
from analysis.publications import remembered
from analysis.publications.remembered import keep_publications, unknown_publications, unknown_record_sets
from analysis.record_sets import services
from tests.back_ups import files_of, lost_with_the_back_up
from tests.factories import logged_in, person
from tests.record_sets import CHOICES, page, published, record_set, requested, step, words

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = str(tmp_path)
    return tmp_path / remembered.FOLDER


def published_and_lost(made: DataSet) -> None:
    with lost_with_the_back_up():
        published(made)
        keep_publications()


def test_other_classes_of_the_same_records_are_never_public() -> None:
    made = record_set()
    published_and_lost(made)
    answer = step(logged_in(made.owner), made, "build", **CHOICES)
    assert "Version 1 of these data is public" in words(answer)
    assert not RecordPackage.objects.exists()


def test_a_package_that_waits_in_the_back_up_is_not_approved_beside_another_one() -> None:
    made = record_set()
    waiting = requested(made)
    with lost_with_the_back_up():
        step(logged_in(made.owner), made, "take-back")
        published(made, k="4")
        keep_publications()
    answer = step(logged_in(person(Role.IRB_OFFICER)), made, "approve", sha256=waiting.package_sha256, delete_on=f"{made.delete_on}")
    assert "this database does not know it" in words(answer)
    assert DataSet.objects.get().status == "waiting"


def test_the_very_package_that_is_public_can_be_approved_again() -> None:
    made = record_set()
    waiting, officer = requested(made), person(Role.IRB_OFFICER)
    sent = {"sha256": waiting.package_sha256, "delete_on": f"{DataSet.objects.get().delete_on}"}
    with lost_with_the_back_up():
        services.publish(made, actor=officer, **sent)
        keep_publications()
    assert len(unknown_publications(made)) == 1
    services.publish(made, actor=officer, **sent)
    assert (unknown_publications(made), unknown_record_sets()) == ([], [])


def test_it_is_remembered_with_its_commit(folder: Path, django_capture_on_commit_callbacks: Any) -> None:
    made = record_set()
    with django_capture_on_commit_callbacks(execute=True):
        package = published(made)
    [file] = files_of(folder)
    assert (file.parent.name, file.name) == (f"data-set-{made.slug}", f"1-{package.package_sha256}")
    services.retract(made, reason="A mistake.", actor=made.owner)
    assert unknown_publications(made) == [], "its copies are known"


def test_records_that_the_back_up_does_not_know_are_named_and_keep_their_address(capsys: pytest.CaptureFixture[str]) -> None:
    with lost_with_the_back_up():
        published(record_set())
        keep_publications()
    assert unknown_record_sets() == ["transcripts"]
    call_command("replay")
    assert "Public records that this database does not know: transcripts." in capsys.readouterr().out
    again = record_set()
    assert again.slug == "transcripts-2", "the public page of the others has that address"
    requested(again)
    read = words(logged_in(person(Role.IRB_OFFICER)).get(page(again)))
    assert "This database does not know them, because it was restored from a back-up." in read
