"""Addresses where staff log in, log out and look after their account: only these of allauth's pages, each imported on first use."""

from collections.abc import Callable
from importlib import import_module

from django.conf import settings
from django.contrib.auth.views import LogoutView
from django.http import HttpRequest, HttpResponseBase
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.decorators.csrf import csrf_exempt

from accounts import views
from accounts.access import in_own_language
from accounts.services import with_its_entry
from accounts.tokens import views as token_views


def _when_asked_for(module: str, name: str) -> Callable[..., HttpResponseBase]:
    """Import a view's module on first use; most web processes never need its cryptography and images."""

    def view(request: HttpRequest, **arguments: object) -> HttpResponseBase:
        response: HttpResponseBase = getattr(import_module(module), name)(request, **arguments)
        return response

    return view


def _account(name: str) -> Callable[..., HttpResponseBase]:
    return in_own_language(_when_asked_for("allauth.account.views", name))


def _second_factor(kind: str, name: str) -> Callable[..., HttpResponseBase]:
    return in_own_language(_when_asked_for(f"allauth.mfa.{kind}.views", name))


def _saml(name: str) -> Callable[..., HttpResponseBase]:
    return in_own_language(_when_asked_for("accounts.login.saml.views", name))


def _single_sign_on(name: str) -> Callable[..., HttpResponseBase]:
    return in_own_language(_when_asked_for("allauth.socialaccount.views", name))


urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.account, name="account"),
    path("elsewhere/", views.log_out_elsewhere, name="log_out_elsewhere"),
    path("language/", views.language, name="account_language"),
    path("notices/", views.notices, name="account_notices"),
    path("login/", _account("login"), name="account_login"),
    path("login/code/", _second_factor("base", "authenticate"), name="mfa_authenticate"),
    path("logout/", LogoutView.as_view(), name="account_logout"),
    path("inactive/", _account("account_inactive"), name="account_inactive"),
    path("signup/", _account("signup"), name="account_signup"),
    path("confirm/", _account("reauthenticate"), name="account_reauthenticate"),
    path("confirm/code/", _second_factor("base", "reauthenticate"), name="mfa_reauthenticate"),
    path("password/", with_its_entry(_account("password_change")), name="account_change_password"),
    path("password/set/", with_its_entry(_account("password_set")), name="account_set_password"),
    path("second-factor/", _second_factor("base", "index"), name="mfa_index"),
    path("second-factor/app/", _second_factor("totp", "activate_totp"), name="mfa_activate_totp"),
    path("second-factor/app/off/", with_its_entry(_second_factor("totp", "deactivate_totp")), name="mfa_deactivate_totp"),
    path("second-factor/codes/", _second_factor("recovery_codes", "view_recovery_codes"), name="mfa_view_recovery_codes"),
    path("second-factor/codes/new/", _second_factor("recovery_codes", "generate_recovery_codes"), name="mfa_generate_recovery_codes"),
    path("second-factor/codes/download/", _second_factor("recovery_codes", "download_recovery_codes"), name="mfa_download_recovery_codes"),
    path("password/forgotten/", views.forgotten_password, name="account_reset_password"),
    path("tokens/", token_views.tokens, name="account_tokens"),
]
if settings.EMAIL_IS_CONFIGURED:
    urlpatterns += [
        path("password/forgotten/sent/", _account("password_reset_done"), name="account_reset_password_done"),
        path("password/forgotten/done/", _account("password_reset_from_key_done"), name="account_reset_password_from_key_done"),
        # allauth puts the two parts of the secret together with a hyphen, and there are more of them in the second one.
        re_path(
            r"^password/forgotten/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>[^/]+)/$",
            with_its_entry(_account("password_reset_from_key")),
            name="account_reset_password_from_key",
        ),
    ]
if settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"]:
    urlpatterns += [path("", include("allauth.socialaccount.providers.openid_connect.urls"))]
if settings.SOCIALACCOUNT_PROVIDERS["saml"]["APPS"]:
    urlpatterns = [
        path("logout/", _saml("log_out"), name="account_logout"),
        *urlpatterns,
        path("saml/goodbye/", _saml("goodbye"), name="saml_goodbye"),
        path("saml/<slug:organization_slug>/login/", _saml("login"), name="saml_login"),
        path("saml/<slug:organization_slug>/acs/", csrf_exempt(_saml("acs")), name="saml_acs"),
        path("saml/<slug:organization_slug>/acs/finish/", _saml("finish_acs"), name="saml_finish_acs"),
        path("saml/<slug:organization_slug>/sls/", _saml("sls"), name="saml_sls"),
        path("saml/<slug:organization_slug>/metadata/", _saml("metadata"), name="saml_metadata"),
    ]
if any(provider["APPS"] for provider in settings.SOCIALACCOUNT_PROVIDERS.values()):
    urlpatterns += [
        path("cancelled/", _single_sign_on("login_cancelled"), name="socialaccount_login_cancelled"),
        path("error/", _single_sign_on("login_error"), name="socialaccount_login_error"),
    ]
