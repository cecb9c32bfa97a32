"""People, their roles and their logins, and the audit log's record of them."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import AnonymousUser, Group
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import call_command
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from accounts import actions, services
from accounts.access import require_role
from accounts.login import backends
from accounts.models import ApiToken, AttemptCount, Language, Role, TokenScope, User
from audit.models import Entry
from audit.selectors import verify
from tests.factories import draft_study, page_of

pytestmark = pytest.mark.django_db

LOGIN = "/accounts/login/"
PASSWORD = "a long and winding road"


@pytest.fixture
def administrator() -> User:
    return services.create_user(username="grace", password=PASSWORD, role=Role.ADMINISTRATOR)


@pytest.fixture
def investigator() -> User:
    return services.create_user(username="ada", password=PASSWORD, role=Role.INVESTIGATOR)


def recorded(action: str) -> list[Entry]:
    return list(Entry.objects.filter(action=action))


@pytest.mark.parametrize("role", Role)
def test_only_administrators_enter_the_admin(role: Role) -> None:
    user = services.create_user(username="somebody", password=PASSWORD, role=role)
    assert user.is_staff == user.is_superuser == (role == Role.ADMINISTRATOR)


def test_a_new_account_is_recorded(administrator: User) -> None:
    user = services.create_user(username="eve", password=PASSWORD, role=Role.ANALYST, email="eve@EXAMPLE.org", actor=administrator)
    assert user.email == "eve@example.org"
    entry = recorded(actions.CREATED)[-1]
    assert (entry.actor, entry.subject_id, entry.details) == (administrator, str(user.pk), {"username": "eve", "role": "analyst"})


def test_a_name_that_does_not_fit_creates_nothing(investigator: User) -> None:
    for username in ("ada", "two words", ""):
        with pytest.raises(ValidationError):
            services.create_user(username=username, password=PASSWORD, role=Role.ANALYST)
    assert User.objects.count() == 1
    assert len(recorded(actions.CREATED)) == 1


def test_an_account_without_a_password_cannot_be_used() -> None:
    services.create_user(username="later", password=None, role=Role.ANALYST)
    assert not Client().login(username="later", password="")


def test_a_changed_role_is_recorded_with_both(administrator: User, investigator: User) -> None:
    changed = services.change_role(user=investigator, role=Role.ADMINISTRATOR, actor=administrator)
    assert (changed.role, changed.is_staff, changed.is_superuser) == (Role.ADMINISTRATOR, True, True)
    services.change_role(user=investigator, role=Role.ADMINISTRATOR, actor=administrator)
    assert [entry.details for entry in recorded(actions.ROLE_CHANGED)] == [{"from": "investigator", "to": "administrator"}]
    services.change_role(user=investigator, role=Role.ANALYST, actor=administrator)
    investigator.refresh_from_db()
    assert (investigator.is_staff, investigator.is_superuser) == (False, False)


def test_the_database_refuses_a_superuser_with_another_role(investigator: User) -> None:
    with pytest.raises(IntegrityError, match="administrators_and_only_they_are_superusers"):
        User.objects.filter(pk=investigator.pk).update(is_superuser=True)


def test_the_database_refuses_an_unknown_role(investigator: User) -> None:
    with pytest.raises(IntegrityError, match="every_user_has_a_known_role"):
        User.objects.filter(pk=investigator.pk).update(role="emperor")


def test_createsuperuser_makes_an_administrator_and_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    call_command("createsuperuser", interactive=False, username="boss", email="boss@example.org", verbosity=0)
    user = User.objects.get()
    assert (user.role, user.is_staff, user.check_password(PASSWORD)) == (Role.ADMINISTRATOR, True, True)
    (entry,) = recorded(actions.CREATED)
    assert (entry.actor, entry.subject_id, entry.details) == (None, str(user.pk), {"username": "boss", "role": "administrator"})


def test_an_administrator_who_cannot_be_recorded_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(**kwargs: Any) -> None:
        raise OSError("no room")

    monkeypatch.setattr(services, "record", fails)
    with pytest.raises(OSError, match="no room"):
        User.objects.create_superuser("boss", password=PASSWORD)
    assert not User.objects.exists()


def test_a_password_given_by_command_is_recorded(investigator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getpass", lambda prompt: "seven horses on the moon")
    call_command("changepassword", "ada", stdout=StringIO())
    investigator.refresh_from_db()
    assert investigator.check_password("seven horses on the moon")
    (entry,) = recorded(actions.CHANGED)
    assert (entry.actor, entry.subject_id, entry.details) == (None, str(investigator.pk), {"fields": ["Password"]})


def test_the_demo_has_one_person_per_role_however_often_it_starts() -> None:
    first = services.ensure_demo_users(password=PASSWORD)
    assert {user.username: user.role for user in first} == {
        "investigator": Role.INVESTIGATOR,
        "irb": Role.IRB_OFFICER,
        "analyst": Role.ANALYST,
        "admin": Role.ADMINISTRATOR,
    }
    entries = Entry.objects.count()
    assert [user.pk for user in services.ensure_demo_users(password=PASSWORD)] == [user.pk for user in first]
    assert Entry.objects.count() == entries
    services.ensure_demo_users(password="another long password")
    assert len(recorded(actions.CHANGED)) == len(first), "each of them was given it"
    assert Client().login(username="irb", password="another long password")


def test_logging_in_and_out(investigator: User, client: Client) -> None:
    assert client.get(LOGIN).status_code == 200
    response = client.post(LOGIN, {"login": "ada", "password": PASSWORD, "next": "/accounts/login/"})
    assert response.status_code == 302
    assert client.session["_auth_user_id"] == str(investigator.pk)
    assert [entry.actor for entry in recorded(actions.LOGGED_IN)] == [investigator]
    assert client.get("/accounts/logout/").status_code == 405
    assert client.post("/accounts/logout/").status_code == 302
    assert [entry.actor for entry in recorded(actions.LOGGED_OUT)] == [investigator]
    assert "_auth_user_id" not in client.session


def test_login_never_leads_to_another_site(investigator: User, client: Client) -> None:
    response = client.post(LOGIN, {"login": "ada", "password": PASSWORD, "next": "https://evil.example/"})
    assert "evil.example" not in response["Location"]


def test_a_failed_login_is_recorded_without_what_was_typed(investigator: User, client: Client) -> None:
    response = client.post(LOGIN, {"login": "ada", "password": "wrong"})
    assert response.status_code == 200
    assert "The user name or the password is not correct." in response.content.decode()
    client.post(LOGIN, {"login": PASSWORD, "password": "ada"})
    known, unknown = recorded(actions.LOGIN_FAILED)
    assert (known.subject_id, known.details, known.actor) == (str(investigator.pk), {"username": "ada"}, None)
    assert (unknown.subject_id, unknown.details) == ("", {"username": None})
    assert PASSWORD not in "".join(str(entry.details) + entry.actor_name for entry in Entry.objects.all())
    assert verify().broken_at is None


def test_an_account_that_is_switched_off_cannot_log_in(investigator: User, client: Client) -> None:
    User.objects.filter(pk=investigator.pk).update(is_active=False)
    assert client.post(LOGIN, {"login": "ada", "password": PASSWORD}).status_code == 200
    assert "_auth_user_id" not in client.session


def test_many_wrong_passwords_close_the_door_for_a_while(investigator: User, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "ATTEMPTS", 3)
    for _ in range(3):
        assert client.post(LOGIN, {"login": "Ada", "password": "wrong"}).status_code == 200
    response = client.post(LOGIN, {"login": "ada", "password": PASSWORD})
    assert response.status_code == 429
    assert "Too many attempts to log in" in response.content.decode()
    services.create_user(username="bob", password=PASSWORD, role=Role.ADMINISTRATOR)
    assert client.post(LOGIN, {"login": "bob", "password": PASSWORD}).status_code == 302
    AttemptCount.objects.update(ends_at=timezone.now())
    assert Client().post(LOGIN, {"login": "ada", "password": PASSWORD}).status_code == 302


@pytest.mark.parametrize("typed", ["ada", "ADA", "nobody"])
def test_a_login_refused_after_too_many_failures_is_recorded_once_in_a_while(
    investigator: User, client: Client, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    monkeypatch.setattr(backends, "ATTEMPTS", 2)
    for password in ("wrong", "wrong", PASSWORD, PASSWORD, "wrong"):
        client.post(LOGIN, {"login": typed, "password": password})
    subject, username = ("", None) if typed == "nobody" else (str(investigator.pk), "ada")
    assert [entry.subject_id for entry in recorded(actions.LOGIN_FAILED)] == [subject] * 2
    assert [(entry.subject_id, entry.details) for entry in recorded(actions.LOGIN_REFUSED)] == [(subject, {"username": username})]
    AttemptCount.objects.update(ends_at=timezone.now())
    for _ in range(3):
        client.post(LOGIN, {"login": typed, "password": "wrong"})
    assert len(recorded(actions.LOGIN_REFUSED)) == 2


def test_a_wrong_password_where_it_is_asked_for_again_is_recorded(investigator: User, client: Client) -> None:
    client.post(LOGIN, {"login": "ada", "password": PASSWORD})
    session = client.session
    session["account_authentication_methods"] = []
    session.save()
    asked = client.get("/accounts/second-factor/app/")
    assert asked.status_code == 302
    client.post(asked["Location"], {"password": "wrong"})
    assert [entry.details for entry in recorded(actions.LOGIN_FAILED)] == [{"username": "ada"}]


def test_a_token_that_is_not_accepted_is_recorded_once_in_a_while(investigator: User) -> None:
    token = services.issue_token(user=investigator, name="script", scope=TokenScope.READ, days=1)
    other = services.issue_token(user=investigator, name="another", scope=TokenScope.READ, days=1)
    before = len(recorded(actions.TOKEN_REFUSED))

    def ask(shown: str) -> int:
        return Client(headers={"Authorization": f"Bearer {shown}"}).get("/api/v1/studies/").status_code

    assert (ask(token), len(recorded(actions.TOKEN_REFUSED))) == (200, before)
    ApiToken.objects.filter(name="script").update(last_day=timezone.localdate() - timedelta(days=1))
    assert [ask(token), ask(token), ask(token + "x"), ask("made up"), ask(other)] == [401, 401, 401, 401, 200]
    User.objects.filter(pk=investigator.pk).update(is_active=False)
    assert ask(other) == 401
    key = str(investigator.pk)
    assert [(entry.actor, entry.subject_id, entry.details) for entry in recorded(actions.TOKEN_REFUSED)] == [
        (None, key, {"name": "script"}),
        (None, "", {"name": None}),
        (None, key, {"name": "another"}),
    ]
    assert token not in repr(list(Entry.objects.values()))
    services.revoke_token(user=investigator, name="script")
    assert ask(token) == 401


def test_what_changes_in_one_account_changes_in_no_other(investigator: User, administrator: User) -> None:
    both = (investigator, administrator)
    for user in both:
        for name in ("script", "another"):
            services.issue_token(user=user, name=name, scope=TokenScope.READ, days=1)
        Authenticator.objects.create(user=user, type=Authenticator.Type.TOTP, data={})
    for _time in range(2):
        services.want_notices(user=investigator, wanted=not investigator.wants_notices)
        services.choose_language(user=investigator, language=Language.GERMAN)
    assert [len(recorded(action)) for action in (actions.NOTICES_CHANGED, actions.LANGUAGE_CHOSEN)] == [1, 1]
    assert services.remove_second_factor(user=investigator) == services.revoke_token(user=investigator, name="script") == 1
    kept = User.objects.get(pk=administrator.pk)
    assert (kept.wants_notices, kept.language) == (administrator.wants_notices, administrator.language)
    assert [(user.api_tokens.count(), user.authenticator_set.count()) for user in both] == [(1, 0), (2, 1)]


def test_the_right_password_forgets_earlier_slips_of_the_same_browser(
    investigator: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "ATTEMPTS", 2)
    client.post(LOGIN, {"login": "ada", "password": PASSWORD})
    for _ in range(3):
        client.post("/accounts/logout/")
        client.post(LOGIN, {"login": "ada", "password": "wrong"})
        assert client.post(LOGIN, {"login": "ada", "password": PASSWORD}).status_code == 302


@require_role(Role.INVESTIGATOR, Role.ADMINISTRATOR)
def page_for_two_roles(request: HttpRequest, number: int) -> HttpResponse:
    return HttpResponse(str(number))


def request_by(user: Any) -> HttpRequest:
    request = RequestFactory().get("/page/?a=1")
    request.user = user
    return request


def test_a_page_opens_for_its_roles_only(administrator: User, investigator: User) -> None:
    for user in (administrator, investigator):
        assert page_for_two_roles(request_by(user), 7).content == b"7"
    for role in (Role.ANALYST, Role.IRB_OFFICER):
        user = services.create_user(username=f"{role}-person", password=None, role=role)
        with pytest.raises(PermissionDenied, match="This page is for: Investigator, Administrator"):
            page_for_two_roles(request_by(user), 7)


def test_a_stranger_is_asked_to_log_in_and_sent_back() -> None:
    response = page_for_two_roles(request_by(AnonymousUser()), 7)
    assert (response.status_code, response["Location"]) == (302, "/accounts/login/?next=/page/%3Fa%3D1")


def test_a_form_without_a_session_is_given_back_and_can_be_sent_after_a_login(investigator: User) -> None:
    study, client = draft_study(owner=investigator), Client(enforce_csrf_checks=True, headers={"origin": "http://testserver"})
    comments = f"/studies/{study.slug}/review/comments/"
    client.get(LOGIN)
    typed = {"text": "Typed for\nan hour", "csrfmiddlewaretoken": client.cookies["csrftoken"].value}
    page = client.post(comments, typed)
    assert (page.status_code, "You are not logged in any more" in page.text) == (403, True)
    assert "Typed for\nan hour</textarea>" in page.text
    assert [label.text for label in page_of(page).xpath("//label")] == ["Field 1"]
    assert f'href="{LOGIN}" target="_blank"' in page.text
    german = client.post(comments, typed, headers={"accept-language": "de"}).text
    assert ("Das Formular, das du abgeschickt hast, wurde nicht angenommen." in german, "was not taken" in german) == (True, False)
    client.force_login(investigator)
    client.cookies["csrftoken"] = "b" * 32  # a login gives a new one
    page = client.post(comments, typed)
    assert (page.status_code, "This page had been open for long" in page.text) == (403, True)
    assert "Typed for\nan hour</textarea>" in page.text
    fresh = page.text.partition(f'action="{comments}"')[2].partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
    assert client.post(comments, typed | {"csrfmiddlewaretoken": fresh}).status_code != 403


def test_a_button_without_a_session_leads_to_the_login(client: Client) -> None:
    response = client.post("/studies/any/actions/close/", {"csrfmiddlewaretoken": "x"})
    assert (response.status_code, response["Location"]) == (302, "/accounts/login/?next=/studies/any/actions/close/")


def test_administrators_create_accounts_in_the_admin(administrator: User, client: Client) -> None:
    client.force_login(administrator)
    offered = client.get("/admin/accounts/user/add/").context["adminform"].form
    assert offered.get_initial_for_field(offered.fields["role"], "role") == Role.ANALYST, "an oversight makes nobody an administrator"
    form = {"username": "new", "email": "", "role": "irb_officer", "password1": PASSWORD, "password2": PASSWORD}
    response = client.post("/admin/accounts/user/add/", form)
    assert response.status_code == 302, response.content.decode()
    user = User.objects.get(username="new")
    assert (user.role, user.is_staff) == (Role.IRB_OFFICER, False)
    assert client.get(f"/admin/accounts/user/{user.pk}/change/").status_code == 200
    assert Client().login(username="new", password=PASSWORD)
    entry = recorded(actions.CREATED)[-1]
    assert (entry.actor, entry.subject_id) == (administrator, str(user.pk))


def test_administrators_change_roles_in_the_admin(administrator: User, investigator: User, client: Client) -> None:
    client.force_login(administrator)
    form = {"username": "ada", "role": "analyst", "is_active": "on", "first_name": "Ada", "last_name": "L", "email": "ada@example.org"}
    response = client.post(f"/admin/accounts/user/{investigator.pk}/change/", form)
    assert response.status_code == 302, response.content.decode()
    investigator.refresh_from_db()
    assert (investigator.role, investigator.first_name) == (Role.ANALYST, "Ada")
    entry = recorded(actions.ROLE_CHANGED)[-1]
    assert (entry.actor, entry.details) == (administrator, {"from": "investigator", "to": "analyst"})


def test_accounts_are_not_deleted_in_the_admin_and_groups_are_not_offered(administrator: User, investigator: User, client: Client) -> None:
    client.force_login(administrator)
    assert client.post(f"/admin/accounts/user/{investigator.pk}/delete/", {"post": "yes"}).status_code == 403
    assert Group._meta.label not in client.get("/admin/").content.decode()
    assert client.get("/admin/auth/group/").status_code == 404


def test_an_administrator_changes_their_password_where_the_log_tells_of_it(administrator: User, client: Client) -> None:
    client.force_login(administrator)
    new = {"old_password": PASSWORD, "new_password1": "nine camels under water", "new_password2": "nine camels under water"}
    for response in (client.get("/admin/password_change/"), client.post("/admin/password_change/", new)):
        assert response["Location"] == reverse("account_change_password")
    administrator.refresh_from_db()
    assert administrator.check_password(PASSWORD)


def test_a_new_password_gives_nobody_their_account_back(investigator: User, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: change the password all the time, so that the account is switched off while one is being hashed."""
    new, set_password = "seven horses on the moon", User.set_password

    def set_while_switched_off(user: User, password: str) -> None:
        set_password(user, password)
        User.objects.filter(pk=user.pk).update(is_active=False, role=Role.ANALYST)

    monkeypatch.setattr(User, "set_password", set_while_switched_off)
    client.force_login(investigator)
    client.post(reverse("account_change_password"), {"oldpassword": PASSWORD, "password1": new, "password2": new})
    investigator.refresh_from_db()
    assert investigator.check_password(new)
    assert (investigator.is_active, investigator.role) == (False, Role.ANALYST)


def test_mistakes_with_a_new_password_name_the_fields_as_the_page_does(investigator: User, client: Client) -> None:
    client.force_login(investigator)
    wrong = {"oldpassword": "not it", "password1": "short", "password2": "other"}
    page = page_of(client.post(reverse("account_change_password"), wrong))
    said = [link.text_content().strip().split(":")[0] for link in page.xpath("//*[@class='error-summary']//a")]
    assert said == ["Password until now", "New password", "New password"]
    named = page.xpath("//*[@id]/@id")
    assert len(named) == len(set(named))
    assert {one.get("aria-describedby") for one in page.xpath("//*[@aria-invalid]")} <= set(named)


def test_second_factors_are_not_changed_in_the_admin_where_no_entry_would_tell(administrator: User, client: Client) -> None:
    client.force_login(administrator)
    assert "/admin/mfa/" not in (front := client.get("/admin/").content.decode())
    assert "/admin/account/" not in front
    for address in ("mfa/authenticator", "account/emailaddress", "socialaccount/socialaccount"):
        assert client.get(f"/admin/{address}/").status_code == 404
