"""Texts in several languages, and the gaps `[[…]]` in them that somebody still has to fill."""

import re
from collections.abc import Mapping

Said = str | dict[str, str]
_GAP = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)


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
