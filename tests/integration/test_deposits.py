"""A DOI on the way of a release: reserved before its files are signed, registered by the approval, left out if the service is away."""

import json
import time
from collections.abc import Iterator

import pytest
from django.core.management import CommandError, call_command
from django.test import Client, override_settings
from django.urls import reverse

from accounts.models import Role
from analysis.deposits import depositing
from analysis.deposits import services as deposits
from analysis.deposits.errors import DepositError
from analysis.models import Deposit, DepositTask, Release
from analysis.releases import services
from audit.models import Entry
from candor.packages.archive import files_in
from candor.packages.verification import faults_of
from jobs import tasks
from surveys.models import Study
from tests.deposits import SETTINGS, Shelf, shelf_in_use
from tests.doi_server import TOKEN, DoiServer, doi_server
from tests.factories import everything_stored, logged_in, page_of, person
from tests.integration.test_releases import withdraw_one
from tests.jobs import Sent, catch, work_off
from tests.publications import FULL
from tests.releases import CHOICES, closed_study, package_of, started_release

pytestmark = pytest.mark.django_db
DOI = "10.5281/zenodo.1"


@pytest.fixture
def study() -> Study:
    return closed_study(publication=FULL)


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    with shelf_in_use(monkeypatch) as shelf:
        yield shelf


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    return catch(monkeypatch)


def fresh(release: Release) -> Release:
    return Release.objects.select_related("study").get(pk=release.pk)


def step_of(release: Release) -> Deposit:
    return Deposit.objects.get(release=release)


def tried_to_the_end(release: Release) -> None:
    """Every try that waits, without the pauses between them."""
    while (waiting := Deposit.objects.filter(release=release, due_at__isnull=False).first()) is not None:
        Deposit.objects.filter(pk=waiting.pk).update(due_at="2020-01-01T00:00:00Z")
        tasks.work("deposit", str(waiting.pk))


def built(release: Release) -> Release:
    tried_to_the_end(release)
    work_off(fresh(release))
    return fresh(release)


def approved(release: Release) -> Release:
    services.request_approval(release, actor=release.study.owner)
    assert services.approve(fresh(release), actor=person(Role.IRB_OFFICER))
    return fresh(release)


def logged(study: Study) -> list[str]:
    return list(Entry.objects.filter(action__startswith="release.doi").order_by("pk").values_list("action", flat=True))


def public_page(release: Release) -> str:
    answer = Client().get(reverse("analysis:public_release", args=[release.study.slug, release.version]))
    return " ".join(page_of(answer).text_content().split())


def test_the_files_are_signed_with_the_doi_and_the_approval_registers_it(study: Study, shelf: Shelf) -> None:
    release = started_release(study, with_doi=True)
    assert (fresh(release).due_at, step_of(release).status) == (None, "waiting"), "the package waits for its DOI"
    release = built(release)
    assert (release.status, step_of(release).status, step_of(release).doi) == ("built", "reserved", DOI)
    files = files_in(package_of(release))
    assert faults_of(package_of(release), key=release.public_key.encode()) == []
    for name in ("CITATION.cff", "datacite.xml", "ro-crate-metadata.json", "README.md", "ddi-codebook.xml"):
        assert DOI in files[name].decode(), name
    assert shelf.files == {}
    release = approved(release)
    assert shelf.files == {}, "the approval only asks for it"
    tried_to_the_end(release)
    assert step_of(release).status == "published"
    assert shelf.files == {"1": files}
    assert f"https://doi.org/{DOI}" in public_page(release)
    assert logged(study) == ["release.doi_asked", "release.doi_reserved", "release.doi_registered"]


def test_before_the_approval_the_service_learns_nothing_of_the_data(study: Study, shelf: Shelf) -> None:
    release = built(started_release(study, with_doi=True))
    services.request_approval(release, actor=study.owner)
    (told,) = shelf.descriptions
    assert "holds nothing yet" in told.about
    assert str(release.summary["risk"]["n"]) not in told.about
    approved_description = None
    services.approve(fresh(release), actor=person(Role.IRB_OFFICER))
    tried_to_the_end(release)
    approved_description = shelf.descriptions[-1]
    assert approved_description.about == release.summary["description"]


def test_a_worker_publishes_nothing_that_nobody_approved(study: Study, shelf: Shelf) -> None:
    release = built(started_release(study, with_doi=True))
    Deposit.objects.update(task="publish", status="waiting", due_at="2020-01-01T00:00:00Z")
    tried_to_the_end(release)
    assert step_of(release).status == "failed"
    assert shelf.files == {}


def test_a_release_goes_on_without_a_service_that_is_away_and_says_so(study: Study, shelf: Shelf) -> None:
    shelf.is_away = True
    release = built(started_release(study, with_doi=True))
    assert (release.status, step_of(release).status) == ("built", "failed")
    readme = files_in(package_of(release))["README.md"].decode()
    assert "A DOI was asked of Zenodo, which could not be reached" in readme
    answer = logged_in(study.owner).get(reverse("analysis:releases_one", args=[study.slug, release.pk]))
    assert "The release goes on without a DOI" in page_of(answer).text_content()
    release = approved(release)
    assert "A DOI was asked for, and the service could not be reached" in public_page(release)
    assert logged(study) == ["release.doi_asked", "release.doi_missed"]


def test_a_second_try_before_the_approval_gives_a_package_that_names_it(study: Study, shelf: Shelf) -> None:
    shelf.is_away = True
    release = built(started_release(study, with_doi=True))
    services.request_approval(release, actor=study.owner)
    shelf.is_away = False
    deposits.ask_again(fresh(release), actor=study.owner)
    release = built(release)
    assert release.status == "built", "somebody has to look at it again"
    assert DOI in files_in(package_of(release))["CITATION.cff"].decode()
    assert shelf.made == 1


def test_a_second_try_after_the_approval_registers_one_doi_beside_the_signed_files(study: Study, shelf: Shelf) -> None:
    shelf.is_away = True
    release = approved(built(started_release(study, with_doi=True)))
    before = package_of(release)
    shelf.is_away = False
    deposits.ask_again(release, actor=study.owner)
    tried_to_the_end(release)
    assert (step_of(release).status, step_of(release).doi, shelf.made) == ("published", DOI, 1)
    assert package_of(release) == before
    assert "It was reserved after the files were signed" in public_page(release)
    with pytest.raises(DepositError, match="nothing to try again"):
        deposits.ask_again(release, actor=study.owner)


@pytest.mark.parametrize("lost", ["reserve", "publish"])
def test_a_lost_answer_makes_no_second_doi(study: Study, shelf: Shelf, lost: str) -> None:
    shelf.loses = lost == "reserve"
    release = built(started_release(study, with_doi=True))
    if lost == "reserve":
        assert step_of(release).doi == DOI, "the next try found it"
    shelf.loses = lost == "publish"
    release = approved(release)
    tried_to_the_end(release)
    assert (step_of(release).status, step_of(release).doi, shelf.made) == ("published", DOI, 1)


def test_a_service_that_is_away_at_the_approval_is_tried_again(study: Study, shelf: Shelf) -> None:
    release = built(started_release(study, with_doi=True))
    shelf.is_away = True
    release = approved(release)
    tried_to_the_end(release)
    assert (release.status, step_of(release).status) == ("published", "failed")
    assert "It is reserved, and not registered yet" in public_page(release)
    shelf.is_away = False
    deposits.ask_again(release, actor=study.owner)
    tried_to_the_end(release)
    assert (step_of(release).status, shelf.made) == ("published", 1)


def test_going_on_without_gives_back_what_was_reserved_meanwhile(study: Study, shelf: Shelf) -> None:
    shelf.loses = True
    release = started_release(study, with_doi=True)
    tasks.work("deposit", str(step_of(release).pk))
    assert len(shelf.deposits) == 1
    shelf.loses = False
    deposits.go_on_without(fresh(release), actor=study.owner)
    release = built(release)
    assert (release.status, step_of(release).status, shelf.deposits) == ("built", "given_back", {})
    assert "doi.org" not in files_in(package_of(release))["README.md"].decode()


@pytest.mark.parametrize("end", ["discard", "refuse"])
def test_a_release_that_does_not_become_public_gives_its_doi_back(study: Study, shelf: Shelf, end: str) -> None:
    release = built(started_release(study, with_doi=True))
    if end == "discard":
        services.discard(release, actor=study.owner)
    else:
        services.request_approval(release, actor=study.owner)
        services.refuse(fresh(release), reason="Too early.", actor=person(Role.IRB_OFFICER))
    tried_to_the_end(release)
    assert (step_of(release).status, shelf.deposits) == ("given_back", {})


@pytest.mark.parametrize("end", ["discard", "refuse"])
def test_a_doi_that_is_still_to_be_given_back_goes_to_the_next_release(study: Study, shelf: Shelf, end: str) -> None:
    """The service knows one deposit of each version: to give it back later would delete that of the next release."""
    release = built(started_release(study, with_doi=True))
    shelf.is_away = True
    if end == "discard":
        services.discard(release, actor=study.owner)
    else:
        services.request_approval(release, actor=study.owner)
        services.refuse(fresh(release), reason="Too early.", actor=person(Role.IRB_OFFICER))
    tasks.work("deposit", str(step_of(release).pk))
    shelf.is_away = False
    again = built(started_release(study, with_doi=True))
    tried_to_the_end(release)
    assert [one.doi for one in shelf.deposits.values()] == [DOI]
    assert DOI in files_in(package_of(again))["CITATION.cff"].decode()
    again = approved(again)
    tried_to_the_end(again)
    assert (step_of(again).status, step_of(again).doi, shelf.made) == ("published", DOI, 1)


def test_a_withdrawal_keeps_the_doi_for_the_next_build(study: Study, shelf: Shelf) -> None:
    release = built(started_release(study, with_doi=True))
    withdraw_one(study)
    assert fresh(release).status == "outdated"
    again = built(started_release(study, with_doi=True))
    assert again.pk != release.pk
    assert (step_of(again).doi, shelf.made) == (DOI, 1)
    assert DOI in files_in(package_of(again))["CITATION.cff"].decode()


def test_a_retracted_release_is_marked_as_such_at_its_doi(study: Study, shelf: Shelf) -> None:
    release = approved(built(started_release(study, with_doi=True)))
    tried_to_the_end(release)
    services.retract(release, reason="A video was shown to the wrong arm.", actor=study.owner)
    tried_to_the_end(release)
    assert (step_of(release).status, shelf.reasons) == ("withdrawn", ["A video was shown to the wrong arm."])
    registered, retracted = shelf.descriptions[-2:]
    assert retracted == registered, "the record of a retracted release does not say that it waits for its approval"
    assert f"The page of its DOI, {DOI}, says that it was retracted" in public_page(release)


def test_a_release_retracted_before_its_doi_was_registered_never_gets_one(study: Study, shelf: Shelf) -> None:
    release = approved(built(started_release(study, with_doi=True)))
    services.retract(release, reason="A video was shown to the wrong arm.", actor=study.owner)
    tried_to_the_end(release)
    assert (step_of(release).status, shelf.deposits, shelf.files) == ("given_back", {}, {})


def test_simulated_data_and_servers_without_a_service_get_none(shelf: Shelf) -> None:
    simulated = closed_study(bots=True)
    with pytest.raises(DepositError, match="Simulated data get no DOI"):
        started_release(simulated, with_doi=True)
    with override_settings(DOI_SERVICE=""), pytest.raises(DepositError, match="no service that gives DOIs"):
        started_release(simulated, with_doi=True)
    assert not Release.objects.exists()


def test_strangers_to_the_study_ask_for_nothing(study: Study, shelf: Shelf) -> None:
    shelf.is_away = True
    release = built(started_release(study, with_doi=True))
    for someone in (person(Role.INVESTIGATOR), person(Role.ANALYST)):
        with pytest.raises(DepositError, match="Only those who run the study"):
            deposits.ask_again(release, actor=someone)
        with pytest.raises(DepositError, match="Only those who run the study"):
            deposits.go_on_without(release, actor=someone)


def test_the_pages_reserve_look_and_try_again(study: Study, shelf: Shelf) -> None:
    browser = logged_in(study.owner)
    here = reverse("analysis:releases", args=[study.slug])
    page = page_of(browser.get(here))
    assert page.xpath('string(//textarea[@name="authors"])').strip().splitlines() == ["Lovelace, Ada 0000-0002-1825-0097", "Hopper, Grace"]
    typed = {"title": CHOICES.title, "authors": "Lovelace, Ada 0000-0002-1825-0098", "with_doi": "on", "data": "people"}
    typed |= {"licence": CHOICES.licence, "background": "left_out", "smallest_count": "10", "questions": list(CHOICES.questions)}
    refused = browser.post(here, typed)
    assert refused.status_code == 422
    assert "is a digit mistyped" in page_of(refused).text_content()
    answer = browser.post(here, typed | {"authors": "Lovelace, Ada"})
    release = Release.objects.get()
    assert (answer.status_code, release.with_doi) == (302, True)
    assert release.described.creators[0].institution == "University of London", "the study knows more of that name"
    shelf.is_away = True
    built(release)
    one = reverse("analysis:releases_one", args=[study.slug, release.pk])
    page = page_of(browser.get(one))
    assert page.xpath('//button[@value="doi_again"]')
    shelf.is_away = False
    browser.post(one, {"step": "doi_again"})
    assert step_of(release).status == "waiting"
    dry = browser.get(reverse("analysis:releases_deposit", args=[study.slug, release.pk]))
    shown = page_of(dry).text_content()
    assert "prereserve_doi" in shown
    assert "data.csv" in shown
    assert SETTINGS["DOI_TOKEN"] not in dry.content.decode()


def test_the_token_is_stored_nowhere(study: Study) -> None:
    with doi_server("zenodo") as server, override_settings(DOI_SERVICE="zenodo", DOI_ADDRESS=server.address, DOI_TOKEN="a-wrong-token"):
        release = built(started_release(study, with_doi=True))
        assert "401" in step_of(release).error
        assert "a-wrong-token" not in repr(everything_stored())


@pytest.mark.parametrize("kind", ["zenodo", "dataverse", "osf"])
def test_a_whole_release_with_each_service(study: Study, kind: str) -> None:
    with doi_server(kind) as server, override_settings(**_of(server, kind)):
        release = approved(built(started_release(study, with_doi=True)))
        tried_to_the_end(release)
        assert step_of(release).status == "published", step_of(release).error
        (deposit,) = server.deposits.values()
        names = {one["filename"] for one in deposit["files"]} if kind == "zenodo" else set(deposit["files"])
        assert names == {one["name"] for one in release.files}
        assert step_of(release).doi in files_in(package_of(release))["CITATION.cff"].decode()
        services.retract(release, reason="A video was shown to the wrong arm.", actor=study.owner)
        tried_to_the_end(release)
        assert step_of(release).status == "withdrawn", step_of(release).error
    assert server.wrong == []
    sent = json.dumps([document for _method, _path, document in server.requests])
    assert "2026-10-" not in sent, "no day on which data were collected"


def test_a_service_that_answers_drop_by_drop_is_left_and_goes_on_where_it_was(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(depositing.SECONDS, DepositTask.PUBLISH, 1.5)
    with doi_server("zenodo") as server, override_settings(**_of(server, "zenodo")):
        release = approved(built(started_release(study, with_doi=True)))
        server.drips = 3
        begin = time.monotonic()
        tasks.work("deposit", str(step_of(release).pk))
        assert time.monotonic() - begin < 20
        step = step_of(release)
        assert (step.status, step.stage, step.holder) == ("waiting", f"3/{len(release.files)}", None)
        assert "took too long" in step.error
        server.drips = 0
        tried_to_the_end(release)
        assert (step_of(release).status, "took too long" in step_of(release).error) == ("failed", True)
        server.drips, server.files_sent = None, 0
        monkeypatch.setitem(depositing.SECONDS, DepositTask.PUBLISH, 60)
        deposits.ask_again(fresh(release), actor=study.owner)
        tried_to_the_end(release)
        assert step_of(release).status == "published", step_of(release).error
        assert server.files_sent == len(release.files) - 3, "what was there was not sent again"


def _of(server: DoiServer, kind: str) -> dict[str, str]:
    return {"DOI_SERVICE": kind, "DOI_ADDRESS": server.address, "DOI_TOKEN": TOKEN, "DOI_COLLECTION": "lab" if kind == "dataverse" else ""}


def test_the_command_prints_what_would_be_sent(study: Study, shelf: Shelf, capsys: pytest.CaptureFixture[str]) -> None:
    release = built(started_release(study, with_doi=True))
    for kind in ("zenodo", "dataverse", "osf"):
        call_command("print_deposit", study.slug, "1", service=kind)
        printed = capsys.readouterr().out
        assert release.title in printed
        assert "(data.csv)" in printed
        assert SETTINGS["DOI_TOKEN"] not in printed
    with pytest.raises(CommandError, match="found none of nothing"):
        call_command("print_deposit", "nothing", "1")
