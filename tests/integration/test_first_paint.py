"""The first paint of every step: less than 1.5 seconds at 400 kbit/s, counted from what must arrive before it and not from a clock."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from lxml import html

from surveys.journey.steps import ALL_STEPS
from surveys.models import Study
from tests.factories import logged_in, recruiting_study, walk

pytestmark = pytest.mark.django_db
STATIC = Path(settings.BASE_DIR) / "platform/static"
MOST_SECONDS = 1.5
BYTES_A_SECOND = 400_000 / 8
ROUND_TRIP = 0.1
"""In seconds."""
BEFORE_THE_PAGE, BEFORE_THE_STYLES = 4, 1
"""Round trips: the name of the server, TCP, TLS 1.3 and the page; then the style sheets, all at once over HTTP/2."""
HANDSHAKE, HEADERS = 4_000, 600
"""Bytes: the certificates; the headers of one answer."""
BLOCKING = "//link[@rel='stylesheet' and not(@media='print')]/@href | //head//script[@src and not(@type='module' or @defer or @async)]/@src"
BESIDE = "//link[@rel='preload' or @rel='modulepreload' or @rel='icon']/@href | //script[@src]/@src | //img/@src"


def arriving(content: bytes) -> int:
    """The bytes of an answer with a file, compressed as nginx does it: at the lowest level."""
    return len(zlib.compress(content, 1)) + HEADERS


def size(address: str) -> int:
    """Fonts and pictures are as large as they are."""
    content = STATIC.joinpath(address.removeprefix("/static/")).read_bytes()
    return min(arriving(content), len(content) + HEADERS)


def seconds_to_first_paint(page: Any, sent: int) -> float:
    """Everything else that the page names comes at the same time and takes an equal share of the line: the worst that a server
    without priorities can do. Nothing of it blocks the paint.
    """
    blocking = {one: size(one) for one in page.xpath(BLOCKING)}
    beside = [size(one) for one in {*page.xpath(BESIDE)} - set(blocking) if one.startswith("/static/")]
    longest = max(blocking.values())
    shared = sum(blocking.values()) + sum(min(one, longest) for one in beside)
    return (BEFORE_THE_PAGE + BEFORE_THE_STYLES) * ROUND_TRIP + (HANDSHAKE + sent + HEADERS + shared) / BYTES_A_SECOND


def shown(study: Study) -> Iterator[tuple[str, Any, int]]:
    """The pages, each with its bytes on the line: those without a secret, and parts without one, are compressed."""
    client = Client(headers={"Accept-Encoding": "gzip, deflate, br"})
    for step in ALL_STEPS:
        if step in ("direct_consent", "direct_questions"):
            continue
        response = walk(client, study, until=step)
        page, sent = unpacked(response)
        assert step == "finished" or step in page.xpath("//input[@name='step']/@value"), step
        yield step, page, sent
    for address in ("/", "/privacy/", *(reverse(f"surveys:{name}", args=[study.slug]) for name in ("privacy", "transparency", "withdraw"))):
        response = client.get(address)
        assert response.status_code == 200, address
        yield address, *unpacked(response)


def unpacked(response: HttpResponse) -> tuple[Any, int]:
    """The page, and how many bytes brought it."""
    unpack = {"deflate": zlib.decompress, "gzip": gzip.decompress}.get(response.headers.get("Content-Encoding", ""), bytes)
    content = unpack(response.content)
    return html.fromstring(content.decode()), len(response.content)


def test_every_step_is_painted_in_time() -> None:
    times = {where: seconds_to_first_paint(page, sent) for where, page, sent in shown(recruiting_study())}
    assert {where: round(seconds, 2) for where, seconds in times.items() if seconds >= MOST_SECONDS} == {}


@pytest.mark.parametrize(
    ("head", "is_slower"),
    [
        ("<script src='/static/fonts/candor-figures-regular.ttf'></script>", True),
        ("<link rel='stylesheet' href='/static/fonts/candor-figures-regular.ttf'>", True),
        ("<link rel='preload' href='/static/fonts/candor-figures-regular.ttf'>", True),
        ("<script src='/static/fonts/candor-figures-regular.ttf' type='module'></script>", True),
        ("<link rel='stylesheet' media='print' href='/static/css/staff.css'>", False),
    ],
)
def test_the_count_sees_what_comes_before_the_paint_and_at_the_same_time(head: str, is_slower: bool) -> None:
    pages = [html.fromstring(f"<html><head><link rel='stylesheet' href='/static/css/base.css'>{more}</head></html>") for more in ("", head)]
    usual, changed = (seconds_to_first_paint(page, 0) for page in pages)
    assert (changed > usual) == is_slower


def test_the_home_page_of_somebody_with_an_account_holds_a_secret_and_is_not_compressed() -> None:
    client, wanted = logged_in(recruiting_study().owner), {"Accept-Encoding": "gzip"}
    with_secret, without = client.get("/", headers=wanted), Client().get("/", headers=wanted)
    assert b"csrfmiddlewaretoken" in with_secret.content
    assert "Content-Encoding" not in with_secret.headers
    assert without.headers["Content-Encoding"] == "gzip"
    assert b"csrfmiddlewaretoken" not in gzip.decompress(without.content)
