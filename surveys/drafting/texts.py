"""Texts in several languages, and the gaps `[[…]]` in them that somebody still has to fill."""

import re
from collections.abc import Iterator, Mapping

Said = str | dict[str, str]
UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, and those that turn the direction of what stands after them: of a page's own words, too."""
# No gap begins within another, so that the search reads every character once, however many begin and never end.
_GAP = re.compile(r"\[\[((?:(?!\[\[).)*?)\]\]", re.DOTALL)


def gaps_in(text: str) -> list[str]:
    """The missing parts, in the words of the gaps."""
    return [" ".join(gap.split()) for gap in _GAP.findall(text)]


def untranslated(text: str) -> str:
    """A gap that shows the text to be translated."""
    return f"[[translate: {text.replace('[[', '').replace(']]', '').strip()}]]"


def said(by_language: Mapping[str, str]) -> Said:
    """One string when all languages agree; else one for each, with gaps where nothing was written."""
    written = [text for text in by_language.values() if text]
    if len(set(by_language.values())) == 1:
        return written[0]
    return {code: text or untranslated(written[0]) for code, text in by_language.items()}


def unseen_in(value: object, place: str = "") -> Iterator[tuple[str, str]]:
    """Each text of a document that has a character which nobody can see, with its place."""
    if isinstance(value, str) and UNSEEN.search(value):
        yield place, value
    elif isinstance(value, Mapping):
        for key, below in value.items():
            yield from unseen_in(below, f"{place}.{key}" if place else key)
    elif isinstance(value, list):
        for number, below in enumerate(value):
            yield from unseen_in(below, f"{place}[{number}]")
