"""Everybody's view of a release: pages, downloads, and the remains of one that was retracted."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.models import Release
from analysis.packages.errors import ReleaseGoneError
from analysis.releases import services
from audit.models import Entry
from candor.packages.archive import files_in
from candor.packages.verification import faults_of
from surveys.models import Study
from tests.factories import heading, logged_in, page_of
from tests.releases import CHOICES, closed_study, package_of, published_release, requested_release, rows_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return closed_study()


def test_a_retracted_release_leaves_a_page_that_says_why_and_no_files(study: Study) -> None:
    release = published_release(study)
    page, file = (reverse(name, args=[study.slug, 1]) for name in ("analysis:public_release", "analysis:public_package"))
    assert Client().get(file).status_code == 200
    services.retract(release, reason="A video was shown to the wrong arm.", actor=study.owner)
    release.refresh_from_db()
    assert release.package is None
    tombstone = Client().get(page)
    assert (tombstone.status_code, heading(tombstone)) == (200, CHOICES.title)
    assert "A video was shown to the wrong arm." in tombstone.content.decode()
    assert page_of(tombstone).xpath("string(//title)").strip().startswith("Retracted: ")
    assert "Cite it as" not in tombstone.content.decode()
    assert release.files[0]["sha256"] in tombstone.content.decode()
    for address in (file, reverse("analysis:api_release_package", args=[study.slug, 1])):
        gone = Client().get(address)
        assert gone.status_code == 410
        assert "A video was shown to the wrong arm." in gone.content.decode()
    with pytest.raises(ReleaseGoneError):
        services.download(study.slug, 1, counted=True)
    second = published_release(study)
    assert second.version == 2
    assert Client().get(reverse("analysis:public_study_releases", args=[study.slug])).status_code == 200
    about = Client().get(reverse("surveys:transparency", args=[study.slug])).content.decode()
    assert reverse("analysis:public_study_releases", args=[study.slug]) in about
    history = page_of(Client().get(page)).xpath('//section[@aria-labelledby="history"]//li')
    assert [item.text_content().split(",")[0] for item in history] == ["Version 2", "Version 1"]


def test_downloads_are_one_number_and_looking_does_not_count(study: Study) -> None:
    release = published_release(study)
    file = reverse("analysis:public_package", args=[study.slug, 1])
    Client().head(file)
    Client().get(reverse("analysis:public_release", args=[study.slug, 1]))
    assert Release.objects.get().downloads == 0
    entries = Entry.objects.count()
    response = Client().get(file)
    assert response["Content-Disposition"] == 'attachment; filename="lecture-videos-1.zip"'
    assert response.content == package_of(release)
    Client().get(reverse("analysis:api_release_package", args=[study.slug, 1]))
    assert Release.objects.get().downloads == 2
    assert Entry.objects.count() == entries


def test_unpublished_values_are_nowhere_in_public(study: Study) -> None:
    requested_release(study)
    for name in ("public_release", "public_package", "api_release", "api_release_package"):
        assert Client().get(reverse(f"analysis:{name}", args=[study.slug, 1])).status_code == 404
    assert CHOICES.title not in Client().get(reverse("analysis:public_releases")).content.decode()
    assert Client().get(reverse("analysis:api_releases")).json()["results"] == []


def test_programs_read_public_releases_without_a_token(study: Study) -> None:
    release = published_release(study)
    (listed,) = Client().get(reverse("analysis:api_releases")).json()["results"]
    assert (listed["study"], listed["version"], listed["title"]) == (study.slug, 1, CHOICES.title)
    detail = Client().get(reverse("analysis:api_release", args=[study.slug, 1])).json()
    assert detail["citation"].startswith("Lovelace, Ada; Hopper, Grace (")
    assert detail["package_sha256"] == release.package_sha256
    assert {file["name"] for file in detail["files"]} == set(files_in(package_of(release)))
    package = Client().get(listed["package"], headers={"accept": "*/*"})
    assert (package.content, package["Content-Type"]) == (package_of(release), "application/zip")


def test_the_servers_key_checks_what_the_server_gave_out(study: Study, settings: Any) -> None:
    release = published_release(study)
    key = Client().get(reverse("analysis:signing_keys")).content
    assert faults_of(package_of(release), key=key) == []
    settings.RELEASE_SIGNING_SECRET = "another secret from now on"
    keys = Client().get(reverse("analysis:signing_keys")).content
    assert keys != key
    assert keys.endswith(key), "the key before stays to be found"
    assert faults_of(package_of(release), key=keys) == []
    assert [fault.file for fault in faults_of(package_of(release), key=keys.removesuffix(key))] == ["public-key.pem"]


def test_a_study_of_bots_alone_is_called_simulated_everywhere() -> None:
    study = closed_study(bots=True)
    release = published_release(study)
    assert len(rows_in(release)) == 96
    files = files_in(package_of(release))
    assert "**Simulated data.**" in files["README.md"].decode()
    assert "Simulated data" in files["ddi-codebook.xml"].decode()
    assert "Simulated answers of bots" in files["croissant.json"].decode()
    for address in (
        reverse("analysis:public_release", args=[study.slug, 1]),
        reverse("analysis:releases_one", args=[study.slug, release.pk]),
    ):
        assert "Simulated data" in logged_in(study.owner).get(address).content.decode()
    assert Client().get(reverse("analysis:api_release", args=[study.slug, 1])).json()["simulated"] is True
