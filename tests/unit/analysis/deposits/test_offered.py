"""Each service behind the one interface, against a server on this computer that checks every request by its documentation."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from ssl import SSLContext

import httpx
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings

from analysis.deposits.connection import Web
from analysis.deposits.description import NOT_YET, Description
from analysis.deposits.errors import DepositError, ServiceAwayError
from analysis.deposits.offered import NAMES, DoiService, configured, planned, service_of
from analysis.deposits.transport import trusted
from analysis.packages.licences import LICENCES
from surveys.questions.publication import Publication
from tests.doi_server import TOKEN, DoiServer, doi_server
from tests.publications import PUBLICATION

FILES = {"data.csv": b"arm,subsample\n", "datacite.xml": b"<resource/>", "labels.R": b"# \xe2\x80\x93"}
DESCRIPTION = Description(
    name="lecture-videos-1",
    title="Attention in <lectures>",
    about="Answers of 96 people.",
    address="https://candor.example.org/data/lecture-videos/1/",
    version=1,
    publication=PUBLICATION,
    keywords=["attention"],
    licence=LICENCES["CC-BY-4.0"],
    published_on="2026-11-23",
)
BEFORE = replace(DESCRIPTION, about=NOT_YET, published_on="")
every_service = pytest.mark.parametrize("kind", sorted(NAMES))


@pytest.fixture
def server(kind: str) -> Iterator[DoiServer]:
    with doi_server(kind) as server:
        collection = {"dataverse": "lab"}.get(kind, "")
        with override_settings(DOI_SERVICE=kind, DOI_ADDRESS=server.address, DOI_TOKEN=TOKEN, DOI_COLLECTION=collection):
            yield server
        assert server.wrong == []


@pytest.fixture
def service(server: DoiServer) -> DoiService:
    offered = configured()
    assert offered is not None
    return service_of(offered, seconds=60)


@every_service
def test_a_doi_is_reserved_published_and_marked_as_retracted(server: DoiServer, service: DoiService) -> None:
    assert service.find(BEFORE) is None
    reserved = service.reserve(BEFORE)
    assert (reserved.is_public, service.find(BEFORE), service.look(reserved.number)) == (False, reserved, reserved)
    assert "Answers of 96 people" not in json.dumps(server.requests), "the draft tells nothing of the data"
    told: list[int] = []
    public = service.publish(reserved.number, DESCRIPTION, FILES, told.append)
    assert (public.doi, public.is_public, told) == (reserved.doi, True, [1, 2, 3])
    (deposit,) = server.deposits.values()
    names = {one["filename"] for one in deposit["files"]} if isinstance(deposit["files"], list) else set(deposit["files"])
    assert names == set(FILES)
    assert service.look(reserved.number) == public
    service.withdraw(reserved.number, DESCRIPTION, "A video was shown to the wrong arm.")
    assert "wrong arm" in json.dumps(deposit)


@every_service
def test_a_draft_is_given_back_and_its_doi_is_gone(server: DoiServer, service: DoiService) -> None:
    reserved = service.reserve(BEFORE)
    service.give_back(reserved.number)
    assert (service.find(BEFORE), service.look(reserved.number), server.deposits) == (None, None, {})
    service.give_back(reserved.number)  # once more does no harm


@every_service
def test_a_lost_answer_makes_no_second_deposit(server: DoiServer, service: DoiService) -> None:
    server.drop = "/api/deposit/depositions|/api/dataverses/lab/datasets|/v2/nodes/"
    with pytest.raises(ServiceAwayError, match="cannot work now; it answered 502"):
        service.reserve(BEFORE)
    server.drop = ""
    found = service.find(BEFORE)
    assert found is not None
    assert len(server.deposits) == 1


@every_service
def test_files_that_are_there_are_not_sent_again(server: DoiServer, service: DoiService) -> None:
    reserved = service.reserve(BEFORE)

    def stop_at_the_second(sent: int) -> None:
        if sent == 2:
            raise ServiceAwayError("The line was cut.")

    with pytest.raises(ServiceAwayError):
        service.publish(reserved.number, DESCRIPTION, FILES, stop_at_the_second)
    assert service.look(reserved.number) == reserved, "nothing is public yet"
    assert service.publish(reserved.number, DESCRIPTION, FILES, lambda sent: None).is_public
    uploads = [path for method, path, document in server.requests if document is None and method in ("PUT", "POST")]
    assert len([path for path in uploads if "publish" not in path]) == len(FILES)


@every_service
def test_nothing_is_published_without_a_file_that_the_service_did_not_take(server: DoiServer, service: DoiService) -> None:
    reserved = service.reserve(BEFORE)
    server.unheard = "PUT /api/files/.*labels.R|POST /api/datasets/:persistentId/add|PUT /v1/resources/.*"
    told: list[int] = []
    with pytest.raises(DepositError, match="404"):
        service.publish(reserved.number, DESCRIPTION, FILES, told.append)
    assert len(told) < len(FILES)
    assert service.look(reserved.number) == reserved
    server.unheard = ""
    assert service.publish(reserved.number, DESCRIPTION, FILES, told.append).is_public


@every_service
def test_a_retraction_of_which_the_service_knows_nothing_is_not_done(server: DoiServer, service: DoiService) -> None:
    reserved = service.reserve(BEFORE)
    service.publish(reserved.number, DESCRIPTION, FILES, lambda sent: None)
    server.unheard = ".*/actions/publish|.*/deaccession|PATCH /v2/nodes/.*"
    with pytest.raises(DepositError, match="404"):
        service.withdraw(reserved.number, DESCRIPTION, "A video was shown to the wrong arm.")
    server.unheard = ""
    service.withdraw(reserved.number, DESCRIPTION, "A video was shown to the wrong arm.")  # Zenodo's record is open for changes still
    service.withdraw(reserved.number, DESCRIPTION, "A video was shown to the wrong arm.")  # a worker died before it wrote the end down
    (deposit,) = server.deposits.values()
    assert "wrong arm" in json.dumps(deposit)
    assert deposit.get("state") in ("done", "DEACCESSIONED", None)


@pytest.mark.parametrize("kind", ["osf"])
def test_a_project_that_became_public_and_got_no_doi_is_not_done(server: DoiServer, service: DoiService) -> None:
    """A worker may die between the two requests: the next one looks first."""
    reserved = service.reserve(BEFORE)
    server.unheard = "POST /v2/nodes/.*/identifiers/"
    with pytest.raises(DepositError, match="404"):
        service.publish(reserved.number, DESCRIPTION, FILES, lambda sent: None)
    server.unheard = ""
    assert server.deposits[reserved.number]["public"]
    assert service.look(reserved.number) == reserved
    assert service.publish(reserved.number, DESCRIPTION, FILES, lambda sent: None) == replace(reserved, is_public=True)
    assert server.deposits[reserved.number]["doi"] == reserved.doi
    assert service.look(reserved.number) == replace(reserved, is_public=True)


@every_service
def test_other_data_are_another_deposit(server: DoiServer, service: DoiService) -> None:
    first = service.reserve(BEFORE)
    other = replace(BEFORE, address="https://candor.example.org/data/lecture-videos/2/")
    assert service.find(other) is None
    assert service.reserve(other).doi != first.doi


@every_service
def test_the_token_stands_in_no_error_and_in_no_plan(server: DoiServer, kind: str) -> None:
    with override_settings(DOI_TOKEN="a-wrong-token"):
        offered = configured()
        assert offered is not None
        with pytest.raises(DepositError, match="401") as caught:
            service_of(offered, seconds=60).reserve(BEFORE)
    assert "a-wrong-token" not in str(caught.value)
    steps = planned(kind, DESCRIPTION, FILES)
    assert TOKEN not in repr(steps)


@pytest.mark.parametrize("kind", ["zenodo", "osf"])
def test_a_service_cannot_have_the_token_sent_to_somebody_else(server: DoiServer, service: DoiService) -> None:
    with doi_server("zenodo") as thief:
        server.elsewhere = thief.address
        reserved = service.reserve(BEFORE)
        with pytest.raises(DepositError, match="an address of somebody else"):
            service.publish(reserved.number, DESCRIPTION, FILES, lambda sent: None)
        assert thief.requests == []


@every_service
def test_the_dry_run_sends_nothing_and_shows_what_is_sent(server: DoiServer, service: DoiService, kind: str) -> None:
    steps = dict(planned(kind, DESCRIPTION, FILES))
    assert server.requests == []
    service.find(DESCRIPTION)
    number = service.reserve(DESCRIPTION).number
    service.publish(number, DESCRIPTION, FILES, lambda sent: None)
    sent = [(method, document) for method, _path, document in server.requests]
    shown = [(one.method, one.document) for step in ("reserve", "publish") for one in steps[step]]
    assert json.dumps(shown).replace('"NUMBER"', f'"{number}"') == json.dumps(sent)


@every_service
@pytest.mark.parametrize("licence", sorted(LICENCES))
def test_little_is_enough(server: DoiServer, service: DoiService, licence: str) -> None:
    bare = Publication().with_authors(["A group"])
    few = replace(BEFORE, publication=bare.model_copy(update={"contact": PUBLICATION.contact}), licence=LICENCES[licence])
    service.publish(service.reserve(few).number, few, FILES, lambda sent: None)


def test_dataverse_says_what_it_misses_before_anything_is_sent() -> None:
    few = replace(BEFORE, publication=Publication().with_authors(["A group"]))
    assert "e-mail address" in NAMES["dataverse"].wants(few)
    assert [NAMES[name].wants(few) for name in ("zenodo", "osf")] == ["", ""]


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"DOI_SERVICE": "figshare"}, "expected one of zenodo, dataverse, osf"),
        ({"DOI_SERVICE": "zenodo", "DOI_TOKEN": ""}, "DOI_TOKEN"),
        ({"DOI_SERVICE": "dataverse", "DOI_TOKEN": "1"}, "https://"),
        ({"DOI_SERVICE": "zenodo", "DOI_ADDRESS": "http://zenodo.org", "DOI_TOKEN": "1"}, "https://"),
    ],
)
def test_settings_that_cannot_be_right_are_named(settings: dict[str, str], complaint: str) -> None:
    with override_settings(**settings), pytest.raises(ImproperlyConfigured, match=complaint):
        configured()


def test_a_server_without_a_service_has_none() -> None:
    assert configured() is None


@pytest.mark.parametrize("kind", ["zenodo"])
def test_a_service_that_is_not_there_is_away(server: DoiServer) -> None:
    with override_settings(DOI_ADDRESS="http://127.0.0.1:9"):
        offered = configured()
        assert offered is not None
        with pytest.raises(ServiceAwayError, match="could not be reached: ConnectError"):
            service_of(offered, seconds=60).find(BEFORE)


@pytest.mark.parametrize("kind", ["zenodo"])
def test_a_process_reads_the_certificates_once_for_all_requests(service: DoiService, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each request read them, which took longer than all the rest of it."""
    made = []

    def counted(create: Callable[..., SSLContext] = httpx.create_ssl_context, **options: bool) -> SSLContext:
        made.append(options)
        return create(**options)

    monkeypatch.setattr(httpx, "create_ssl_context", counted)
    trusted.cache_clear()
    reserved = service.reserve(BEFORE)
    assert service.find(BEFORE) == service.look(reserved.number) == reserved
    assert made == [{"trust_env": False}]


@every_service
def test_an_answer_that_nests_without_end_is_no_answer(service: DoiService, monkeypatch: pytest.MonkeyPatch) -> None:
    nested = httpx.Response(200, content=b"[" * 100_000)
    monkeypatch.setattr(Web, "_answer", staticmethod(lambda *asked: nested))
    with pytest.raises(ServiceAwayError, match="not JSON"):
        service.look("1")
