"""The page on which administrators register course platforms: addresses that cannot work are refused, and nothing happens unrecorded."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from accounts.models import Role
from audit.models import Entry
from lti.models import Platform
from lti.services import make_batch
from surveys.models import Study
from tests.course_students import platform as platform
from tests.course_students import queue, study_with_credit
from tests.factories import logged_in, page_of, person
from tests.jobs import attempt, claimed
from tests.lti_platform import CoursePlatform

pytestmark = pytest.mark.django_db
ADDRESSES = ("login_address", "token_address", "keys_address")
VALUES = {
    "name": "Moodle",
    "issuer": "https://moodle.example.org",
    "client_id": "a",
    "deployment_id": "1",
    **{name: f"https://moodle.example.org/{name}" for name in ADDRESSES},
}


@pytest.fixture
def administrator() -> Client:
    return logged_in(person(Role.ADMINISTRATOR))


def added(client: Client, **changes: str) -> HttpResponse:
    return client.post("/admin/lti/platform/add/", VALUES | changes)


def fields_of(page: HttpResponse) -> dict[str, str]:
    """The values that a browser sends back from a page on which nothing was changed."""
    return {name: value for name, value in page_of(page).get_element_by_id("platform_form").form_values() if value is not None}


def recorded() -> list[tuple[str, list[str]]]:
    return [(one.action, one.details["fields"]) for one in Entry.objects.filter(action__startswith="platform.").order_by("pk")]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("javascript:alert(1)", "Enter a valid URL"),
        ("ftp://moodle.example.org/", "Expected an https address"),
        ("http://moodle.example.org/", "Expected an https address"),
        ("https://münchen.example.org/", "Expected an https address"),
        ("https://a;script-src:b@moodle.example.org/", "Expected an address without a login"),
        ("https://moodle.example.org/#part", "Expected an address without a login"),
        ("https://10.0.0.1/", "Expected an address on the public internet"),
        ("https://[::1]/", "Expected an address on the public internet"),
        ("https://moodle.example.org/" + "x" * 10_000, "at most 300 characters"),
    ],
    ids=lambda text: ascii(text)[:40],
)
@pytest.mark.parametrize("field", ADDRESSES)
def test_addresses_that_cannot_work_are_refused(administrator: Client, settings: Any, field: str, address: str, said: str) -> None:
    settings.WEBHOOKS_MAY_STAY_PRIVATE = False
    page = page_of(added(administrator, **{field: address}))
    assert said in " ".join(page.xpath(f'//div[contains(@class, "field-{field}")]//ul[contains(@class, "errorlist")]//text()'))
    assert not Platform.objects.exists()
    assert recorded() == []


@pytest.mark.parametrize(
    "host",
    [
        "*",
        "https://*",
        "https://*.instructure.com",
        "https:",
        "'self'",
        "data:",
        "school.instructure.com",
        "https://school.instructure.com/courses/1",
        "https://school.instructure.com?frame=1",
        "https://school.instructure.com:*",
        "https://school.instructure.com:99999",
        "https://school.instructure.com;script-src",
        "https://school.instructure.com,https://evil.example.org",
        "https://school.instructure.com@evil.example.org",
        "https://schüle.example.org",
        "http://school.instructure.com",
        "ftp://school.instructure.com",
        "https://10.0.0.1",
        "https://[::1]",
        "https://[school",
    ],
    ids=ascii,
)
def test_pages_are_named_by_whole_hosts(administrator: Client, settings: Any, host: str) -> None:
    """The attack: a word that browsers read as the pages of everybody, or as the beginning of another rule."""
    settings.WEBHOOKS_MAY_STAY_PRIVATE = False
    page = page_of(added(administrator, page_addresses=f"https://moodle.example.org {host}"))
    assert page.xpath('//div[contains(@class, "field-page_addresses")]//ul[contains(@class, "errorlist")]')
    assert not Platform.objects.exists()


def test_several_hosts_of_pages_are_taken(administrator: Client) -> None:
    assert (
        added(administrator, page_addresses=" https://school.instructure.com   HTTPS://Canvas.school.example.org:8443/ ").status_code == 302
    )
    hosts = ["https://moodle.example.org", "https://school.instructure.com", "https://Canvas.school.example.org:8443"]
    assert Platform.objects.get().origins == hosts


def test_spaces_around_an_address_do_not_belong_to_it(administrator: Client) -> None:
    assert added(administrator, **{name: f"  {VALUES[name]} " for name in VALUES}).status_code == 302
    platform = Platform.objects.get()
    assert {name: getattr(platform, name) for name in VALUES} == VALUES


def test_a_platform_is_registered_once(administrator: Client) -> None:
    assert added(administrator).status_code == 302
    assert "already exists" in added(administrator, name="Another name").content.decode()
    assert Platform.objects.count() == 1


def test_a_page_that_was_open_for_long_takes_no_address_back(administrator: Client) -> None:
    added(administrator)
    address = f"/admin/lti/platform/{Platform.objects.get().pk}/change/"
    seen = fields_of(administrator.get(address))
    assert administrator.post(address, seen | {"keys_address": "https://moodle.example.org/new-keys"}).status_code == 302
    assert administrator.post(address, seen | {"name": "Courses"}).status_code == 302
    platform = Platform.objects.get()
    assert (platform.name, platform.keys_address) == ("Courses", "https://moodle.example.org/new-keys")
    assert recorded()[1:] == [("platform.changed", ["keys_address"]), ("platform.changed", ["name"])]


def test_what_was_saved_without_a_change_is_no_change(administrator: Client) -> None:
    added(administrator)
    address = f"/admin/lti/platform/{Platform.objects.get().pk}/change/"
    assert administrator.post(address, fields_of(administrator.get(address))).status_code == 302
    assert [action for action, _fields in recorded()] == ["platform.added"]


@pytest.mark.parametrize("shared", [False, True], ids=["the row became another platform", "an issuer of several platforms"])
def test_credit_never_travels_with_the_permission_of_another_platform(platform: CoursePlatform, shared: bool) -> None:
    """The attack: the access token of one university is sent to the address that another one named for its student."""
    study: Study = study_with_credit()
    queue(study, platform, "ada")
    registered = Platform.objects.get()
    if shared:
        registered.delete()
        for client in ("of one university", "of another one"):
            registered.pk, registered.client_id = None, client
            registered.save(force_insert=True)
    else:
        registered.issuer = "https://another.example.org"
        registered.save()
    batch = make_batch(study)
    assert batch is not None
    attempt(claimed(batch))
    batch.refresh_from_db()
    assert (batch.error, [place["sub"] for place in batch.places], platform.scores()) == ("the platform was removed", ["ada"], [])
