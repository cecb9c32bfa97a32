"""Pages that caches between may keep: none brings a cookie, and all are the same for everybody."""

import time
from collections.abc import Mapping

import pytest
from django.contrib.auth import SESSION_KEY
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.login.middleware import LONGEST_SECONDS, NOTED_EVERY_SECONDS, SEEN, SINCE
from accounts.models import Role
from tests.audits.test_permissions import own_routes
from tests.audits.who_may_enter import ARGUMENTS
from tests.factories import logged_in, person, recruiting_study

pytestmark = pytest.mark.django_db
SECONDS_AGO = {
    "somebody whose activity is noted again": {SINCE: 2 * NOTED_EVERY_SECONDS, SEEN: 2 * NOTED_EVERY_SECONDS},
    "somebody whose session ends": {SINCE: 2 * LONGEST_SECONDS, SEEN: 0},
}


@pytest.fixture
def addresses() -> list[str]:
    """Those of all public pages, some of a study among them."""
    given = {"slug": recruiting_study().slug, **ARGUMENTS}
    every = [reverse(name, kwargs={one: given[one] for one in parameters}) for name, parameters in own_routes().items()]
    return [address for address in every if is_public(Client().get(address))]


def is_public(response: HttpResponse) -> bool:
    return "public" in response.get("Cache-Control", "")


def with_session(seconds_ago: Mapping[str, int]) -> Client:
    client = logged_in(person(Role.INVESTIGATOR))
    session = client.session
    session.update({name: int(time.time()) - seconds for name, seconds in seconds_ago.items()})
    session.save()
    assert SESSION_KEY in session
    return client


@pytest.mark.parametrize("seconds_ago", SECONDS_AGO.values(), ids=SECONDS_AGO.keys())
def test_no_public_page_brings_a_cookie(addresses: list[str], seconds_ago: Mapping[str, int]) -> None:
    assert len(addresses) >= 10
    for address in addresses:
        response = with_session(seconds_ago).get(address)
        assert not (is_public(response) and response.cookies), address
        if response.cookies:
            assert response["Cache-Control"] == "no-store", address


def test_public_pages_are_the_same_for_staff_and_strangers(addresses: list[str]) -> None:
    staff = logged_in(person(Role.INVESTIGATOR))
    staff.get(reverse("home"))
    for address in addresses:
        theirs, strangers = staff.get(address), Client().get(address)
        assert is_public(theirs), address
        assert theirs.getvalue() == strangers.getvalue(), address
