"""Adapters where allauth must behave as this platform does."""

import base64
import hashlib
from typing import TYPE_CHECKING

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context as allauth_context
from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.sites.shortcuts import get_current_site
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from accounts.login.devices import remember_device
from accounts.models import User
from accounts.sending import send_later
from accounts.services import record_failed_login

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Accounts come only from invitations or administrators. People's addresses are neither kept nor counted."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": _("The user name or the password is not correct."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: object) -> None:
        """Failures are counted by `SlowedBackend`, for every door."""

    def post_login(self, request: HttpRequest, user: User, **arguments: object) -> HttpResponse:
        """After the second factor, too: from now on this browser is known."""
        response: HttpResponse = super().post_login(request, user, **arguments)
        remember_device(response, user.username)
        return response

    def set_password(self, user: User, password: str) -> None:
        """Written alone: the account may have been switched off, or given another role, while the password was hashed."""
        user.set_password(password)
        user.save(update_fields=["password"])

    def send_mail(self, template_prefix: str, email: str, context: dict[str, object]) -> None:
        """Send later, in the background: neither the mail server's delay nor its failure may tell whether an address has an account."""
        request = allauth_context.request
        send_later(
            self.render_mail(
                template_prefix, email, {"request": request, "email": email, "current_site": get_current_site(request)} | context
            )
        )

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        """The identity provider vouched for them, but the account is switched off."""
        record_failed_login(user.username, door="single sign-on")
        response: HttpResponse = super().respond_user_inactive(request, user)
        return response

    def get_client_ip(self, request: HttpRequest) -> str:
        return "0.0.0.0"  # noqa: S104  # not an address to listen at: everybody's, for nobody's is known

    def get_http_user_agent(self, request: HttpRequest) -> str:
        return ""


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Secrets are encrypted in the database: a copy of it alone opens no account."""

    def get_totp_label(self, user: AbstractBaseUser) -> str:
        return user.get_username()

    def build_totp_svg(self, url: str) -> str:
        """Embedded in the page itself, because pages may not load images that a page made up."""
        import qrcode
        from qrcode.image.svg import SvgPathImage

        drawn: str = qrcode.make(url, image_factory=SvgPathImage, border=2).to_string(encoding="unicode")
        return drawn

    def encrypt(self, text: str) -> str:
        encrypted: bytes = _cipher().encrypt(text.encode())
        return encrypted.decode()

    def decrypt(self, encrypted_text: str) -> str:
        from cryptography.fernet import InvalidToken

        try:
            decrypted: bytes = _cipher().decrypt(encrypted_text.encode())
        except InvalidToken:
            said = _("This server cannot read your second factor any more: its SECRET_KEY was changed. Ask an administrator to remove it.")
            raise ValidationError(said) from None
        return decrypted.decode()


def _cipher() -> "Fernet":
    from cryptography.fernet import Fernet

    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(b"second factors " + settings.SECRET_KEY.encode()).digest()))
