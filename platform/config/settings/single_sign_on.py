"""Single sign-on by OpenID Connect, from the environment: all of it or none of it."""

import json
import os

from django.core.exceptions import ImproperlyConfigured

REQUIRED = ("OIDC_NAME", "OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET")
ROLES = ("analyst", "investigator", "irb_officer")


def roles_of_groups(text: str) -> dict[str, str]:
    """The table from groups of the institution to roles, in its order; nobody becomes an administrator by it."""
    if not text.strip():
        return {}
    try:
        table = json.loads(text)
    except ValueError as error:
        raise ImproperlyConfigured(f'OIDC_ROLES: expected JSON such as {{"ethics-board": "irb_officer"}}, found {text!r}.') from error
    if not isinstance(table, dict) or not table:
        raise ImproperlyConfigured(f"OIDC_ROLES: expected a table from groups to roles, found {text!r}.")
    for group, role in table.items():
        if role not in ROLES:
            raise ImproperlyConfigured(f"OIDC_ROLES: for {group!r} expected one of {', '.join(ROLES)}, found {role!r}.")
    return table


def configured() -> dict[str, object] | None:
    """The provider's configuration for allauth; None without single sign-on."""
    given = [name for name in REQUIRED if os.environ.get(name)]
    if not given:
        return None
    if missing := [name for name in REQUIRED if name not in given]:
        raise ImproperlyConfigured(f"Single sign-on needs the environment variables {', '.join(REQUIRED)}; missing: {', '.join(missing)}.")
    role = os.environ.get("OIDC_ROLE", "analyst")
    if role not in ROLES:
        raise ImproperlyConfigured(f"OIDC_ROLE: expected one of {', '.join(ROLES)}, found {role!r}.")
    scope = os.environ.get("OIDC_SCOPES") or "openid profile email"
    if "openid" not in scope.split():
        raise ImproperlyConfigured(f"OIDC_SCOPES: expected words with spaces, openid among them, found {scope!r}.")
    return {
        "provider_id": "sso",
        "name": os.environ["OIDC_NAME"],
        "client_id": os.environ["OIDC_CLIENT_ID"],
        "secret": os.environ["OIDC_CLIENT_SECRET"],
        "settings": {
            "server_url": os.environ["OIDC_ISSUER"].rstrip("/"),
            "role": role,
            "roles_of_groups": roles_of_groups(os.environ.get("OIDC_ROLES", "")),
            "groups_claim": os.environ.get("OIDC_GROUPS_CLAIM") or "groups",
            "scope": scope.split(),
            "domain": os.environ.get("OIDC_DOMAIN", "").lower().removeprefix("@"),
            "oauth_pkce_enabled": True,
        },
    }


APP = configured()
