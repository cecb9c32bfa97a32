"""Conditions of other programs: the part of their logic that a study's conditions can say."""

import re
from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, floor
from typing import NotRequired, TypeAlias, TypedDict

from candor.written_numbers import typed_number

MOST_CONDITIONS = 5
"""As in surveys.questions.conditions, whose library of checks the reading process does without."""
DAY = re.compile(r"(1[89]|20|21)([0-9]{2})-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?")
LONGEST = 2000
"""Characters of a logic that is read at all."""


@dataclass(frozen=True, slots=True)
class Term:
    """One comparison. `option`: the code of an option that is, or is not, among several chosen ones."""

    field: str
    sign: str
    value: str
    option: str | None = None


Groups: TypeAlias = Sequence[Sequence[Term]]
"""All groups must hold, and of each group one comparison."""
ReadTerm: TypeAlias = Callable[[str], Term | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """An earlier field: its question or row, the options by their codes, the ends of its number, or its first and last month."""

    question: str
    codes: Mapping[str, str] | None = None
    ends: tuple[float, float] | None = None
    whole: bool = False
    months: tuple[str, str] | None = None


class ReadCondition(TypedDict):
    """A condition as a study file has it."""

    question: str
    any_of: NotRequired[list[str]]
    at_least: NotRequired[float | str]
    at_most: NotRequired[float | str]


def groups_of(logic: str, read: ReadTerm, *, both: str = r"\s+and\s+|\s*&&\s*", either: str = r"\s+or\s+|\s*\|\|\s*") -> Groups | None:
    """A written logic as groups, where `read` reads one comparison; None where it is something else."""
    if len(logic) > LONGEST:
        return None
    text = _without_brackets(logic)
    if len(ored := _parts(text, either)) > 1:
        terms = [term for part in ored if (term := read(_without_brackets(part)))]
        return [terms] if len(terms) == len(ored) else None
    if len(anded := _parts(text, both)) > 1:
        found = [groups_of(part, read, both=both, either=either) for part in anded]
        return None if None in found else [group for groups in found if groups for group in groups]
    term = read(text)
    return [[term]] if term else None


def _parts(text: str, joint: str) -> list[str]:
    """The text at every joint outside brackets and quotation marks."""
    parts, start, depth, quote, place = [], 0, 0, "", 0
    pattern = re.compile(joint, re.IGNORECASE)
    while place < len(text):
        sign = text[place]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "()":
            depth += 1 if sign == "(" else -1
        elif depth == 0 and (found := pattern.match(text, place)) and found.end() > place:
            parts.append(text[start:place])
            start = place = found.end()
            continue
        place += 1
    return [*parts, text[start:]]


def _without_brackets(text: str) -> str:
    """The text without brackets around all of it."""
    text = text.strip()
    while text.startswith("("):
        depths = list(accumulate({"(": 1, ")": -1}.get(sign, 0) for sign in text))
        if 0 not in depths or depths.index(0) < len(text) - 1:
            break
        text = text[1:-1].strip()
    return text


def conditions_of(groups: Groups, fields: Mapping[str, Known]) -> list[ReadCondition] | None:
    """The conditions that say the same; None where none do."""
    read: list[ReadCondition] = []
    for group in groups:
        found = [one for term in group if (one := _condition(term, fields))]
        if len(found) < len(group) or not found:
            return None
        if len(found) > 1:
            if len({one["question"] for one in found}) > 1 or not all("any_of" in one for one in found):
                return None
            named = list(dict.fromkeys(name for one in found for name in one["any_of"]))
            found = [{"question": found[0]["question"], "any_of": named}]
        if read and _ends_meet(read[-1], found[0]):
            read[-1] = {**read[-1], **found[0]}
        else:
            read.append(found[0])
    return read if 0 < len(read) <= MOST_CONDITIONS else None


def _ends_meet(first: ReadCondition, second: ReadCondition) -> bool:
    """Whether both are about one number: its least and its most."""
    ends = [set(one) - {"question"} for one in (first, second)]
    return first["question"] == second["question"] and ends == [{"at_least"}, {"at_most"}]


def _condition(term: Term, fields: Mapping[str, Known]) -> ReadCondition | None:
    known = fields.get(term.field)
    if known is None:
        return None
    if known.codes is not None:
        chosen = known.codes.get(term.value if term.option is None else term.option)
        right = term.sign == "=" and (term.option is None or term.value == "1")
        return {"question": known.question, "any_of": [chosen]} if right and chosen else None
    if known.months is not None and term.option is None:
        return _between_months(known.question, known.months, term.sign, term.value)
    number = typed_number(term.value)
    if known.ends is None or number is None or term.option is not None or (term.sign in "<>" and not known.whole):
        return None
    if term.sign not in ("=", ">=", "<=", ">", "<"):
        return None
    least, most = {
        "=": (number, number),
        ">=": (number, None),
        "<=": (None, number),
        ">": (floor(number) + 1, None),
        "<": (None, ceil(number) - 1),
    }[term.sign]
    low, high = known.ends
    if (least is not None and least > high) or (most is not None and most < low):
        return None
    condition: ReadCondition = {"question": known.question}
    if least is not None:
        condition["at_least"] = float(least)
    if most is not None:
        condition["at_most"] = float(most)
    return condition


def _between_months(question: str, months: tuple[str, str], sign: str, value: str) -> ReadCondition | None:
    """A condition on a month, or on a day that begins or ends one; None for a day that cuts a month in two."""
    if not DAY.fullmatch(value):
        return None
    year, month, *days = map(int, value.split("-"))
    is_first, is_last = not days or days == [1], not days or days[0] >= monthrange(year, month)[1]
    here = year * 12 + month - 1
    least = {">=": here if is_first else None, ">": here + 1 if is_last else None}.get(sign)
    most = {"<=": here if is_last else None, "<": here - 1 if is_first else None}.get(sign)
    found = next((one for one in (least, most) if one is not None), None)
    if found is None:
        return None
    end = f"{found // 12}-{found % 12 + 1:02}"
    if (least is not None and end > months[1]) or (most is not None and end < months[0]):
        return None
    return {"question": question, "at_least": end} if least is not None else {"question": question, "at_most": end}
