"""Passwords, second factors and sessions of staff: what opens, what closes, and the log's record of it."""

import re
import time
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth
from django.contrib.auth.password_validation import validate_password
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.http import HttpResponse
from django.test import Client

from accounts import actions
from accounts.login import middleware
from accounts.models import Role, TokenScope, User
from accounts.services import change_role, issue_token
from audit.models import Entry
from tests.factories import PASSWORD, address_of, logged_in, page_of, person, recruiting_study

pytestmark = pytest.mark.django_db
LOGIN, CODE, APP, CODES = "/accounts/login/", "/accounts/login/code/", "/accounts/second-factor/app/", "/accounts/second-factor/codes/"
NEW_PASSWORD = "seven horses on the moon"


@pytest.fixture
def ada() -> User:
    return person(Role.INVESTIGATOR, username="ada")


def log_in(client: Client, password: str = PASSWORD) -> HttpResponse:
    return client.post(LOGIN, {"login": "ada", "password": password})


def is_in(client: Client) -> bool:
    return client.get("/studies/").status_code == 200


def code_of(secret: str, *, at: float | None = None) -> str:
    counter = int((at or time.time()) // 30)
    return auth.format_hotp_value(auth.hotp_value(secret, counter))


def confirm(client: Client, address: str) -> None:
    """Type the password once more, which is asked for before anything about logging in is changed."""
    asked = client.get(address)
    assert asked["Location"].startswith("/accounts/confirm/")
    assert client.post(asked["Location"], {"password": PASSWORD})["Location"] == address


def set_up(client: Client) -> str:
    """Set up an authenticator app on the page; its secret."""
    confirm(client, APP)
    page = page_of(client.get(APP))
    secret = str(page.xpath('string(//*[@class="link-box"])')).strip()
    response = client.post(APP, {"code": code_of(secret)})
    assert response.status_code == 302, response.content.decode()
    cache.clear()  # a code counts once: forget this one, or tests would have to wait for the next
    return secret


def recorded(action: str) -> list[dict[str, Any]]:
    return [entry.details for entry in Entry.objects.filter(action=action)]


def test_with_a_second_factor_the_password_alone_opens_nothing(ada: User, committed: Callable[..., Any]) -> None:
    client = Client()
    log_in(client)
    with committed():
        secret = set_up(client)
    assert recorded(actions.SECOND_FACTOR_ADDED) == [{"kind": "totp"}, {"kind": "recovery_codes"}]
    other = Client()
    assert log_in(other)["Location"].startswith(CODE)
    assert not is_in(other)
    wrong = f"{(int(code_of(secret)) + 1) % 10**6:06}"
    assert "Incorrect code" in other.post(CODE, {"code": wrong}).content.decode()
    assert not is_in(other)
    acted = dict(Entry.objects.filter(action__startswith="account.second_factor").values_list("action", "actor"))
    assert acted == {actions.SECOND_FACTOR_ADDED: ada.pk, actions.SECOND_FACTOR_FAILED: None}, "a wrong code is perhaps somebody else's"
    other.post(CODE, {"code": code_of(secret)})
    assert is_in(other)


def test_the_secret_is_a_picture_in_the_page_and_lies_encrypted_in_the_database(ada: User) -> None:
    client = Client()
    log_in(client)
    confirm(client, APP)
    page = client.get(APP).content.decode()
    assert "<svg" in page
    assert "data:" not in page
    assert "style=" not in page
    secret = str(page_of(client.get(APP)).xpath('string(//*[@class="link-box"])')).strip()
    client.post(APP, {"code": code_of(secret)})
    assert len(secret) == 32
    assert Authenticator.objects.count() == 2
    assert secret not in repr(list(Authenticator.objects.values_list()))


def test_the_pages_about_logging_in_speak_as_all_others_do(ada: User) -> None:
    client = Client()
    log_in(client)
    names = ["Change the password", "Confirm that it is you", "Second factor"]
    assert [name_of(client, address) for address in ("/accounts/password/", APP, "/accounts/second-factor/")] == names
    set_up(client)
    names = ["Second factor", "Recovery codes", "Draw new codes", "Remove the second factor"]
    assert [name_of(client, address) for address in ("/accounts/second-factor/", CODES, f"{CODES}new/", f"{APP}off/")] == names
    stranger = Client()
    log_in(stranger)
    assert name_of(stranger, CODE) == "Second factor"


def name_of(client: Client, address: str) -> str:
    """The heading of a page, which is its title, too."""
    page = page_of(client.get(address, follow=True))
    name = page.xpath("string(//h1)")
    assert page.xpath("string(//title)") == f"{name} – Candor"
    return str(name)


def test_a_recovery_code_opens_once(ada: User) -> None:
    client = Client()
    log_in(client)
    set_up(client)
    codes = re.findall(r"\b\d{8}\b", client.get(CODES).content.decode())
    assert len(codes) == 10
    for opened in (True, False):
        other = Client()
        log_in(other)
        other.post(CODE, {"code": codes[0]})
        assert is_in(other) == opened
    assert recorded(actions.SECOND_FACTOR_FAILED) == [{"kind": "totp"}], "a code that was used is a wrong one"


def test_wrong_codes_close_the_door_for_a_while(ada: User, settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "login_failed": "3/15m/key"}
    client, other = Client(), Client()
    log_in(client)
    secret = set_up(client)
    log_in(other)
    for _ in range(3):
        other.post(CODE, {"code": "000000"})
    assert recorded(actions.LOGIN_REFUSED) == []
    for _ in range(2):
        other.post(CODE, {"code": code_of(secret)})
    assert not is_in(other)
    assert len(recorded(actions.SECOND_FACTOR_FAILED)) == 3
    assert recorded(actions.LOGIN_REFUSED) == [{"username": "ada", "door": "second factor"}]


def test_removing_the_second_factor_needs_it_and_is_recorded(ada: User) -> None:
    client = Client()
    log_in(client)
    set_up(client)
    assert client.post(APP + "off/").status_code == 302
    assert {"kind": "totp"} in recorded(actions.SECOND_FACTOR_REMOVED)
    other = Client()
    log_in(other)
    assert is_in(other)


def test_a_command_lets_in_people_who_lost_phone_and_codes_and_is_recorded(ada: User) -> None:
    with pytest.raises(CommandError, match="ada has no second factor"):
        call_command("remove_second_factor", "ada")
    client = Client()
    log_in(client)
    set_up(client)
    call_command("remove_second_factor", "ada", stdout=StringIO())
    entries = Entry.objects.filter(action=actions.SECOND_FACTOR_REMOVED)
    assert [(entry.actor, entry.subject_id, entry.details) for entry in entries] == [
        (None, str(ada.pk), {"kind": "totp"}),
        (None, str(ada.pk), {"kind": "recovery_codes"}),
    ]
    other = Client()
    log_in(other)
    assert is_in(other)
    with pytest.raises(CommandError, match="Nobody is called eve"):
        call_command("remove_second_factor", "eve")


@pytest.mark.parametrize(("role", "compulsory"), [(Role.IRB_OFFICER, True), (Role.ADMINISTRATOR, True), (Role.INVESTIGATOR, False)])
def test_an_installation_may_ask_officers_and_administrators_for_a_second_factor(role: Role, compulsory: bool, settings: Any) -> None:
    settings.REQUIRE_MFA = True
    person(role, username="ada")
    Authenticator.objects.create(user=person(role), type=Authenticator.Type.TOTP, data={})  # somebody else's
    client = Client()
    assert (client.get("/studies/").status_code, client.get("/api/v1/studies/").status_code) == (302, 401), "a stranger is asked to log in"
    log_in(client)
    assert is_in(client) != compulsory
    if compulsory:
        assert client.get("/studies/")["Location"] == APP
        assert client.get("/api/v1/studies/").status_code == 403
        set_up(client)
    assert is_in(client)


@pytest.mark.parametrize(("role", "compulsory"), [(Role.IRB_OFFICER, True), (Role.ADMINISTRATOR, True), (Role.INVESTIGATOR, False)])
def test_a_token_from_before_somebody_became_an_officer_waits_for_the_second_factor(role: Role, compulsory: bool, settings: Any) -> None:
    settings.REQUIRE_MFA = True
    ada = person(Role.INVESTIGATOR, username="ada")
    token = issue_token(user=ada, name="script", scope=TokenScope.WRITE, days=30)
    change_role(user=ada, role=role)
    program = {"Authorization": f"Bearer {token}"}
    assert Client().get("/api/v1/studies/", headers=program).status_code == (403 if compulsory else 200)
    client = Client()
    log_in(client)
    set_up(client)
    assert Client().get("/api/v1/studies/", headers=program).status_code == 200


def test_only_the_program_of_an_officer_waits_for_the_second_factor(settings: Any) -> None:
    settings.REQUIRE_MFA = True
    statuses = []
    for role in (Role.IRB_OFFICER, Role.INVESTIGATOR, Role.IRB_OFFICER):
        token = issue_token(user=person(role), name="good for today", scope=TokenScope.READ, days=0)
        statuses.append(Client().get("/api/v1/studies/", headers={"Authorization": f"Bearer {token}"}).status_code)
    assert statuses == [403, 200, 403]


@pytest.mark.parametrize("words", ["bearer  {token}", "Bearer\t{token}", " Bearer {token}", "Basic eDp5", "Bearer", ""])
def test_no_words_in_the_header_go_past_the_second_factor(words: str, settings: Any) -> None:
    """Attack: the API takes a token after any white space, and passes over other schemes to the session."""
    settings.REQUIRE_MFA = True
    officer = person(Role.IRB_OFFICER)
    header = {"Authorization": words.format(token=issue_token(user=officer, name="script", scope=TokenScope.READ, days=30))}
    statuses = {client.get("/api/v1/studies/", headers=header).status_code for client in (logged_in(officer), Client())}
    assert statuses <= {401, 403}


def test_a_new_password_ends_the_other_sessions(ada: User) -> None:
    here, there = Client(), Client()
    log_in(here), log_in(there)
    form = {"oldpassword": PASSWORD, "password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    assert here.post("/accounts/password/", form).status_code == 302
    assert (is_in(here), is_in(there)) == (True, False)
    assert len(recorded(actions.PASSWORD_CHANGED)) == 1
    log_in(there, NEW_PASSWORD)
    assert is_in(there)


@pytest.mark.parametrize("password", ["elevenchars", "password1234", "123456789012345"])
def test_short_and_common_passwords_are_refused(ada: User, password: str) -> None:
    client = Client()
    log_in(client)
    form = {"oldpassword": PASSWORD, "password1": password, "password2": password}
    assert client.post("/accounts/password/", form).status_code == 200
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


def test_logging_out_everywhere_else_leaves_this_session(ada: User) -> None:
    here, there = Client(), Client()
    log_in(here), log_in(there)
    assert here.post("/accounts/elsewhere/").status_code == 302
    assert (is_in(here), is_in(there)) == (True, False)
    assert len(recorded(actions.LOGGED_OUT_ELSEWHERE)) == 1


@pytest.mark.parametrize(
    ("hours_since_login", "hours_idle", "still_in"), [(11.9, 1.9, True), (12.1, 0.1, False), (3, 2.1, False), (0.1, 0.1, True)]
)
def test_sessions_end_after_twelve_hours_or_two_of_doing_nothing(
    ada: User, hours_since_login: float, hours_idle: float, still_in: bool
) -> None:
    client = Client()
    log_in(client)
    session = client.session
    session[middleware.SINCE] -= int(hours_since_login * 3600)
    session[middleware.SEEN] -= int(hours_idle * 3600)
    session.save()
    assert is_in(client) == still_in


def test_a_page_that_refreshes_itself_does_not_keep_a_session_alive(ada: User) -> None:
    client = Client()
    log_in(client)
    session = client.session
    session[middleware.SEEN] = seen = session[middleware.SEEN] - 3600
    session.save()
    client.get("/studies/", headers={"HX-Request": "true"})
    assert client.session[middleware.SEEN] == seen
    client.get("/studies/")
    assert client.session[middleware.SEEN] > seen


def test_giving_the_password_again_gives_a_new_session_key(ada: User) -> None:
    client = Client()
    log_in(client)
    known = client.cookies["sessionid"].value
    confirm(client, APP)
    assert client.cookies["sessionid"].value != known
    client.cookies["sessionid"] = known
    assert not is_in(client)


@pytest.mark.parametrize("password", ["candor-candor-2026", "Password-Candor!", "study university", "ＣＡＮＤＯＲ-student-12"], ids=ascii)
def test_passwords_of_words_that_everybody_knows_are_refused(password: str) -> None:
    with pytest.raises(ValidationError, match="beside words like"):
        validate_password(password)


def test_a_password_may_hold_such_a_word_among_others() -> None:
    validate_password("seven candors on the moon")


def test_login_gives_a_new_session_key(ada: User) -> None:
    client = Client()
    client.get(LOGIN)
    session = client.session
    session["planted"] = True
    session.save()
    client.cookies["sessionid"] = planted = str(session.session_key)
    log_in(client)
    assert is_in(client)
    assert client.cookies["sessionid"].value != planted


def test_accounts_are_not_made_without_an_invitation() -> None:
    client = Client()
    form = {"username": "mallory", "password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    client.post("/accounts/signup/", form)
    assert not User.objects.filter(username="mallory").exists()


def test_a_forgotten_password_is_for_an_administrator_where_there_is_no_mail_server() -> None:
    assert "Ask an administrator" in Client().get("/accounts/password/forgotten/").content.decode()


def test_the_admin_has_no_door_of_its_own(ada: User) -> None:
    assert Client().get("/admin/login/?next=/admin/")["Location"] == f"{LOGIN}?next=/admin/"
    assert Client().post("/admin/login/", {"username": "ada", "password": PASSWORD}).status_code == 302
    assert recorded(actions.LOGGED_IN) == []


def test_logging_out_is_recorded(ada: User) -> None:
    client = Client()
    log_in(client)
    client.post("/accounts/logout/")
    assert len(recorded(actions.LOGGED_OUT)) == 1


def test_participants_pages_never_meet_sessions_or_allauth(monkeypatch: pytest.MonkeyPatch) -> None:
    study = recruiting_study()
    monkeypatch.setattr("allauth.core.context.request_context", None)
    client = Client()
    response = client.get(address_of(study))
    assert response.status_code == 200
    assert "sessionid" not in response.cookies
    with pytest.raises(TypeError):
        client.get("/studies/")
