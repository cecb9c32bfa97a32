"""A forgotten password, all the way: asked for, sent by e-mail, set anew; and nobody learns which addresses have accounts."""

import re
import threading
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from django.utils.http import int_to_base36

from accounts import actions, sending
from accounts.models import Role, User
from audit.models import Entry
from tests.factories import PASSWORD, heading, page_of, person

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mail_server")]
FORGOTTEN, SENT = "/accounts/password/forgotten/", "/accounts/password/forgotten/sent/"
NEW_PASSWORD = "seven horses on the moon"


@pytest.fixture
def ada() -> User:
    user = person(Role.INVESTIGATOR, username="ada")
    user.email = "ada@university.example"
    user.save()
    return user


def ask(address: str) -> Any:
    return Client().post(FORGOTTEN, {"email": address})


def sent() -> list[mail.EmailMessage]:
    """The messages, once all are sent."""
    sending.send_later(mail.EmailMessage(to=[])).result()  # a message to nobody is not sent
    return mail.outbox


def recorded(action: str) -> list[tuple[str | None, str, dict[str, Any]]]:
    return [(entry.actor_name, entry.subject_id, entry.details) for entry in Entry.objects.filter(action=action)]


def link_in(message: mail.EmailMessage) -> str:
    (link,) = re.findall(r"http://testserver(/\S+)", str(message.body))
    return str(link)


def secret_in(link: str) -> str:
    return link.rstrip("/").rpartition("/")[2].partition("-")[2]


def test_a_forgotten_password_is_set_anew_by_the_link_in_an_email(ada: User) -> None:
    elsewhere = Client()
    elsewhere.post("/accounts/login/", {"login": "ada", "password": PASSWORD})
    assert ask("Ada@University.example")["Location"] == SENT
    (message,) = sent()
    assert (message.to, message.from_email) == ([ada.email], "candor@university.example")
    assert "ada" in message.body
    link = link_in(message)
    client = Client()
    form = client.get(link, follow=True)
    assert heading(form) == "New password"
    address = form.redirect_chain[-1][0]
    assert secret_in(link) not in address, "the page that is left by links has no secret in its address"
    done = client.post(address, {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD}, follow=True)
    assert heading(done) == "Your new password is set"
    assert client.get("/studies/").status_code == 302, "the password is asked for, and a second factor where there is one"
    assert client.post("/accounts/login/", {"login": "ada", "password": NEW_PASSWORD}).status_code == 302
    assert client.get("/studies/").status_code == 200
    assert elsewhere.get("/studies/").status_code == 302, "sessions of the old password are over"
    key = str(ada.pk)
    assert recorded(actions.PASSWORD_ASKED) == [("", key, {"username": "ada"})]
    assert recorded(actions.PASSWORD_CHANGED) == [("ada", key, {})]
    assert not page_of(Client().get(link, follow=True)).xpath("//input[@type='password']"), "the link works once"


def test_an_address_with_capital_letters_has_its_account(ada: User) -> None:
    User.objects.filter(pk=ada.pk).update(email="Ada.Lovelace@university.example")
    for address in ("ada.lovelace@university.example", "Ada.Lovelace@university.example"):
        ask(address)
    assert [message.to for message in sent()] == [["ada.lovelace@university.example"]] * 2
    assert recorded(actions.PASSWORD_ASKED) == [("", str(ada.pk), {"username": "ada"})] * 2


def test_no_link_goes_around_the_institution_of_an_account_without_a_password(ada: User) -> None:
    """Attack: somebody whom single sign-on refuses by now, and who still reads the mailbox, has a password made."""
    theirs = person(Role.IRB_OFFICER, username="ada.lovelace")
    theirs.email = ada.email
    theirs.set_unusable_password()
    theirs.save()
    EmailAddress.objects.create(user=theirs, email=ada.email, verified=True, primary=True)
    assert ask(ada.email)["Location"] == SENT
    (message,) = sent()
    assert int_to_base36(ada.pk) in link_in(message).rstrip("/").rpartition("/")[2].partition("-")[0], "the local account alone"
    ada.delete()
    assert ask(theirs.email)["Location"] == SENT
    assert len(sent()) == 1


def test_a_new_password_must_be_a_good_one(ada: User) -> None:
    ask(ada.email)
    client = Client()
    address = client.get(link_in(sent()[0]), follow=True).redirect_chain[-1][0]
    assert client.post(address, {"password1": "password1234", "password2": "password1234"}).status_code == 200
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


def without_token(response: Any) -> str:
    return re.sub(r'(name="csrfmiddlewaretoken" value=)"[^"]*"', r"\1", response.content.decode())


def test_nobody_learns_whether_an_address_has_an_account(ada: User) -> None:
    off = person(Role.ANALYST, username="gone")
    User.objects.filter(pk=off.pk).update(email="gone@university.example", is_active=False)
    answers = set()
    for address in (ada.email, "gone@university.example", "nobody@university.example"):
        response = ask(address)
        after = Client().get(response["Location"])
        answers.add((response.status_code, response["Location"], str(response.cookies), response.content, without_token(after)))
    assert len(answers) == 1
    assert "If an account has the address that you gave" in after.content.decode(), "nor does it claim to have sent anything"
    assert [message.to for message in sent()] == [[ada.email]]
    assert [details for _actor, _subject, details in recorded(actions.PASSWORD_ASKED)] == [
        {"username": "ada"},
        {"username": None},
        {"username": None},
    ]
    assert "@" not in repr(list(Entry.objects.values_list("details")))


def test_neither_does_a_slow_or_failing_mail_server_tell(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()

    def slow_and_failing(message: mail.EmailMessage) -> int:
        assert answered.wait(10), "the answer waits for the mail server"
        raise ConnectionRefusedError

    monkeypatch.setattr(mail.EmailMultiAlternatives, "send", slow_and_failing)
    assert ask(ada.email)["Location"] == SENT
    answered.set()
    assert sent() == []


@pytest.mark.parametrize("address", ["ada@university.example", "nobody@university.example"])
def test_asking_again_and_again_is_refused_alike(ada: User, address: str) -> None:
    assert [ask(address).status_code for _ in range(6)] == [302] * 5 + [429]
    assert "This was asked for too often" in ask(address).content.decode()


def test_a_made_up_link_and_that_of_another_account_open_nothing(ada: User) -> None:
    other = person(Role.INVESTIGATOR, username="bob")
    ask(ada.email)
    link = link_in(sent()[0])
    for wrong in (
        link.replace(secret_in(link), "abc123-0123456789abcdef0123456789abcdef"),
        link.replace(f"/{int_to_base36(ada.pk)}-", f"/{int_to_base36(other.pk)}-"),
    ):
        assert wrong != link
        page = page_of(Client().get(wrong, follow=True))
        assert "This link does not work any more" in page.text_content()
        assert page.xpath("//input[@type='password']") == []
