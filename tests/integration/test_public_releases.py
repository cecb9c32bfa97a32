"""Everybody's view of a release: pages, downloads, and the remains of one that was retracted."""

import json
from importlib import import_module
from typing import Any

import pytest
import yaml
from django.apps import apps
from django.db import connection
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from analysis.models import Release
from analysis.packages.errors import ReleaseGoneError
from analysis.releases import services
from audit.models import Entry
from candor.packages.archive import files_in
from candor.packages.verification import faults_of
from surveys.models import Participant, Study
from tests.factories import heading, logged_in, page_of, person
from tests.releases import CHOICES, built_release, closed_study, package_of, published_release, requested_release, rows_in

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


def test_the_page_begins_with_the_numbers_of_results_json_and_has_the_files_that_they_follow_from(study: Study) -> None:
    release = published_release(study)
    files = files_in(package_of(release))
    outcomes = json.loads(files["results.json"])["outcomes"]
    page = page_of(Client().get(reverse("analysis:public_release", args=[study.slug, 1])))
    assert page.xpath("//main//h2")[0].text_content() == "What was found"
    rows = page.xpath('//table[@id="findings-table"]/tbody/tr')
    assert [row.get("data-question") for row in rows] == list(CHOICES.questions)
    for row in rows:
        outcome = outcomes[row.get("data-question")]
        shown = {(cell.get("data-again"), cell.get("data-arm")): cell.text for cell in row.xpath(".//*[@data-again]")}
        effects = {("effect", one["treatment"]): one["value"] for one in outcome["effects"] if one["method"] == "efficient"}
        shares = {("prevalence", one["arm"]): one["value"] for one in outcome["prevalence"]}
        expected = effects | shares | {("cheaters", None): outcome["cheater_proportion"]["value"]}
        assert {place: int(text.replace("−", "-")) for place, text in shown.items()} == {
            place: round(100 * value) for place, value in expected.items()
        }
    drawn = [float(mark.get("data-value")) for mark in page.xpath('//div[@class="wide"]//*[@data-mark]')]
    assert drawn == [outcomes[name]["effects"][0]["value"] for name in CHOICES.questions]
    address = {name: reverse("analysis:public_file", args=[study.slug, 1, name]) for name in ("data.csv", "protocol.json", "results.json")}
    assert [page.xpath("//@data-csv | //@data-protocol | //@data-results")] == [list(address.values())]
    assert {name: Client().get(at).content for name, at in address.items()} == {name: files[name] for name in address}
    assert Client().get(reverse("analysis:public_file", args=[study.slug, 1, "READYOU.md"])).status_code == 404
    services.retract(release, reason="A video was shown to the wrong arm.", actor=study.owner)
    assert {Client().get(at).status_code for at in address.values()} == {410}
    assert Release.objects.get().downloads == 0


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
        page = logged_in(study.owner).get(address).content.decode()
        assert "Simulated data" in page
        assert "96 bots</span>" in page or "<dt>Bots</dt><dd>96</dd>" in page
        assert "96 people" not in page
    assert Client().get(reverse("analysis:api_release", args=[study.slug, 1])).json()["simulated"] is True


def with_one_answer_of_ones_own() -> Study:
    """As after the tour of a demonstration: bots have walked the study, and one person."""
    study = closed_study(bots=True)
    mine = Participant.objects.filter(study=study).first()
    assert mine is not None
    Participant.objects.filter(pk=mine.pk).update(is_bot=False)
    return study


def test_one_answer_of_ones_own_does_not_shut_the_simulated_data_in() -> None:
    study = with_one_answer_of_ones_own()
    desk, address = logged_in(study.owner), reverse("analysis:releases", args=[study.slug])
    page = page_of(desk.get(address))
    assert page.xpath('//input[@name="data"]/@value') == ["simulated"]
    assert "95 bots" in page.text_content()
    assert "The smallest group (one arm in one subsample) has 0 finished people" in page.text_content()
    assert "Bots do not count as people." in page.text_content()
    sent = {"title": "Lectures", "authors": "Lovelace, Ada", "licence": "CC-BY-4.0", "questions": ["attention"]}
    refused = desk.post(address, sent | {"background": "left_out", "smallest_count": "10", "data": "people"})
    assert refused.status_code == 422
    assert not Release.objects.exists()
    assert desk.post(address, sent | {"background": "left_out", "smallest_count": "10", "data": "simulated"}).status_code == 302
    release = Release.objects.get()
    assert (release.simulated, release.title) == (True, "Lectures (simulated data)")


def test_a_simulated_release_says_so_in_title_licence_citation_and_every_description() -> None:
    study = with_one_answer_of_ones_own()
    release = published_release(study, simulated=True)
    assert len(rows_in(release)) == 95
    files = {name: content.decode() for name, content in files_in(package_of(release)).items()}
    title = "Attention in recorded lectures (simulated data)"
    described = json.loads(files["datapackage.json"])
    assert described["title"] == title
    assert "simulated data: nobody's answers" in described["licenses"][0]["title"]
    assert "simulated data" in described["keywords"]
    assert f"# {title}" in files["README.md"]
    assert "simulated data: nobody's answers (CC-BY-4.0)" in files["README.md"]
    assert yaml.safe_load(files["CITATION.cff"])["title"] == title
    assert f"# Codebook: {title}" in files["codebook.md"]
    assert json.loads(files["croissant.json"])["keywords"][0] == "simulated data"
    assert title in json.loads(files["croissant.json"])["citeAs"]
    assert "for simulated data: nobody" in files["ddi-codebook.xml"]
    assert "Simulated data" in page_of(Client().get(reverse("analysis:public_releases"))).text_content()


def test_people_can_withdraw_although_simulated_data_of_their_study_are_public() -> None:
    study = with_one_answer_of_ones_own()
    published_release(study, simulated=True)
    study.refresh_from_db()
    assert study.data_published is False


def test_people_and_bots_are_never_in_one_release() -> None:
    study = closed_study()
    keys = list(Participant.objects.filter(study=study).order_by("pk").values_list("pk", flat=True))
    Participant.objects.filter(pk__in=keys[::2]).update(is_bot=True)
    simulated = published_release(study, simulated=True)
    real = published_release(study, simulated=False)
    assert (len(rows_in(simulated)), len(rows_in(real))) == (48, 48)
    assert (simulated.version, real.version) == (1, 2)
    study.refresh_from_db()
    assert study.data_published is True


def test_a_withdrawal_does_not_touch_a_simulated_release() -> None:
    study = with_one_answer_of_ones_own()
    release = requested_release(study, simulated=True)
    Participant.objects.filter(study=study, is_bot=False).delete()
    assert services.approve(release, actor=person(Role.IRB_OFFICER))


def test_a_release_of_an_earlier_version_learns_whose_answers_it_holds() -> None:
    study = closed_study(bots=True)
    built = built_release(study)
    Release.objects.filter(pk=built.pk).update(simulated=False, summary={**built.summary, "simulated": True})
    migration = import_module("analysis.migrations.0002_review")
    migration.tell_simulated_releases(apps, connection.schema_editor())
    built.refresh_from_db()
    assert built.simulated is True
    Release.objects.filter(pk=built.pk).update(simulated=False, summary={**built.summary, "simulated": False})
    migration.tell_simulated_releases(apps, connection.schema_editor())
    built.refresh_from_db()
    assert built.simulated is False
