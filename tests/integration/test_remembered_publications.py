"""A back-up that is restored does not let the same people be published twice, with and without somebody who withdrew."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Role
from analysis.models import Release
from analysis.packages.errors import ReleaseError
from analysis.publications import remembered
from analysis.publications.remembered import keep_publications, publish_again, unknown_publications
from analysis.releases import services
from analysis.releases.selectors import obstacles
from audit.models import Entry
from surveys.batches.remembered_withdrawals import remember_withdrawal
from surveys.errors import JourneyError
from surveys.journey import services as participation
from surveys.models import Participant, Study, StudyStatus
from surveys.tokens import hash_of_withdrawal_code
from tests.back_ups import lost_with_the_back_up
from tests.factories import person, study_in
from tests.releases import CODE, closed_study, published_release, requested_release, started_release, withdraw_one

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = str(tmp_path)
    return tmp_path / remembered.FOLDER


@pytest.fixture
def study() -> Study:
    return closed_study()


def published_and_lost(act: Callable[[], object]) -> None:
    """Act, remember what is public, and take all of it out of the database, as the restore of an earlier back-up does. Files stay."""
    with lost_with_the_back_up():
        act()
        keep_publications()


def again(study: Study) -> Study:
    return Study.objects.get(pk=study.pk)


def test_two_packages_that_differ_by_somebody_who_withdrew_are_never_public(study: Study) -> None:
    published_and_lost(lambda: published_release(study))
    withdraw_one(study)  # before anybody noticed
    [why] = obstacles(again(study), simulated=False)
    assert "Version 1 of these data is public" in why
    with pytest.raises(ReleaseError, match="this database does not know it"):
        started_release(study)
    assert not Release.objects.exists()


def test_a_package_that_waits_in_the_back_up_is_not_approved_beside_another_one(study: Study) -> None:
    waiting = requested_release(study, questions=("attention",))

    def discard_and_publish() -> None:
        services.discard(waiting, actor=study.owner)
        published_release(study)

    published_and_lost(discard_and_publish)
    with pytest.raises(ReleaseError, match="this database does not know it"):
        services.approve(waiting, actor=person(Role.IRB_OFFICER))
    assert not again(study).data_published


def test_the_very_package_that_is_public_can_be_approved_again(study: Study) -> None:
    waiting = requested_release(study)
    published_and_lost(lambda: services.approve(waiting, actor=person(Role.IRB_OFFICER)))
    assert len(unknown_publications(study)) == 1
    assert services.approve(waiting, actor=person(Role.IRB_OFFICER))
    assert unknown_publications(study) == []
    assert obstacles(again(study), simulated=False) == []


def test_people_who_are_in_public_data_are_told_so(study: Study) -> None:
    other = study_in(StudyStatus.CLOSED, slug="another-study")
    one = Participant.objects.filter(study=study, counted=True).first()
    assert one is not None
    Participant.objects.filter(pk=one.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    published_and_lost(lambda: published_release(study))
    assert (publish_again(), publish_again()) == (1, 0)
    with pytest.raises(JourneyError, match="published"):
        participation.withdraw(again(study), code=CODE)
    assert not again(other).data_published, "only these people cannot withdraw"
    [entry] = Entry.objects.filter(action="release.published_again")
    assert (entry.actor_id, entry.subject_id) == (None, str(study.pk))


def test_withdrawals_of_the_time_before_the_publication_come_first(study: Study) -> None:
    one = Participant.objects.filter(study=study, counted=True).first()
    assert one is not None
    Participant.objects.filter(pk=one.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    published_and_lost(lambda: published_release(study))
    remember_withdrawal(withdrawal_hash=hash_of_withdrawal_code(CODE), panel_number="")
    keep_publications()
    assert not Participant.objects.filter(pk=one.pk).exists()
    assert again(study).data_published


def test_people_who_came_after_the_restore_can_withdraw(study: Study) -> None:
    """The back-up knew the study as running: it was closed on another day in the time that is lost."""
    published_and_lost(lambda: published_release(study))
    [file] = [path for path in Path(remembered.folder_of_publications()).rglob("*") if path.is_file()]
    file.write_text("2020-01-01")
    assert publish_again() == 0
    withdraw_one(study)
    assert obstacles(again(study), simulated=False) != [], "their package beside the one that is public would tell as much"


def test_packages_of_bots_are_of_no_concern(study: Study) -> None:
    Participant.objects.filter(study=study).update(is_bot=True)

    def publish() -> None:
        assert published_release(study).simulated
        remembered.remember_publications(again(study))

    published_and_lost(publish)
    assert unknown_publications(study) == []


def test_a_publication_is_remembered_with_its_commit(study: Study, django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        release = published_release(study)
    [file] = [path for path in Path(remembered.folder_of_publications()).rglob("*") if path.is_file()]
    assert (file.name, file.read_text()) == (f"1-{release.package_sha256}", str(study.closed_on))
    assert unknown_publications(study) == []


def test_a_study_that_another_host_s_folder_marked_gets_no_other_package(study: Study, folder: Path, tmp_path: Path) -> None:
    """Where each host has a folder of its own, the host that takes the next request may not have the file."""
    waiting = requested_release(study, questions=("attention",))
    published_and_lost(lambda: (services.discard(waiting, actor=study.owner), published_release(study)))
    withdraw_one(study)  # before anybody noticed
    assert publish_again(within=folder.rename(tmp_path / "from-another-host")) == 1
    assert unknown_publications(study) == []
    [why] = obstacles(again(study), simulated=False)
    assert "does not know the package" in why
    with pytest.raises(ReleaseError, match="does not know the package"):
        started_release(again(study))


def test_a_study_whose_releases_are_known_can_have_the_next_one(study: Study) -> None:
    published_release(study)
    assert obstacles(again(study), simulated=False) == []
