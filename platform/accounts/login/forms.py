"""allauth's login forms, which also write to the audit log, and speak as the other pages do."""

from typing import ClassVar

from allauth.account.forms import ChangePasswordForm, ResetPasswordForm
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.services import record_password_asked, record_refused_code


class _Counted:
    """After too many wrong codes allauth rejects further ones without checking and tells nobody."""

    def clean_code(self) -> str:
        try:
            code: str = super().clean_code()  # type: ignore[misc]
        except ValidationError as error:
            if error.code == "too_many_login_attempts":
                record_refused_code(self.user)  # type: ignore[attr-defined]
            raise
        return code


class CodeForm(_Counted, AuthenticateForm):  # type: ignore[misc]
    """The form that follows the password."""


class CodeAgainForm(_Counted, ReauthenticateForm):  # type: ignore[misc]
    """The form that precedes changes to how somebody logs in."""


class ForgottenPasswordForm(ResetPasswordForm):  # type: ignore[misc]
    """Recorded for every address alike, whether or not it has an account."""

    def clean_email(self) -> str:
        """An account without a password is the institution's: no link by e-mail goes around it, or hides another account there.

        allauth finds no address in which an administrator typed a capital letter. A database may take other letters for the same, too.
        """
        address: str = super().clean_email()
        alike = User.objects.filter(email__iexact=address, is_active=True)
        self.users = [user for user in alike if user.email.lower() == address.lower() and user.has_usable_password()]
        return address

    def save(self, request: HttpRequest, **kwargs: object) -> str:
        record_password_asked(self.users)
        address: str = super().save(request, **kwargs)
        return address


class OtherPasswordForm(ChangePasswordForm):  # type: ignore[misc]
    """Each field has one name, on the page and in its summary of mistakes."""

    LABELS: ClassVar = {"oldpassword": _("Password until now"), "password1": _("New password"), "password2": _("The same once more")}

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)
        for name, label in self.LABELS.items():
            self.fields[name].label = label
