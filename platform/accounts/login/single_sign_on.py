"""Accounts of people for whom an institution's own login vouches."""

import re
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING

from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.providers.base import AuthError
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts import services
from accounts.models import Role, User
from accounts.names import reason_against, skeleton

NOT_IN_NAMES = re.compile(r"[^\w.@+-]")
LONGEST_PROPOSAL = 140
"""Room for a number behind it."""

if TYPE_CHECKING:
    from allauth.socialaccount.models import SocialLogin


def free_name_for(user: User) -> str:
    """A fitting name that looks like nobody else's, close to the name by which the institution knows this person."""
    whole = f"{user.first_name}.{user.last_name}"
    for proposal in (user.username, user.email.partition("@")[0], whole, user.first_name, user.last_name, "person"):
        proposed = NOT_IN_NAMES.sub("", unicodedata.normalize("NFKC", proposal or ""))[:LONGEST_PROPOSAL]
        if not proposed.strip(".") or reason_against(proposed, may_be_reserved=False):
            continue
        alike = (proposed, *(f"{proposed}-{number}" for number in range(2, 1000)))
        taken = set(User.objects.filter(skeleton__in=map(skeleton, alike)).values_list("skeleton", flat=True))
        if free := next((name for name in alike if skeleton(name) not in taken), None):
            return free
    raise PermissionDenied(_("No free user name was found for you. Ask an administrator to make an account."))


def role_of(sociallogin: "SocialLogin") -> Role:
    """The role of the first line of the table whose group this person is in; without one, that of all new accounts."""
    told = sociallogin.provider.app.settings
    groups = groups_in(sociallogin.account.extra_data, told["groups_claim"])
    return Role(next((role for group, role in told["roles_of_groups"].items() if group in groups), told["role"]))


def groups_in(claims: Mapping[str, object], claim: str) -> set[str]:
    """The groups that the identity provider names: in an attribute of SAML, in the user information or in the token of OpenID Connect.

    There `realm.roles` is `roles` within `realm`; names of attributes have dots of their own.
    """
    found: set[str] = set()
    for value, names in ((claims, [claim]), *((claims.get(part), claim.split(".")) for part in ("userinfo", "id_token"))):
        for name in names:
            value = value.get(name) if isinstance(value, Mapping) else None
        found |= {value} if isinstance(value, str) else {one for one in value if isinstance(one, str)} if isinstance(value, list) else set()
    return found


def require_the_issuer(sociallogin: "SocialLogin") -> None:
    """Refuse a token of OpenID Connect by another issuer than the configured one. allauth holds it against the provider's own description,
    which may name any (OpenID Connect Discovery 1.0, section 4.3).
    """
    configured = sociallogin.provider.app.settings.get("server_url", "").partition("/.well-known/")[0]
    token = sociallogin.account.extra_data.get("id_token")
    if configured and isinstance(token, Mapping) and str(token.get("iss")).rstrip("/") != configured:
        raise PermissionDenied(
            _("Expected a login by %(issuer)s, found one by %(other)s.") % {"issuer": configured, "other": token.get("iss")}
        )


class SingleSignOnAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Everybody from the right domain gets an account of their own, with the role that the settings name, and never somebody else's."""

    def pre_social_login(self, request: HttpRequest, sociallogin: "SocialLogin") -> None:
        require_the_issuer(sociallogin)
        domain = sociallogin.provider.app.settings["domain"]
        addresses = [one.email.lower() for one in sociallogin.email_addresses if one.verified]
        if domain and not any(address.endswith(f"@{domain}") for address in addresses):
            raise PermissionDenied(_("Expected a confirmed e-mail address of %(domain)s.") % {"domain": domain})
        if sociallogin.is_existing and sociallogin.provider.app.settings["roles_of_groups"] and sociallogin.user.role != Role.ADMINISTRATOR:
            sociallogin.user = services.change_role(user=sociallogin.user, role=role_of(sociallogin))

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
        role = role_of(sociallogin)
        sociallogin.user.role = role
        sociallogin.user.username = free_name_for(sociallogin.user)
        user: User = super().save_user(request, sociallogin, form)
        services.record_created(user, role=role)
        return user
