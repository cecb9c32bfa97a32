"""A student's browser that comes from a course: its launch, its journey, the credit, and handing it in."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Any

import pytest
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client

from lti.models import Platform
from lti.standard.keys import public_keys
from surveys.credit.selectors import Place, bytes_of, text_of
from surveys.credit.services import change_credit
from surveys.models import CreditBook, Study
from tests.credit_tokens import blinding, token
from tests.factories import address_of, hidden_value, page_of, recruiting_study, walk
from tests.jobs import catch
from tests.lti_platform import CoursePlatform, course_platform


def study_with_credit(**changes: Any) -> Study:
    study = recruiting_study(**changes)
    change_credit(study, is_on=True, for_everybody=True, actor=study.owner)
    return study


def platform_for_tests() -> AbstractContextManager[CoursePlatform]:
    return course_platform(public_keys())


@pytest.fixture
def platform(monkeypatch: pytest.MonkeyPatch) -> Iterator[CoursePlatform]:
    """A registered platform; messages to the workers are caught."""
    catch(monkeypatch)
    cache.clear()
    with platform_for_tests() as running:
        running.registered()
        yield running


def words(response: Any) -> str:
    """All words of the page."""
    return " ".join(page_of(response).text_content().split())


def ask_for_launch(client: Client, platform: CoursePlatform, **values: str) -> HttpResponse:
    asked = {"iss": platform.address, "client_id": "candor", "login_hint": "hint", "lti_message_hint": "opaque"}
    return client.post("/lti/login/", asked | values)


def launch(client: Client, platform: CoursePlatform, study: Study | None, *, sub: str, **changes: Any) -> HttpResponse:
    """Open the activity in the course."""
    asked = ask_for_launch(client, platform)
    assert asked.status_code == 302, asked.content
    return client.post("/lti/launch/", platform.answer(asked["Location"], sub=sub, study=study.slug if study else "", **changes))


def finish(client: Client, study: Study) -> str:
    """Take part; the ticket of the last page."""
    return hidden_value(walk(client, study), "ticket")


def signed_token(client: Client, study: Study, ticket: str) -> str:
    """Get the credit as the page's script does."""
    begun = blinding(study.course_credit.modulus, study.slug)
    answer = client.post(f"{address_of(study)}credit/", {"ticket": ticket, "blinded": text_of(begun.blinded())})
    assert answer.status_code == 200, answer.content
    return token(begun, bytes_of(answer.json()["signature"]))


def hand_in(client: Client, study: Study, **sent: str) -> HttpResponse:
    page = client.get(f"/credit/{study.slug}/")
    assert page.status_code == 200, page.content
    return client.post(f"/credit/{study.slug}/", {"mark": hidden_value(page, "mark"), **sent})


def waiting(study: Study) -> list[str]:
    """The students whose credit waits."""
    return [place["sub"] for place in CreditBook.objects.get(study=study).waiting]


def queue(study: Study, platform: CoursePlatform, *subs: str) -> None:
    """Let these students wait for their credit, and nobody else."""
    number = Platform.objects.get().pk
    places = [
        asdict(Place(platform=number, issuer=platform.address, sub=sub, line_item=f"{platform.address}/items/course-1")) for sub in subs
    ]
    CreditBook.objects.update_or_create(study=study, defaults={"waiting": places})
