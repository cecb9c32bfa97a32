"""A file from outside as one tree, and the list of its attributes. Each attribute has exactly one outcome in the end.

An attribute is a value at a place of the file: a cell, a leaf of JSON, the text of an element. A place where nothing is said has none.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from surveys.reading.words import Sentence

TAKEN, CHANGED, LOST = "taken", "changed", "lost"
_STRENGTH = ("", TAKEN, CHANGED, LOST)
SHOWN = 200
"""Characters of a value in the report."""
Plain: TypeAlias = Any
"""Lists, mappings by name, texts, numbers, booleans and None."""
Path = tuple[str | int, ...]


@dataclass(slots=True)
class Attribute:
    """`about`: the part of a question that it says. `question`: the place of its question among those of the file, -1 for none."""

    path: Path
    value: str
    outcome: str = ""
    about: str = ""
    question: int = -1
    notes: list[Sentence] = field(default_factory=list)

    def becomes(self, outcome: str, note: Sentence | None = None, *, about: str = "") -> None:
        """The worst of several outcomes stays."""
        self.outcome = max(self.outcome, outcome, key=_STRENGTH.index)
        self.about = self.about or about
        if note is not None and note not in self.notes:
            self.notes.append(note)


class Tree:
    """The values of a file, and its attributes by their paths."""

    def __init__(self, root: Plain) -> None:
        self.root = Node(self, (), root)
        self.attributes = {path: Attribute(path, shown(value)) for path, value in leaves(root)}


@dataclass(frozen=True, slots=True)
class Node:
    """A value of the file and its place. A missing one is None, and has no attribute."""

    tree: Tree
    path: Path
    value: Plain

    def at(self, *keys: str | int) -> "Node":
        """The value below."""
        value, path = self.value, self.path
        for key in keys:
            if isinstance(value, dict):
                value = value.get(key)
            elif isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value):
                value = value[key]
            else:
                value = None
            path = (*path, key)
        return Node(self.tree, path, value)

    def parts(self) -> "list[Node]":
        """The values one level below, in their order."""
        if isinstance(self.value, dict):
            return [self.at(key) for key in self.value]
        return [self.at(number) for number in range(len(self.value))] if isinstance(self.value, list) else []

    @property
    def key(self) -> str:
        return str(self.path[-1]) if self.path else ""

    @property
    def text(self) -> str:
        """The value of a leaf as text; empty for what is missing or has parts."""
        return "" if isinstance(self.value, dict | list) else written(self.value).strip()

    @property
    def says_yes(self) -> bool:
        return self.text.lower() in {"y", "yes", "ja", "1", "true", "on"}

    def attributes(self) -> list[Attribute]:
        """All attributes here and below."""
        return [self.tree.attributes[path] for path, _value in leaves(self.value, self.path)]

    def unread(self) -> list[Attribute]:
        return [one for one in self.attributes() if not one.outcome]

    def taken(self, about: str = "") -> "Node":
        return self._all_become(TAKEN, None, about)

    def changed(self, note: Sentence, about: str = "") -> "Node":
        return self._all_become(CHANGED, note, about)

    def lost(self, reason: Sentence, about: str = "") -> "Node":
        return self._all_become(LOST, reason, about)

    def _all_become(self, outcome: str, note: Sentence | None, about: str) -> "Node":
        for one in self.attributes():
            one.becomes(outcome, note, about=about)
        return self


def leaves(value: Plain, path: Path = ()) -> Iterator[tuple[Path, Plain]]:
    """The places of a tree where something is said, in their order."""
    waiting: list[tuple[Path, Plain]] = [(path, value)]
    while waiting:
        here, one = waiting.pop()
        if isinstance(one, dict):
            waiting.extend(((*here, key), below) for key, below in reversed(one.items()))
        elif isinstance(one, list):
            waiting.extend(((*here, number), one[number]) for number in range(len(one) - 1, -1, -1))
        elif one is not None and not (isinstance(one, str) and not one.strip()):
            yield here, one


def place_of(path: Path) -> str:
    """A place as people find it: `SurveyElements[3] › Payload › QuestionText`."""
    said = ""
    for part in path:
        said += f"[{part}]" if isinstance(part, int) else f" › {shown(part)}" if said else shown(part)
    return said


def written(value: Plain) -> str:
    """A value as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else f"{value:.15g}" if isinstance(value, float) else str(value)


def shown(value: Plain) -> str:
    """A value as the report shows it."""
    text = written(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
