"""A back-up that is restored does not bring back the files of a package that was retracted since."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from accounts.models import Role
from analysis.models import DataSet, RecordPackage, Release
from analysis.packages.errors import ReleaseError
from analysis.publications import remembered
from analysis.publications.retractions import keep_retractions, retract_again
from analysis.record_sets import services as record_sets
from analysis.releases import services as releases
from audit.models import Entry
from tests.back_ups import lost_with_the_back_up
from tests.factories import logged_in, person
from tests.record_sets import page, published, record_set, requested, step, words
from tests.releases import closed_study, published_release, requested_release

pytestmark = pytest.mark.django_db
WHY = "Somebody could be found.\nAll who have a copy: delete it."


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = str(tmp_path)
    return tmp_path / remembered.FOLDER


def test_a_release_stays_retracted() -> None:
    release = published_release(closed_study())
    with lost_with_the_back_up():
        releases.retract(release, reason=WHY, actor=release.study.owner)
        keep_retractions()
    other = Release.objects.get()
    assert other.status == "published", "as the back-up knows it"
    other.pk, other.version, other.package_sha256 = None, 2, "0" * 64
    other.save(force_insert=True)
    assert (retract_again(), retract_again()) == (1, 0)
    other.refresh_from_db()
    assert (other.status, other.package is None) == ("published", False), "nobody retracted the second version"
    found = Release.objects.get(version=1)
    assert (found.status, found.package, found.reason, found.retracted_on) == ("retracted", None, WHY, found.decided_on)
    [entry] = Entry.objects.filter(action="release.retracted_again")
    assert (entry.actor_id, entry.subject_id) == (None, str(release.study_id))


def test_records_stay_retracted(capsys: pytest.CaptureFixture[str]) -> None:
    made = record_set()
    published(made)
    with lost_with_the_back_up():
        record_sets.retract(made, reason=WHY, actor=made.owner)
        keep_retractions()
    assert Client().get(page(made, "public_records_package")).status_code == 200, "as the back-up knows it"
    call_command("replay")
    assert "1 packages were retracted again." in capsys.readouterr().out
    assert Client().get(page(made, "public_records_package")).status_code == 410
    assert "Somebody could be found." in words(Client().get(page(made, "public_records")))


def test_a_package_that_waits_in_the_back_up_and_was_retracted_since_is_not_approved() -> None:
    made, officer = record_set(), person(Role.IRB_OFFICER)
    package = requested(made)
    sent = {"sha256": package.package_sha256, "delete_on": f"{DataSet.objects.get().delete_on}"}
    with lost_with_the_back_up():
        record_sets.publish(made, actor=officer, **sent)
        record_sets.retract(made, reason=WHY, actor=officer)
        keep_retractions()
    assert retract_again() == 0, "it is not public yet"
    answer = step(logged_in(officer), made, "approve", **sent)
    assert "This package was retracted on" in words(answer)
    assert DataSet.objects.get().status == "waiting"


def test_a_release_that_waits_in_the_back_up_and_was_retracted_since_is_not_approved() -> None:
    waiting, officer = requested_release(closed_study()), person(Role.IRB_OFFICER)
    with lost_with_the_back_up():
        releases.approve(waiting, actor=officer)
        releases.retract(Release.objects.get(), reason=WHY, actor=officer)
        keep_retractions()
    with pytest.raises(ReleaseError, match=r"This package was retracted on .*: Somebody could be found"):
        releases.approve(waiting, actor=officer)


def test_a_retraction_is_remembered_with_its_commit(folder: Path, django_capture_on_commit_callbacks: Any) -> None:
    made = record_set()
    package = published(made)
    with django_capture_on_commit_callbacks(execute=True):
        record_sets.retract(made, reason=WHY, actor=made.owner)
    told = folder / f"data-set-{made.slug}" / f"retracted-{package.package_sha256}"
    assert told.read_text() == f"{RecordPackage.objects.get().retracted_on}\n{WHY}"


def test_what_nobody_retracted_stays_public() -> None:
    published(record_set())
    published_release(closed_study())
    keep_retractions()
    assert (RecordPackage.objects.get().status, Release.objects.get().status) == ("built", "published")
