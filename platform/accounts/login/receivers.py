"""Passes account events to the services, wherever they happen: page, admin, single sign-on, command line."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from allauth.account.signals import authentication_step_completed, password_changed, password_reset, password_set
from allauth.mfa.signals import authentication_failed, authenticator_removed
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models.signals import post_save
from django.dispatch import receiver
from django.http import HttpRequest

from accounts import actions, services
from accounts.login.middleware import SEEN, SINCE
from accounts.models import Role, User, administrator_made

if TYPE_CHECKING:
    from allauth.mfa.models import Authenticator


@receiver(user_logged_in)
def logged_in(sender: object, user: User, request: HttpRequest | None = None, **kwargs: object) -> None:
    if request is not None and hasattr(request, "session"):
        request.session[SINCE] = request.session[SEEN] = int(time.time())
    services.record_login(user)


@receiver(authentication_step_completed)
def confirmed(sender: object, request: HttpRequest, *, reauthenticated: bool = False, **kwargs: object) -> None:
    """A session that may do more from now on gets a new key: one that somebody else knows may not."""
    if reauthenticated:
        request.session.cycle_key()


@receiver(user_logged_out)
def logged_out(sender: object, user: User | None, **kwargs: object) -> None:
    if user is not None:
        services.record_logout(user)


@receiver(user_login_failed)
def login_failed(sender: object, credentials: Mapping[str, object], **kwargs: object) -> None:
    services.record_failed_login(str(credentials.get("username", "")))


@receiver(administrator_made)
def made_administrator(sender: object, user: User, **kwargs: object) -> None:
    services.record_created(user, role=Role.ADMINISTRATOR)


@receiver([password_changed, password_reset, password_set])
def new_password(sender: object, user: User, **kwargs: object) -> None:
    services.record_new_password(user)


@receiver(post_save, sender="mfa.Authenticator")
def second_factor_added(sender: object, instance: "Authenticator", created: bool, **kwargs: object) -> None:
    """In the transaction that adds it. allauth's own signal comes after that one, and a process may end between the two."""
    if created:
        services.record_second_factor(instance.user, action=actions.SECOND_FACTOR_ADDED, kind=instance.type)


@receiver(authenticator_removed)
def second_factor_removed(sender: object, user: User, authenticator: "Authenticator", **kwargs: object) -> None:
    services.record_second_factor(user, action=actions.SECOND_FACTOR_REMOVED, kind=authenticator.type)


@receiver(authentication_failed)
def second_factor_failed(sender: object, user: User, authenticator: object = None, **kwargs: object) -> None:
    services.record_second_factor(user, action=actions.SECOND_FACTOR_FAILED, kind=getattr(authenticator, "type", "code"))
