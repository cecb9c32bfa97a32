"""No browser and no proxy keeps what staff see: every address outside the participants' pages says so, downloads included."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.login import middleware
from accounts.models import Role
from surveys.models import MediaFile, Study
from tests.audits.test_permissions import own_routes, routes
from tests.audits.who_may_enter import ARGUMENTS
from tests.factories import logged_in, person, recruiting_study

pytestmark = pytest.mark.django_db

FOR_EVERYBODY = {
    "analysis:evidence",
    "analysis:methods_page",
    "analysis:robots",
    "analysis:site_map",
    "lti:keys",
    "surveys:log_heads",
    "surveys:open_studies",
    "surveys:privacy_for_strangers",
    "surveys:two_worlds",
}
"""The same for everybody, whether logged in or not: anybody may keep them."""


def addresses_of(study: Study) -> Iterator[tuple[str, str]]:
    values = ARGUMENTS | {"slug": study.slug, "media_id": MediaFile.objects.filter(study=study).values_list("pk", flat=True)[0]}
    for name, parameters in own_routes().items():
        yield name, reverse(name, kwargs={parameter: values[parameter] for parameter in parameters})
    for name, parameters in routes():
        if name.startswith("admin:") and not parameters and name != "admin:":
            yield name, reverse(name)


def kept(client: Client, study: Study) -> dict[str, str]:
    """The addresses whose answer may be stored, each with what it says about that."""
    found = {}
    for name, address in addresses_of(study):
        if not address.startswith("/s/"):
            response = client.get(address)
            said = response.get("Cache-Control", "nothing")
            b"".join(response)  # reads files to their end
            found |= {name: said} if "no-store" not in said else {}
    return found


@pytest.mark.parametrize("role", Role)
def test_every_page_of_staff_says_that_it_is_not_to_be_stored(role: Role) -> None:
    study = recruiting_study()
    client = logged_in(study.owner if role == Role.INVESTIGATOR else person(role))
    assert set(kept(client, study)) == FOR_EVERYBODY
    assert client.get("/studies/").status_code == 200, "still logged in: these were the pages of staff"


def test_pages_that_anybody_may_keep_are_the_same_for_everybody() -> None:
    administrator = logged_in(person(Role.ADMINISTRATOR))
    for name in FOR_EVERYBODY:
        assert administrator.get(reverse(name)).content == Client().get(reverse(name)).content


def test_a_refused_and_an_absent_page_are_not_stored_either() -> None:
    client = logged_in(person(Role.ANALYST))
    for address in ("/log/", "/studies/absent/", "/no/such/page/"):
        assert client.get(address)["Cache-Control"] == "no-store"


def test_without_the_middleware_the_walk_finds_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: what 56ec2e8 said about itself."""

    def says_nothing(self: Any, request: Any) -> Any:
        return self.for_staff(request)

    monkeypatch.setattr(middleware.StaffMiddleware, "__call__", says_nothing)
    study = recruiting_study()
    assert len(kept(logged_in(study.owner), study)) > 40
