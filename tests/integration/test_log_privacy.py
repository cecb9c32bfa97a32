"""Logs know the pattern of an address, never its values, who asked, or when exactly."""

import io
import logging
import logging.config
import re
from typing import Any

import pytest
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path

TOKEN = "tk-9f8e7d6c5b4a"
ADDRESS = "198.51.100.23"


def resume(request: HttpRequest, token: str) -> HttpResponse:
    if request.GET.get("fail"):
        raise RuntimeError("a bug")
    return HttpResponse(status=410)


urlpatterns = [path("s/resume/<str:token>/", resume), path("invitations/<str:token>/", resume)]
handler404 = "config.error_responses.not_found"
handler500 = "config.error_responses.internal_error"

pytestmark = pytest.mark.urls(__name__)


@pytest.fixture
def log() -> Any:
    """The output of Candor's own logging set-up."""
    stream = io.StringIO()
    logging.config.dictConfig({**settings.LOGGING, "handlers": {"console": {**settings.LOGGING["handlers"]["console"], "stream": stream}}})
    yield stream
    logging.config.dictConfig(settings.LOGGING)


@pytest.mark.parametrize(
    ("address", "line"),
    [
        (f"/invitations/{TOKEN}/", r"WARNING django\.request: GET /invitations/<str:token>/ 410"),
        (f"/s/resume/{TOKEN}/?fail=1", r"ERROR django\.request: GET /s/resume/<str:token>/ 500"),
        (f"/invitation/{TOKEN}/", r"WARNING django\.request: GET \(an address that does not exist\) 404"),
    ],
)
def test_a_request_is_logged_by_its_pattern(log: io.StringIO, address: str, line: str) -> None:
    client = Client(raise_request_exception=False, REMOTE_ADDR=ADDRESS, headers={"user-agent": "Peculiar/1.0", "x-forwarded-for": ADDRESS})
    client.get(address)
    written = log.getvalue()
    assert re.search(rf"^\d{{4}}-\d\d-\d\d \d\d:00 {line}$", written, re.M), written
    for private in (TOKEN, ADDRESS, "Peculiar"):
        assert private not in written


@pytest.mark.django_db  # a page that says “not here” speaks the language of the study
@pytest.mark.parametrize("address", [f"/s/resume/{TOKEN}/", f"/s/resumee/{TOKEN}/", f"/in-class/{TOKEN}/"])
def test_a_participants_mistyped_link_leaves_no_line(log: io.StringIO, address: str) -> None:
    """Containers stamp each line with the second in which it came."""
    Client(raise_request_exception=False).get(address)
    assert log.getvalue() == ""


def test_a_bug_still_leaves_its_traceback(log: io.StringIO) -> None:
    Client(raise_request_exception=False).get(f"/s/resume/{TOKEN}/?fail=1")
    assert "RuntimeError: a bug" in log.getvalue()


def test_no_time_is_finer_than_the_hour(log: io.StringIO) -> None:
    logging.getLogger("surveys").info("something happened")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:00 INFO surveys: something happened\n", log.getvalue())


def test_a_forged_page_is_logged_without_its_address(log: io.StringIO) -> None:
    Client(enforce_csrf_checks=True, REMOTE_ADDR=ADDRESS).post(f"/invitations/{TOKEN}/", {"answer": "1"})
    written = log.getvalue()
    assert "403" in written or "Forbidden" in written
    assert TOKEN not in written
