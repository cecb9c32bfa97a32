"""Letters in place of arms, so that people who watch a study cannot tell which arm does better until it is closed.

With two arms, contrasts are given between letters in alphabetical order, so that they do not tell which arm is the control. Sizes would
tell it too: the protocol says which arm is the larger one, and participants see which letter grows. So people are counted over all arms,
and numbers of a single arm are hidden where the arms differ in size.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from accounts.models import User
from analysis.models import Blinding
from surveys.access import Seat
from surveys.definition import StudyDefinition
from surveys.models import ENDED, ArmState, Study


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmNames:
    """The names of arms for one reader. `shown` holds names on pages and `files` those in files, both in display order."""

    blinded: bool
    shown: Mapping[str, str]
    files: Mapping[str, str]
    control: str
    of_one_size: bool = True

    @property
    def groups(self) -> Mapping[str, str]:
        """The names of arms where people are counted, on pages."""
        return dict.fromkeys(self.shown, _("all arms")) if self.blinded else self.shown

    @property
    def groups_in_files(self) -> Mapping[str, str]:
        return dict.fromkeys(self.files, "all") if self.blinded else self.files

    @property
    def hides_contrasts(self) -> bool:
        """With three arms or more, every contrast is with the control and would give it away."""
        return self.blinded and len(self.shown) > 2

    @property
    def turns_contrasts(self) -> bool:
        """Whether the control comes second in the alphabet: then B − A is control minus treatment."""
        return self.blinded and len(self.shown) == 2 and list(self.shown)[-1] == self.control


def is_blinded(study: Study, *, reader: User, asked: bool) -> bool:
    """Whether arms are hidden from this reader: in a blinded study, from a blinded viewer, or on request; never after its end."""
    if study.status in ENDED:
        return False
    return asked or Blinding.objects.filter(study=study, on=True).exists() or Seat(reader, study).is_blinded


def arm_names(study: Study, definition: StudyDefinition, *, blinded: bool, language: str) -> ArmNames:
    labels = {arm.name: arm.label.in_language(language) for arm in definition.arms}
    if not blinded:
        return ArmNames(blinded=False, shown=labels, files={name: name for name in labels}, control=definition.control)
    order = sorted(labels, key=lambda name: salted_hmac("analysis.blinding", f"{study.pk} {name}").hexdigest())
    letters = dict(zip(order, ascii_uppercase, strict=False))
    limits = set(ArmState.objects.filter(study=study).values_list("quota", "closed"))
    of_one_size = len(limits) <= 1 and len(set(definition.arm_weights.values())) == 1
    return ArmNames(blinded=True, shown=letters, files=letters, control=definition.control, of_one_size=of_one_size)


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
    # Direct answers are counted by arm only after the end, when nobody is blinded; so there is nothing to turn or to letter.
    direct = {"direct_group": {**results["direct_group"], "outcomes": []}} if "direct_group" in results else {}
    return {**results, "outcomes": outcomes, "balance": balance, **direct, "design": None}


def lettered(part: Any, names: ArmNames) -> Any:
    """The rest that `readable` leaves, with this reader's names of arms: for files and programs, which get no words around numbers."""
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
        seen["not_yet"] = _("The answers so far do not allow an estimate.")
    for part in (seen, *seen["effects"]):  # their order and their numbers belong to single arms
        part["notes"] = []
    order = list(names.shown)
    prevalence = seen.get("prevalence", ()) if names.of_one_size else ()
    seen["prevalence"] = sorted(prevalence, key=lambda one: order.index(one["arm"]))
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
