"""Texts in several languages, and the gaps `[[…]]` in them that somebody still has to fill."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

from pydantic import BaseModel

from surveys.questions.parts import Text

Said = str | dict[str, str]
AnyPart = TypeVar("AnyPart", bound=BaseModel)
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


def in_languages(part: AnyPart, languages: Sequence[str]) -> AnyPart:
    """The same part with every text that its author gave in exactly these languages; a new language starts as gaps."""
    changed = {name: _translated(getattr(part, name), languages) for name in part.model_fields_set}
    return part.model_copy(update=changed)


def _translated(value: object, languages: Sequence[str]) -> object:
    if isinstance(value, Text):
        known = {languages[0]: value.root} if isinstance(value.root, str) else value.root  # one string is in the first language
        first = next((known[code] for code in languages if code in known), next(iter(known.values())))
        texts = {code: known.get(code) or untranslated(first) for code in languages}
        return Text(texts if len(texts) > 1 else texts[languages[0]])
    if isinstance(value, tuple):
        return tuple(_translated(item, languages) for item in value)
    return in_languages(value, languages) if isinstance(value, BaseModel) else value
