"""Private keys in the database: encrypted, so that a copy of it alone signs nothing."""

import base64
import hashlib
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.translation import gettext as _

from surveys.credit.blind_signatures import EXPONENT
from surveys.errors import CreditError

if TYPE_CHECKING:  # the web starts without it
    from cryptography.fernet import Fernet
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey


def encrypted(key: "RSAPrivateKey") -> str:
    """The key as it is stored: under RELEASE_SIGNING_SECRET, or else SECRET_KEY."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return _cipher().encrypt(key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())).decode()


def decrypted(stored: str) -> "RSAPrivateKey":
    """The key that was stored; `CreditError` if it was stored under another secret."""
    from cryptography.fernet import InvalidToken
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    try:
        content = _cipher().decrypt(stored.encode())
    except InvalidToken:
        raise CreditError(_("The key of this credit cannot be read: the secret of this server was changed. Ask for a code.")) from None
    # It was made here, so its primes are not tested again, which takes longer than all the rest.
    key = load_der_private_key(content, password=None, unsafe_skip_rsa_key_validation=True)
    assert isinstance(key, RSAPrivateKey)
    return key


def modulus_of(key: "RSAPublicKey") -> str:
    """The public key in hexadecimal digits; its exponent is always the same."""
    return f"{key.public_numbers().n:x}"


def public_key(modulus: str) -> "RSAPublicKey":
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers

    return RSAPublicNumbers(EXPONENT, int(modulus, 16)).public_key()


def _cipher() -> "Fernet":
    from cryptography.fernet import Fernet

    secret = settings.RELEASE_SIGNING_SECRET or settings.SECRET_KEY
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(b"keys of credit " + secret.encode()).digest()))
