"""Numbers as people and programs write them: what is read as one, and what is not."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from fractions import Fraction

TYPED = re.compile(r"[+−-]?(\d{1,15}([.,]\d{0,20})?|[.,]\d{1,20})", re.ASCII)
TYPED_WHOLE = re.compile(r"[+−-]?\d{1,15}", re.ASCII)
AS_PROGRAMS_WRITE = str.maketrans(",−", ".-")
SIGNS_OF_KEYBOARDS = str.maketrans("٫，．＋－", ",,.+-")
"""The signs in numbers on Arabic and Chinese keyboards. The Arabic “٬” between thousands is none of them."""
WRITTEN = re.compile(r"[+-]?(\d{1,300}(\.\d{0,300})?|\.\d{1,300})(e[+-]?\d{1,3}|/\d{1,300})?", re.ASCII | re.IGNORECASE)


def with_western_digits(text: str) -> str:
    """The text with 0 to 9 in place of the digits of other scripts.

    Examples
    --------
    >>> with_western_digits("٢٠"), with_western_digits("۲۰"), with_western_digits("２０"), with_western_digits("²")
    ('20', '20', '20', '²')
    """
    return text if text.isascii() else "".join(str(unicodedata.decimal(sign, sign)) for sign in text)


def typed_number(text: str, *, whole: bool = False) -> Decimal | None:
    """A number that a person typed or copied from a page, with a decimal comma or point, in digits of any script; None when it is none.

    Parameters
    ----------
    text : str
        Without spaces around it.
    whole : bool
        A whole number has neither comma nor point: “1,000” and “1.000” mean a thousand to some.

    Examples
    --------
    >>> typed_number("-0,25"), typed_number("−3"), typed_number("many"), typed_number("1.000", whole=True)
    (Decimal('-0.25'), Decimal('-3'), None, None)
    """
    text = with_western_digits(text.translate(SIGNS_OF_KEYBOARDS))
    return Decimal(text.translate(AS_PROGRAMS_WRITE)) if (TYPED_WHOLE if whole else TYPED).fullmatch(text) else None


def number_in_digits(text: str, *, most: int = 9) -> int | None:
    """The whole number that an address, a hidden input or a short field names by digits alone; None when it names none.

    Parameters
    ----------
    text : str
        Nothing but the digits 0 to 9.
    most : int
        This many digits at most, so that no number is too large for what is done with it.

    Examples
    --------
    >>> number_in_digits("17"), number_in_digits("-3"), number_in_digits("²"), number_in_digits("1000", most=3)
    (17, None, None, None)
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= most else None


def number_or_fraction(written: str | float, *, low: float, high: float) -> float | None:
    """A number that a program or a command line was given, which may be a fraction; None when it is none from `low` to `high`.

    Examples
    --------
    >>> number_or_fraction("1/4", low=0, high=1), number_or_fraction("2/1", low=0, high=1), number_or_fraction("nan", low=0, high=1)
    (0.25, None, None)
    """
    if isinstance(written, str) and not WRITTEN.fullmatch(written := written.strip()):
        return None
    try:
        number = float(Fraction(written))
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    return number if low <= number <= high else None
