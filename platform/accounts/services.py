"""Services that create accounts and give them roles and tokens. The audit log records every change."""

import secrets
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TypeVar

from django.db import transaction
from django.utils import timezone

from accounts import actions
from accounts.attempts import take_attempt
from accounts.models import ApiToken, Language, Role, TokenScope, User, hash_of_api_token
from accounts.names import folded
from audit.services import record

Act = TypeVar("Act", bound=Callable[..., object])
LONGEST_TOKEN_DAYS = 366
USUAL_TOKEN_DAYS = 90
DEMO_ROLES = {
    "investigator": Role.INVESTIGATOR,
    "irb": Role.IRB_OFFICER,
    "analyst": Role.ANALYST,
    "admin": Role.ADMINISTRATOR,
}


@transaction.atomic
def create_user(
    *, username: str, password: str | None, role: Role, email: str = "", may_be_reserved: bool = False, actor: User | None = None
) -> User:
    """Create an account; without a password nobody can log in to it yet. Only the demonstration takes reserved names."""
    user = User(username=username, email=User.objects.normalize_email(email))
    user.name_may_be_reserved = may_be_reserved
    user.set_password(password)
    _give(user, role)
    user.full_clean(exclude=["password"])
    user.save()
    record_created(user, role=role, actor=actor)
    return user


@transaction.atomic
def change_role(*, user: User, role: Role, actor: User | None = None) -> User:
    """Give another role, which counts from the next request on. Giving somebody the role they have changes and records nothing."""
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if user.role == role:
        return user
    former = user.role
    _give(user, role)
    user.full_clean()
    user.save(update_fields=["role", "is_staff", "is_superuser"])
    record(actor=actor, action=actions.ROLE_CHANGED, subject=user, details={"from": former, "to": role})
    return user


@transaction.atomic
def ensure_demo_users(*, password: str) -> list[User]:
    """Create one person per role, all with this password; repeated calls restore role and password."""
    users = []
    for username, role in DEMO_ROLES.items():
        user = User.objects.filter(username=username).first()
        if user is None:
            user = create_user(username=username, password=password, role=role, may_be_reserved=True)
        else:
            user = change_role(user=user, role=role)
            if not user.check_password(password):
                user.set_password(password)
                user.save(update_fields=["password"])
                record_password_given(user)
        users.append(user)
    return users


@transaction.atomic
def issue_token(*, user: User, name: str, scope: TokenScope, days: int, actor: User | None = None) -> str:
    """Issue an API token, good for this many days. It cannot be read again: the database keeps its hash.

    Raises ValidationError, also where another request of this person has just taken the name.
    """
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    token = secrets.token_urlsafe(32)
    last_day = timezone.localdate() + timedelta(days=days)
    issued = ApiToken(user=user, name=name, scope=scope, token_hash=hash_of_api_token(token), last_day=last_day)
    issued.full_clean()
    issued.save()
    record(actor=actor, action=actions.TOKEN_ISSUED, subject=user, details={"name": name, "scope": scope, "last_day": str(last_day)})
    return token


@transaction.atomic
def revoke_token(*, user: User, name: str, actor: User | None = None) -> bool:
    """Revoke a token from the next request on; False if there was none of this name."""
    deleted, _by_model = ApiToken.objects.filter(user=user, name=name).delete()
    if deleted:
        record(actor=actor, action=actions.TOKEN_REVOKED, subject=user, details={"name": name})
    return bool(deleted)


def record_created(user: User, *, role: Role, actor: User | None = None) -> None:
    record(actor=actor, action=actions.CREATED, subject=user, details={"username": user.username, "role": role})


def record_login(user: User) -> None:
    """Record that somebody gave the right name and password."""
    record(actor=user, action=actions.LOGGED_IN, subject=user)


def record_failed_login(username: str, *, door: str = "") -> None:
    """Record a failed login. Only existing names are recorded, because people type passwords into the wrong field. `door` names any door
    but our own.
    """
    user = _called(username)
    details = {"username": user.username if user else None, **({"door": door} if door else {})}
    record(actor=None, action=actions.LOGIN_FAILED, subject=user, details=details)


def record_refused_login(username: str) -> None:
    """Record that a name had too many failures; its passwords are no longer checked."""
    if _is_first(f"login {folded(username)}"):
        user = _called(username)
        record(actor=None, action=actions.LOGIN_REFUSED, subject=user, details={"username": user.username if user else None})


def record_crowded_login() -> None:
    """Record that more passwords came at once than are checked."""
    if _is_first("crowd"):
        record(actor=None, action=actions.LOGINS_CROWDED, subject=None)


def record_refused_code(user: User) -> None:
    """The same for the second factor: the password was right, but codes are no longer checked."""
    if _is_first(f"code {user.pk}"):
        record(actor=None, action=actions.LOGIN_REFUSED, subject=user, details={"username": user.username, "door": "second factor"})


def record_refused_token(token: ApiToken | None) -> None:
    """Record the use of an expired token, or of one whose account is switched off. Revoked and invented tokens (None) leave nothing to
    record.
    """
    if _is_first(f"token {token.pk if token else ''}"):
        subject = token.user if token else None
        record(actor=None, action=actions.TOKEN_REFUSED, subject=subject, details={"name": token.name if token else None})


def record_password_asked(users: Iterable[User]) -> None:
    """Record a request for a new password, and the account if the address has one; the address itself is not kept."""
    for user in tuple(users) or (None,):
        record(actor=None, action=actions.PASSWORD_ASKED, subject=user, details={"username": user.username if user else None})


def record_password_given(user: User) -> None:
    """Record that somebody with access to the server's command line set another person's password."""
    record(actor=None, action=actions.CHANGED, subject=user, details={"fields": ["Password"]})


def record_logout(user: User) -> None:
    record(actor=user, action=actions.LOGGED_OUT, subject=user)


def record_new_password(user: User) -> None:
    record(actor=user, action=actions.PASSWORD_CHANGED, subject=user)


def with_its_entry(act: Act) -> Act:
    """The act of another library, such as its page for a new password: what it writes is there with the entry in our log, or not at all."""
    return transaction.atomic(act)


def record_second_factor(user: User, *, action: str, kind: str) -> None:
    """Record that a second factor was added, removed or failed; drawing new recovery codes counts as adding."""
    record(actor=user if action != actions.SECOND_FACTOR_FAILED else None, action=action, subject=user, details={"kind": kind})


@transaction.atomic
def remove_second_factor(*, user: User, actor: User | None = None) -> int:
    """Remove the second factors of somebody who lost their phone and codes; return how many. The password opens the account again."""
    from allauth.mfa.models import Authenticator

    kinds = list(Authenticator.objects.filter(user=user).order_by("pk").values_list("type", flat=True))
    Authenticator.objects.filter(user=user).delete()
    for kind in kinds:
        record(actor=actor, action=actions.SECOND_FACTOR_REMOVED, subject=user, details={"kind": kind})
    return len(kinds)


@transaction.atomic
def want_notices(*, user: User, wanted: bool) -> None:
    """Set whether they are told by e-mail when it is their turn."""
    if User.objects.filter(pk=user.pk).exclude(wants_notices=wanted).update(wants_notices=wanted):
        record(actor=user, action=actions.NOTICES_CHANGED, subject=user, details={"wanted": wanted})


@transaction.atomic
def choose_language(*, user: User, language: Language) -> None:
    """Set the language of their pages, as far as those are there in several."""
    if User.objects.filter(pk=user.pk).exclude(language=language).update(language=language):
        record(actor=user, action=actions.LANGUAGE_CHOSEN, subject=user, details={"language": language})


@transaction.atomic
def end_sessions(*, user: User) -> User:
    """Log this person out everywhere; the session that asks must take the new hash."""
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    user.session_epoch += 1
    user.save(update_fields=["session_epoch"])
    record(actor=user, action=actions.LOGGED_OUT_ELSEWHERE, subject=user)
    return user


def _called(username: str) -> User | None:
    """The account that was meant, whatever the case of its letters; an exact match goes first."""
    named = User.objects.filter(username__iexact=username)
    return named.filter(username=username).first() or named.first()


def _is_first(refused: str) -> bool:
    """Whether this refusal is the first within a quarter of an hour. Only that one is recorded, or guessers could fill the log."""
    return take_attempt("refused", refused, at_most=1)


def _give(user: User, role: Role) -> None:
    """The role and the flags of Django's admin that follow from it."""
    user.role = role
    user.is_staff = user.is_superuser = role == Role.ADMINISTRATOR
