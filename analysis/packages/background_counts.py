"""One-way tables of background answers, over everybody in a release at once; small counts are hidden so that no sum gives them back."""

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from surveys.questions.background import (
    MOST_FRIENDS,
    Answered,
    Circle,
    Date,
    Group,
    MultipleChoice,
    Number,
    Numeric,
    OrdinalScale,
    ShortText,
    SingleChoice,
    Slider,
)
from surveys.questions.conditions import Conditions

NOT_ANSWERED = "not answered"
THRESHOLDS = (5, 10, 20)
"""Counts below the chosen one of these are hidden."""
MOST_VALUES = 12
BINS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """How many people gave this answer; None: hidden."""

    question: str
    answer: str
    count: int | None


def background_cells(questions: Sequence[Answered], answers: Sequence[Mapping[str, object]], *, smallest: int, secret: str) -> list[Cell]:
    """The tables of all questions, one after the other. Groups of fields count only their entries, circles only
    their friends, dates only their years; short texts have no table.

    A question that hangs on another one is counted among those who were asked, if shown counts tell how many these are: otherwise it would
    give hidden ones back. All others are added to those who did not answer, where these are enough.

    `secret` decides which other counts are hidden along with small ones: nobody can guess it, and for the same people it stays the same.
    """
    cells: list[Cell] = []
    shown: dict[str, set[str]] = {}
    for question in questions:
        if isinstance(question, ShortText):
            continue
        asked = [answer for answer in answers if all(condition.holds(answer) for condition in question.show_if)]
        given = [answer.get(question.name) for answer in asked]
        if isinstance(question, MultipleChoice):
            counts = _choices(question, [value if isinstance(value, list) else None for value in given], smallest=smallest)
        else:
            table = _table(question, given)
            counts = hide_small(table, smallest=smallest, order=_shuffled(table, secret=f"{secret} {question.name}"))
        if not _number_asked_is_shown(question.show_if, questions, shown):
            counts = dict.fromkeys(counts)
        shown[question.name] = {answer for answer, count in counts.items() if count is not None}
        if (missing := counts[NOT_ANSWERED]) is not None:
            counts[NOT_ANSWERED] = missing + len(answers) - len(asked)
        cells += [Cell(question=question.name, answer=answer, count=count) for answer, count in counts.items()]
    return cells


def hide_small(
    counts: Mapping[str, int], *, smallest: int, order: Sequence[str], choices: Sequence[int] = THRESHOLDS
) -> dict[str, int | None]:
    """Hide counts below `smallest`, zeros too, and then others until those hidden are at least two and together at least `smallest`.

    A reader who knows the total can subtract the shown counts and learn the sum of the hidden ones. The others are hidden in an `order`
    independent of their size: if it were always the smallest of them, this sum could tell a small count after all.

    All that is hidden with a smaller one of the `choices` is hidden, too. Otherwise a package that was built with each of them would show
    in one what the other hides along with a small count.
    """
    hidden: set[str] = set()
    for least in sorted({smallest, *(one for one in choices if one < smallest)}):
        hidden |= {answer for answer, count in counts.items() if count < least}
        rest = [answer for answer in order if answer not in hidden]
        while hidden and rest and (len(hidden) < 2 or sum(counts[answer] for answer in hidden) < least):
            hidden.add(rest.pop(0))
    return {answer: None if answer in hidden else count for answer, count in counts.items()}


def cells_csv(cells: Sequence[Cell]) -> str:
    """question, answer, count; a hidden count is empty."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["question", "answer", "count"])
    writer.writerows([cell.question, cell.answer, "" if cell.count is None else cell.count] for cell in cells)
    return buffer.getvalue()


def _number_asked_is_shown(conditions: Conditions, questions: Sequence[Answered], shown: Mapping[str, set[str]]) -> bool:
    """Whether shown counts add up to the number of people who meet the conditions: one of them, of one option or of answers that exclude
    each other.
    """
    if not conditions:
        return True
    on = conditions[0]
    alone = len(on.any_of) == 1 or not any(isinstance(one, MultipleChoice) and one.name == on.question for one in questions)
    return len(conditions) == 1 and bool(on.any_of) and alone and set(on.any_of) <= shown.get(on.question, set())


def _shuffled(answers: Iterable[str], *, secret: str) -> list[str]:
    return sorted(answers, key=lambda answer: hashlib.sha256(f"{secret} {answer}".encode()).digest())


def _choices(question: MultipleChoice, given: Sequence[list[str] | None], *, smallest: int) -> dict[str, int | None]:
    """Options overlap and add up to nothing: each is shown if both those who chose it and those who did not are enough.

    People without an answer are among those who did not. Their number is never told: beside it the sum of all options would tell how few
    chose several. Nor does it decide what is shown: that would tell it in part.
    """
    counts = {option.name: sum(value is not None and option.name in value for value in given) for option in question.options}
    enough = {answer for answer, count in counts.items() if min(count, len(given) - count) >= smallest}
    return {**{answer: count if answer in enough else None for answer, count in counts.items()}, NOT_ANSWERED: None}


def _table(question: SingleChoice | OrdinalScale | Numeric | Date | Circle | Group, given: Sequence[Any]) -> dict[str, int]:
    """Counts of answers that exclude each other, in the question's order, with those who did not answer last."""
    match question:
        case SingleChoice() | OrdinalScale():
            labels = [option.name for option in question.options]
            found = Counter(value for value in given if value is not None)
        case Date():
            labels = question.years
            found = Counter(question.within(value)[:4] for value in given if value is not None)
        case Group():
            labels = [_entries(number) for number in range(question.at_most + 1)]
            found = Counter(_entries(len(value)) for value in given if value is not None)
        case Circle():
            labels = [_friends(number) for number in range(MOST_FRIENDS + 1)]
            found = Counter(_friends(value["friends"]) for value in given if value is not None)
        case Number() | Slider():
            intervals = _intervals(question)
            labels = [label for label, _low in intervals]
            found = Counter(next(label for label, low in reversed(intervals) if value >= low) for value in given if value is not None)
    return {**{label: found[label] for label in labels}, NOT_ANSWERED: sum(value is None for value in given)}


def _entries(number: int) -> str:
    return "1 entry" if number == 1 else f"{number} entries"


def _friends(number: int) -> str:
    return "1 friend" if number == 1 else f"{number} friends"


def _intervals(question: Numeric) -> list[tuple[str, float]]:
    """Each whole number by itself where there are few, else ten intervals of one width; with their lower ends, the first open below."""
    low, high = question.minimum, question.maximum
    if question.whole and high - low < MOST_VALUES:
        labels = [(f"{value:g}", float(value)) for value in range(round(low), round(high) + 1)]
    else:
        ends = [low + (high - low) * index / BINS for index in range(BINS + 1)]
        labels = [(f"{start:g} to under {end:g}", start) for start, end in pairwise(ends)]
        labels[-1] = (f"{ends[-2]:g} to {high:g}", ends[-2])
    return [(labels[0][0], float("-inf")), *labels[1:]]
