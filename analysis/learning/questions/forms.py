"""The form of the desk: what, about whom, how exactly. It is made of the source's columns, and gives a question document."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.learning.questions.columns import SCORE, labels, library_schema, value_labels
from analysis.ledger.errors import QuestionError
from analysis.sources.tables import Schema
from candor.queries.columns import Category, Column, Number
from candor.written_numbers import number_or_fraction

WHAT = {
    "count": gettext_lazy("How many people fit"),
    "share": gettext_lazy("Which share of people"),
    "histogram": gettext_lazy("How many people are in each group"),
    "mean": gettext_lazy("A mean, of all or by groups"),
    "sum": gettext_lazy("A sum"),
    "quantile": gettext_lazy("A quantile: median, near the smallest, near the largest"),
    "most_common": gettext_lazy("The most common value"),
    "recommendation": gettext_lazy("A recommendation: success by choice and by grade"),
    "naive_bayes": gettext_lazy("A classifier: predict one answer from others"),
}
QUANTILES = (
    ("0.01", gettext_lazy("near the smallest (1 %)")),
    ("0.25", gettext_lazy("25 %")),
    ("0.5", gettext_lazy("the median")),
    ("0.75", gettext_lazy("75 %")),
    ("0.99", gettext_lazy("near the largest (99 %)")),
)
HOW_EXACT = (
    ("questions", gettext_lazy("An equal share of what is left, for so many questions")),
    ("error", gettext_lazy("Exact to ± this much")),
    ("epsilon", gettext_lazy("Spend this ε")),
)
USUAL_QUESTIONS, USUAL_PARTS, MOST_PARTS = 10, 4, 100
NAMES, NUMBERS, ANY = Category, Number, (Category, Number)
# The choices of columns that each kind asks for: parameter, its label, the columns, how many.
COLUMNS: dict[str, tuple[tuple[str, Any, Any, str], ...]] = {
    "histogram": (("by", gettext_lazy("Groups"), ANY, "one"), ("by2", gettext_lazy("and"), ANY, "optional")),
    "mean": (("column", gettext_lazy("Mean of"), NUMBERS, "one"), ("by", gettext_lazy("Groups"), ANY, "optional")),
    "sum": (("column", gettext_lazy("Sum of"), NUMBERS, "one"),),
    "quantile": (("column", gettext_lazy("Quantile of"), NUMBERS, "one"),),
    "most_common": (("column", gettext_lazy("Most common value of"), NAMES, "one"),),
    "recommendation": (("option", gettext_lazy("Choices, such as majors"), NAMES, "one"), ("band", gettext_lazy("Grades"), ANY, "one")),
    "naive_bayes": (("target", gettext_lazy("Predict"), NAMES, "one"), ("features", gettext_lazy("from"), ANY, "several")),
}
WITH_EVENT = {"share": gettext_lazy("The share of people with"), "recommendation": gettext_lazy("Success means")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One choice of a column, as the template shows it."""

    name: str
    label: str
    options: list[tuple[str, str]]
    chosen: list[str]
    several: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A column in a block of conditions: values to tick, or two bounds."""

    name: str
    label: str
    values: list[tuple[str, str]]
    ticked: list[str]
    low: str
    high: str
    bounds: str

    @property
    def is_used(self) -> bool:
        return bool(self.ticked or self.low or self.high)


class DeskForm:
    """The form with what was typed."""

    def __init__(self, schema: Schema, typed: QueryDict) -> None:
        self.typed, self.labels = typed, labels(schema)
        self._schema = schema
        self.columns: tuple[Column, ...] = library_schema(schema).columns
        self.kind = kind if (kind := typed.get("kind", "")) in WHAT else "count"

    @property
    def kinds(self) -> list[tuple[str, str]]:
        return [(name, str(label)) for name, label in WHAT.items()]

    @property
    def fields(self) -> list[Field]:
        """The choices of columns that the kind asks for."""
        return [
            Field(
                name=name,
                label=str(label),
                options=[("", "—")] * (number == "optional") + self._options(kinds),
                chosen=self.typed.getlist(name),
                several=number == "several",
            )
            for name, label, kinds, number in COLUMNS.get(self.kind, ())
        ]

    @property
    def has_bounds(self) -> bool:
        return self.kind in ("mean", "sum", "quantile")

    @property
    def has_parts(self) -> bool:
        return self.kind in ("histogram", "mean", "recommendation", "naive_bayes")

    @property
    def quantiles(self) -> list[tuple[str, str]]:
        return [(value, str(label)) for value, label in QUANTILES] if self.kind == "quantile" else []

    @property
    def event_label(self) -> str:
        return str(WITH_EVENT.get(self.kind, ""))

    @property
    def event(self) -> list[Choice]:
        return list(self._choices("event")) if self.event_label else []

    @property
    def where(self) -> list[Choice]:
        return list(self._choices("where"))

    @property
    def entries(self) -> int | None:
        """The most entries of one participant; None where no column has several."""
        return max((one.entries for one in self.columns if one.entries), default=None)

    @property
    def how_exact(self) -> list[tuple[str, str]]:
        return [(name, str(label)) for name, label in HOW_EXACT]

    @property
    def exactness(self) -> str:
        chosen = self.typed.get("exact", "")
        return chosen if chosen in dict(HOW_EXACT) else "questions"

    def wanted(self) -> tuple[float | None, int | None]:
        """The wanted error, or the announced number of questions; neither where an ε is typed."""
        if self.exactness == "error":
            return self._number("error", _("The error")), None
        return None, self._whole("questions", _("How many questions")) if self.exactness == "questions" else None

    def document(self) -> dict[str, Any]:
        """The question document, without ε where `wanted` finds it. Raises QuestionError."""
        document: dict[str, Any] = {"kind": self.kind, "where": self._conditions("where")}
        if self.exactness == "epsilon":
            document["epsilon"] = self._number("epsilon", "ε")
        for name, label, _kinds, number in COLUMNS.get(self.kind, ()):
            if number == "one" and not self.typed.get(name):
                raise QuestionError(_("Choose an answer: %(what)s.") % {"what": label})
        match self.kind:
            case "share":
                document["event"] = self._conditions("event")
            case "histogram":
                document["by"] = [self._cut(name) for name in (self._one("by"), self._one("by2")) if name]
            case "recommendation":
                document |= {
                    "option": self._cut(self._one("option")),
                    "band": self._cut(self._one("band")),
                    "success": self._conditions("event"),
                }
            case "naive_bayes":
                if not (features := self.typed.getlist("features")):
                    raise QuestionError(_("Choose at least one answer to predict from."))
                document |= {"target": self._cut(self._one("target")), "features": [self._cut(str(name)) for name in features]}
            case "mean" | "sum" | "quantile" | "most_common":
                document["column"] = self._one("column")
        if self.kind == "mean" and self.typed.get("by"):
            document["by"] = [self._cut(self._one("by"))]
        if self.has_bounds:
            column = self._column(self._one("column"))
            low, high = (column.minimum, column.maximum) if isinstance(column, Number) else (0.0, 0.0)
            document |= {"low": self._number("low", _("The lower bound"), low), "high": self._number("high", _("The upper bound"), high)}
        if self.kind == "quantile":
            document["q"] = self._number("q", _("The quantile"), 0.5)
        if self._asks_entries(document):
            document["entries"] = self._whole("entries", _("How many entries of one student count"))
        return document

    def _options(self, kinds: Any) -> list[tuple[str, str]]:
        return [(one.name, self._label(one)) for one in self.columns if isinstance(one, kinds)]

    def _one(self, name: str) -> str:
        return str(self.typed.get(name, ""))

    def _choices(self, block: str) -> Iterator[Choice]:
        for column in self.columns:
            name = f"{block}.{column.name}"
            words = value_labels(self._schema, column.name)
            yield Choice(
                name=name,
                label=self._label(column),
                values=[(value, words.get(value, value)) for value in column.values] if isinstance(column, Category) else [],
                ticked=self.typed.getlist(name) if isinstance(column, Category) else [],
                low=self.typed.get(f"{name}.from", ""),
                high=self.typed.get(f"{name}.to", ""),
                bounds=f"{column.minimum:g} – {column.maximum:g}" if isinstance(column, Number) else "",
            )

    def _conditions(self, block: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for column in self.columns:
            name = f"{block}.{column.name}"
            if isinstance(column, Category):
                if values := self.typed.getlist(name):
                    found.append({"column": column.name, "in": values})
            elif self.typed.get(f"{name}.from") or self.typed.get(f"{name}.to"):
                low = self._number(f"{name}.from", _("The lower bound"), column.minimum)
                high = self._number(f"{name}.to", _("The upper bound"), column.maximum)
                found.append({"column": column.name, "from": low, "to": high})
        return found

    def _cut(self, name: str) -> dict[str, Any]:
        column = self._column(name)
        if isinstance(column, Category):
            return {"column": name}
        parts = min(self._whole("parts", _("Groups of a number"), USUAL_PARTS), MOST_PARTS)
        return {"column": name, "edges": np.linspace(column.minimum, column.maximum, max(parts, 2) + 1).round(6).tolist()}

    def _asks_entries(self, document: dict[str, Any]) -> bool:
        """Whether a column of several entries is in the question."""
        text = repr(document)
        return any(repr(column.name) in text for column in self.columns if column.entries)

    def _column(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise QuestionError(_("Expected one of the study’s answers, found %(found)s.") % {"found": name[:50]})

    def _label(self, column: Column) -> str:
        label = self.labels.get(column.name, column.name)
        return _("%(label)s (each entry)") % {"label": label} if column.entries else _(label) if column.name == SCORE else label

    def _number(self, name: str, what: str, otherwise: float | None = None) -> float:
        written = self.typed.get(name, "").strip().replace(",", ".")
        if not written and otherwise is not None:
            return otherwise
        number = number_or_fraction(written, low=-1e12, high=1e12)
        if number is None:
            raise QuestionError(_("%(what)s: expected a number, found “%(found)s”.") % {"what": what, "found": written[:50]})
        return number

    def _whole(self, name: str, what: str, otherwise: int | None = None) -> int:
        number = self._number(name, what, otherwise)
        if number != int(number) or not 1 <= number <= 100_000:
            found = {"what": what, "found": f"{number:g}"}
            raise QuestionError(_("%(what)s: expected a whole number of at least 1, found “%(found)s”.") % found)
        return int(number)
