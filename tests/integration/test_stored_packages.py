"""A stored package of many megabytes is read in parts: nobody loads it for the few lines that a page shows."""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import Role
from analysis.models import Release
from analysis.packages.errors import ReleaseError
from analysis.packages.stored import AT_ONCE, StoredBytes, stored_archive
from analysis.releases.findings import findings_of
from candor.packages.archive import files_in, zip_of
from tests.factories import logged_in, person
from tests.releases import closed_study, package_of, published_release

pytestmark = pytest.mark.django_db
LARGE = 5_000_000
WHOLE = re.compile(r'(?<!SUBSTRING\()(?<!SUBSTR\()(?<!LENGTH\()"analysis_release"\."package"(?! IS )')
"""The column in a statement, unless only its part, its length or whether it is there is asked for."""


@pytest.fixture
def release() -> Release:
    """A public release whose rows have five megabytes."""
    found = published_release(closed_study())
    files = files_in(package_of(found))
    header, rows = files["data.csv"].split(b"\n", 1)
    files["data.csv"] = header + b"\n" + rows * (LARGE // len(rows))
    package = zip_of(files)
    Release.objects.filter(pk=found.pk).update(package=package, package_sha256=hashlib.sha256(package).hexdigest())
    found.refresh_from_db()
    return found


@contextmanager
def only_parts(monkeypatch: pytest.MonkeyPatch, *, most: int) -> Iterator[None]:
    """No statement asks for a whole package, and all of them for so many bytes at most."""
    read, parts = StoredBytes.readinto, list[int]()
    monkeypatch.setattr(StoredBytes, "readinto", lambda self, buffer: parts.append(read(self, buffer)) or parts[-1])
    with CaptureQueriesContext(connection) as asked:
        yield
    whole = [one["sql"] for one in asked if WHOLE.search(one["sql"])]
    assert not whole, whole[0][:500]
    assert 0 < sum(parts) <= most, parts


def test_each_file_is_the_one_in_the_package(release: Release) -> None:
    archive = stored_archive(Release.objects.filter(pk=release.pk))
    assert archive is not None
    with archive as files:
        assert {name: files.read(name) for name in files.namelist()} == files_in(package_of(release))


@pytest.mark.parametrize("role", [None, Role.INVESTIGATOR, Role.IRB_OFFICER])
def test_pages_of_a_release_read_a_few_lines_of_it(release: Release, role: Role | None, monkeypatch: pytest.MonkeyPatch) -> None:
    who = {None: None, Role.INVESTIGATOR: release.study.owner, Role.IRB_OFFICER: person(Role.IRB_OFFICER)}[role]
    client = logged_in(who) if who else Client()
    here = [release.study.slug, release.version]
    pages = [reverse("analysis:public_release", args=here), reverse("analysis:public_file", args=[*here, "protocol.json"])]
    pages += [reverse("analysis:releases_one", args=[release.study.slug, release.pk])] if who else []
    for page in pages:
        with only_parts(monkeypatch, most=8 * AT_ONCE):
            assert client.get(page).status_code == 200, page


def test_a_statement_for_the_whole_package_is_noticed(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_all_of_it() -> None:
        with only_parts(monkeypatch, most=LARGE):
            assert findings_of(release)
            Release.objects.values_list("package", flat=True).get(pk=release.pk)

    with pytest.raises(AssertionError, match="SELECT"):
        read_all_of_it()


@pytest.mark.parametrize("change", [{"package_sha256": "f" * 64}, {"package": None, "status": "retracted"}], ids=["built again", "gone"])
def test_a_package_that_changes_while_it_is_read_is_not_read_on(release: Release, change: dict[str, object]) -> None:
    rows = Release.objects.filter(pk=release.pk)
    archive = stored_archive(rows)
    assert archive is not None
    with archive as files:
        rows.update(**change)
        with pytest.raises(ReleaseError, match="built again meanwhile, or is not there"):
            files.read("data.csv")
    rows.update(package=None, status="retracted")
    assert stored_archive(rows) is None


@pytest.mark.usefixtures("postgresql")
@pytest.mark.django_db(transaction=True)
def test_postgresql_keeps_packages_so_that_a_part_can_be_read_alone() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attstorage FROM pg_attribute WHERE attrelid = %s::regclass AND attname = 'package'", [Release._meta.db_table]
        )
        assert cursor.fetchone() == ("e",)
