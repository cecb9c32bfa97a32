"""An attack by somebody who holds a copy of the whole database and knows what identifies each person: whose answers are whose?

Each row is a set of named values: its columns, what the database keeps beside them, where it lies. Two attacks:

* **Joins.** A value that stands in a row that names a person and in a row of answers, directly or by way of a row of any third table, makes
  these answers a candidate. A guess among k candidates is right with probability 1/k; chance alone makes one right guess in all.
* **Orders.** If people and answers, each sorted by a value, stand in similar orders, the n-th person gave the n-th answers.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scipy import stats

Row = Mapping[str, object]
Index = Mapping[str, Mapping[str, set[str]]]
MOST_LUCK = 10.0
"""More right guesses than chance makes in one of 10⁷ attacks: their number is about Poisson with mean one."""
STANDARD_ERRORS = 6.5
"""A correlation of two unrelated orders is larger in one of 10¹⁰."""
STANDARD_ERRORS_OF_NEAR = 9.0
"""The number of people who stand near is about Poisson, which has a longer tail."""
NEAR = 3
FEWEST = 30
"""People whom an order must hold to be looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A copy of a database: the rows that name people, by trace; those of answers, by key; and all other tables."""

    people: Mapping[str, Mapping[str, object]]
    answers: Mapping[str, Mapping[str, object]]
    others: Mapping[str, Sequence[Row]] = field(default_factory=dict)


def findings(copy: Copy, truth: Mapping[str, str]) -> list[str]:
    """The attacks that name more people than chance does."""
    return [*_joins(copy, truth), *_orders(copy, truth)]


def _index(rows: Mapping[str, Row]) -> dict[str, dict[str, set[str]]]:
    """Column → value → the rows that hold it. Values that very many rows share are no help to anybody."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for key, row in rows.items():
        for column, value in row.items():
            if value is not None:
                found[column][str(value)].add(key)
    most = max(len(rows) / 4, 2)
    return {column: {value: keys for value, keys in values.items() if len(keys) <= most} for column, values in found.items()}


def _joins(copy: Copy, truth: Mapping[str, str]) -> Iterator[str]:
    people, answers = _index({key: copy.people[key] for key in truth if key in copy.people}), _index(copy.answers)
    for person_column, of_people in people.items():
        for answer_column, of_answers in answers.items():
            candidates = ((keys, of_answers[value]) for value, keys in of_people.items() if value in of_answers)
            yield from _named(truth, candidates, f"{person_column} = {answer_column}")
    for table, rows in copy.others.items():
        index = _index({str(number): row for number, row in enumerate(rows)})
        to_people, to_answers = _in_both(people, index), _in_both(answers, index)
        for (person_column, first), values in to_people.items():
            for (answer_column, second), others in to_answers.items():
                by_row: dict[str, set[str]] = defaultdict(set)
                for value in others:
                    for row in index[second][value]:
                        by_row[row] |= answers[answer_column][value]
                by_way = (
                    (people[person_column][value], {key for row in index[first][value] for key in by_row.get(row, ())}) for value in values
                )
                yield from _named(truth, by_way, f"{person_column} = {table}.{first}, {table}.{second} = {answer_column}")


def _in_both(rows: Index, others: Index) -> dict[tuple[str, str], set[str]]:
    """The values that a column of each has in common."""
    return {(one, two): both for one, left in rows.items() for two, right in others.items() if (both := left.keys() & right.keys())}


def _named(truth: Mapping[str, str], candidates: Iterator[tuple[set[str], set[str]]], attack: str) -> Iterator[str]:
    right = sum(1 / len(among) for people, among in candidates for person in people if truth.get(person) in among)
    if right > MOST_LUCK:
        yield f"{attack}: {right:.0f} of {len(truth)} people"


def _orders(copy: Copy, truth: Mapping[str, str]) -> Iterator[str]:
    pairs = [(copy.people[person], copy.answers[key]) for person, key in truth.items() if person in copy.people and key in copy.answers]
    for person_column in {column for person, _ in pairs for column in person}:
        for answer_column in {column for _, answer in pairs for column in answer}:
            both = [
                (person[person_column], answer[answer_column])
                for person, answer in pairs
                if person.get(person_column) is not None and answer.get(answer_column) is not None
            ]
            if len(both) >= FEWEST and (order := _orders_alike(*zip(*both, strict=True))):
                yield f"sorted by {person_column} and {answer_column}: {order}"


def _orders_alike(people: Sequence[object], answers: Sequence[object]) -> str:
    """How two orders are alike, if they are so more than by chance."""
    if min(len(set(map(str, values))) for values in (people, answers)) < len(people) / 4:
        return ""  # so many share a value that it is no order
    first, second = _ranks(people), _ranks(answers)
    correlation = float(stats.pearsonr(first, second).statistic)
    near, by_chance = int((abs(first - second) <= NEAR).sum()), 2 * NEAR + 1
    if abs(correlation) > STANDARD_ERRORS / (len(people) - 1) ** 0.5 or near > by_chance + STANDARD_ERRORS_OF_NEAR * by_chance**0.5:
        return f"correlation {correlation:.2f}, {near} within {NEAR} places"
    return ""


def _ranks(values: Sequence[object]) -> Any:
    if all(isinstance(value, int | float) for value in values):
        return stats.rankdata(values)
    texts = {text: number for number, text in enumerate(sorted({str(value) for value in values}))}
    return stats.rankdata([texts[str(value)] for value in values])
