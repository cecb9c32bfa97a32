"""Single sign-on by OpenID Connect or SAML, from the environment: all of it or none of it."""

import base64
import binascii
import json
import os
import re

from django.core.exceptions import ImproperlyConfigured

from candor.errors import what_came

OIDC = ("OIDC_NAME", "OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET")
SAML = ("SAML_NAME", "SAML_IDP_ENTITY_ID", "SAML_IDP_URL", "SAML_IDP_CERTIFICATE")
OWN_KEY = ("SAML_CERTIFICATE", "SAML_KEY")
NO_END = "2099-12-31T00:00:00Z"
"""Until when our metadata hold; the library's two days would shut people out after a weekend."""
ROLES = ("analyst", "investigator", "irb_officer")
ADDRESS = re.compile(r"https://[^/\s]+\S*|http://(localhost|127\.0\.0\.1)(:\d+)?(/\S*)?")
PEM_LINE = re.compile(r"-----[A-Z ]+-----|\\n|\s")


def roles_of_groups(variable: str) -> dict[str, str]:
    """The table from groups of the institution to roles, in its order; nobody becomes an administrator by it."""
    text = os.environ.get(variable, "")
    if not text.strip():
        return {}
    try:
        table = json.loads(text)
    except ValueError as error:
        raise ImproperlyConfigured(
            f'{variable}: expected JSON such as {{"ethics-board": "irb_officer"}}, found {what_came(text)}.'
        ) from error
    if not isinstance(table, dict) or not table:
        raise ImproperlyConfigured(f"{variable}: expected a table from groups to roles, found {what_came(text)}.")
    for group, role in table.items():
        if role not in ROLES:
            raise ImproperlyConfigured(f"{variable}: for {group!r} expected one of {', '.join(ROLES)}, found {what_came(role)}.")
    return table


def accounts(prefix: str) -> dict[str, object]:
    """The rules for accounts, by whatever protocol people come: their role, their groups, their domain."""
    role = os.environ.get(f"{prefix}_ROLE") or "analyst"
    if role not in ROLES:
        raise ImproperlyConfigured(f"{prefix}_ROLE: expected one of {', '.join(ROLES)}, found {what_came(role)}.")
    return {
        "role": role,
        "roles_of_groups": roles_of_groups(f"{prefix}_ROLES"),
        "domain": os.environ.get(f"{prefix}_DOMAIN", "").lower().removeprefix("@"),
    }


def all_or_none(names: tuple[str, ...], what: str) -> bool:
    """Whether these variables are there."""
    given = [name for name in names if os.environ.get(name)]
    if given and (missing := [name for name in names if name not in given]):
        raise ImproperlyConfigured(f"{what} needs the environment variables {', '.join(names)}; missing: {', '.join(missing)}.")
    return bool(given)


def openid_connect() -> dict[str, object] | None:
    """The provider's configuration for allauth; None without single sign-on by OpenID Connect."""
    if not all_or_none(OIDC, "Single sign-on"):
        return None
    scope = os.environ.get("OIDC_SCOPES") or "openid profile email"
    if "openid" not in scope.split():
        raise ImproperlyConfigured(f"OIDC_SCOPES: expected words with spaces, openid among them, found {what_came(scope)}.")
    return {
        "provider_id": "sso",
        "name": os.environ["OIDC_NAME"],
        "client_id": os.environ["OIDC_CLIENT_ID"],
        "secret": os.environ["OIDC_CLIENT_SECRET"],
        "settings": {
            "server_url": os.environ["OIDC_ISSUER"].rstrip("/"),
            **accounts("OIDC"),
            "groups_claim": os.environ.get("OIDC_GROUPS_CLAIM") or "groups",
            "scope": scope.split(),
            "oauth_pkce_enabled": True,
        },
    }


def saml() -> dict[str, object] | None:
    """The institution's provider of identities for allauth; None without single sign-on by SAML."""
    if not all_or_none(SAML, "Single sign-on by SAML"):
        if left := sorted(name for name in os.environ if name in (*OWN_KEY, "SAML_IDP_LOGOUT_URL") and os.environ[name]):
            raise ImproperlyConfigured(f"{left[0]} is of no use without {', '.join(SAML)}.")
        return None
    return {
        "name": os.environ["SAML_NAME"],
        "client_id": "sso",
        "settings": {
            **accounts("SAML"),
            "groups_claim": os.environ.get("SAML_GROUPS_ATTRIBUTE") or "groups",
            "id_attribute": os.environ.get("SAML_ID_ATTRIBUTE", ""),
            # The provider is the institution's own, and knows the addresses of its people.
            "verified_email": True,
            "idp": {
                "entity_id": os.environ["SAML_IDP_ENTITY_ID"],
                "sso_url": _address("SAML_IDP_URL"),
                "slo_url": _address("SAML_IDP_LOGOUT_URL"),
                "x509cert": _der("SAML_IDP_CERTIFICATE"),
            },
            "advanced": {
                "metadata_valid_until": NO_END,
                **(_own_key() if all_or_none(OWN_KEY, "A key of Candor's own for SAML") else {}),
            },
        },
    }


def _own_key() -> dict[str, object]:
    """With a key, what is sent is signed, and what comes may be encrypted."""
    signed = dict.fromkeys(("authn_request_signed", "logout_request_signed", "logout_response_signed", "metadata_signed"), True)
    return {"x509cert": _der("SAML_CERTIFICATE"), "private_key": _der("SAML_KEY"), **signed}


def _address(variable: str) -> str:
    address = os.environ.get(variable, "")
    if address and not ADDRESS.fullmatch(address):
        raise ImproperlyConfigured(f"{variable}: expected an address that begins with https://, found {what_came(address)}.")
    return address


def _der(variable: str) -> str:
    """A certificate or a key: the text between the lines of dashes, with or without these lines."""
    text = PEM_LINE.sub("", os.environ[variable])
    try:
        is_der = base64.b64decode(text, validate=True)[:1] == b"\x30"
    except binascii.Error:
        is_der = False
    if not is_der:
        raise ImproperlyConfigured(f"{variable}: expected the text of a PEM file, on one line or several; this is none.")
    return text


APPS = {"openid_connect": openid_connect(), "saml": saml()}
IN_USE = [name for name, app in APPS.items() if app]
INSTALLED = ["allauth.socialaccount", *(f"allauth.socialaccount.providers.{name}" for name in IN_USE)] if IN_USE else []
PROVIDERS: dict[str, dict[str, object]] = {name: {"APPS": [app] if app else []} for name, app in APPS.items()}
PROVIDERS["saml"]["provider_class"] = "accounts.login.saml.provider.InstitutionProvider"
