"""The form of the desk: what, about whom, how exactly. It is made of the source's columns, and gives a question document."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NotRequired, TypedDict

import numpy as np
from django.http import QueryDict
from django.utils.formats import number_format
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.learning.questions.columns import SCORE, library_schema
from analysis.learning.questions.words import Words
from analysis.sources.tables import Schema
from candor.queries.columns import Category, Column, Number
from candor.queries.exactness import LEAST_EPSILON
from candor.queries.parts import CELLS_AT_MOST
from candor.written_numbers import number_or_fraction, with_western_digits
from surveys.questions.plans import LARGEST_BUDGET

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
LABELS = {
    "questions": gettext_lazy("Number of questions"),
    "error": gettext_lazy("Exact to ±"),
    "epsilon": "ε",
    "low": gettext_lazy("Lower bound"),
    "high": gettext_lazy("Upper bound"),
    "parts": gettext_lazy("Groups of a number"),
    "entries": gettext_lazy("Entries of one student"),
}
USUAL_QUESTIONS, USUAL_PARTS, MOST_PARTS = 10, 4, 100
NAMES, NUMBERS, ANY = Category, Number, (Category, Number)
Columns = type[Category] | type[Number] | tuple[type[Category], type[Number]]
# The choices of columns that each kind asks for: parameter, its label, the columns, how many.
COLUMNS: dict[str, tuple[tuple[str, object, Columns, str], ...]] = {
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
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A column in a block of conditions: values to tick, or two bounds."""

    name: str
    field: str
    label: str
    values: list[tuple[str, str]]
    ticked: list[str]
    low: str
    high: str
    bounds: str
    low_error: str
    high_error: str

    @property
    def is_used(self) -> bool:
        return bool(self.ticked or self.low or self.high)


class Cut(TypedDict):
    """A column, of a number with the edges of its groups."""

    column: str
    edges: NotRequired[list[float]]


class Wanted(TypedDict):
    """A question document with what finds its ε."""

    document: dict[str, object]
    error: float | None
    questions: int | None


class DeskForm:
    """The form with what was typed."""

    def __init__(self, schema: Schema, typed: QueryDict) -> None:
        self.typed, self._words = typed, Words(schema)
        self._schema = schema
        self.columns: tuple[Column, ...] = library_schema(schema).columns
        self.kind = kind if (kind := typed.get("kind", "")) in WHAT else "count"
        self.errors: dict[str, str] = {}
        self._by_name = {column.name: column for column in self.columns}
        self._event: list[dict[str, object]] = []

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
                error=self.errors.get(name, ""),
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

    def read(self) -> Wanted | None:
        """The question document with what finds its ε: as `desk.with_spending` takes them. None where something is wrong: see `errors`."""
        document = self._document()
        found: Wanted = {"document": document, "error": None, "questions": None}
        match self.exactness:
            case "epsilon":
                document["epsilon"] = self._above_zero("epsilon", most=LARGEST_BUDGET)
            case "error":
                found["error"] = self._above_zero("error")
            case "questions":
                found["questions"] = self._whole("questions")
        return None if self.errors else found

    @property
    def summary(self) -> list[dict[str, str]]:
        """The errors with the labels of their fields, for the links above the form."""
        named = {name: str(label) for name, label, _kinds, _number in COLUMNS.get(self.kind, ())} | LABELS
        found = [
            ("ε" if field == "epsilon" else capfirst(str(named.get(field, ""))), field, message) for field, message in self.errors.items()
        ]
        return [{"field": field, "message": f"{label}: {message}" if label else message} for label, field, message in found]

    def _document(self) -> dict[str, object]:
        document: dict[str, object] = {"kind": self.kind}
        for name, _label, _kinds, number in COLUMNS.get(self.kind, ()):
            for typed in self.typed.getlist(name) or [""]:
                if (typed or number != "optional") and typed not in self._by_name:
                    self.errors[name] = _("Choose one of these.") if number != "several" else _("Choose at least one of these.")
        document["where"] = self._conditions("where")
        if self.event_label:
            self._event = self._conditions("event")
            if not self._event:
                self.errors["event"] = _("Choose at least one answer.")
        if self.kind == "count" and not document["where"]:
            self.errors.setdefault("where", _("Choose at least one answer: how many people there are in all is public."))
        if self.errors:
            return document
        document |= self._parts()
        if self.has_bounds:
            column = self._by_name[self._one("column")]
            least, most = (column.minimum, column.maximum) if isinstance(column, Number) else (0.0, 0.0)
            low, high = self._number("low", least), self._number("high", most)
            document |= {"low": low, "high": high}
            self._in_order("high", low, high)
        if self.kind == "quantile":
            document["q"] = self._number("q", 0.5)
        if bounds := [column.entries for column in self.columns if column.entries and repr(column.name) in repr(document)]:
            document["entries"] = self._whole("entries", most=min(bounds))
        return document

    def _parts(self) -> dict[str, object]:
        """The columns that this kind asks for."""
        match self.kind:
            case "share":
                return {"event": self._event}
            case "histogram" | "mean":
                by = self._cuts(*(name for name in ("by", "by2") if self._one(name)))
                return ({"column": self._one("column")} if self.kind == "mean" else {}) | ({"by": by} if by else {})
            case "recommendation":
                option, band = self._cuts("option", "band")
                return {"option": option, "band": band, "success": self._event}
            case "naive_bayes":
                features = [self._cut(str(name)) for name in self.typed.getlist("features")]
                return {"target": self._cut(self._one("target")), "features": features}
            case "sum" | "quantile" | "most_common":
                return {"column": self._one("column")}
        return {}

    def _options(self, kinds: Columns) -> list[tuple[str, str]]:
        return [(one.name, self._label(one)) for one in self.columns if isinstance(one, kinds)]

    def _one(self, name: str) -> str:
        return str(self.typed.get(name, ""))

    def _choices(self, block: str) -> Iterator[Choice]:
        for place, column in enumerate(self.columns):
            name, field = f"{block}.{column.name}", f"{block}-{place}"
            yield Choice(
                name=name,
                field=field,
                label=self._label(column),
                values=[(value, self._words.value(column.name, value)) for value in column.values] if isinstance(column, Category) else [],
                ticked=self.typed.getlist(name) if isinstance(column, Category) else [],
                low=self.typed.get(f"{name}.from", ""),
                high=self.typed.get(f"{name}.to", ""),
                bounds=f"{number_format(f'{column.minimum:g}')} – {number_format(f'{column.maximum:g}')}"
                if isinstance(column, Number)
                else "",
                low_error=self.errors.get(f"{field}-from", ""),
                high_error=self.errors.get(f"{field}-to", ""),
            )

    def _conditions(self, block: str) -> list[dict[str, object]]:
        found: list[dict[str, object]] = []
        for place, column in enumerate(self.columns):
            name, field = f"{block}.{column.name}", f"{block}-{place}"
            if isinstance(column, Category):
                if values := self.typed.getlist(name):
                    found.append({"column": column.name, "in": values})
            elif self.typed.get(f"{name}.from") or self.typed.get(f"{name}.to"):
                low = self._number(f"{name}.from", column.minimum, field=f"{field}-from")
                high = self._number(f"{name}.to", column.maximum, field=f"{field}-to")
                self._in_order(f"{field}-to", low, high)
                found.append({"column": column.name, "from": low, "to": high})
        return found

    def _cuts(self, *names: str) -> list[Cut]:
        cuts = [self._cut(self._one(name)) for name in names]
        columns = [self._by_name[self._one(name)] for name in names]
        sizes = [len(one.values) + 1 if isinstance(one, Category) else len(cut["edges"]) for one, cut in zip(columns, cuts, strict=True)]
        if (cells := math.prod(sizes)) > CELLS_AT_MOST:
            self.errors[names[-1]] = _("Expected at most %(most)s groups together, found %(found)s.") % {
                "most": CELLS_AT_MOST,
                "found": cells,
            }
        return cuts

    def _cut(self, name: str) -> Cut:
        column = self._by_name[name]
        if isinstance(column, Category):
            return {"column": name}
        parts = min(self._whole("parts", USUAL_PARTS), MOST_PARTS)
        return {"column": name, "edges": np.linspace(column.minimum, column.maximum, max(parts, 2) + 1).round(6).tolist()}

    def _label(self, column: Column) -> str:
        label = self._words.labels.get(column.name, column.name)
        return _("%(label)s (each entry)") % {"label": label} if column.entries else _(label) if column.name == SCORE else label

    def _number(self, name: str, otherwise: float = math.nan, *, field: str = "") -> float:
        """The number that was typed; what stands there instead where nothing was."""
        written = with_western_digits(self.typed.get(name, "")).strip().replace(",", ".")
        if not written:
            return otherwise
        number = number_or_fraction(written, low=-1e12, high=1e12)
        if number is None:
            self.errors[field or name] = _("Expected a number, found “%(found)s”.") % {"found": written[:50]}
            return 1.0
        return float(number)

    def _above_zero(self, name: str, *, most: float = math.inf) -> float:
        number = self._number(name)
        if not 0 < number <= most:
            above = _("Write a number above 0 and at most %(most)s.") % {"most": number_format(most, 0)}
            self.errors[name] = above if most < math.inf else _("Write a number above 0.")
        elif most < math.inf and number < LEAST_EPSILON:
            self.errors[name] = _("So small a loss buys nothing. Write a larger number.")
        return number

    def _whole(self, name: str, otherwise: float = math.nan, *, most: int = 100_000) -> int:
        number = self._number(name, otherwise)
        if name not in self.errors and not (number.is_integer() and 1 <= number <= most):
            found = {"least": 1, "most": number_format(most, force_grouping=True), "found": self.typed.get(name, "")[:40]}
            self.errors[name] = _("Write a whole number from %(least)s to %(most)s, not “%(found)s”.") % found
        return int(number) if name not in self.errors else 1

    def _in_order(self, name: str, low: float, high: float) -> None:
        if name not in self.errors and not low < high:
            self.errors[name] = _("The upper bound must be above the lower one.")
