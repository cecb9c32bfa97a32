"""The installation's signature under its releases: Ed25519, with a key derived from a secret of the installation."""

from base64 import b64decode, b64encode
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # each function imports what it needs: the web starts without it
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PURPOSE = b"candor: signature of data releases"


def private_key(secret: str) -> "Ed25519PrivateKey":
    """The key derived from `secret`. Neither the key nor other values derived from the secret reveal one another."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return Ed25519PrivateKey.from_private_bytes(HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(secret.encode()))


def public_pem(key: "Ed25519PrivateKey") -> str:
    """The public key for checking a signature, as a PEM file."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def signature_of(content: bytes, key: "Ed25519PrivateKey") -> bytes:
    """One line of base64."""
    return b64encode(key.sign(content)) + b"\n"


def is_genuine(content: bytes, signature: bytes, pem: bytes) -> bool:
    """Whether `signature` was made over `content` with the key to `pem`. ValueError: `pem` holds no such key."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    key = load_pem_public_key(pem)
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError("expected an Ed25519 public key")
    try:
        raw = b64decode(signature)
        key.verify(raw, content)
    except (InvalidSignature, ValueError):
        return False
    return b64encode(raw) + b"\n" == signature  # one signature has one form, so that no byte of it can be changed
