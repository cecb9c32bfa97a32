"""Labels, such as the name of a state, in the middle of a sentence."""

from django.utils.functional import Promise
from django.utils.translation import get_language


def within_sentence(label: str | Promise) -> str:
    """English begins a label with a small letter there; German keeps the capitals of its nouns. Names such as IRB stay as they are."""
    text = str(label)
    return text[:1].lower() + text[1:] if (get_language() or "en").startswith("en") else text
