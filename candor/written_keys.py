"""Keys of students in files: two that look alike are one, else a student would count twice."""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = frozenset({"Cc", "Cf"})
"""The categories of characters that no page shows, such as controls, joiners and marks of the byte order."""
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Others that nobody sees: fillers, and selectors of variants."""


def key_in(cell: str) -> str:
    """The key of a student, whichever program wrote its letters: without what nobody sees, and with one space for several.

    Parameters
    ----------
    cell : str
        As it stands in the file.

    Examples
    --------
    >>> key_in("Anna  Berg "), key_in("Mu\u0308ller") == key_in("M\u00fc\u00adller")
    ('Anna Berg', True)
    """
    if not (cell.isascii() and cell.isprintable()):
        cell = _BLANK.sub("", unicodedata.normalize("NFKC", cell))
        cell = "".join(one for one in cell if one.isspace() or unicodedata.category(one) not in _INVISIBLE)
    return " ".join(cell.split())
