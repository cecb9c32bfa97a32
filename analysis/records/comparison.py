"""Anonymise or query? The same counts from protected records and from a desk that adds noise, as figures with a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from analysis.figures.shown import legend_of, safe_svg
from analysis.models import RecordSweep
from analysis.planning.figures import Figure
from analysis.records.sweeping import EXAMPLE_SIZE
from analysis.releases.record_summary import share_of
from candor.figures.charts import Axis, Chart
from candor.figures.scales import Linear

Points = list[tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """Mean relative errors of the counts from records with classes of one size. `as_good_as`: the smallest ε that was tried at which the
    desk does as well; None: at none.
    """

    size: int
    error: float
    with_totals: float
    as_good_as: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """`queries` of them, of which `left_out` have a true count of 0. `desk`: error by ε in all."""

    queries: int
    left_out: int
    records: list[Answered]
    desk: list[tuple[float, float]]


class Tried(TypedDict):
    """The findings of a sweep for one class size, or for one ε of the desk."""

    size: int
    level: NotRequired[int]
    error: NotRequired[float]
    with_totals: float
    epsilon: float
    desk: NotRequired[float]
    queries: int
    left_out: int


def comparison_of(sweep: RecordSweep | None) -> Comparison | None:
    """None before both were asked."""
    found: Sequence[Tried] = sweep.findings if sweep else []
    asked = [one for one in found if one.get("desk") is not None]
    desk = [(one["epsilon"], one["desk"]) for one in asked]
    records = [
        Answered(
            size=one["size"],
            error=one["error"],
            with_totals=one["with_totals"],
            as_good_as=min((epsilon for epsilon, error in desk if error <= one["error"]), default=None),
        )
        for one in found
        if one.get("level") == 0 and one.get("error") is not None
    ]
    return Comparison(queries=asked[0]["queries"], left_out=asked[0]["left_out"], records=records, desk=desk) if asked and records else None


def verdict_of(comparison: Comparison) -> str:
    """The way that answers better, in one sentence, with the usual class size or the nearest that was tried."""
    one = min(comparison.records, key=lambda one: abs(one.size - EXAMPLE_SIZE))
    told = {"size": one.size, "error": share_of(one.error)}
    if one.as_good_as is None:
        return _("Records with classes of %(size)s are wrong by %(error)s. The desk is worse at every ε that was tried.") % told
    return _("Records with classes of %(size)s are wrong by %(error)s. The desk needs ε = %(epsilon)s in all to be as good.") % {
        **told,
        "epsilon": number_format(f"{one.as_good_as:g}"),
    }


def figures_of(comparison: Comparison) -> list[Figure]:
    """Errors by class size and by ε, on the same scale, each with its table."""
    uniform, weighed = _("each answer equally likely"), _("with totals of each answer")
    records = {
        uniform: [(float(one.size), one.error) for one in comparison.records],
        weighed: [(float(one.size), one.with_totals) for one in comparison.records],
    }
    noise = _("with noise")
    top = 100 * max(error for points in (*records.values(), comparison.desk) for _x, error in points)
    sentence = _("The mean share by which the counts from the records are wrong. Totals would have to be public.")
    asked = _("The mean share by which the same counts are wrong when all of them together may spend ε.")
    as_good = {float(one.size): "–" if one.as_good_as is None else number_format(f"{one.as_good_as:g}") for one in comparison.records}
    return [
        _figure("anonymise", _("Anonymise"), sentence, records, x=_("class size"), top=top, more=(_("the desk is as good at ε"), as_good)),
        _figure("query", _("Query"), asked, {noise: comparison.desk}, x=_("ε of all counts together"), top=top),
    ]


def _figure(
    name: str,
    title: str,
    sentence: str,
    lines: Mapping[str, Points],
    *,
    x: str,
    top: float,
    more: tuple[str, Mapping[float, str]] | None = None,
) -> Figure:
    places = [place for place, _error in next(iter(lines.values()))]
    write = _written
    across = Axis(scale=Linear.holding([0, *places]), title=x, write=write)
    chart = Chart(title=f"{title}. {sentence}", x=across, y=Axis(scale=Linear.holding([0, top or 1]), title=title, write=write))
    for kind, (label, points) in zip(("curve", "comparison"), lines.items(), strict=False):
        chart.curve([(place, 100 * error) for place, error in points], kind, label=label)
        for place, error in points:
            chart.point((place, 100 * error), "point", words=f"{label}, {place:g}: {share_of(error)}", radius=3)
    rows = [(_written(place), *(share_of(points[at][1]) for points in lines.values())) for at, place in enumerate(places)]
    return Figure(
        name=name,
        title=title,
        description=sentence,
        svg=safe_svg(chart.drawing),
        legend=legend_of(chart),
        header=(x, *lines, *([more[0]] if more else [])),
        rows=tuple((*row, *([more[1][place]] if more else [])) for place, row in zip(places, rows, strict=True)),
    )


def _written(value: float) -> str:
    return str(number_format(f"{value:g}"))
