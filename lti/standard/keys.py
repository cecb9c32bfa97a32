"""The key by which platforms know this installation: made on first use, published at `/lti/keys/`."""

import base64
import hashlib
import json
from typing import TYPE_CHECKING

from django.db import transaction

from accounts.models import User
from audit.services import record
from lti import actions
from lti.models import ToolKey
from surveys.credit.blind_signatures import new_key
from surveys.credit.keys import decrypted, encrypted

if TYPE_CHECKING:  # the web starts without it
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey


def public_keys() -> dict[str, list[dict[str, str]]]:
    """The JSON Web Key Set: all keys that may still be needed."""
    return {"keys": [_public(decrypted(key.private_key)) for key in ToolKey.objects.all() or [_made()]]}


def signed(claims: dict[str, object]) -> str:
    """A JSON Web Token with these claims, by the newest key."""
    import jwt

    key = decrypted((ToolKey.objects.first() or _made()).private_key)
    return jwt.encode(claims, key, algorithm="RS256", headers={"kid": _public(key)["kid"]})


def renew_key(*, actor: User | None = None) -> ToolKey:
    """Sign with a new key from now on."""
    with transaction.atomic():
        key = ToolKey.objects.create(private_key=encrypted(new_key()))
        record(actor=actor, action=actions.KEY_RENEWED, subject=key, details={"kid": _public(decrypted(key.private_key))["kid"]})
    return key


def _made() -> ToolKey:
    return ToolKey.objects.create(private_key=encrypted(new_key()))


def _public(key: "RSAPrivateKey") -> dict[str, str]:
    """The public half as a JSON Web Key, named by its thumbprint (RFC 7638)."""
    numbers = key.public_key().public_numbers()
    n, e = (_text(number.to_bytes((number.bit_length() + 7) // 8)) for number in (numbers.n, numbers.e))
    thumbprint = hashlib.sha256(json.dumps({"e": e, "kty": "RSA", "n": n}, separators=(",", ":")).encode()).digest()
    return {"kty": "RSA", "n": n, "e": e, "alg": "RS256", "use": "sig", "kid": _text(thumbprint)}


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
