"""The next page in the answer to a form, for a script that asks for it; everybody else is led there as before."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config.content_security import POLICY
from surveys.journey.visitors import COOKIE
from surveys.models import Study
from tests.factories import ANSWERS, address_of, hidden_value, participant_of, recruiting_study, send, walk
from tests.stimuli import arms_with

pytestmark = pytest.mark.django_db

ASKED = {"Next-Page": "wanted"}
IN_THE_ANSWER = ("welcome", "consent", "background", "video", "quiz", "die")
MADE_ANEW = re.compile(r'(name="(?:csrfmiddlewaretoken|opened)" value=")[^"]+')


def answered(client: Client, study: Study, step: str, **changes: Any) -> HttpResponse:
    """The answer to the form of a page whose script can show the next one."""
    return client.post(address_of(study), {"step": step, **ANSWERS[step], **changes}, headers=ASKED)


def is_next_page(response: HttpResponse) -> bool:
    return response.has_header("Next-Page")


def said(response: HttpResponse) -> str:
    return MADE_ANEW.sub(r"\1", response.content.decode())


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_answer_is_the_page_that_a_visit_shows(client: Client, language: str) -> None:
    study = recruiting_study()
    for step in IN_THE_ANSWER:
        answer = answered(client, study, step, **({"language": language} if step == "welcome" else {}))
        visited = client.get(address_of(study))
        assert answer.status_code == 200, step
        assert is_next_page(answer), step
        assert said(answer) == said(visited), step
        for name in ("Cache-Control", "Content-Type", "Content-Security-Policy", "X-Frame-Options"):
            assert answer[name] == visited[name], (step, name)
        assert answer["Content-Security-Policy"] == POLICY
        assert "Accept-Encoding" in answer["Vary"]
        assert f'<html lang="{language}"' in answer.content.decode()


def test_the_page_that_comes_in_the_answer_can_be_sent() -> None:
    """It has the token of the form before, which belongs to this browser's cookie."""
    study, client = recruiting_study(), Client(enforce_csrf_checks=True)
    page = client.get(address_of(study))
    for step in IN_THE_ANSWER:
        page = answered(client, study, step, csrfmiddlewaretoken=hidden_value(page, "csrfmiddlewaretoken"))
        assert is_next_page(page), step
    answer = answered(client, study, "questions", csrfmiddlewaretoken=hidden_value(page, "csrfmiddlewaretoken"))
    assert answer.status_code == 303
    assert answered(client, study, "questions", csrfmiddlewaretoken="a" * 64).status_code == 403


def test_the_last_page_begins_with_a_document_of_its_own(client: Client) -> None:
    """The memory of the page on which dice were rolled ends, whatever a script asks for."""
    study = recruiting_study()
    walk(client, study, until="questions")
    answer = answered(client, study, "questions")
    assert (answer.status_code, answer["Location"]) == (303, address_of(study))
    assert not is_next_page(answer)
    assert not is_next_page(client.get(address_of(study), headers=ASKED))


def test_nobody_gets_it_unasked(client: Client) -> None:
    study = recruiting_study()
    for step in IN_THE_ANSWER:
        answer = send(client, study, step, **ANSWERS[step])
        assert (answer.status_code, answer["Location"], is_next_page(answer)) == (303, address_of(study), False), step


def test_only_the_address_of_the_page_that_is_shown_gives_it(client: Client) -> None:
    """A browser's history keeps the address, so that a page that came to another one is left as before."""
    study = recruiting_study()
    answer = client.post(f"{address_of(study)}?anything=else", {"step": "welcome", **ANSWERS["welcome"]}, headers=ASKED)
    assert (answer.status_code, is_next_page(answer)) == (303, False)


def test_an_objection_is_told_apart(client: Client) -> None:
    study = recruiting_study()
    walk(client, study, until="die")
    objection = answered(client, study, "die", **{"check-1": ""})
    assert (objection.status_code, is_next_page(objection)) == (422, False)


def test_a_step_that_was_taken_before_leads_where_the_person_belongs(client: Client) -> None:
    study = recruiting_study()
    walk(client, study, until="quiz")
    for step in ("welcome", "consent", "background", "video"):
        again = answered(client, study, step)
        assert (again.status_code, is_next_page(again)) == (303, False), step
    too_early = answered(client, study, "questions")
    assert (too_early.status_code, is_next_page(too_early)) == (409, False)


def test_two_tabs_are_one_person(client: Client) -> None:
    study = recruiting_study()
    walk(client, study, until="background")
    first, second = (answered(client, study, "background") for _tab in range(2))
    assert [is_next_page(one) for one in (first, second)] == [True, False]
    assert second["Location"] == address_of(study)


def test_no_header_gives_somebody_elses_page(client: Client) -> None:
    study, stranger = recruiting_study(), Client(enforce_csrf_checks=True)
    walk(client, study, until="quiz")
    foreign = {"Origin": "https://elsewhere.example", "Next-Page": "wanted"}
    stranger.cookies[COOKIE] = client.cookies[COOKIE].value
    refused = stranger.post(address_of(study), {"step": "quiz", **ANSWERS["quiz"]}, headers=foreign)
    assert (refused.status_code, is_next_page(refused)) == (403, False)
    nobody = answered(Client(), study, "quiz")
    assert (nobody.status_code, is_next_page(nobody)) == (403, False)
    assert not nobody.has_header("Access-Control-Allow-Origin")


def test_a_decline_is_counted_once_and_shown(client: Client) -> None:
    study = recruiting_study()
    answered(client, study, "welcome")
    declined = answered(client, study, "consent", choice="decline")
    assert (declined.status_code, is_next_page(declined)) == (200, True)
    assert sum(study.counters.filter(kind="declined").values_list("count", flat=True)) == 1


def test_a_page_from_which_somebody_leaves_for_another_site_has_a_document_of_its_own() -> None:
    study = recruiting_study(**arms_with("task", "reading"))
    found: dict[bool, set[str]] = {}
    for _ in range(24):
        client = Client()
        walk(client, study, until="background")
        found.setdefault(is_next_page(answered(client, study, "background")), set()).add(participant_of(client).arm)
    assert found == {False: {"arm-task"}, True: {"arm-reading", "nothing"}}


def test_the_answer_asks_the_database_no_more_than_the_redirect(client: Client, django_capture_on_commit_callbacks: Any) -> None:
    study, other = recruiting_study(), Client()

    def statements(act: Callable[..., HttpResponse], *arguments: Any, **values: Any) -> int:
        with CaptureQueriesContext(connection) as asked, django_capture_on_commit_callbacks(execute=True):
            act(*arguments, **values)
        return len(asked)

    for step in IN_THE_ANSWER:
        assert statements(answered, client, study, step) == statements(send, other, study, step, **ANSWERS[step]), step
