"""Accounts of people for whom an institution's own login vouches."""

from typing import TYPE_CHECKING

from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.providers.base import AuthError
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts import services
from accounts.models import Role, User

if TYPE_CHECKING:
    from allauth.socialaccount.models import SocialLogin


class SingleSignOnAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Everybody from the right domain gets an account of their own, with the configured role, and never somebody else's."""

    def pre_social_login(self, request: HttpRequest, sociallogin: "SocialLogin") -> None:
        domain = sociallogin.provider.app.settings["domain"]
        addresses = [one.email.lower() for one in sociallogin.email_addresses if one.verified]
        if domain and not any(address.endswith(f"@{domain}") for address in addresses):
            raise PermissionDenied(_("Expected a confirmed e-mail address of %(domain)s.") % {"domain": domain})

    def on_authentication_error(self, request: HttpRequest, provider: object, error: object = None, **kwargs: object) -> None:
        """allauth also calls this after `pre_social_login` refused. People who change their minds have not failed."""
        if error != AuthError.CANCELLED:
            services.record_failed_login("", door="single sign-on")

    def is_open_for_signup(self, request: HttpRequest, sociallogin: "SocialLogin") -> bool:
        return True

    def is_auto_signup_allowed(self, request: HttpRequest, sociallogin: "SocialLogin") -> bool:
        return True

    @transaction.atomic
    def save_user(self, request: HttpRequest, sociallogin: "SocialLogin", form: object = None) -> User:
        role = Role(sociallogin.provider.app.settings["role"])
        sociallogin.user.role = role
        user: User = super().save_user(request, sociallogin, form)
        services.record_created(user, role=role)
        return user
