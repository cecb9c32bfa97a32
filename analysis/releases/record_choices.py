"""The fields of protected records in the form of a release."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from analysis.releases.protecting import USUAL, faults_of_choices
from candor.written_numbers import typed_number

PER_CENT = 100


@dataclass(slots=True, kw_only=True)
class RecordChoices:
    """The texts in the fields, by name. `sensitive`: the words of attributes with ℓ. `fixed`: the parameters that are public already."""

    sensitive: Mapping[str, str]
    values: Mapping[str, str]
    fixed: Mapping[str, Any] | None = None
    errors: dict[str, str] = field(default_factory=dict)

    @classmethod
    def empty(
        cls, sensitive: Mapping[str, str], *, last: Mapping[str, Any] | None, fixed: Mapping[str, Any] | None = None
    ) -> "RecordChoices":
        kept: Mapping[str, Any] = fixed or last or USUAL
        levels = {f"l-{name}": str(kept["l"].get(name, 0)) for name in sensitive}
        values = {"k": str(kept["k"]), "class_size": str(kept["class_size"]), "suppress": f"{kept['suppress'] * PER_CENT:g}", **levels}
        return cls(sensitive=sensitive, values=values, fixed=fixed)

    @classmethod
    def sent(cls, sensitive: Mapping[str, str], data: QueryDict, *, fixed: Mapping[str, Any] | None = None) -> "RecordChoices":
        names = ("k", "class_size", "suppress", *(f"l-{name}" for name in sensitive))
        return cls(sensitive=sensitive, values={name: data.get(name, "").strip() for name in names}, fixed=fixed)

    @property
    def chosen(self) -> dict[str, Any] | None:
        """The parameters, as the service takes them; None where nothing can be chosen. A text that is no number stays a text."""
        if self.fixed is not None:
            return None
        share = typed_number(self.values["suppress"])
        return {
            "k": _whole(self.values["k"]),
            "class_size": _whole(self.values["class_size"]),
            "suppress": self.values["suppress"] if share is None else float(share / PER_CENT),
            "l": {name: _whole(self.values[f"l-{name}"] or "0") for name in self.sensitive},
        }

    @property
    def levels(self) -> list[tuple[str, str, str, str]]:
        """The name of the field of every sensitive attribute, its question, its text, and the mistake in it."""
        return [(f"l-{name}", words, self.values[f"l-{name}"], self.errors.get(f"l-{name}", "")) for name, words in self.sensitive.items()]

    def check(self) -> dict[str, str]:
        if (chosen := self.chosen) is not None:
            self.errors = faults_of_choices(chosen, self.sensitive)
        return self.errors


def _whole(text: str) -> int | str:
    number = typed_number(text, whole=True)
    return text if number is None else int(number)
