"""The words of a reader: sentences that the web process translates, because a reader does without Django."""

from collections.abc import Iterable

from candor.sentences import Sentence, SentenceDocument, sentence

__all__ = ["DIGITS", "MOST_PROBLEMS", "Sentence", "SentenceDocument", "UnreadableError", "digits", "limited", "sentence"]
DIGITS = "%(digits)s"
"""A number alone, which each language writes in its own way."""


class UnreadableError(ValueError):
    """A file that cannot be used; `problems` has a sentence for each thing that is wrong."""

    def __init__(self, *problems: Sentence) -> None:
        self.problems = problems
        super().__init__("\n".join(str(one) for one in problems))


def digits(value: float, form: str = ",") -> Sentence:
    """A number in a sentence. `form` is Python's: `,` is a whole number with groups of digits, `.1f` has one decimal place."""
    return Sentence(DIGITS, {"digits": format(value, form)})


MOST_PROBLEMS = 100


def limited(problems: Iterable[Sentence], *, most: int = MOST_PROBLEMS) -> list[Sentence]:
    """The first problems, and how many more there are: a list of thousands helps nobody."""
    every = list(problems)
    return every if len(every) <= most else [*every[:most], sentence("And %(count)s more.", count=digits(len(every) - most))]
