"""The words of a reader: sentences that the web process translates, because a reader does without Django."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypedDict


class SentenceDocument(TypedDict):
    """A sentence as JSON."""

    words: str
    values: "Mapping[str, str | int | SentenceDocument]"


@dataclass(frozen=True, slots=True)
class Sentence:
    """An English sentence of the catalogue, with the values for its places; a value may be such a sentence itself."""

    words: str
    values: Mapping[str, "str | int | Sentence"]

    def __str__(self) -> str:
        values = {name: str(value) if isinstance(value, Sentence) else value for name, value in self.values.items()}
        return self.words % values if values else self.words

    def document(self) -> SentenceDocument:
        """The sentence as JSON."""
        values = {name: value.document() if isinstance(value, Sentence) else value for name, value in self.values.items()}
        return {"words": self.words, "values": values}


def sentence(words: str, /, **values: "str | int | Sentence") -> Sentence:
    """Import it as `_`, so that the catalogue of translations finds the words."""
    return Sentence(words, values)


class UnreadableError(ValueError):
    """A file that cannot be used; `problems` has a sentence for each thing that is wrong."""

    def __init__(self, *problems: Sentence) -> None:
        self.problems = problems
        super().__init__("\n".join(str(one) for one in problems))


MOST_PROBLEMS = 100


def limited(problems: Iterable[Sentence], *, most: int = MOST_PROBLEMS) -> list[Sentence]:
    """The first problems, and how many more there are: a list of thousands helps nobody."""
    every = list(problems)
    return every if len(every) <= most else [*every[:most], sentence("And %(count)s more.", count=f"{len(every) - most:,}")]
