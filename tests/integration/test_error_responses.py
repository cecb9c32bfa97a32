"""Every error has a response: people get a page that says what happened and how to go on, programs get a problem document."""

import logging
from http import HTTPStatus
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation, ValidationError
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import include, path
from django.utils import translation
from rest_framework import exceptions as api_errors
from rest_framework.decorators import api_view, permission_classes
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Role
from candor.errors import TooFewResponsesError
from config import error_responses
from config import urls as site
from surveys.errors import DefinitionError, StudyClosedError
from surveys.journey import language as of_visitors
from tests.factories import draft_study, person, recruiting_study

pytestmark = [pytest.mark.urls(__name__), pytest.mark.django_db]


class TooLateError(Exception):
    http_status = HTTPStatus.GONE
    title = "The lecture is over"
    advice = "Come back tomorrow."


RAISED: dict[str, Exception] = {
    "late": TooLateError("It ended at noon."),
    "closed": StudyClosedError(),
    "definition": DefinitionError(["line 3: <b>title</b> is missing"]),
    "method": TooFewResponsesError(needed=2, found=1),
    "absent": Http404("No Study matches the given query."),
    "forbidden": PermissionDenied("This page is for: Analyst."),
    "suspicious": SuspiciousOperation("session corrupted by 192.0.2.7"),
    "invalid": ValidationError({"title": ["This field cannot be blank."]}),
    "bug": ZeroDivisionError("secret-detail"),
    "throttled": api_errors.Throttled(wait=17),
}


def fail(request: HttpRequest, kind: str) -> HttpResponse:
    raise RAISED[kind]


@api_view(["GET", "POST"])
@permission_classes([AllowAny])
def fail_in_api(request: Request, kind: str) -> Response:
    if request.method == "POST":
        return Response(request.data)
    raise RAISED[kind]


@api_view(["GET"])
@permission_classes([IsAuthenticated])
def for_members(request: Request) -> Response:
    return Response({})


handler400, handler403, handler404, handler500 = site.handler400, site.handler403, site.handler404, site.handler500
urlpatterns = [
    path("", include(site)),
    path("fail/<str:kind>/", fail),
    path("api/v1/members/", for_members),
    path("api/v1/<str:kind>/", fail_in_api),
]


@pytest.fixture
def browser() -> Client:
    return Client(raise_request_exception=False, headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})


PAGES = [
    ("late", 410, ["The lecture is over", "It ended at noon.", "Come back tomorrow."]),
    ("closed", 403, ["This study is closed"]),
    ("definition", 400, ["Line 3: &lt;b&gt;title&lt;/b&gt; is missing", "nothing was changed"]),
    ("method", 422, ["This cannot be computed", "needed at least 2, found 1"]),
    ("absent", 404, ["There is nothing at this address"]),
    ("forbidden", 403, ["This page is not for you", "This page is for: Analyst."]),
    ("suspicious", 400, ["This request could not be read"]),
    ("invalid", 400, ["This field cannot be blank."]),
    ("bug", 500, ["Something went wrong on our side"]),
]


@pytest.mark.parametrize(("kind", "status", "words"), PAGES)
def test_an_error_in_a_view_becomes_a_page_with_words(browser: Client, kind: str, status: int, words: list[str]) -> None:
    response = browser.get(f"/fail/{kind}/")
    page = response.content.decode()
    assert response.status_code == status
    assert response["Content-Type"] == "text/html; charset=utf-8"
    assert all(word in page for word in words), page
    assert "<h1>" in page
    for private in ("Traceback", "secret-detail", "192.0.2.7", "No Study matches"):
        assert private not in page


@pytest.mark.parametrize("address", ["/api/v1/{}/", "/fail/{}/"])
@pytest.mark.parametrize(("kind", "status"), [(kind, status) for kind, status, _words in PAGES])
def test_a_program_gets_a_problem_document(address: str, kind: str, status: int) -> None:
    response = Client(raise_request_exception=False, headers={"accept": "application/json"}).get(address.format(kind))
    assert response.status_code == status
    assert response["Content-Type"] == "application/problem+json"
    document = response.json()
    assert document["status"] == status
    assert document["detail"]
    assert document["type"]
    assert document["title"]
    assert "secret-detail" not in response.content.decode()


def test_a_problem_has_a_name_that_does_not_depend_on_the_language() -> None:
    document = Client().get("/api/v1/closed/").json()
    assert document == {
        "type": "urn:candor:problem:study-closed",
        "title": "This study is closed",
        "status": 403,
        "detail": "This study is closed",
        "advice": "Go back, check what you entered and try again.",
    }


def test_errors_of_single_fields_are_listed_for_programs() -> None:
    document = Client().get("/api/v1/invalid/").json()
    assert document["errors"] == [{"place": "title", "detail": "This field cannot be blank."}]


def test_the_api_answers_in_json_even_to_a_browser(browser: Client) -> None:
    for address, status in (("/api/v1/late/", 410), ("/api/v2/absent", 404)):
        response = browser.get(address)
        assert (response.status_code, response["Content-Type"]) == (status, "application/problem+json")


def test_unreadable_json_is_a_problem_of_the_sender() -> None:
    response = Client().post("/api/v1/late/", "{", content_type="application/json")
    assert (response.status_code, response["Content-Type"]) == (400, "application/problem+json")
    assert "JSON parse error" in response.json()["detail"]


def test_a_throttled_program_learns_how_long_to_wait() -> None:
    response = Client().get("/api/v1/throttled/")
    assert (response.status_code, response["Retry-After"]) == (429, "17")


def test_a_stranger_to_the_api_is_told_so() -> None:
    response = Client().get("/api/v1/members/")
    assert response.status_code in {401, 403}
    assert response.json()["detail"] == "Authentication credentials were not provided."


def test_an_unknown_address_is_404_for_everybody(browser: Client) -> None:
    response = browser.get("/no/such/page")
    assert response.status_code == 404
    assert "There is nothing at this address" in response.content.decode()


@pytest.mark.parametrize(
    ("address", "accepted", "language"),
    [("/no/such/page", "fr-CA, de;q=0.5", "fr"), ("/fail/absent/", "de", "de"), ("/s/no-such-study/", "pl", "pl"), ("/no", "sw", "en")],
)
def test_an_address_without_a_page_speaks_the_language_of_a_stranger(browser: Client, address: str, accepted: str, language: str) -> None:
    page = browser.get(address, headers={"accept-language": accepted}).content.decode()
    with translation.override(language):
        assert f'lang="{language}"' in page
        assert translation.gettext("There is nothing at this address") in page


def test_below_a_study_it_speaks_the_study_language_where_the_browser_asks_for_none_that_is_there(browser: Client) -> None:
    study = recruiting_study(languages=["de"])
    draft = draft_study(slug="a-draft", languages=["de"])
    for slug, language in ((study.slug, "de"), (draft.slug, "en")):
        assert f'lang="{language}"' in browser.get(f"/s/{slug}/typo/", headers={"accept-language": "sw"}).content.decode()
    assert 'lang="fr"' in browser.get(f"/s/{study.slug}/typo/", headers={"accept-language": "fr"}).content.decode()


def test_an_address_without_a_page_needs_no_database(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be an error of ours, and the log would fill with tracebacks, while the database is away."""

    def refuse(*_anything: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(of_visitors, "study_in_public", refuse)
    response = browser.get("/s/a-study/typo/", headers={"accept-language": "sw"})
    assert (response.status_code, 'lang="en"' in response.content.decode()) == (404, True)


def test_staff_read_it_in_the_language_of_their_pages(browser: Client) -> None:
    browser.force_login(person(Role.INVESTIGATOR))
    assert 'lang="en"' in browser.get("/no/such/page", headers={"accept-language": "fr"}).content.decode()


def test_a_page_from_yesterday_is_explained() -> None:
    client = Client(enforce_csrf_checks=True)
    response = client.post("/accounts/login/", {"login": "ada", "password": "x"})
    assert response.status_code == 403
    assert "This page had been open for long" in response.content.decode()


@pytest.mark.parametrize(("origin", "is_given_back"), [("http://testserver", True), ("http://elsewhere.example", False), ("null", False)])
def test_a_page_from_yesterday_gives_back_what_was_typed_on_this_site_alone(origin: str, *, is_given_back: bool) -> None:
    """A form that another site sent in somebody's name must not be one click away from being done."""
    response = Client(enforce_csrf_checks=True, headers={"origin": origin}).post("/fail/late/", {"title": "Typed for an hour"})
    assert response.status_code == 403
    assert ("Typed for an hour" in response.text, "Send again" in response.text) == (is_given_back, is_given_back)


def test_a_wrong_host_name_is_refused_with_words() -> None:
    response = Client(headers={"host": "evil.example"}).get("/")
    assert response.status_code == 400
    assert "This request could not be read" in response.content.decode()


def test_a_failing_error_page_still_leaves_plain_words(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(error_responses, "render_to_string", lambda *arguments: 1 / 0)
    response = error_responses.internal_error(RequestFactory().get("/"))
    assert response.status_code == 500
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response.content.decode().startswith("Something went wrong on our side.")
    assert "could not be shown" in caplog.text


def test_a_bug_is_logged_with_its_traceback_and_an_expected_error_without(browser: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        browser.get("/fail/late/")
        assert not [record for record in caplog.records if record.exc_info]
        browser.get("/fail/bug/")
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [ZeroDivisionError]


def test_every_answer_carries_the_protective_headers(browser: Client) -> None:
    for address in ("/accounts/login/", "/no/such/page", "/fail/bug/", "/api/v1/late/"):
        response: Any = browser.get(address)
        assert response["Content-Security-Policy"].startswith("default-src 'none'; ")
        assert "unsafe" not in response["Content-Security-Policy"]
        assert "data:" not in response["Content-Security-Policy"]
        assert {"object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"} <= set(response["Content-Security-Policy"].split("; "))
        assert (response["X-Frame-Options"], response["Referrer-Policy"]) == ("DENY", "same-origin")
        assert response["X-Content-Type-Options"] == "nosniff"
