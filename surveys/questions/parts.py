"""The material of every part of a study's definition: names, and texts in one language or several."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Discriminator, Field, RootModel, StringConstraints, Tag

MOST_NAMED = 20
"""Names that one sentence of an error lists."""
LARGEST_COUNT = 10**9
"""Far beyond every study, and near enough that nothing computed from it overflows."""


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


FORMS: dict[str, str] = {}
"""The words for each form that a text must have, by its pattern."""


def formed(pattern: str, words: str) -> StringConstraints:
    """The form of a text. `words` name it where somebody wrote another one."""
    FORMS[pattern] = words
    return StringConstraints(pattern=pattern)


Name = Annotated[str, formed(r"^[a-z0-9][a-z0-9_-]{0,49}$", "a name of at most 50 small letters, digits, hyphens and underscores")]
Language = Annotated[str, formed(r"^[a-z]{2,3}(-[a-z0-9]{2,8})?$", "the code of a language in small letters, such as en or zh-hans")]
# No control characters but tab and line ends: PostgreSQL stores no NUL, and nobody can see the others.
NonEmpty = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000),
    formed(r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$", "a text without control characters"),
]


def _form_of_text(value: object) -> str | None:
    """So that a mistake is said of the form that was meant, and not of both."""
    return "text" if isinstance(value, str) else "texts" if isinstance(value, Mapping) else None


class Text(
    RootModel[
        Annotated[
            Annotated[NonEmpty, Tag("text")] | Annotated[dict[Language, NonEmpty], Field(min_length=1), Tag("texts")],
            Discriminator(_form_of_text, custom_error_type="text_form", custom_error_message="expected a text"),
        ]
    ]
):
    """One string that serves every language, or one string per language."""

    model_config = ConfigDict(frozen=True)

    def in_language(self, language: str) -> str:
        if isinstance(self.root, str):
            return self.root
        return self.root.get(language) or self.root.get("en") or self.root[min(self.root)]


def joined(first: Text, second: Text) -> Text:
    """One after the other, in every language that either has."""
    codes = [code for text in (first, second) if isinstance(text.root, dict) for code in text.root]
    if not codes:
        return Text(f"{first.root} {second.root}")
    return Text({code: f"{first.in_language(code)} {second.in_language(code)}" for code in dict.fromkeys(codes)})


YES, NO = Text({"en": "Yes", "de": "Ja"}), Text({"en": "No", "de": "Nein"})
"""Labels that nobody wrote: the pages say them in the words of their language."""


class Named(Protocol):
    """A part whose name tells it apart from the others of its list."""

    @property
    def name(self) -> str: ...


def some(names: Sequence[str]) -> str:
    """The names, or the first of many."""
    return ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else "")


def different(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names, if none is there twice."""
    if repeated := sorted(name for name, count in Counter(names).items() if count > 1):
        raise ValueError(f"names must differ; repeated: {some(repeated)}")
    return names


def unique_names(parts: tuple[Named, ...]) -> tuple[Named, ...]:
    times = Counter(part.name for part in parts)
    if repeated := sorted(name for name, count in times.items() if count > 1):
        raise ValueError(f"names must differ; repeated: {some(repeated)}")
    return parts


def texts_of(part: BaseModel, path: str = "") -> Iterator[tuple[str, Text]]:
    """Every text that the author gave, with its place in the tree."""
    for name in sorted(part.model_fields_set):
        value, where = getattr(part, name), f"{path}.{name}" if path else name
        for index, item in enumerate(value) if isinstance(value, tuple) else [(None, value)]:
            place = where if index is None else f"{where}[{index}]"
            if isinstance(item, Text):
                yield place, item
            elif isinstance(item, BaseModel):
                yield from texts_of(item, place)
