"""Answers and background values as files write them: understood, missing, or refused. Nothing is guessed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from candor.designs.forced_responses import YES_NO

MISSING = -1
NOTHING = frozenset({"", "na", "nan"})
EXPECTED_ANSWER = "0, 1, no, yes, false, true or nothing"

NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
WHOLE = re.compile(r"[+-]?\d{1,3}", re.ASCII)
LOOKS_LIKE_A_NUMBER = re.compile(r"[+-]?\d[\d.,'’ \u00a0\u202f]*%?", re.ASCII)

_CODES: Mapping[str, int] = {
    **dict.fromkeys(("0", "0.0", "0,0", "no", "false"), 0),
    **dict.fromkeys(("1", "1.0", "1,0", "yes", "true"), 1),
    **dict.fromkeys(NOTHING, MISSING),
}


def answer_code(text: str) -> int | None:
    """0, 1, or `MISSING` for a written answer; None when it is none of these.

    Examples
    --------
    >>> [answer_code(text) for text in ("0", " Yes", "FALSE", "1,0", "NaN", "", "2")]
    [0, 1, 0, 1, -1, -1, None]
    """
    return _CODES.get(text.strip().casefold())


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerWords:
    """The words for the answers to a question, and how its errors name them.

    Attributes
    ----------
    codes : mapping of str to int
        Positions of the answers, or `MISSING`, by their words in small letters.
    expected, together : str
        "0, 1, no, yes, …", and "0 and 1".
    one_of : str
        "yes or no".
    """

    codes: Mapping[str, int]
    expected: str
    together: str
    one_of: str

    def code(self, text: str) -> int | None:
        """The position of a written answer, or `MISSING`; None when it is neither."""
        return self.codes.get(text.strip().casefold())


def answer_words(categories: tuple[str, ...]) -> AnswerWords:
    """The words of a design's categories: those of yes/no questions, or the names of the categories, in capital or small letters.

    Examples
    --------
    >>> words = answer_words(("never", "once", "often"))
    >>> words.code(" Once "), words.code("NA"), words.code("1"), words.expected
    (1, -1, None, 'never, once, often or nothing')
    """
    if categories == YES_NO:
        return AnswerWords(codes=_CODES, expected=EXPECTED_ANSWER, together="0 and 1", one_of="yes or no")
    codes = {name.casefold(): position for position, name in enumerate(categories)} | dict.fromkeys(NOTHING, MISSING)
    names = ", ".join(categories)
    return AnswerWords(codes=codes, expected=f"{names} or nothing", together=names, one_of=f"one of {names}")


def is_missing(text: str) -> bool:
    """Whether a cell holds nothing: empty, NA or NaN in any case.

    Examples
    --------
    >>> is_missing("NA "), is_missing("none")
    (True, False)
    """
    return text.strip().casefold() in NOTHING


def background_values(written: Sequence[object], *, refused: Callable[[int, str], Exception]) -> list[float | str | None]:
    """The values of a covariate: all numbers, or all words; None where nothing was written.

    Parameters
    ----------
    written : sequence
        Texts and numbers. A column is one of numbers when more than half of the values are numbers.
    refused : callable
        Makes the error from the position of a value and a sentence about it.

    Raises
    ------
    Exception
        That of `refused`, for a word among numbers, and for what looks like a number and can be read in two ways.

    Notes
    -----
    A decimal comma is understood, also beside whole numbers, but not beside a decimal point. "1,234" is a thousand or a little more than
    one: it is understood only where another value shows that commas are decimal.

    Examples
    --------
    >>> background_values(["20,5", "NA", "21"], refused=lambda row, what: ValueError(what))
    [20.5, None, 21.0]
    >>> background_values(["law", "", "art"], refused=lambda row, what: ValueError(what))
    ['law', None, 'art']
    >>> background_values([20, 21, "many"], refused=lambda row, what: ValueError(f"row {row}: {what}"))
    Traceback (most recent call last):
    ValueError: row 2: expected a number as in most rows, or nothing, found 'many'
    """
    texts = [value.strip() if isinstance(value, str) else "" if value is None else str(value) for value in written]
    read = {text: written_number(text) for text in dict.fromkeys(texts)}
    numbers = sum(read[text] is not None for text in texts)
    there = sum(not is_missing(text) for text in texts)
    commas = [text for text, value in read.items() if value is not None and "," in text]
    ambiguous = set(commas) if all(map(GROUPED.fullmatch, commas)) and any(map(WHOLE.fullmatch, read)) else set()
    points = any("." in text for text, value in read.items() if value is not None)
    for row, text in enumerate(texts):
        if is_missing(text):
            continue
        if read[text] is None and 2 * numbers > there:
            raise refused(row, f"expected a number as in most rows, or nothing, found {text!r}")
        if read[text] is None and LOOKS_LIKE_A_NUMBER.fullmatch(text):
            raise refused(row, f"expected a number without separators of thousands and without a unit, found {text!r}")
        if text in ambiguous:
            raise refused(
                row, f"expected a number that can be read in one way, found {text!r}: write it without the comma, or with a point"
            )
        if points and "," in text and read[text] is not None:
            raise refused(row, f"expected a decimal point as in other rows, found {text!r}")
    return [None if is_missing(text) else read[text] if 2 * numbers > there else text for text in texts]


def written_number(text: str) -> float | None:
    """The number in a cell, with a decimal point or comma; None if there is none."""
    if not NUMBER.fullmatch(text):
        return None
    number = float(text.replace(",", "."))
    return number if math.isfinite(number) else None


def group_names(texts: Iterable[str]) -> list[str]:
    """The texts of a column that makes subgroups, empty where missing.

    Examples
    --------
    >>> group_names([" first ", "NA", "2"])
    ['first', '', '2']
    """
    return ["" if is_missing(text.strip()) else text.strip() for text in texts]
