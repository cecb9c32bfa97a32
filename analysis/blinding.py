"""Letters in place of arms, so that whoever watches a study cannot tell which arm does better until it is closed.

With two arms, contrasts are given between letters in alphabetical order, so that they do not tell either which arm is the control.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from django.utils.crypto import salted_hmac

from analysis.models import Blinding
from surveys.definition import StudyDefinition
from surveys.models import Study, StudyStatus

ENDED = (StudyStatus.CLOSED, StudyStatus.ARCHIVED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmNames:
    """How arms are called for one reader. `shown` holds names on pages and `files` those in files, both in the order to be shown."""

    blinded: bool
    shown: Mapping[str, str]
    files: Mapping[str, str]
    control: str

    @property
    def hides_contrasts(self) -> bool:
        """With three arms or more, every contrast is with the control and would give it away."""
        return self.blinded and len(self.shown) > 2

    @property
    def turns_contrasts(self) -> bool:
        """Whether the control comes second in the alphabet: then B − A is control minus treatment."""
        return self.blinded and len(self.shown) == 2 and list(self.shown)[-1] == self.control


def is_blinded(study: Study, *, asked: bool) -> bool:
    """Whether arms are hidden from this reader: for all, when the study is blinded, or because they asked; never after its end."""
    return study.status not in ENDED and (asked or Blinding.objects.filter(study=study, on=True).exists())


def arm_names(study: Study, definition: StudyDefinition, *, blinded: bool, language: str) -> ArmNames:
    labels = {arm.name: arm.label.in_language(language) for arm in definition.arms}
    if not blinded:
        return ArmNames(blinded=False, shown=labels, files={name: name for name in labels}, control=definition.control)
    order = sorted(labels, key=lambda name: salted_hmac("analysis.blinding", f"{study.pk} {name}").hexdigest())
    letters = dict(zip(order, ascii_uppercase, strict=False))
    return ArmNames(blinded=True, shown=letters, files=letters, control=definition.control)


def readable(results: Mapping[str, Any], names: ArmNames) -> dict[str, Any]:
    """Results as this reader may see them."""
    if not names.blinded:
        return dict(results)
    outcomes = {question: _blinded_outcome(outcome, names) for question, outcome in results.get("outcomes", {}).items()}
    balance = dict(results.get("balance", {"differences": []}))
    if names.hides_contrasts:
        balance["differences"] = []
    elif names.turns_contrasts:
        balance["differences"] = [_turned_difference(one) for one in balance["differences"]]
    return {**results, "outcomes": outcomes, "balance": balance, "design": None}


def lettered(part: Any, names: ArmNames) -> Any:
    """What `readable` left, with arms called as this reader may call them: for files and programs, which get no words around numbers."""
    if isinstance(part, list | tuple):
        return [lettered(one, names) for one in part]
    if not isinstance(part, Mapping):
        return part
    return {
        key: names.files.get(value, value) if key in ("arm", "treatment", "control") and isinstance(value, str) else lettered(value, names)
        for key, value in part.items()
    }


def _blinded_outcome(outcome: Mapping[str, Any], names: ArmNames) -> dict[str, Any]:
    seen = dict(outcome)
    for part in ("effects", "anytime"):
        contrasts = [] if names.hides_contrasts else seen.get(part, [])
        seen[part] = [turned(one) if names.turns_contrasts else dict(one) for one in contrasts]
    if names.turns_contrasts and "honest_times_effect" in seen:
        seen["honest_times_effect"] = turned(seen["honest_times_effect"])
    for part in ("bounds", "confidence_bounds"):  # of the first contrast; every effect carries its own
        seen.pop(part, None)
    if "not_yet" in seen:
        seen["not_yet"] = _without_arms(seen["not_yet"], names)
    seen["notes"] = _without_arm_notes(seen.get("notes", ()), names)
    for effect in seen["effects"]:
        effect["notes"] = _without_arm_notes(effect.get("notes", ()), names)
    order = list(names.shown)
    seen["prevalence"] = sorted(seen.get("prevalence", ()), key=lambda one: order.index(one["arm"]))
    return seen


def turned(part: Any) -> Any:
    """A contrast the other way round: B − A in place of A − B."""
    if isinstance(part, list | tuple):
        return [turned(one) for one in part]
    if not isinstance(part, Mapping):
        return part
    there = {key: turned(value) for key, value in part.items()}
    if "treatment" in there:
        there["treatment"], there["control"] = there["control"], there["treatment"]
    if "low" in there:
        there["low"], there["high"] = _negative(there["high"]), _negative(there["low"])
    if "value" in there:
        there["value"] = _negative(there["value"])
    for key in ("bounds", "confidence_bounds"):
        if there.get(key):
            there[key] = [_negative(there[key][1]), _negative(there[key][0])]
    return there


def _negative(value: float | None) -> float | None:
    return None if value is None else 0.0 - value


def _turned_difference(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "treatment": row["control"],
        "control": row["treatment"],
        "treatment_mean": row["control_mean"],
        "control_mean": row["treatment_mean"],
        "difference": _negative(row["difference"]),
    }


def _without_arms(sentence: str, names: ArmNames) -> str:
    for arm, letter in names.files.items():
        sentence = re.sub(rf"(?<![\w-]){re.escape(arm)}(?![\w-])", letter, sentence)
    return sentence


def _without_arm_notes(notes: Any, names: ArmNames) -> list[str]:
    """Notes that begin with "method, treatment arm:" lose the arm; they stand with the effect anyhow."""
    arms = "|".join(re.escape(arm) for arm in names.files)
    return [_without_arms(re.sub(rf"^(\w+), (?:{arms}): ", r"\1: ", note), names) for note in notes]
