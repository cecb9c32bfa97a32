"""The lists of the admin: an address filters them by what they show, and by nothing that stays concealed from administrators, too."""

import pytest
from django.test import Client

from accounts.models import Role
from surveys.models import AllocationList, Study
from tests.factories import logged_in, page_of, person, walk

pytestmark = pytest.mark.django_db


@pytest.fixture
def administrator() -> Client:
    return logged_in(person(Role.ADMINISTRATOR))


def listed(client: Client, address: str) -> int | None:
    """How many rows the list has; None where it is not filtered so."""
    response = client.get(address)
    return None if response.status_code == 400 else len(page_of(response).xpath('//table[@id="result_list"]/tbody/tr'))


def test_no_filter_tells_the_nonce_of_a_list(administrator: Client, study: Study) -> None:
    """The attack: try each letter after those that are known. With the nonce, a short list can be found from its hash."""
    found = ""
    while len(found) < 4:
        address = f"/admin/surveys/allocationlist/?nonce__startswith={found}"
        tried = {letter: listed(administrator, f"{address}{letter}") for letter in "0123456789abcdef"}
        if not any(tried.values()):
            break
        found += next(letter for letter, rows in tried.items() if rows)
    assert found == ""
    assert AllocationList.objects.get(study=study).nonce


@pytest.mark.parametrize(
    "asked",
    [
        "surveys/study/?participants__isnull=False",
        "surveys/study/?allocation_slots__isnull=False",
        "surveys/study/?definition__slug=x",
        "surveys/protocol/?definition__slug=x",
        "accounts/user/?password__startswith=a",
        "accounts/user/?session_epoch=0",
        "lti/platform/?token_address__startswith=h",
    ],
)
def test_no_list_is_filtered_by_what_it_does_not_show(administrator: Client, study: Study, asked: str) -> None:
    walk(Client(), study, until="quiz")
    assert listed(administrator, f"/admin/{asked}") is None


@pytest.mark.parametrize(
    ("asked", "rows"),
    [
        ("surveys/study/?status__exact=recruiting", 1),
        ("surveys/study/?status__exact=closed", 0),
        ("surveys/study/?q=lecture", 1),
        ("surveys/allocationlist/?number=1", 1),
        ("accounts/user/?role__exact=administrator", 1),
        ("accounts/user/?is_active__exact=0", 0),
    ],
)
def test_lists_are_filtered_by_what_they_show(administrator: Client, study: Study, asked: str, rows: int) -> None:
    assert listed(administrator, f"/admin/{asked}") == rows
