"""English sentences with their values: plain in a package and on the command line, and translated on a page that has a catalogue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypedDict


class SentenceDocument(TypedDict):
    """A sentence as JSON."""

    words: str
    values: Mapping[str, str | int | SentenceDocument]


@dataclass(frozen=True, slots=True)
class Sentence:
    """An English sentence of a catalogue, with the values for its places; a value may be such a sentence itself.

    Attributes
    ----------
    words : str
        With places such as ``%(name)s``.
    values : mapping of str to str, int or Sentence

    Examples
    --------
    >>> str(Sentence("%(n)s of them", {"n": 3}))
    '3 of them'
    """

    words: str
    values: Mapping[str, str | int | Sentence]

    def __str__(self) -> str:
        values = {name: str(value) if isinstance(value, Sentence) else value for name, value in self.values.items()}
        return self.words % values if values else self.words

    def document(self) -> SentenceDocument:
        """The sentence as JSON."""
        values = {name: value.document() if isinstance(value, Sentence) else value for name, value in self.values.items()}
        return {"words": self.words, "values": values}


def sentence(words: str, /, **values: str | int | Sentence) -> Sentence:
    """A sentence and its values; import it as ``_``, so that a catalogue of translations finds the words.

    Parameters
    ----------
    words : str
    **values : str, int or Sentence

    Returns
    -------
    Sentence

    Examples
    --------
    >>> str(sentence("%(n)s of them", n=3))
    '3 of them'
    """
    return Sentence(words, values)


def found_among(catalogue: Iterable[str], text: str) -> Sentence | None:
    """The first sentence of a catalogue that a text says, with the values in its places; None if it says none of them.

    Parameters
    ----------
    catalogue : iterable of str
    text : str

    Returns
    -------
    Sentence or None

    Examples
    --------
    >>> found_among(["%(n)s of them"], "3 of them").values
    {'n': '3'}
    >>> found_among(["%(n)s of them"], "none")
    """
    for words in catalogue:
        if match := re.fullmatch(re.sub(r"%\\\((\w+)\\\)s", r"(?P<\1>.+?)", re.escape(words)), text, re.DOTALL):
            return Sentence(words, match.groupdict())
    return None
