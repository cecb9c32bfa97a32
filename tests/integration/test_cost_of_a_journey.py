"""The cost that a journey may have, counted and never timed: statements of each request, bytes of a page, calls of functions."""

import re
import sys
import zlib
from collections.abc import Callable
from functools import partial

import pytest
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from surveys.models import AllocationSlot, Study
from tests.factories import address_of, answer, document, follow, logged_in, participant_of, recruiting_study, send, walk

pytestmark = pytest.mark.django_db

# The page's, and that of the form that is sent from it, whether the next page comes in the answer or not. The begin and the end of a
# transaction count, too, and what follows its commit. A step reads by one statement and writes by one; the last one asks whether
# a batch is complete.
STATEMENTS = {
    "welcome": (1, 2),
    "consent": (1, 2),
    "background": (1, 2),
    "video": (1, 2),
    "quiz": (1, 2),
    "die": (1, 2),
    "questions": (1, 3),
}
NEXT_PAGE = {"Next-Page": "wanted"}


@pytest.mark.usefixtures("postgresql")
def test_each_request_of_a_journey_keeps_to_its_statements() -> None:
    def statements(act: Callable[[], object]) -> int:
        with CaptureQueriesContext(connection) as asked:
            act()
        return len(asked)

    study = recruiting_study()
    for asked_for in ({}, NEXT_PAGE):
        client, found = Client(headers=asked_for), {}
        for step in STATEMENTS:
            page = statements(partial(client.get, address_of(study)))
            found[step] = page, statements(partial(answer, client, study, step))
        assert found == STATEMENTS
        assert statements(partial(client.get, address_of(study))) == 2  # the person; whether the study gives credit


@pytest.mark.usefixtures("postgresql")
@pytest.mark.parametrize("subsample", ["1", "direct"])
@pytest.mark.parametrize("agrees", [True, False])
def test_consent_to_be_asked_directly_takes_no_more_statements_than_other_steps(subsample: str, agrees: bool) -> None:
    study, client = recruiting_study(direct_group={"share": 0.5, "consent": "May we?"}), Client()
    AllocationSlot.objects.filter(study=study).update(subsample=subsample)
    follow(client, study, until="direct_consent")
    with CaptureQueriesContext(connection) as asked:
        assert send(client, study, "direct_consent", choice="agree" if agrees else "decline").status_code == 303
    assert len(asked) == STATEMENTS["background"][1]
    person = participant_of(client)
    assert (person.step, person.subsample, person.agrees_to_direct) == ("video", subsample, agrees)


CSRF_TOKEN = re.compile(rb'(name="csrfmiddlewaretoken" value=")(\w{32,64})"')


def test_a_page_is_small_for_browsers_that_unpack_and_the_same_for_all_others(client: Client) -> None:
    study = recruiting_study()
    walk(client, study, until="questions")
    plain = client.get(address_of(study))
    packed = client.get(address_of(study), headers={"Accept-Encoding": "gzip, deflate, br"})
    assert packed["Content-Encoding"] == "deflate"
    assert CSRF_TOKEN.sub(rb"\1", zlib.decompress(packed.content)) == CSRF_TOKEN.sub(rb"\1", plain.content)
    assert len(packed.content) < 5_000 < len(plain.content)
    assert not plain.has_header("Content-Encoding")
    assert all("Accept-Encoding" in page["Vary"] for page in (plain, packed))
    assert not client.get(address_of(study), headers={"Accept-Encoding": "gzip, deflate;q=0"}).has_header("Content-Encoding")


def test_no_length_tells_a_secret_to_somebody_who_chose_a_part_of_the_page(client: Client) -> None:
    study = recruiting_study()
    walk(client, study, until="consent")
    token = client.cookies["csrftoken"].value
    deflated = {"Accept-Encoding": "deflate"}
    asked = [client.get(address_of(study), {"q": guess}, headers=deflated) for guess in (token, token[::-1], "a" * 32)]
    counted = [page.content.count(token.encode()) for page in asked]
    assert counted[0] > counted[1] == counted[2] == 1, "the guess stands on the page, beside the token"
    assert counted[0] == zlib.decompress(asked[0].content).count(token.encode()), "no block that is compressed holds it"
    assert len({len(page.content) for page in asked}) == 1


def test_a_page_that_somebody_on_the_way_may_compress_has_another_token_each_time(client: Client) -> None:
    study = recruiting_study()
    walk(client, study, until="consent")
    packed, *plain = (client.get(address_of(study), headers={"Accept-Encoding": way}) for way in ("deflate", "gzip", "gzip"))
    (_, secret), *masked = (CSRF_TOKEN.findall(one)[0] for one in (zlib.decompress(packed.content), *(page.content for page in plain)))
    assert secret == client.cookies["csrftoken"].value.encode()
    assert len({token for _, token in masked}) == 2
    assert all(secret not in page.content for page in plain)


def test_nobody_is_logged_in_on_a_journey_even_with_a_session_in_the_browser() -> None:
    study = recruiting_study()
    client = logged_in(study.owner)
    walk(client, study, until="video")
    with CaptureQueriesContext(connection) as asked:
        page = client.get(address_of(study))
    assert len(asked) == 1
    assert not {"user", "session"} & set(vars(page.wsgi_request))
    about = client.get(reverse("surveys:transparency", args=[study.slug]))
    assert about.wsgi_request.user == study.owner


# Calls of functions between a request and its response, Python's own and the program's: a stand-in for processor time that no busy machine
# changes. 23,600 were counted with 9 requests; another version of Django or Python changes that by a few percent.
MOST_CALLS = 26_000


def test_a_whole_journey_keeps_to_its_calls(study_seen_before: Study) -> None:
    assert calls_of_journey(study_seen_before) < MOST_CALLS


@pytest.fixture
def study_seen_before() -> Study:
    """With one order of the quiz, which is rendered for each order once."""
    study = recruiting_study(quiz=[{**item, "shuffle": False} for item in document()["quiz"]])
    for _ in range(12):  # pages of all arms and subsamples are rendered
        walk_as_the_scripts_do(browser(), study)
    return study


def browser() -> Client:
    return Client(headers={"Accept-Encoding": "deflate", **NEXT_PAGE})


def walk_as_the_scripts_do(client: Client, study: Study) -> None:
    client.get(address_of(study))
    for step in STATEMENTS:
        answer(client, study, step)
    client.get(address_of(study))


def calls_of_journey(study: Study) -> int:
    """The fewest of three journeys: the first of an arm renders pages."""
    return min(counted_walk(study) for _ in range(3))


def counted_walk(study: Study) -> int:
    client, calls = browser(), 0
    respond = client.handler.get_response

    def tally(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    def counted(request: HttpRequest) -> HttpResponse:
        sys.setprofile(tally)
        try:
            return respond(request)
        finally:
            sys.setprofile(None)

    client.handler.get_response = counted
    walk_as_the_scripts_do(client, study)
    return calls
