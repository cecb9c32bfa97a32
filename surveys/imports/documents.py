"""The questions of a proposal as plain values, in the form of a study file."""

from typing import NotRequired, TypedDict

from surveys.drafting.texts import Said
from surveys.imports.conditions import ReadCondition


class Option(TypedDict):
    """An option of a choice, or a row of a matrix."""

    name: str
    text: Said
    score: NotRequired[float]


class Answer(TypedDict):
    """Kind of a question, with its options or its limits."""

    kind: str
    options: NotRequired[list[Option]]
    rows: NotRequired[list[Option]]
    minimum: NotRequired[float]
    maximum: NotRequired[float]
    step: NotRequired[float]
    whole: NotRequired[bool]
    low: NotRequired[Said]
    high: NotRequired[Said]
    earliest: NotRequired[str]
    latest: NotRequired[str]
    longest: NotRequired[int]


class Document(Answer):
    """A background question."""

    name: str
    text: Said
    hint: NotRequired[Said]
    role: NotRequired[str]
    shuffle: NotRequired[bool]
    show_if: NotRequired[list[ReadCondition]]


class Proposed(TypedDict):
    """A question of the file. `document`: None if Candor cannot ask it; `die`: how the die could protect its answer."""

    place: str
    name: str
    text: str
    document: Document | None
    die: dict[str, str] | None
