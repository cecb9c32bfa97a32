"""RFC 9474: its own vectors, and what a signer must not learn or give away."""

import json
import secrets
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import (
    RSAPrivateKey,
    RSAPrivateNumbers,
    RSAPublicNumbers,
    rsa_crt_dmp1,
    rsa_crt_dmq1,
    rsa_crt_iqmp,
)

from surveys.credit.blind_signatures import BYTES, EXPONENT, BlindMessageError, blind_sign, is_signed, new_key
from surveys.credit.keys import modulus_of
from tests.credit_tokens import Blinding, blinding, encoded

VECTOR = {name: value for name, value in json.loads((Path(__file__).parent / "rfc9474.json").read_text()).items() if name != "source"}


@pytest.fixture(scope="module")
def key() -> RSAPrivateKey:
    return new_key()


def of_the_vector() -> tuple[RSAPrivateKey, Blinding]:
    n, q = int(VECTOR["n"], 16), int(VECTOR["q"], 16)
    p = n // q
    d = pow(EXPONENT, -1, (p - 1) * (q - 1))
    numbers = RSAPrivateNumbers(
        p=p,
        q=q,
        d=d,
        dmp1=rsa_crt_dmp1(d, p),
        dmq1=rsa_crt_dmq1(d, q),
        iqmp=rsa_crt_iqmp(p, q),
        public_numbers=RSAPublicNumbers(EXPONENT, n),
    )
    message = bytes.fromhex(VECTOR["msg_prefix"] + VECTOR["msg"])
    kept = Blinding(modulus=n, message=message, salt=bytes.fromhex(VECTOR["salt"]), inverse=int(VECTOR["inv"], 16))
    return numbers.private_key(), kept


def test_the_vector_of_the_standard() -> None:
    key, kept = of_the_vector()
    assert kept.blinded().hex() == VECTOR["blinded_msg"]
    signed = blind_sign(key, kept.blinded())
    assert signed.hex() == VECTOR["blind_sig"]
    assert kept.finished(signed).hex() == VECTOR["sig"]
    assert is_signed(key.public_key(), kept.message, kept.finished(signed))


def test_a_finished_signature_is_good_for_its_message_and_key_alone(key: RSAPrivateKey) -> None:
    kept = blinding(modulus_of(key.public_key()), "lectures")
    signature = kept.finished(blind_sign(key, kept.blinded()))
    assert is_signed(key.public_key(), kept.message, signature)
    assert not is_signed(key.public_key(), kept.message + b"x", signature)
    assert not is_signed(key.public_key(), kept.message, signature[:-1] + bytes([signature[-1] ^ 1]))
    assert not is_signed(new_key().public_key(), kept.message, signature)


def test_every_blinded_message_could_belong_to_every_token(key: RSAPrivateKey) -> None:
    """For each pair there is one blinding number that turns the one into the other, so the pair tells nothing."""
    modulus = modulus_of(key.public_key())
    first, second = blinding(modulus, "lectures"), blinding(modulus, "lectures")
    n, d = first.modulus, key.private_numbers().d
    unblinded = encoded(second.message, bits=n.bit_length(), salt=second.salt)
    between = int.from_bytes(first.blinded()) * pow(unblinded, -1, n) % n  # r^e for the r that would lead from second to first
    other = Blinding(modulus=n, message=second.message, salt=second.salt, inverse=pow(pow(between, d, n), -1, n))
    assert other.blinded() == first.blinded()
    assert other.finished(blind_sign(key, first.blinded())) == second.finished(blind_sign(key, second.blinded()))


@pytest.mark.parametrize("blinded", [b"", bytes(BYTES), b"\xff" * BYTES, b"\x01" * (BYTES - 1), b"\x00" + b"\x01" * BYTES])
def test_what_no_browser_sends_is_not_signed(key: RSAPrivateKey, blinded: bytes) -> None:
    with pytest.raises(BlindMessageError, match="expected 256 bytes below the modulus"):
        blind_sign(key, blinded)


def test_the_same_message_gets_the_same_signature(key: RSAPrivateKey) -> None:
    message = (secrets.randbelow(key.public_key().public_numbers().n - 1) + 1).to_bytes(BYTES)
    assert blind_sign(key, message) == blind_sign(key, message)
