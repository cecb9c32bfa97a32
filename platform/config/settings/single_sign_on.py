"""Single sign-on by OpenID Connect, from the environment: all of it or none of it."""

import os

from django.core.exceptions import ImproperlyConfigured

REQUIRED = ("OIDC_NAME", "OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET")
ROLES = ("analyst", "investigator", "irb_officer")


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
    return {
        "provider_id": "sso",
        "name": os.environ["OIDC_NAME"],
        "client_id": os.environ["OIDC_CLIENT_ID"],
        "secret": os.environ["OIDC_CLIENT_SECRET"],
        "settings": {
            "server_url": os.environ["OIDC_ISSUER"].rstrip("/"),
            "role": role,
            "domain": os.environ.get("OIDC_DOMAIN", "").lower().removeprefix("@"),
            "oauth_pkce_enabled": True,
        },
    }


APP = configured()
