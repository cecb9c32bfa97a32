"""Labels, such as the name of a state, in the middle of a sentence; messages as sentences of their own."""

import re

from django.utils.functional import Promise
from django.utils.translation import get_language

FIRST_WORD = re.compile(r"(?:a|[a-z]{2,}) ")
"""No name of a column or a parameter: k, or a word with a colon after it."""
ENDS = tuple(".!?…:。！？؟।")


def within_sentence(label: str | Promise) -> str:
    """English begins a label with a small letter there; German keeps the capitals of its nouns. Names such as IRB stay as they are."""
    text = str(label)
    return text[:1].lower() + text[1:] if (get_language() or "en").startswith("en") else text


def whole_sentence(message: object) -> str:
    """A message that stands alone on a page. The library's own begin with a small letter, unless with a name, and have no full stop."""
    text = str(message)
    begun = text[:1].upper() + text[1:] if FIRST_WORD.match(text) else text
    return begun if begun.endswith(ENDS) or not begun else begun + "."
