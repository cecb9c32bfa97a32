"""Codes that are made here: secrets without letters that look alike, a sheet of slips with QR codes, and a table for letters.

Only hashes of codes are stored. So that a reload and the download show the same codes without keeping them, they follow from a random
number that the page alone holds, and from the server's key.
"""

import csv
import io
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.crypto import salted_hmac
from django.utils.safestring import SafeString, mark_safe

LETTERS = "CDFHJKMNPQRTVWXY"
"""Without vowels, so that no code is a word, and without B, G, L, S and Z, which look like digits."""
DIGITS = "23456789"
LENGTH = 10
MOST = 1000
"""The most codes made at once: a sheet of slips that a browser still prints."""
SEED = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Slip:
    """A code as a person gets it."""

    code: str
    link: str

    @property
    def qr(self) -> SafeString:
        return qr_svg(self.link)


def new_seed() -> str:
    """256 bits from the operating system, for one list of codes."""
    return secrets.token_urlsafe(32)


def made_codes(study: str, *, seed: str, count: int) -> list[str]:
    """`count` different codes, the same ones for the same seed. Each has 45 bits, and begins with a letter: no spreadsheet takes it for a
    number, a date or a formula.
    """
    codes: dict[str, None] = {}
    number = 0
    while len(codes) < count:
        digest = salted_hmac(f"made entry code {study}", f"{seed} {number}", algorithm="sha256").digest()
        codes[_code_from(int.from_bytes(digest, "big"))] = None
        number += 1
    return list(codes)


def slips(codes: Sequence[str], *, address: str) -> list[Slip]:
    """The code stands behind `#` in the link: browsers keep that part to themselves, so no server, log or mail filter sees it."""
    return [Slip(code=f"{code[:5]}-{code[5:]}", link=f"{address}#code={code}") for code in codes]


def table_for_letters(slips: Sequence[Slip]) -> str:
    """A CSV file with a column of codes and a column of links, for a mail merge."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["code", "link"])
    writer.writerows([slip.code, slip.link] for slip in slips)
    return text.getvalue()


def qr_svg(content: str) -> SafeString:
    """A drawing that a telephone reads as `content`: black on white on every page, in any colour scheme."""
    import segno  # few processes ever draw a code

    drawing = io.BytesIO()
    segno.make_qr(content, error="m").save(
        drawing, kind="svg", xmldecl=False, omitsize=True, border=4, svgclass="qr", lineclass=None, light="white"
    )
    return mark_safe(drawing.getvalue().decode())  # noqa: S308  (lines of a drawing, without the text that they stand for)


def _code_from(number: int) -> str:
    alphabet = LETTERS + DIGITS
    number, place = divmod(number, len(LETTERS))
    code = LETTERS[place]
    for _place in range(LENGTH - 1):
        number, place = divmod(number, len(alphabet))
        code += alphabet[place]
    return code
