"""Branching logic of REDCap: the part of it that conditions can say, and back. Without Django: `surveys.reading` runs it."""

import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING, NotRequired, TypedDict

from candor.written_numbers import typed_number

if TYPE_CHECKING:
    from surveys.questions.conditions import Condition

MOST_CONDITIONS = 5
"""As in surveys.questions.conditions, whose library of checks this module does without."""

FIRST_YEAR, LAST_YEAR = 1800, 2199
"""As in the months of surveys.questions.conditions."""
TOLERANCE = 1e-6
"""In answers: a month is a twelfth of a year, which no number is exactly."""
DAY = re.compile(r"(1[89]|20|21)([0-9]{2})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])")
ONE = re.compile(
    r"""\[(?P<field>\w+)(\((?P<code>[\w-]+)\))?\]\s*(?P<sign>=|>=|<=|>|<)\s*(?P<quote>['"]?)(?P<value>[^'"()\[\]]*?)(?P=quote)\s*"""
)
JOINED = re.compile(r"\s+(and|or)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """An earlier field: its question or row, the options by their codes, the ends of its number, or its first and last month."""

    question: str
    codes: Mapping[str, str] | None = None
    ends: tuple[float, float] | None = None
    months: tuple[str, str] | None = None
    whole: bool = False


class ReadCondition(TypedDict):
    """A condition as a study file has it."""

    question: str
    any_of: NotRequired[list[str]]
    at_least: NotRequired[float | str]
    at_most: NotRequired[float | str]


def conditions_of(logic: str, fields: Mapping[str, Known]) -> list[ReadCondition] | None:
    """The conditions that say the same as the logic; None where none do."""
    words = JOINED.split(logic.strip())
    parts, joints = words[::2], {joint.lower() for joint in words[1::2]}
    read = [_condition(part, fields) for part in parts]
    found = [one for one in read if one is not None]
    if len(found) < len(parts) or len(joints) > 1:
        return None
    if joints == {"or"}:
        if len({one["question"] for one in found}) > 1 or not all("any_of" in one for one in found):
            return None
        return [{"question": found[0]["question"], "any_of": list(dict.fromkeys(name for one in found for name in one["any_of"]))}]
    return found if len(found) <= MOST_CONDITIONS else None


def logic_of(
    conditions: "Sequence[Condition]", *, codes: Mapping[str, Mapping[str, str]], several: Sequence[str], dates: Mapping[str, int]
) -> str:
    """The branching logic that says the same; `codes` of the options of each field, `several` the check boxes among them, `dates` the
    fields with a date and how many different answers one year has: 12 or 1.
    """
    return " and ".join(_in_brackets(condition, codes, several, dates) for condition in conditions)


def _in_brackets(condition: "Condition", codes: Mapping[str, Mapping[str, str]], several: Sequence[str], dates: Mapping[str, int]) -> str:
    field = field_name(condition.question)
    if condition.any_of:
        own = [codes[condition.question][name] for name in condition.any_of]
        parts = [f"[{field}({code})] = '1'" if condition.question in several else f"[{field}] = '{code}'" for code in own]
        return f"({' or '.join(parts)})" if len(parts) > 1 else parts[0]
    in_a_year = dates.get(condition.question, 0)
    ends = ((">=", condition.at_least, condition.least), ("<=", condition.at_most, condition.most))
    said = [(sign, _day(end, sign, in_a_year) if in_a_year else f"{end:.15g}") for sign, given, end in ends if given is not None]
    return " and ".join(f"[{field}] {sign} {end}" for sign, end in said)


def _day(years: float, sign: str, in_a_year: int) -> str:
    """The first day of the earliest answer, or the last day of the latest one, that lies within this end: REDCap compares days."""
    number = ceil(years * in_a_year - TOLERANCE) if sign == ">=" else floor(years * in_a_year + TOLERANCE)
    year, part = divmod(min(max(number, FIRST_YEAR * in_a_year), (LAST_YEAR + 1) * in_a_year - 1), in_a_year)
    months = 12 // in_a_year
    return f"'{year}-{part * months + 1:02}-01'" if sign == ">=" else f"'{year}-{(part + 1) * months:02}-31'"


def field_name(name: str) -> str:
    """A question's name, or a row's, as REDCap writes it: it begins with a letter and has no hyphen or full stop."""
    plain = re.sub(r"[^a-z0-9_]", "_", name)
    return plain if plain[:1].isalpha() else f"q_{plain}"


def _condition(part: str, fields: Mapping[str, Known]) -> ReadCondition | None:
    found = ONE.fullmatch(part.strip())
    known = fields.get(found["field"].lower()) if found else None
    if found is None or known is None:
        return None
    sign, value = found["sign"], found["value"].strip()
    if known.codes is not None:
        chosen = known.codes.get(value if found["code"] is None else found["code"])
        right = sign == "=" and (found["code"] is None or value == "1")
        return {"question": known.question, "any_of": [chosen]} if right and chosen else None
    if known.months is not None and not found["code"]:
        return _between_months(known.question, known.months, sign, value)
    number = typed_number(value)
    if known.ends is None or number is None or found["code"] or (sign in "<>" and not known.whole):
        return None
    least, most = {
        "=": (number, number),
        ">=": (number, None),
        "<=": (None, number),
        ">": (number + 1, None),
        "<": (None, number - 1),
    }[sign]
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
    """A condition on a day that begins or ends a month; None for one that cuts a month in two."""
    if not DAY.fullmatch(value):
        return None
    year, month, day = map(int, value.split("-"))
    is_first, is_last = day == 1, day >= monthrange(year, month)[1]
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
