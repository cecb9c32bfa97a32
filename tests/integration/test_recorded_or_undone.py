"""Passwords and second factors: a process that ends before the log has an entry leaves everything as it was."""

from collections.abc import Callable
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from accounts import services
from accounts.models import Role, User
from audit.models import Entry
from tests.factories import PASSWORD, logged_in, person
from tests.integration.test_forgotten_password import ask, link_in, sent
from tests.integration.test_second_factor import APP, CODES, NEW_PASSWORD, code_of, confirm, log_in, set_up
from tests.integration.test_second_factor import ada as ada

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("mail_server")]
NEW = {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD}


class KilledError(BaseException):
    """The process ends here."""


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], None]:
    """Do something in a process that ends where it would write into the log."""

    def end(**_entry: object) -> None:
        raise KilledError

    def do(act: Callable[[], Any]) -> None:
        entries = Entry.objects.count()
        with monkeypatch.context() as log:
            log.setattr(services, "record", end)
            log.setattr("accounts.admin.record", end)
            with pytest.raises(KilledError):
                act()
        assert Entry.objects.count() == entries

    return do


def by_its_owner(ada: User) -> Callable[[], Any]:
    client = Client()
    log_in(client)
    return lambda: client.post("/accounts/password/", {"oldpassword": PASSWORD, **NEW})


def by_a_link(ada: User) -> Callable[[], Any]:
    User.objects.filter(pk=ada.pk).update(email="ada@example.org")
    ask("ada@example.org")
    client, (message,) = Client(), sent()
    form = client.get(link_in(message))["Location"]
    return lambda: client.post(form, NEW)


def by_an_administrator(ada: User) -> Callable[[], Any]:
    client = logged_in(person(Role.ADMINISTRATOR))
    return lambda: client.post(reverse("admin:auth_user_password_change", args=[ada.pk]), {**NEW, "usable_password": "true"})


def by_a_command(ada: User) -> Callable[[], Any]:
    return lambda: call_command("changepassword", "ada")


@pytest.mark.parametrize("way", [by_its_owner, by_a_link, by_an_administrator, by_a_command])
def test_a_password_that_the_log_does_not_tell_is_not_changed(
    ada: User, way: Callable[[User], Callable[[], Any]], killed: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getpass", lambda prompt: NEW_PASSWORD)
    act = way(ada)
    killed(act)
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)
    act()
    ada.refresh_from_db()
    assert ada.check_password(NEW_PASSWORD)


def test_a_second_factor_that_the_log_does_not_tell_is_neither_there_nor_gone(ada: User, killed: Callable[..., None]) -> None:
    client = Client()
    log_in(client)
    confirm(client, APP)
    client.get(APP)
    secret = client.session["mfa.totp.secret"]
    killed(lambda: client.post(APP, {"code": code_of(secret)}))
    assert not Authenticator.objects.exists()
    set_up_again = Client()
    log_in(set_up_again)
    set_up(set_up_again)
    there = list(Authenticator.objects.order_by("pk").values_list("pk", "type", "data"))
    killed(lambda: set_up_again.post(CODES + "new/"))
    killed(lambda: set_up_again.post(APP + "off/"))
    assert list(Authenticator.objects.order_by("pk").values_list("pk", "type", "data")) == there
