"""The questions of a file as every reader gives them, before anything of them is in a study's words."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from candor.written_numbers import typed_number
from surveys.imports.conditions import Groups
from surveys.imports.trees import Node
from surveys.reading.words import Sentence

Said: TypeAlias = Sequence[tuple[str, str, Node]]
"""A text by language: the language's code, empty where the file does not name it; the words; and where they stand."""
Number: TypeAlias = tuple[float | None, Node]


def number_at(node: Node) -> Number:
    number = typed_number(node.text)
    return (None if number is None else float(number), node)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An option or a row. `code` is what the file writes for it, at `coded`; `scored` says a number beside it."""

    code: str
    said: Said
    coded: Node | None = None
    scored: Node | None = None


@dataclass(slots=True, kw_only=True)
class Found:
    """A question of the file. `nodes` hold all its attributes.

    `kind`: `choice`, `choices`, `scale`, `matrix`, `number`, `slider`, `date` or `words`; empty with the `reason` why it cannot be asked.
    `known_as`: the names by which conditions of the file refer to it, or to a row of it. `yes_no`: the codes of its yes and its no.
    """

    name: str
    nodes: Sequence[Node]
    kind: str = ""
    reason: Sentence | None = None
    named: Node | None = None
    kinds: Sequence[Node] = ()
    """The attributes that say what kind of question it is."""
    said: Said = ()
    hint: Said = ()
    options: Sequence[Choice] = ()
    rows: Sequence[Choice] = ()
    yes_no: tuple[str, str] | None = None
    identifier: bool = False
    required: Node | None = None
    order: Node | None = None
    shuffled: bool = False
    minimum: Number | None = None
    maximum: Number | None = None
    step: Number | None = None
    whole: bool = True
    whole_said: Sequence[Node] = ()
    low: Said = ()
    high: Said = ()
    earliest: tuple[str, Node] | None = None
    latest: tuple[str, Node] | None = None
    longest: tuple[int | None, Node] | None = None
    known_as: str = ""
    rows_known_as: Sequence[str] = ()
    logic: Groups | None = None
    condition: Sequence[Node] = ()
    """Where the condition stands; `logic` is None if it cannot be read."""
    condition_said: str = ""
    remarks: list[tuple[Node, Sentence]] = field(default_factory=list)
    """Losses that a reader knows of already, each with its place."""
