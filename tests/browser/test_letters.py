"""Names and addresses of a mail merge stay in the browser: no request has any of them, in any part, in any form."""

import base64
import csv
import io
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, unquote, unquote_plus, urlsplit

import pytest
from playwright.sync_api import Download, Page, Request, expect

from surveys.models import EntryCode, Study
from tests.browser.conftest import Complaints
from tests.browser.people import SLUG, recruiting_study
from tests.browser.staff import log_in
from tests.browser.traces import requests_of, wait_until_loaded
from tests.factories import everything_stored

Check = Callable[[Page], None]
LETTERS = f"/studies/{SLUG}/letters/"
PEOPLE = {"zoe.mueller@example.edu": "Zoë Müller-Ångström", "bo+lab@example.edu": "Bo O’Neil", "chan@example.edu": "陳大文"}
LIST = "Name;E-mail;Group\r\n" + "".join(f"{name};{address};2\r\n" for address, name in PEOPLE.items())
LIST += "Nobody;;1\r\nTwice;CHAN@example.edu;2\r\n"


def traces() -> list[bytes]:
    """Every name and address as it could stand in a request."""
    words = [*PEOPLE, *PEOPLE.values(), "mueller", "bo+lab", "example.edu"]
    return [form for word in words for form in (word.encode(), base64.b64encode(word.encode())[:-4])]


def heard(requests: list[Request]) -> list[str]:
    """The requests with a trace of somebody, in the address, a header or the body."""
    found = []
    for request in requests:
        body = request.post_data_buffer or b""
        said = unquote(request.url).encode() + repr(request.headers).encode() + body + unquote_plus(body.decode(errors="replace")).encode()
        found += [request.url for trace in traces() if trace in said]
    return found


def watched(desk: Page) -> list[Request]:
    """Everything that this browser sends from now on, once all that belongs to the page is there."""
    wait_until_loaded(desk)
    return requests_of(desk.context)


@pytest.fixture
def study(transactional_db: None) -> Study:
    return recruiting_study(entry={"kind": "codes"})


@pytest.fixture(params=[1280, 320], ids=["desk", "phone"])
def desk(request: pytest.FixtureRequest, new_page: Callable[..., Page], study: Study) -> Page:
    """The page of letters, open before the investigator."""
    page = new_page(viewport={"width": request.param, "height": 800})
    log_in(page, "investigator", address=LETTERS)
    page.wait_for_url(f"**{LETTERS}")
    return page


def rows_of(download: Download) -> list[list[str]]:
    return list(csv.reader(io.StringIO(Path(download.path()).read_bytes().decode("utf-8-sig")), delimiter=";"))


def merged(desk: Page) -> list[list[str]]:
    with desk.expect_download() as waiting:
        desk.get_by_role("button", name="Download the merged list").click()
    return rows_of(waiting.value)


def open_list(desk: Page, content: bytes) -> None:
    desk.get_by_label("Open a file").set_input_files({"name": "class.csv", "mimeType": "text/csv", "buffer": content})


def drafts(desk: Page) -> dict[str, str]:
    desk.get_by_text("Drafts, one for each person").click()
    links = [urlsplit(str(link.get_attribute("href"))) for link in desk.locator("[data-drafts] a").all()]
    return {unquote(link.path): parse_qs(link.query)["body"][0] for link in links}


def test_no_name_and_no_address_ever_leaves_the_browser(desk: Page, study: Study, assert_accessible: Check, assert_fits: Check) -> None:
    requests = watched(desk)
    open_list(desk, LIST.encode())
    expect(desk.get_by_role("status")).to_contain_text("3 people have an address. Rows left out")
    assert requests == [], "reading a list asks the server for nothing"
    desk.get_by_role("button", name="Make a personal link for each").click()
    expect(desk.get_by_role("status")).to_contain_text("The links are made.")
    headings, *rows = merged(desk)
    assert headings == ["Name", "E-mail", "Group", "link"]
    assert [row[:2] for row in rows] == [[name, address] for address, name in PEOPLE.items()]
    assert all("#code=" in row[3] for row in rows)
    assert len({row[3] for row in rows}) == EntryCode.objects.filter(study=study).count() == 3
    written = drafts(desk)
    assert list(written) == list(PEOPLE)
    assert all(row[0] in written[row[1]] and row[3] in written[row[1]] for row in rows)
    assert_accessible(desk)
    assert_fits(desk)
    assert [urlsplit(request.url).path for request in requests] == [f"/studies/{SLUG}/codes/"]
    assert heard(requests) == []
    stored = repr(everything_stored())
    assert not [trace for trace in traces() if trace.decode() in stored and len(trace) > 6]


def test_a_reminder_goes_to_all_with_the_links_they_have_and_asks_the_server_nothing(desk: Page, study: Study) -> None:
    open_list(desk, LIST.encode("utf-16"))
    desk.get_by_role("button", name="Make a personal link for each").click()
    expect(desk.get_by_role("status")).to_contain_text("The links are made.")
    before = merged(desk)
    desk.reload()
    requests = watched(desk)
    again = io.StringIO()
    csv.writer(again, delimiter=";").writerows(before)
    open_list(desk, b"\xef\xbb\xbf" + again.getvalue().encode())
    expect(desk.get_by_role("status")).to_contain_text("these drafts are for a reminder")
    expect(desk.get_by_role("button", name="Make a personal link for each")).to_be_hidden()
    assert list(drafts(desk)) == list(PEOPLE)
    assert requests == []
    assert EntryCode.objects.filter(study=study).count() == 3


def test_the_watch_sees_an_address_that_is_sent(desk: Page, complaints: Complaints) -> None:
    complaints.expected += ["403", "405"]
    requests = watched(desk)
    address = next(iter(PEOPLE))
    for body in (f"'{address}'", f"new URLSearchParams({{to: '{address}'}})", f"btoa('{address}')"):
        desk.evaluate(f"() => fetch('/join/', {{method: 'POST', body: {body}}}).catch(() => 0)")
    sent = [one for one in requests if one.method == "POST"]
    assert len(heard(sent)) >= 3


NOBODY, HALF = b"Name;Group\r\nAnn;1\r\n", b"e-mail,link\r\na@example.org,x\r\nb@example.org,\r\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [(NOBODY, "No e-mail address was found"), (b"", "No e-mail address was found"), (HALF, "Some rows have a link and some have none")],
)
def test_a_list_that_cannot_be_used_says_so(desk: Page, content: bytes, said: str) -> None:
    desk.get_by_label("Or paste the list").fill(content.decode())
    desk.get_by_role("button", name="Read the pasted list").click()
    expect(desk.get_by_role("status")).to_contain_text(said)
    expect(desk.get_by_role("button", name="Make a personal link for each")).to_be_hidden()
