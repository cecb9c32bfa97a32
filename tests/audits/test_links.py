"""A link that is shown leads somewhere: everybody follows every link from page to page, and no door is closed."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from django.urls import reverse
from lxml import html

from accounts.models import User
from surveys.models import Study, StudyStatus
from tests.audits.test_permissions import people, shared, visits_of
from tests.audits.who_may_enter import VISITORS
from tests.factories import study_in
from tests.finished_people import TELLING_DIE, add_finished_people

pytestmark = pytest.mark.django_db
fixtures = (people,)
LIFE = (StudyStatus.DRAFT, StudyStatus.IN_REVIEW, StudyStatus.RECRUITING, StudyStatus.CLOSED)
LIKE = re.compile(r"/\d+(?=/|$)")
"""Pages of a list are alike: one of them is looked at."""


@pytest.fixture
def studies(people: dict[str, User]) -> list[Study]:
    """One in each part of its life."""
    made = [shared(study_in(one, slug=f"is-{one.value}".replace("_", "-"), owner=people["owner"], die=TELLING_DIE), people) for one in LIFE]
    add_finished_people(made[-1], 40)
    return made


@pytest.mark.parametrize("visitor", VISITORS)
def test_no_link_leads_to_a_closed_door(visitor: str, people: dict[str, User], studies: list[Study]) -> None:
    visit, seen, closed = visits_of(visitor, people), set(), []
    ways = [(reverse("home"), ""), (reverse("first_page"), ""), *((reverse("surveys:study", args=[one.slug]), "") for one in studies)]
    beginnings = len(ways)
    for number, (address, page) in enumerate(ways):
        like = LIKE.sub("/n", urlsplit(address).path)
        if like in seen or PurePosixPath(like).suffix or like.startswith("/admin/"):
            continue  # files are other tests' matter, and Django's own pages are Django's
        seen.add(like)
        response = visit().get(address, follow=True)
        if response.status_code >= 400 and number >= beginnings:
            closed.append(f"{response.status_code} {address}, a link on {page}")
        ways += [(link, address) for link in links_on(response)]
    assert closed == []
    assert len(seen) > len(studies)


def links_on(response: Any) -> Iterator[str]:
    """The addresses of this site to which the page leads."""
    if "text/html" not in response["Content-Type"] or response.has_header("Content-Disposition"):
        return
    for link in html.fromstring(response.content).xpath("//a/@href"):
        address = urlsplit(urljoin(f"http://testserver{response.request['PATH_INFO']}", link))
        if address.netloc == "testserver":
            yield address._replace(scheme="", netloc="", fragment="").geturl()
