"""The fields of protected records in the form of a release."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from analysis.answers.record_schemas import RecordSchema
from analysis.releases.protecting import USUAL, Choices, faults_of_choices
from candor.written_numbers import typed_number
from surveys.drafting.forms import typed_value

PER_CENT = 100
TICKED = ("as_labels", "asked")


@dataclass(slots=True, kw_only=True)
class RecordChoices:
    """The texts in the fields and the names that are ticked, by field. `fixed`: the parameters that are public already, and cannot be
    chosen again.
    """

    schema: RecordSchema
    values: Mapping[str, Any]
    fixed: Choices | None = None
    errors: dict[str, str] = field(default_factory=dict)

    @classmethod
    def empty(cls, schema: RecordSchema, *, last: Choices | None, fixed: Choices | None = None) -> "RecordChoices":
        kept: Choices = fixed or last or USUAL
        levels = {f"l-{name}": str(kept["l"].get(name, 0)) for name in schema.sensitive}
        numbers = {"k": str(kept["k"]), "class_size": str(kept["class_size"]), "suppress": typed_value(float(kept["suppress"] * PER_CENT))}
        ticked = {name: kept.get(name) or [] for name in TICKED}
        return cls(schema=schema, values={**numbers, **levels, **ticked, "anatomy": kept.get("anatomy", False)}, fixed=fixed)

    @classmethod
    def sent(cls, schema: RecordSchema, data: QueryDict, *, fixed: Choices | None = None) -> "RecordChoices":
        names = ("k", "class_size", "suppress", *(f"l-{name}" for name in schema.sensitive))
        texts = {name: data.get(name, "").strip() for name in names}
        ticked = {name: data.getlist(name) for name in TICKED}
        return cls(schema=schema, values={**texts, **ticked, "anatomy": "anatomy" in data}, fixed=fixed)

    @property
    def chosen(self) -> dict[str, object] | None:
        """The parameters, as the service takes them; None where nothing can be chosen. A text that is no number stays a text."""
        if self.fixed is not None:
            return None
        share = typed_number(self.values["suppress"])
        return {
            "k": _whole(self.values["k"]),
            "class_size": _whole(self.values["class_size"]),
            "suppress": self.values["suppress"] if share is None else float(share / PER_CENT),
            "l": {name: _whole(self.values[f"l-{name}"] or "0") for name in self.schema.sensitive},
            **{name: self.values[name] for name in (*TICKED, "anatomy")},
        }

    @property
    def sensitive(self) -> list[tuple[str, str]]:
        """Questions that can be treated as quasi-identifiers."""
        return list(self.schema.labels.items())

    @property
    def auxiliary(self) -> list[tuple[str, str]]:
        """Questions that an officer can be asked to publish as they are."""
        return list(self.schema.auxiliary.items())

    @property
    def levels(self) -> list[tuple[str, str, str, str]]:
        """The name of the field of every sensitive attribute, its question, its text, and the mistake in it."""
        names = self.schema.sensitive.items()
        return [(f"l-{name}", words, self.values[f"l-{name}"], self.errors.get(f"l-{name}", "")) for name, words in names]

    def check(self) -> dict[str, str]:
        if (chosen := self.chosen) is not None:
            self.errors = faults_of_choices(chosen, self.schema)
        return self.errors


def _whole(text: str) -> int | str:
    number = typed_number(text, whole=True)
    return text if number is None else int(number)
