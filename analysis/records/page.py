"""The possibilities of a study's records, as figures and tables, and the parts that are edited."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.answers.record_schemas import RecordSchema
from analysis.answers.study_records import NOT_ANSWERED, Chains
from analysis.figures.shown import legend_of, safe_svg
from analysis.models import RecordSweep, SweepStatus
from analysis.planning.figures import Figure
from analysis.records.indented import to_list
from analysis.records.services import mark_of
from analysis.releases.record_summary import share_of
from candor.figures.charts import Axis, Chart
from candor.figures.scales import Linear

KINDS = {0: "curve", 2: "comparison", 3: "limit"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """`code`: the role as stored. `listed`: the hierarchy as an indented list; empty where there is none to edit. `mark` tells it from
    others.
    """

    name: str
    words: str
    role: str
    code: str
    listed: str
    mark: str
    is_edited: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepView:
    sweep: RecordSweep
    figures: list[Figure]
    largest: list[tuple[str, int]]
    impossible: list[tuple[int, str]]

    @property
    def is_working(self) -> bool:
        return self.sweep.status == SweepStatus.RUNNING

    @property
    def done(self) -> int:
        return len(self.sweep.findings)

    @property
    def parts(self) -> int:
        return len(self.sweep.plan)


def attributes_of(schema: RecordSchema, now: Mapping[str, Chains]) -> list[Attribute]:
    """`now`: the hierarchies as they stand."""
    roles = {
        "quasi_identifier": _("Quasi-identifier"),
        "sensitive": _("Sensitive"),
        "auxiliary": _("Auxiliary, treated as a quasi-identifier"),
    }
    return [
        Attribute(
            name=name,
            words=schema.words[name],
            role=roles[role],
            code=role,
            listed=to_list(now[name]) if name in now and set(now[name]) - {NOT_ANSWERED} else "",
            mark=mark_of(now.get(name, {})),
            is_edited=name in now and now[name] != schema.editable[name],
        )
        for name, role in schema.roles.items()
    ]


def sweep_view(sweep: RecordSweep) -> SweepView:
    findings = sweep.findings
    found = [one for one in findings if "loss" in one]
    return SweepView(
        sweep=sweep,
        figures=[figure for name, title, said in FIGURES if (figure := _figure(found, name, str(title), str(said))) is not None],
        largest=sorted(found[0]["largest"].items()) if found else [],
        impossible=[(one["size"], one["impossible"]) for one in findings if "impossible" in one],
    )


class Tried(TypedDict):
    """A class size and an ℓ that were tried, and what came out."""

    size: int
    level: int
    loss: float
    error: float | None
    insider: float


Measure = Literal["loss", "error", "insider"]
FIGURES: tuple[tuple[Measure, Promise, Promise], ...] = (
    (
        "loss",
        gettext_lazy("Loss"),
        gettext_lazy("The share of what was told that the records no longer tell: 0 % is everything, 100 % nothing."),
    ),
    (
        "error",
        gettext_lazy("Error of counts"),
        gettext_lazy("Counts of people with two answers, from the records: the mean share by which they are wrong."),
    ),
    (
        "insider",
        gettext_lazy("Insider risk"),
        gettext_lazy("Somebody knows all labels of a person and one sensitive value. The share of values after which one record is left."),
    ),
)


def _figure(found: Sequence[Tried], name: Measure, title: str, sentence: str) -> Figure | None:
    lines = {
        level: [(float(one["size"]), float(value)) for one in found if one["level"] == level and (value := one[name]) is not None]
        for level in sorted({one["level"] for one in found})
    }
    lines = {level: points for level, points in lines.items() if points}
    if not any(value for points in lines.values() for _size, value in points):
        return None
    sizes = sorted({size for points in lines.values() for size, _value in points})
    write: Callable[[float], str] = lambda value: number_format(f"{value:g}")  # noqa: E731
    x = Axis(scale=Linear.holding([0, *sizes]), title=_("class size"), write=write)
    top = max(value for points in lines.values() for _size, value in points)
    chart = Chart(title=f"{title}. {sentence}", x=x, y=Axis(scale=Linear.holding([0, 100 * top]), title=title, write=write))
    for level, points in lines.items():
        label = _label(level)
        chart.curve([(size, 100 * value) for size, value in points], KINDS[level], label=label)
        for size, value in points:
            chart.point((size, 100 * value), "point", words=f"{label}, {size:g}: {share_of(value)}", radius=3)
    at = {(level, size): value for level, points in lines.items() for size, value in points}
    return Figure(
        name=name,
        title=title,
        description=sentence,
        svg=safe_svg(chart.drawing),
        legend=legend_of(chart),
        header=(_("class size"), *map(_label, lines)),
        rows=tuple((f"{size:g}", *(share_of(at[level, size]) if (level, size) in at else "–" for level in lines)) for size in sizes),
    )


def _label(level: int) -> str:
    return _("ℓ = %(level)s demanded") % {"level": level} if level else _("no diversity demanded")
