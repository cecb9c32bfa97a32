"""Translations remember their originals, so that a changed original never goes out beside an old translation unseen.

The study file keeps a list for each language but the first, in which the originals stand: a short hash of every original, and of the
text that translates it. A text whose translation is named there beside another original only is outdated. A translation that the list does
not name was written after it, of the original that it stands beside. A file without a list comes from somebody who wrote down all
languages at once, so its texts count as made for each other; from then on they are watched.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from surveys.definition import StudyDefinition
from surveys.drafting.texts import gaps_in, untranslated
from surveys.questions.parts import Text, texts_of

AnyPart = TypeVar("AnyPart", bound=BaseModel)
HASH_LETTERS = 8
Records = Mapping[str, Collection[str]]
"""Language → the hashes of the originals and of what translates them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outdated:
    """A translation whose original has changed since. `place`: as in the study file, such as `quiz[0].options[1].text`."""

    place: str
    language: str
    original: str
    translation: str


def outdated_in(definition: StudyDefinition) -> list[Outdated]:
    """The translations that were made of another original than the one that stands beside them now."""
    records = definition.translations or {}
    return [one for one in _translated(definition) if not _is_right(one, records)]


def remembering(definition: StudyDefinition, *, before: StudyDefinition | None = None) -> StudyDefinition:
    """The same definition with its list of originals brought up to date. `before`: the version that it replaces.

    A list that comes with the definition counts before the older one, so a file carries what is known about its texts to another server.
    """
    records: Records = definition.translations or {}
    if definition.translations is None and before is not None:
        records = _turned(before, first=definition.languages[0])
    kept: dict[str, tuple[str, ...]] = {}
    for code in definition.languages[1:]:
        named, texts = set(records.get(code, ())), [one for one in _translated(definition) if one.language == code]
        right = {_pair(one) for one in texts if _is_right(one, records)}
        # An outdated translation keeps what it was made of: should the old original come back, it is right again.
        old = {_hash(one.translation) for one in texts if _pair(one) not in right}
        if found := right | {pair for pair in named if pair.partition("-")[2] in old}:
            kept[code] = tuple(sorted(found))
    return definition.model_copy(update={"translations": kept or None})


def still_right(definition: StudyDefinition, texts: Collection[Outdated]) -> StudyDefinition:
    """The same definition, in which these translations count as made of the originals that stand beside them now."""
    records = {code: set(pairs) for code, pairs in (definition.translations or {}).items()}
    for one in texts:
        records.setdefault(one.language, set()).add(_pair(one))
    return remembering(definition.model_copy(update={"translations": records}))


def _translated(definition: StudyDefinition) -> Iterator[Outdated]:
    """Every pair of an original and its translation; gaps are tasks of their own."""
    first = definition.languages[0]
    for place, text in texts_of(definition):
        for code in definition.languages[1:] if isinstance(text.root, dict) else ():
            original, translation = text.in_language(first), text.in_language(code)
            if not gaps_in(translation):
                yield Outdated(place=place, language=code, original=original, translation=translation)


def _is_right(text: Outdated, records: Records) -> bool:
    """Whether the list names this pair, or does not know the translation yet."""
    named = records.get(text.language, ())
    return _pair(text) in named or not any(pair.endswith(f"-{_hash(text.translation)}") for pair in named)


def _turned(before: StudyDefinition, *, first: str) -> Records:
    """The list of `before` as it is with `first` as the language of the originals: outdated texts stay outdated."""
    if first == before.languages[0] or first not in before.languages:
        return before.translations or {}
    outdated = {(one.place, one.language) for one in outdated_in(before)}
    records: dict[str, set[str]] = {code: set() for code in before.languages if code != first}
    for place, text in texts_of(before):
        for code in records if isinstance(text.root, dict) else ():
            original, translation = text.in_language(first), text.in_language(code)
            is_right = not outdated & {(place, code), (place, first)}
            # It was made of neither: the hash of the translation itself stands for an original that is not there.
            records[code].add(f"{_hash(original if is_right else translation)}-{_hash(translation)}")
    return records


def _pair(text: Outdated) -> str:
    return f"{_hash(text.original)}-{_hash(text.translation)}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_LETTERS]


def in_languages(part: AnyPart, languages: Sequence[str]) -> AnyPart:
    """The same part with every text that its author gave in exactly these languages; a new language starts as gaps."""
    changed = {name: _in_languages(getattr(part, name), languages) for name in part.model_fields_set}
    return part.model_copy(update=changed)


def _in_languages(value: object, languages: Sequence[str]) -> object:
    if isinstance(value, Text):
        known = {languages[0]: value.root} if isinstance(value.root, str) else value.root  # one string is in the first language
        first = next((known[code] for code in languages if code in known), next(iter(known.values())))
        texts = {code: known.get(code) or untranslated(first) for code in languages}
        return Text(texts if len(texts) > 1 else texts[languages[0]])
    if isinstance(value, tuple):
        return tuple(_in_languages(item, languages) for item in value)
    return in_languages(value, languages) if isinstance(value, BaseModel) else value
