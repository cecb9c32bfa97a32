"""Branching logic of REDCap: the part of it that conditions can say, and back. Without Django: `surveys.reading` runs it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NotRequired, TypedDict

from candor.written_numbers import typed_number

if TYPE_CHECKING:
    from surveys.questions.conditions import Condition

MOST_CONDITIONS = 5
"""As in surveys.questions.conditions, whose library of checks this module does without."""

ONE = re.compile(
    r"""\[(?P<field>\w+)(\((?P<code>[\w-]+)\))?\]\s*(?P<sign>=|>=|<=|>|<)\s*(?P<quote>['"]?)(?P<value>[^'"()\[\]]*?)(?P=quote)\s*"""
)
JOINED = re.compile(r"\s+(and|or)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """An earlier field: its question or row, the options by their codes, or the ends of its number."""

    question: str
    codes: Mapping[str, str] | None = None
    ends: tuple[float, float] | None = None
    whole: bool = False


class ReadCondition(TypedDict):
    """A condition as a study file has it."""

    question: str
    any_of: NotRequired[list[str]]
    at_least: NotRequired[float]
    at_most: NotRequired[float]


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


def logic_of(conditions: "Sequence[Condition]", *, codes: Mapping[str, Mapping[str, str]], several: Sequence[str]) -> str:
    """The branching logic that says the same; `codes` of the options of each field, `several` the check boxes among them."""
    return " and ".join(_in_brackets(condition, codes, several) for condition in conditions)


def _in_brackets(condition: "Condition", codes: Mapping[str, Mapping[str, str]], several: Sequence[str]) -> str:
    field = field_name(condition.question)
    if condition.any_of:
        own = [codes[condition.question][name] for name in condition.any_of]
        parts = [f"[{field}({code})] = '1'" if condition.question in several else f"[{field}] = '{code}'" for code in own]
        return f"({' or '.join(parts)})" if len(parts) > 1 else parts[0]
    ends = ((">=", condition.at_least), ("<=", condition.at_most))
    return " and ".join(f"[{field}] {sign} {end:.15g}" for sign, end in ends if end is not None)


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
