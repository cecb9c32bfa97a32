"""A plus or minus on the left of its number, also on pages that are read from right to left: there it would stand on the right."""

import re

from django.utils.translation import get_language_bidi

SIGNED = re.compile(r"[-−+]\d")
LEFT_TO_RIGHT = "\N{LEFT-TO-RIGHT MARK}"


def sign_on_the_left(text: str) -> str:
    """A text that may begin with a sign and a digit, such as “−1”, for the language of the page."""
    return f"{LEFT_TO_RIGHT}{text}" if SIGNED.match(str(text)) and get_language_bidi() else text


def with_minus(written: str) -> str:
    """A number with a minus where Django writes a hyphen."""
    return sign_on_the_left(f"−{written[1:]}") if written.startswith("-") else written
