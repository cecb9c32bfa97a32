"""RSA blind signatures: the server's half of RSABSSA-SHA384-PSS-Randomized (RFC 9474). It signs what it cannot read, and later knows that
the signature is its own, but not when it gave it, nor to whom.

The browser's half is `credit_token.js`. A finished signature is an ordinary RSASSA-PSS signature, which `cryptography` checks.
"""

import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the web starts without it
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey

BITS, EXPONENT = 2048, 65537
BYTES = BITS // 8
PREFIX_BYTES = 32
SALT_BYTES = 48


class BlindMessageError(ValueError):
    """A message that no browser of ours sends."""


def new_key() -> "RSAPrivateKey":
    """A key that must be used for nothing but blind signatures: whoever holds it signs what it cannot see."""
    from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

    return generate_private_key(EXPONENT, BITS)


def blind_sign(key: "RSAPrivateKey", blinded: bytes) -> bytes:
    """The signature of a blinded message. The message is multiplied by a random number of our own first, so that the time which this takes
    tells nothing about the key (RFC 9474, section 7.1).
    """
    private = key.private_numbers()
    n, e = private.public_numbers.n, private.public_numbers.e
    size = key.key_size // 8
    message = int.from_bytes(blinded)
    if len(blinded) != size or not 0 < message < n:
        raise BlindMessageError(f"expected {size} bytes below the modulus, found {len(blinded)} bytes")
    ours = secrets.randbelow(n - 2) + 2
    hidden = message * pow(ours, e, n) % n
    of_p, of_q = pow(hidden % private.p, private.dmp1, private.p), pow(hidden % private.q, private.dmq1, private.q)
    signed = (of_q + private.q * ((of_p - of_q) * private.iqmp % private.p)) * pow(ours, -1, n) % n
    if pow(signed, e, n) != message:  # a fault in one of the halves would give the key away
        raise ArithmeticError("the signature does not fit its message")
    return signed.to_bytes(size)


def is_signed(key: "RSAPublicKey", message: bytes, signature: bytes) -> bool:
    """Whether this is our signature of the message, with its random beginning."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
    from cryptography.hazmat.primitives.hashes import SHA384

    try:
        key.verify(signature, message, PSS(mgf=MGF1(SHA384()), salt_length=SALT_BYTES), SHA384())
    except InvalidSignature:
        return False
    return True
