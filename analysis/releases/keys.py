"""The key of this installation."""

from typing import TYPE_CHECKING

from django.conf import settings

from candor.packages.signing import private_key

if TYPE_CHECKING:  # the web starts without it
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def signing_key() -> "Ed25519PrivateKey":
    """It is derived from RELEASE_SIGNING_SECRET, or else from SECRET_KEY, so that web and worker have the same."""
    return private_key(settings.RELEASE_SIGNING_SECRET or settings.SECRET_KEY)
