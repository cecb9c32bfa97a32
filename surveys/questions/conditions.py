"""Background questions and quiz items that hang on background answers: whether they are shown at all, and words of their text.

A condition looks at nothing else: not at the arm, the subsample, the die or the quiz.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Annotated, Protocol, Self

from pydantic import AfterValidator, Field, model_validator

from surveys.questions.parts import LARGEST_COUNT, Name, Part, Text, different, formed, some

MOST_CONDITIONS = 5
PIPE = re.compile(r"\{([a-z0-9][a-z0-9_-]*)\|([^{}|]+)\}")
"""An earlier answer within a text, and the words that stand there if it was left out: `{subject|your subject}`."""
LIKE_A_PIPE = re.compile(r"\{[a-z0-9_.-]+\|[^{}]*\}")
LONGEST_NAMED, LONGEST_TEXT = 100, 20_000
"""So many letters of a question stand where a codebook names its answer, and in a text at most."""
RowName = Annotated[str, formed(r"^[a-z0-9][a-z0-9_-]{0,49}(\.[a-z0-9][a-z0-9_-]{0,49})?$", "the name of a question, or of its row")]
"""A question, or a row of a matrix: `support.books`."""
Month = Annotated[str, formed(r"^(1[89]|20|21)[0-9]{2}(-(0[1-9]|1[0-2]))?$", "a year or a month, such as 2026 or 2026-10")]
Bound = Annotated[float, Field(ge=-LARGEST_COUNT, le=LARGEST_COUNT)] | Month
"""A number, or a month such as 2004-09."""


class Condition(Part):
    """Holds for people who gave one of these answers (several choices: at least one of them), or a number or date within these ends."""

    question: RowName
    any_of: Annotated[tuple[Name, ...], Field(max_length=100), AfterValidator(different)] = ()
    at_least: Bound | None = None
    at_most: Bound | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        about_number = self.at_least is not None or self.at_most is not None
        if about_number == bool(self.any_of):
            raise ValueError("expected any_of, or at_least and at_most, or one of the two")
        return self

    def holds(self, answers: Mapping[str, object]) -> bool:
        given = answers.get(self.question)
        if isinstance(given, str) and not self.any_of:
            given = in_years(given)
        if isinstance(given, int | float):
            return not self.any_of and self.least <= given <= self.most
        return bool(set(self.any_of) & set(given if isinstance(given, list) else [given]))

    @property
    def line(self) -> str:
        """As the builder, the packet and the package write it: `year: first, second`, `age: >= 18`, `moved: <= 2020-03`."""
        low, high = self.at_least, self.at_most
        if self.any_of:
            said = ", ".join(self.any_of)
        elif low is not None and high is not None:
            said = f"{_written(low)} to {_written(high)}"
        else:
            said = f">= {_written(low)}" if low is not None else f"<= {_written(high)}"
        return f"{self.question}: {said}"

    @property
    def least(self) -> float:
        return -inf if self.at_least is None else in_years(self.at_least)

    @property
    def most(self) -> float:
        return inf if self.at_most is None else in_years(self.at_most)


def in_years(end: float | str) -> float:
    """A date in years: a month is its beginning, 2004-07 is 2004.5. A number is what it is."""
    if not isinstance(end, str):
        return end
    year, _, month = end.partition("-")
    return int(year) + (int(month) - 1) / 12 if month else float(year)


def _written(end: float | str | None) -> str:
    return end if isinstance(end, str) else f"{end:.15g}"


Conditions = Annotated[tuple[Condition, ...], Field(max_length=MOST_CONDITIONS)]
"""All of them must hold."""


class Offered(Protocol):
    """The answers that an earlier question can have: the names of its options, or the numbers between two ends."""

    @property
    def names(self) -> tuple[str, ...] | None: ...
    @property
    def several(self) -> bool: ...
    def has_number(self, least: float, most: float) -> bool: ...


def require_possible(asked: Sequence[tuple[str, Conditions, Sequence[str]]], offered: Mapping[str, Offered]) -> None:
    """Raises ValueError for a condition that nobody can ever meet. `asked`: the questions in their order, each with its list and name, its
    conditions, and the names under which later conditions find its answers; `offered`: what can be answered, by question or row.

    All conditions are joined by "and", so those of a question and of the questions they name can hold together exactly if each named
    question has an answer that meets all that is asked of it.
    """
    earlier: set[str] = set()
    needed: dict[str, tuple[Condition, ...]] = {}
    for name, conditions, rows in asked:
        closure: list[Condition] = []
        for condition in conditions:
            _require_known(name, condition, earlier, offered)
            closure += [condition, *needed[condition.question]]
        _require_compatible(name, closure, offered)
        for row in rows:
            earlier.add(row)
            needed[row] = tuple(closure)


def _require_known(name: str, condition: Condition, earlier: set[str], offered: Mapping[str, Offered]) -> None:
    of = condition.question
    if of not in earlier:
        fitting = some([one for one in offered if one in earlier]) or "none"
        raise ValueError(
            f"{name} is shown only if {of} …: expected an earlier background question; possible here: {fitting}. A condition "
            "never looks forward, nor at the arm, the subsample, the die or the quiz"
        )
    if of not in offered:
        raise ValueError(f"{name} is shown only if {of} …: expected a question with options, a number or a date, got another kind")
    names = offered[of].names
    if (names is None) == bool(condition.any_of):
        wanted = "at_least or at_most, because the answer is a number or a date" if names is None else f"any_of: {some(names)}"
        raise ValueError(f"{name} is shown only if {of} …: expected {wanted}")
    if names is not None and (unknown := [one for one in condition.any_of if one not in names]):
        raise ValueError(f"{name} is shown only if {of} …: expected options among {some(names)}, got {some(unknown)}")


def _require_compatible(name: str, conditions: Sequence[Condition], offered: Mapping[str, Offered]) -> None:
    by_question: dict[str, list[Condition]] = defaultdict(list)
    for condition in conditions:
        by_question[condition.question].append(condition)
    for of, own in by_question.items():
        answers = offered[of]
        if answers.names is None:
            possible = answers.has_number(max(one.least for one in own), min(one.most for one in own))
        else:
            possible = answers.several or bool(set.intersection(*(set(one.any_of) for one in own)))
        if not possible:
            raise ValueError(f"{name} would never be shown: no answer to {of} meets all that is asked of it")


def piped_in(text: Text | None) -> Iterator[tuple[str, str]]:
    """The earlier questions that a text names, in any language, each with the words instead. Raises ValueError for half a pipe."""
    if text is None:
        return
    for words in _in_every_language(text):
        if wrong := LIKE_A_PIPE.search(PIPE.sub("", words)):
            raise ValueError(f"expected an earlier answer as {{question|words if it was left out}}, got {wrong.group()[:60]}")
        yield from PIPE.findall(words)


def names_in(*texts: Text | None) -> set[str]:
    """The names of questions that stand in texts as earlier answers do."""
    return {named for text in texts if text for words in _in_every_language(text) for named, _otherwise in PIPE.findall(words)}


def _in_every_language(text: Text) -> list[str]:
    return list(text.root.values()) if isinstance(text.root, dict) else [text.root]


def filled_in(words: str, said: Mapping[str, str]) -> str:
    """The text with earlier answers, or with the words instead of those that were left out, which are empty in `said`.

    A name that is not in `said` stays as it is written: `{x|x>1}` in a quiz of mathematics is a set.
    """
    return PIPE.sub(lambda found: (said[found[1]] or found[2].strip()) if found[1] in said else found[0], words)


def spelled_out(words: str, questions: Mapping[str, str]) -> str:
    """The text for a codebook, where nobody has answered: earlier answers are named by the beginning of their questions."""
    return PIPE.sub(lambda found: f"[answer to “{_beginning(questions[found[1]])}”]" if found[1] in questions else found[0], words)


def spelled_out_text(text: Text, questions: Mapping[str, Text]) -> Text:
    """The same in every language of the text."""
    codes = text.root if isinstance(text.root, dict) else {"en": text.root}
    said = {code: spelled_out(words, {name: one.in_language(code) for name, one in questions.items()}) for code, words in codes.items()}
    said = {code: words[:LONGEST_TEXT] for code, words in said.items()}
    return Text(said) if isinstance(text.root, dict) else Text(said["en"])


def _beginning(words: str) -> str:
    """An answer that is named in the question that is named is not spelled out again: many such would be a text without end."""
    plain = PIPE.sub("…", words)
    return plain if len(plain) <= LONGEST_NAMED else f"{plain[:LONGEST_NAMED].rstrip()}…"
