"""Keys for one request that may be sent twice: its name in the table, its fingerprint, and the cipher of its answer.

All three follow from the installation's SECRET_KEY, the account, the token and the key that the program sent. The database holds neither of
the last two, so that a stolen database gives no answer back, with SECRET_KEY or without.
"""

import hmac
import secrets
from dataclasses import dataclass
from hashlib import sha256

from django.utils.crypto import salted_hmac

NONCE_BYTES = 12


@dataclass(frozen=True, slots=True)
class RequestKeys:
    """The keys that follow from one key of one sender."""

    root: bytes

    @classmethod
    def of(cls, account_id: int, token: str, key: str) -> "RequestKeys":
        # No part can be taken for the end of another: neither a token nor a key holds a line's end.
        return cls(salted_hmac("accounts.repeated", f"{account_id}\n{token}\n{key}", algorithm="sha256").digest())

    @property
    def name(self) -> str:
        return self._derived(b"name").hex()

    def fingerprint(self, *parts: bytes) -> str:
        """The fingerprint of a request, by its parts in order."""
        lengths_and_parts = b"".join(len(part).to_bytes(8) + part for part in parts)
        return hmac.new(self._derived(b"fingerprint"), lengths_and_parts, sha256).hexdigest()

    def sealed(self, content: bytes) -> bytes:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # most processes never need it

        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + AESGCM(self._derived(b"seal")).encrypt(nonce, content, None)

    def opened(self, sealed: bytes) -> bytes:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(self._derived(b"seal")).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], None)

    def _derived(self, purpose: bytes) -> bytes:
        return hmac.new(self.root, purpose, sha256).digest()
