"""Through every door by which accounts are made, names are of one alphabet, look like nobody else's, and promise no office."""

from importlib import import_module
from io import StringIO
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection
from django.test import Client

from accounts import services
from accounts.forms import OwnAccountForm
from accounts.login.single_sign_on import free_name_for
from accounts.models import Role, User
from tests.factories import PASSWORD, logged_in, page_of, person

pytestmark = pytest.mark.django_db
REFUSED = ("grаce", "GRACE", "ｇｒａｃｅ", "gräce", "admin", "Adm1n", "support")
"""The first with a Cyrillic а; the account `grace` is there already."""


@pytest.fixture
def grace() -> User:
    return services.create_user(username="grace", password=PASSWORD, role=Role.ADMINISTRATOR)


@pytest.mark.parametrize("name", REFUSED, ids=ascii)
def test_the_service_refuses_them(grace: User, name: str) -> None:
    with pytest.raises(ValidationError) as refused:
        services.create_user(username=name, password=PASSWORD, role=Role.ANALYST)
    assert list(refused.value.message_dict) == ["username"]
    assert list(User.objects.all()) == [grace]


@pytest.mark.parametrize("name", REFUSED, ids=ascii)
def test_the_administration_refuses_them_in_the_form(grace: User, name: str) -> None:
    form = {"username": name, "email": "", "role": "analyst", "password1": PASSWORD, "password2": PASSWORD}
    response = logged_in(grace).post("/admin/accounts/user/add/", form)
    assert response.status_code == 200
    assert page_of(response).xpath('//*[contains(@class, "errorlist")]')
    assert list(User.objects.all()) == [grace]


@pytest.mark.parametrize("name", REFUSED, ids=ascii)
def test_the_form_of_invited_people_refuses_them(grace: User, name: str) -> None:
    form = OwnAccountForm({"username": name, "password1": PASSWORD, "password2": PASSWORD})
    assert list(form.errors) == ["username"]


@pytest.mark.parametrize("name", REFUSED, ids=ascii)
def test_createsuperuser_refuses_them(grace: User, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    with pytest.raises(CommandError):
        call_command("createsuperuser", interactive=False, username=name, email="", verbosity=0, stderr=StringIO())
    assert list(User.objects.all()) == [grace]


def test_renaming_obeys_the_same_rules(grace: User) -> None:
    ada = person(Role.ANALYST, username="ada")
    form = {"username": "Grace", "role": "analyst", "is_active": "on", "first_name": "", "last_name": "", "email": ""}
    address = f"/admin/accounts/user/{ada.pk}/change/"
    assert logged_in(grace).post(address, form).status_code == 200
    assert logged_in(grace).post(address, form | {"username": "Ada"}).status_code == 302, "one's own name in other letters is nobody else's"
    ada.refresh_from_db()
    assert (ada.username, User.objects.filter(skeleton="ada").get()) == ("Ada", ada)


def test_simultaneous_namesakes_are_refused_by_the_database(grace: User) -> None:
    with pytest.raises(IntegrityError):
        User.objects.create_user("Grace", password=PASSWORD)


def test_the_demonstration_has_its_people() -> None:
    assert [user.username for user in services.ensure_demo_users(password=PASSWORD)] == ["investigator", "irb", "analyst", "admin"]


def test_somebody_who_comes_by_single_sign_on_gets_a_name_of_their_own(grace: User) -> None:
    def name_of(**known: str) -> str:
        return free_name_for(User(**known))

    assert name_of(username="ada") == "ada"
    assert name_of(username="Grace", email="grace@example.edu") == "Grace-2"
    assert name_of(username="admin", email="a.miller@example.edu") == "a.miller"
    assert name_of(username="ada lovelace!") == "adalovelace"
    assert name_of(username="аdmin", email="root@example.edu", first_name="Ada", last_name="Miller") == "Ada.Miller"
    assert name_of() == "person"
    person(Role.ANALYST, username="Grace-2")
    assert name_of(username="grace") == "grace-3"


def test_accounts_from_before_keep_their_names_and_the_oldest_its_look() -> None:
    """The migration meets names that are refused today; everybody still logs in."""
    for name in ("first", "second", "third"):
        person(Role.ANALYST, username=name)
    User.objects.update(skeleton=None)
    for old, new in (("first", "ada"), ("second", "Ada"), ("third", "admin")):
        User.objects.filter(username=old).update(username=new)
    import_module("accounts.migrations.0002_login").fill_in(apps, SimpleNamespace(connection=connection))
    assert dict(User.objects.values_list("username", "skeleton")) == {"ada": "ada", "Ada": None, "admin": "admln"}
    for name in ("ada", "Ada", "admin"):
        assert Client().post("/accounts/login/", {"login": name, "password": PASSWORD}).status_code == 302
    changed = services.change_role(user=User.objects.get(username="Ada"), role=Role.INVESTIGATOR)
    assert changed.role == Role.INVESTIGATOR, "their accounts can be changed"
    administrator = logged_in(person(Role.ADMINISTRATOR, username="grace"))
    form = {"username": "admin", "role": "analyst", "first_name": "", "last_name": "", "email": "", "initial-is_active": "True"}
    switched_off = User.objects.get(username="admin")
    assert administrator.post(f"/admin/accounts/user/{switched_off.pk}/change/", form).status_code == 302
    switched_off.refresh_from_db()
    assert not switched_off.is_active, "and be switched off"
