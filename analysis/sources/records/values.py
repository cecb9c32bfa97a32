"""Values of student records that somebody brings: what a cell may hold, and the bins of sensitive numbers. No Django."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypedDict

from analysis.sources.table_files import COMMA_ELSEWHERE, WITH_COMMAS
from surveys.reading.words import Sentence
from surveys.reading.words import sentence as _

NOT_GIVEN = "not answered"
"""The name that open questions have in the records of studies."""
ENTRY = "entry"
Home = Literal["quasi_identifiers", "sensitive"]
LABELS: Final = "quasi_identifiers"
VALUES: Final = "sensitive"
CHILDREN: Final = "children"
AUXILIARY: Final = "auxiliary"


class Vertex(TypedDict):
    """A student, or what hangs on one, as it was brought: every value is a text."""

    quasi_identifiers: dict[str, str]
    sensitive: dict[str, str]
    children: "list[Vertex]"


class Attribute(TypedDict):
    """An attribute of the vertices, with all values that occur. `nested`: of what hangs on students."""

    name: str
    role: str
    nested: bool
    values: list[str]


FIELDS = (LABELS, VALUES, CHILDREN)
HOMES: tuple[Home, ...] = (LABELS, VALUES)
HOME: dict[str, Home] = {"quasi_identifier": LABELS, "auxiliary": LABELS, "sensitive": VALUES}
"""The field of each role. Many auxiliary values together identify, so they are treated as quasi-identifiers."""
ROLES = ("identifier", *HOME)
LONGEST_VALUE, MOST_VALUES = 100, 2000
BINS, MOST_NUMBERS, OFTEN = 10, 20, 5
"""A sensitive number with more values than this, or that occur less often, is told in intervals: 3.98 beside 3.97 is no diversity."""
NOTHING, NO_NUMBER = frozenset({"", "na"}), frozenset({"nan", "inf", "-inf", "+inf", "infinity", "-infinity"})
FORMULA = ("=", "@")
NUMBER = re.compile(r"[+-]?(\d{1,15}(\.\d{1,15})?|\.\d{1,15})", re.ASCII)
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
ROUND = (1, 2, 5, 10)


def checked(cell: str, *, decimal_comma: bool = False) -> str | Sentence:
    """The value of a cell, or what is wrong with it. No sentence repeats the value: it might tell who somebody is.

    A number with a `decimal_comma` gets a point: it is told in intervals like all others. Elsewhere a number with a comma is refused: as a
    word it would be told as it is.
    """
    value = cell.strip()
    if decimal_comma and NUMBER.fullmatch(number := value.replace(",", ".")):
        return number
    if (lower := value.lower()) in NOTHING:
        return NOT_GIVEN
    if lower in NO_NUMBER:
        return _("expected a value or nothing, found NaN or infinity")
    if value.startswith(FORMULA):
        return _("expected a value or nothing, found a formula")
    if WITH_COMMAS.fullmatch(value):
        return COMMA_ELSEWHERE
    if value == "*":
        return _("expected a value or nothing, found “*”, which is the label that tells nothing")
    if len(value) > LONGEST_VALUE:
        return _("expected a value of at most %(most)s letters: texts cannot be protected", most=LONGEST_VALUE)
    if CONTROL.search(value):
        return _("expected a value in one line, without characters that no page can show")
    return value


def are_numbers(values: Iterable[str]) -> bool:
    """Whether all that are given are numbers."""
    given = [value for value in values if value != NOT_GIVEN]
    return bool(given) and all(NUMBER.fullmatch(value) for value in given)


def in_order(values: Iterable[str]) -> list[str]:
    """Numbers by size, texts by letters."""
    found = [value for value in values if value != NOT_GIVEN]
    return sorted(found, key=float) if are_numbers(found) else sorted(found)


def bins_of(counts: Mapping[str, int]) -> Mapping[str, str]:
    """The interval of each value of a sensitive number, about ten of them with round ends; none for a scale, such as grades. Words among
    the numbers, such as “ill”, stay.
    """
    numbers = {value: float(value) for value in counts if NUMBER.fullmatch(value)}
    if not numbers or (len(numbers) <= MOST_NUMBERS and sum(counts[value] for value in numbers) >= OFTEN * len(numbers)):
        return {}
    least, most = min(numbers.values()), max(numbers.values())
    spread = (most - least) or abs(least) or 1.0
    power = 10.0 ** math.floor(math.log10(spread / BINS))
    width = next(power * step for step in ROUND if power * step * BINS >= spread * (1 - 1e-9))
    return {value: _interval(math.floor(round(number / width, 9)) * width, width) for value, number in numbers.items()}


def _interval(low: float, width: float) -> str:
    return f"[{low:.12g},{low + width:.12g})"
