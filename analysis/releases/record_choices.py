"""The fields of protected records in the form of a release."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from analysis.answers.study_records import named, sensitive_of, words_of
from analysis.models import Release
from analysis.releases.protecting import USUAL, faults_of_choices
from candor.written_numbers import typed_number
from surveys.definition import StudyDefinition

PER_CENT = 100
TICKED = ("as_labels", "asked")


@dataclass(slots=True, kw_only=True)
class RecordChoices:
    """The texts in the fields and the names that are ticked, by field. `fixed`: the parameters that are public already, and cannot be
    chosen again.
    """

    definition: StudyDefinition
    values: Mapping[str, Any]
    fixed: Mapping[str, Any] | None = None
    errors: dict[str, str] = field(default_factory=dict)

    @classmethod
    def empty(cls, definition: StudyDefinition, *, last: Release | None, fixed: Mapping[str, Any] | None) -> "RecordChoices":
        kept: Mapping[str, Any] = fixed or (last and last.protection) or USUAL
        levels = {f"l-{name}": str(kept["l"].get(name, 0)) for name in sensitive_of(definition.background)}
        numbers = {"k": str(kept["k"]), "class_size": str(kept["class_size"]), "suppress": f"{kept['suppress'] * PER_CENT:g}"}
        ticked = {name: kept.get(name) or [] for name in TICKED}
        return cls(definition=definition, values={**numbers, **levels, **ticked, "anatomy": kept.get("anatomy", False)}, fixed=fixed)

    @classmethod
    def sent(cls, definition: StudyDefinition, data: QueryDict, *, fixed: Mapping[str, Any] | None) -> "RecordChoices":
        names = ("k", "class_size", "suppress", *(f"l-{name}" for name in sensitive_of(definition.background)))
        texts = {name: data.get(name, "").strip() for name in names}
        ticked = {name: data.getlist(name) for name in TICKED}
        return cls(definition=definition, values={**texts, **ticked, "anatomy": "anatomy" in data}, fixed=fixed)

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
            "l": {name: _whole(self.values[f"l-{name}"] or "0") for name in sensitive_of(self.definition.background)},
            **{name: self.values[name] for name in (*TICKED, "anatomy")},
        }

    @property
    def sensitive(self) -> list[tuple[str, str]]:
        """Questions that can be treated as quasi-identifiers."""
        return list(named(self.definition.background, "sensitive", language=self.definition.languages[0]).items())

    @property
    def auxiliary(self) -> list[tuple[str, str]]:
        """Questions that an officer can be asked to publish as they are."""
        return list(named(self.definition.background, "auxiliary", language=self.definition.languages[0]).items())

    @property
    def levels(self) -> list[tuple[str, str, str, str]]:
        """The name of the field of every sensitive attribute, its question, its text, and the mistake in it."""
        words = words_of(self.definition.background, self.definition.languages[0])
        names = sensitive_of(self.definition.background)
        return [(f"l-{name}", words[name], self.values[f"l-{name}"], self.errors.get(f"l-{name}", "")) for name in names]

    def check(self) -> dict[str, str]:
        if (chosen := self.chosen) is not None:
            self.errors = faults_of_choices(chosen, self.definition)
        return self.errors


def _whole(text: str) -> int | str:
    number = typed_number(text, whole=True)
    return text if number is None else int(number)
