"""People make tokens for their programs themselves: shown once, with a scope and a last day, revoked at once, and recorded."""

from datetime import date, timedelta
from threading import Barrier

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import ApiToken, Role, TokenScope, User
from accounts.services import issue_token, revoke_token
from accounts.tokens.forms import NewTokenForm
from audit.models import Entry
from tests.factories import PASSWORD, logged_in, page_of, person
from tests.simultaneous import at_once

pytestmark = pytest.mark.django_db
PAGE = "/accounts/tokens/"


@pytest.fixture
def user() -> User:
    return person(Role.INVESTIGATOR)


def confirmed(user: User) -> Client:
    """A browser in which this person just gave their password again."""
    client = logged_in(user)
    assert client.post("/accounts/confirm/", {"password": PASSWORD}).status_code == 302
    return client


def day(days: int) -> str:
    return (timezone.localdate() + timedelta(days=days)).isoformat()


def test_a_token_is_shown_once_works_and_is_revoked(user: User) -> None:
    client = confirmed(user)
    made = client.post(PAGE, {"name": "night report", "scope": "read", "last_day": day(30)})
    assert made["Cache-Control"] == "no-store"
    token = page_of(made).xpath('string(//*[@id="token"])')
    assert token not in client.get(PAGE).content.decode()
    program = Client(headers={"Authorization": f"Bearer {token}"})
    assert program.get("/api/v1/studies/").status_code == 200
    kept = ApiToken.objects.get()
    assert (kept.user, kept.name, kept.scope, kept.last_day.isoformat()) == (user, "night report", "read", day(30))
    client.post(PAGE, {"action": "revoke", "name": "night report"})
    assert program.get("/api/v1/studies/").status_code == 401
    logged = Entry.objects.filter(action__startswith="account.token").order_by("sequence")
    assert [(entry.action, entry.actor_id) for entry in logged] == [
        ("account.token_issued", user.pk),
        ("account.token_revoked", user.pk),
        ("account.token_refused", None),
    ]
    assert token not in str(list(Entry.objects.values()))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "taken"),
        ("name", "x" * 51),
        ("scope", "all"),
        ("last_day", -1),
        ("last_day", 367),
        ("last_day", ""),
    ],
)
def test_a_wrong_field_makes_no_token_and_is_named(user: User, field: str, value: str | int) -> None:
    """A number is a day so far from today."""
    client = confirmed(user)
    client.post(PAGE, {"name": "taken", "scope": "read", "last_day": day(1)})
    refused = client.post(
        PAGE, {"name": "new", "scope": "write", "last_day": day(1), field: day(value) if isinstance(value, int) else value}
    )
    assert refused.status_code == 422
    assert page_of(refused).xpath(f'//*[@class="error-summary"]//a[@href="#{field}"]')
    assert ApiToken.objects.count() == 1


def test_nobody_sees_or_revokes_the_tokens_of_others(user: User) -> None:
    confirmed(user).post(PAGE, {"name": "night report", "scope": "write", "last_day": day(1)})
    other = logged_in(person(Role.ADMINISTRATOR))
    assert "night report" not in other.get(PAGE).content.decode()
    other.post(PAGE, {"action": "revoke", "name": "night report"})
    assert ApiToken.objects.filter(user=user).exists()


def test_one_revokes_ones_own_tokens_and_nothing_is_said_of_others(user: User) -> None:
    other = person(Role.INVESTIGATOR)
    for one in (user, other):
        issue_token(user=one, name="night report", scope=TokenScope.READ, days=1)
    revoked = [revoke_token(user=user, name=name, actor=user) for name in ("another", "night report", "night report")]
    assert revoked == [False, True, False]
    assert ApiToken.objects.get().user == other
    entry = Entry.objects.get(action="account.token_revoked")
    assert (entry.actor, entry.subject_id, entry.details) == (user, str(user.pk), {"name": "night report"})


def test_a_token_asks_for_the_password_first_and_keeps_what_was_typed(user: User) -> None:
    """Somebody at an unlocked computer, or with a stolen session, makes no key that outlives it."""
    client = logged_in(user)
    asked = client.post(PAGE, {"name": "night report", "scope": "write", "last_day": day(30)})
    assert (asked.status_code, asked["Location"].split("?")[0]) == (302, "/accounts/confirm/")
    assert client.post(asked["Location"], {"password": "wrong"}).status_code == 200
    assert not ApiToken.objects.exists()
    made = client.post(asked["Location"], {"password": PASSWORD})
    assert page_of(made).xpath('string(//*[@id="token"])')
    assert [(token.name, token.scope) for token in ApiToken.objects.all()] == [("night report", "write")]
    assert client.post(PAGE, {"action": "revoke", "name": "night report"}).status_code == 302, "revoking needs no password"
    assert not ApiToken.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_double_click_makes_one_token_and_says_so(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    clients, both = [confirmed(user), confirmed(user)], Barrier(2, timeout=20)

    def together(self: NewTokenForm) -> date:
        both.wait()  # neither has stored a token yet
        return seen(self)

    seen = NewTokenForm.clean_last_day
    monkeypatch.setattr(NewTokenForm, "clean_last_day", together)
    typed = {"name": "night report", "scope": "read", "last_day": day(30)}
    answers = at_once(*(lambda client=client: client.post(PAGE, typed) for client in clients))
    assert sorted(answer.status_code for answer in answers) == [200, 422]
    [refused] = [answer for answer in answers if answer.status_code == 422]
    assert page_of(refused).xpath('//*[@class="error-summary"]//a[@href="#name"]')
    assert ApiToken.objects.count() == 1
