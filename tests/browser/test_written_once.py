"""Each test finds what a fixture wrote for another test, and nothing that the other test did to it."""

import pytest

from accounts.models import Role, User
from tests.browser.written_once import rows_of_all_tables, written_once

WORKED: list[str] = []


@written_once
def somebody(name: str) -> User:
    WORKED.append(name)
    return User.objects.create_user(name, password="correct horse", role=Role.ANALYST)


@pytest.mark.parametrize("attempt", [1, 2])
def test_the_rows_are_those_of_the_first_time(postgresql: None, attempt: int) -> None:
    """The first test damages all that it found; the second one finds it whole, and can add to it."""
    user = somebody("ada")
    assert (user.username, user.role, user.check_password("correct horse")) == ("ada", Role.ANALYST, True)
    assert User.objects.count() == 1
    User.objects.filter(pk=user.pk).update(username="changed", role=Role.INVESTIGATOR)
    other = User.objects.create_user("grace", password="correct horse", role=Role.ANALYST)
    assert other.pk != user.pk
    assert WORKED.count("ada") == 1


def test_other_arguments_are_another_work(postgresql: None) -> None:
    assert somebody("emmy").username == "emmy"
    assert WORKED.count("emmy") == 1


def test_it_works_again_where_the_database_is_not_empty(postgresql: None) -> None:
    User.objects.create_user("grace", password="correct horse", role=Role.ANALYST)
    before = WORKED.count("mary")
    for _again in range(2):
        somebody("mary")
        User.objects.filter(username="mary").delete()
    assert WORKED.count("mary") == before + 2
    assert rows_of_all_tables()
