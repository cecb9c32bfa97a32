"""The list of studies: 45 of them are found, filtered, sorted and paged."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import Role, User
from surveys.models import Study, StudyStatus
from surveys.studies.listing import PER_PAGE
from surveys.studies.services import create_study
from tests.factories import definition, logged_in, page_of, person, study_in

pytestmark = pytest.mark.django_db
ADDRESS = reverse("surveys:studies")


@pytest.fixture
def owner() -> User:
    return person(Role.INVESTIGATOR)


@pytest.fixture
def browser(owner: User) -> Client:
    return logged_in(owner)


def make(owner: User, numbers: range) -> None:
    for number in numbers:
        create_study(definition=definition(slug=f"study-{number:02}", title=f"Sleep and grades {99 - number}"), owner=owner)


def titles(browser: Client, query: str = "") -> list[str]:
    return [title.strip() for title in page_of(browser.get(f"{ADDRESS}?{query}")).xpath("//li//h2//text()")]


def pages(browser: Client, query: str) -> Iterator[list[str]]:
    """The titles of each page, by following Next."""
    while query:
        page = page_of(browser.get(ADDRESS + query))
        yield [title.strip() for title in page.xpath("//li//h2//text()")]
        query = "".join(page.xpath('//a[@rel="next"]/@href'))


def test_every_study_is_on_one_page_in_the_order_asked_for(browser: Client, owner: User) -> None:
    make(owner, range(45))
    found = list(pages(browser, "?sort=title"))
    assert [len(page) for page in found] == [PER_PAGE, PER_PAGE, 5]
    assert [title for page in found for title in page] == sorted(f"Sleep and grades {99 - number}" for number in range(45))
    assert titles(browser, "page=99&sort=title") == found[-1], "a page beyond the last is the last"
    for odd in ("page=x", "page=-1", "sort=slug;drop", "state=nowhere", "q=" + "x" * 5000):
        assert browser.get(f"{ADDRESS}?{odd}").status_code == 200, odd


def test_words_and_state_find_studies(browser: Client, owner: User) -> None:
    make(owner, range(8))
    Study.objects.filter(slug="study-03").update(title="Coffee before exams")
    assert titles(browser, "q=coffee") == ["Coffee before exams"]
    assert titles(browser, "q=EXAMS+coffee") == ["Coffee before exams"], "all words, in any order"
    assert titles(browser, "q=study-05") == ["Sleep and grades 94"]
    assert len(titles(browser, f"q={owner.username}")) == 8
    assert titles(browser, "q=tea") == []
    assert "No study fits" in browser.get(f"{ADDRESS}?q=tea").content.decode()
    assert titles(browser, "q=%25") == [], "a percent sign is a character like others"
    assert len(titles(browser, "state=draft")) == 8
    assert titles(browser, "state=recruiting") == []


def test_few_studies_need_no_search(browser: Client, owner: User) -> None:
    make(owner, range(5))
    assert 'role="search"' not in browser.get(ADDRESS).content.decode()
    make(owner, range(5, 6))
    assert 'role="search"' in browser.get(ADDRESS).content.decode()


def test_a_search_finds_nothing_that_one_may_not_see(browser: Client) -> None:
    make(person(Role.INVESTIGATOR), range(8))
    for query in ("", "q=sleep", "state=all", "state=draft"):
        assert titles(browser, query) == []
    assert "8" not in "".join(page_of(browser.get(f"{ADDRESS}?state=all")).xpath("//main//text()"))


def test_a_longer_list_asks_the_database_no_more(browser: Client, owner: User) -> None:
    make(owner, range(25))
    with CaptureQueriesContext(connection) as few:
        browser.get(ADDRESS)
    make(owner, range(25, 45))
    with CaptureQueriesContext(connection) as many:
        browser.get(ADDRESS)
    assert len(many) == len(few)


def test_archived_studies_are_left_out_until_they_are_asked_for(browser: Client, owner: User) -> None:
    archived = study_in(StudyStatus.ARCHIVED, owner=owner, slug="an-old-one", title="An old one")
    assert archived.status == StudyStatus.ARCHIVED
    assert "No study fits" in browser.get(ADDRESS).content.decode(), "it says so, and leads to all of them"
    make(owner, range(1))
    assert titles(browser) == ["Sleep and grades 99"]
    (link,) = page_of(browser.get(ADDRESS)).xpath('//a[normalize-space()="Show 1 archived study"]/@href')
    assert titles(browser, link.removeprefix("?")) == ["An old one"]
    assert set(titles(browser, "state=all")) == {"An old one", "Sleep and grades 99"}


def test_studies_with_one_title_are_told_apart_by_their_addresses(browser: Client, owner: User) -> None:
    for slug in ("first-term", "second-term"):
        create_study(definition=definition(slug=slug, title="Sleep and grades"), owner=owner)
    assert sorted(page_of(browser.get(ADDRESS)).xpath("//li//code/text()")) == ["first-term", "second-term"]
