"""Logins, wherever they happen (page, admin), go to the services."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.dispatch import receiver

from accounts import services
from accounts.models import User


@receiver(user_logged_in)
def logged_in(sender: Any, user: User, **kwargs: Any) -> None:
    services.record_login(user)


@receiver(user_login_failed)
def login_failed(sender: Any, credentials: Mapping[str, Any], **kwargs: Any) -> None:
    services.record_failed_login(str(credentials.get("username", "")))
