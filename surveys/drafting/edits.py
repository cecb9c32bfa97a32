"""The part of the study's document that one builder form edits: its place, and the way back in."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from django.utils.translation import gettext as _

from surveys.drafting.texts import UNSEEN, unseen_in
from surveys.drafting.translations import in_languages
from surveys.errors import DefinitionError
from surveys.reading.words import MOST_PROBLEMS
from surveys.study_file import define, document_of

Unchecked: TypeAlias = Any
"""A part of a draft: JSON that the study's definition has not checked yet."""
Document = Mapping[str, Unchecked]


def require_seen(document: Document, *, before: Document) -> None:
    """No new text has a character that nobody can see. Those of `before` were stored by an older version, and stay."""
    known = {text for _place, text in unseen_in(before)}
    if found := [(place, text) for place, text in unseen_in(document) if text not in known]:
        words = _("%(place)s: here is a character that nobody can see, U+%(code)s. Type the text again.")
        raise DefinitionError(
            [words % {"place": place, "code": f"{ord(UNSEEN.findall(text)[0]):04X}"} for place, text in found[:MOST_PROBLEMS]]
        )


class Edit(Protocol):
    def current(self, document: Document) -> Unchecked:
        """The document's content, as plain values."""

    def merged(self, document: Document, value: Unchecked) -> dict[str, Unchecked]:
        """The document with `value` in that place."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Some of the top-level keys; a value of None takes a key out, so that its default holds."""

    keys: tuple[str, ...]

    def current(self, document: Document) -> dict[str, Unchecked]:
        return {key: document[key] for key in self.keys if key in document}

    def merged(self, document: Document, value: Document) -> dict[str, Unchecked]:
        rest = {key: kept for key, kept in document.items() if key not in self.keys}
        return rest | {key: given for key, given in value.items() if given is not None}


@dataclass(frozen=True, slots=True)
class WithLanguages(Keys):
    """Keys with the study's languages among them: another language changes every text of the study."""

    def merged(self, document: Document, value: Document) -> dict[str, Unchecked]:
        spoken = {"languages": document.get("languages")}
        changed = define(Keys(self.keys).merged(document, {**value, **spoken}))
        languages = tuple(value.get("languages") or ("en",))
        if languages != changed.languages:
            words = {code: name for code, name in changed.words.items() if code in languages}
            changed = in_languages(changed.model_copy(update={"languages": languages, "words": words}), languages)
        return document_of(changed)


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a list, found by its name; without a name a new one, which comes last. A value of None takes the item out."""

    key: str
    name: str = ""

    def current(self, document: Document) -> Unchecked:
        return next((item for item in document.get(self.key, ()) if item["name"] == self.name), None)

    def merged(self, document: Document, value: Unchecked) -> dict[str, Unchecked]:
        items = list(document.get(self.key, ()))
        place = next((index for index, item in enumerate(items) if item["name"] == self.name), len(items))
        items[place : place + 1] = [] if value is None else [value]
        return {**document, self.key: items}


@dataclass(frozen=True, slots=True)
class Order:
    """The order of a list's items, as their names. Only the same names in another order are accepted."""

    key: str

    def current(self, document: Document) -> list[str]:
        return [item["name"] for item in document.get(self.key, ())]

    def merged(self, document: Document, value: list[str]) -> dict[str, Unchecked]:
        by_name = {item["name"]: item for item in document.get(self.key, ())}
        return {**document, self.key: [by_name[name] for name in value]}


@dataclass(frozen=True, slots=True)
class Whole:
    """The whole document, which keeps its slug."""

    def current(self, document: Document) -> Unchecked:
        return document

    def merged(self, document: Document, value: Unchecked) -> dict[str, Unchecked]:
        return dict(value)


def fingerprint_of(value: object) -> str:
    """A fingerprint that changes whenever the value does; a form carries the fingerprint of its starting value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    place: str
    mine: str
    theirs: str


def differences(mine: object, theirs: object) -> list[Difference]:
    """The differences between two versions of the same part, for the person who must choose."""
    left, right = dict(_leaves(mine)), dict(_leaves(theirs))
    return [
        Difference(place=place, mine=left.get(place, ""), theirs=right.get(place, ""))
        for place in dict.fromkeys([*left, *right])
        if left.get(place) != right.get(place)
    ]


def _leaves(value: object, place: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, f"{place}, {key}" if place else str(key))
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value, start=1):
            yield from _leaves(inner, f"{place} {number}".strip())
    elif value is not None:
        yield place, str(value)
