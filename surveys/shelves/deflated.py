"""Texts compressed once and put together for each response, in the format that HTTP calls `deflate` (RFC 1950 and 1951).

A compressed response can tell a secret by its length, if the secret stands beside something that an attacker chose (BREACH). Here nothing
of a single response is compressed: parts that are the same for everybody are, each without looking at any other; what differs from person
to person is stored as it is, and adds its own length and no more.
"""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass

HEADER = b"\x78\xda"  # a window of 32 kB, compressed as well as possible
LAST_BLOCK = b"\x03\x00"  # a block with nothing in it
LONGEST_BLOCK = 0xFFFF
MODULUS = 65_521
"""Adler-32 counts modulo this prime number."""


@dataclass(frozen=True, slots=True)
class Part:
    """Whole blocks, which end at a byte and refer to nothing outside; length and Adler-32 of what is in them."""

    blocks: bytes
    length: int
    adler: int


def compressed(text: str) -> Part:
    """A part that is the same for everybody. This takes time, and the part is small."""
    content = text.encode()
    compressor = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    blocks = compressor.compress(content) + compressor.flush(zlib.Z_FULL_FLUSH)
    return Part(blocks, len(content), zlib.adler32(content))


def stored(text: str) -> Part:
    """A part for one response, which is not compressed."""
    content = text.encode()
    pieces = [content[start : start + LONGEST_BLOCK] for start in range(0, len(content), LONGEST_BLOCK)]
    blocks = b"".join(b"\0" + len(one).to_bytes(2, "little") + (len(one) ^ LONGEST_BLOCK).to_bytes(2, "little") + one for one in pieces)
    return Part(blocks, len(content), zlib.adler32(content))


def joined(parts: Iterable[Part]) -> bytes:
    """The response's body, with `Content-Encoding: deflate`; `zlib.decompress` gives the texts one after the other."""
    blocks, low, high = [HEADER], 1, 0
    for part in parts:
        blocks.append(part.blocks)
        high = (high + part.length * (low - 1) + (part.adler >> 16)) % MODULUS
        low = (low + (part.adler & 0xFFFF) - 1) % MODULUS
    return b"".join((*blocks, LAST_BLOCK, (high << 16 | low).to_bytes(4, "big")))
