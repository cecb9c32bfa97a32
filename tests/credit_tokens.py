"""The browser's half of blind signatures, in Python: for simulated students, and for the vectors of RFC 9474."""

import base64
import hashlib
import secrets
from dataclasses import dataclass

from surveys.credit.blind_signatures import EXPONENT, PREFIX_BYTES, SALT_BYTES
from surveys.credit.selectors import message_of

HASH_BYTES = 48


def mgf1(seed: bytes, length: int) -> bytes:
    parts = (hashlib.sha384(seed + number.to_bytes(4)).digest() for number in range(-(-length // HASH_BYTES)))
    return b"".join(parts)[:length]


def encoded(message: bytes, *, bits: int, salt: bytes) -> int:
    """EMSA-PSS-ENCODE of RFC 8017, 9.1.1, with SHA-384, for a modulus of so many bits."""
    length = (bits - 1 + 7) // 8
    hashed = hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()
    data = bytes(length - HASH_BYTES - SALT_BYTES - 2) + b"\x01" + salt
    masked = bytes(one ^ other for one, other in zip(data, mgf1(hashed, len(data)), strict=True))
    unused = 8 * length - (bits - 1)
    return int.from_bytes(bytes([masked[0] & (0xFF >> unused)]) + masked[1:] + hashed + b"\xbc")


@dataclass(frozen=True, kw_only=True)
class Blinding:
    """The numbers that a browser keeps for itself between asking and receiving."""

    modulus: int
    message: bytes
    salt: bytes
    inverse: int

    @property
    def size(self) -> int:
        return (self.modulus.bit_length() + 7) // 8

    def blinded(self) -> bytes:
        hidden = encoded(self.message, bits=self.modulus.bit_length(), salt=self.salt)
        return (hidden * pow(self.inverse, -EXPONENT, self.modulus) % self.modulus).to_bytes(self.size)

    def finished(self, signed: bytes) -> bytes:
        return (int.from_bytes(signed) * self.inverse % self.modulus).to_bytes(self.size)


def blinding(modulus: str, slug: str) -> Blinding:
    n = int(modulus, 16)
    return Blinding(
        modulus=n,
        message=message_of(secrets.token_bytes(PREFIX_BYTES), slug),
        salt=secrets.token_bytes(SALT_BYTES),
        inverse=secrets.randbelow(n - 2) + 2,
    )


def token(blinding: Blinding, signed: bytes) -> str:
    """The text that the browser hands in."""
    parts = blinding.message[:PREFIX_BYTES], blinding.finished(signed)
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)
