"""The text of a file whose encoding nobody says: byte order marks, zero bytes, UTF-8, a declaration of XML, and Windows-1252 at last."""

import codecs
import re

from surveys.reading.words import UnreadableError
from surveys.reading.words import sentence as _

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
LOOKED_AT = 4096
DECLARED = re.compile(rb"""<\?xml[^>]{0,100}encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
KNOWN = {"utf-8", "iso8859-1", "iso8859-15", "cp1252", "cp1250", "cp1251", "koi8-r", "ascii", "utf-16", "utf-16-le", "utf-16-be"}


def decoded(content: bytes, *, source: str) -> tuple[str, str]:
    """The text without a mark, and the name of its encoding; an UnreadableError for what is no text."""
    mark, encoding = next(((mark, name) for mark, name in MARKS if content.startswith(mark)), (b"", ""))
    body = content[len(mark) :]
    if not encoding:
        encoding = _guessed(body)
    try:
        text = str(body, encoding)
    except UnicodeDecodeError as error:
        raise UnreadableError(
            _(
                "%(source)s: expected text in %(encoding)s, found another byte at position %(place)s.",
                source=source,
                encoding=encoding,
                place=error.start,
            )
        ) from error
    if "\0" in text:
        raise UnreadableError(
            _("%(source)s: expected text, found a zero byte at position %(place)s.", source=source, place=text.index("\0"))
        )
    return text, encoding


def _guessed(body: bytes) -> str:
    start = body[:LOOKED_AT]
    even, odd = start[::2].count(0), start[1::2].count(0)
    # In UTF-16 every second byte of letters and signs is zero.
    if max(even, odd) > len(start) // 5 and min(even, odd) <= len(start) // 50:
        return "utf-16-le" if odd > even else "utf-16-be"
    try:
        str(body, "utf-8")
    except UnicodeDecodeError:
        found = DECLARED.search(start)
        try:
            declared = codecs.lookup(found[1].decode()).name if found else "cp1252"
        except LookupError:
            declared = "cp1252"
        return declared if declared in KNOWN - {"utf-8"} else "cp1252"
    return "utf-8"
