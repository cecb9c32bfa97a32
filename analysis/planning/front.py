"""The designs to choose from: two figures whose points lead to the plan with that design, a table of the same, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from urllib.parse import urlencode

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from analysis.figures.shown import legend_of, safe_svg
from analysis.planning.faces import PlannedDie, front_die
from analysis.planning.plans import Planned
from analysis.planning.wording import decimal, hardest, points, whole
from candor.figures.charts import Axis, Chart
from candor.figures.scales import Logarithmic
from candor.planning.pareto import FrontDesign

AddressOf = Callable[[PlannedDie], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontRow:
    """One design: its number in the figures, its numbers as people write them, and the address of the plan with it."""

    number: int
    die: str
    subsamples: tuple[str, ...]
    shares: str
    epsilon: str
    needed: str
    effect_error: str
    cheater_error: str
    best_at: tuple[str, ...]
    is_robust: bool
    address: str
    in_use: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontFigure:
    """Students needed against one error."""

    name: str
    title: str
    svg: SafeString
    legend: tuple[tuple[SafeString, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """Everything that the template shows; without designs no die respects the cap and the least share of truth."""

    rows: tuple[FrontRow, ...]
    figures: tuple[FrontFigure, ...]
    sentences: tuple[str, ...]
    students: str


def front_of(planned: Planned, address_of: AddressOf | None = None) -> Front:
    """The front of a plan. `address_of` gives the address of the page with another die; by default that of the plan."""
    designs = planned.front
    finds_something = bool(designs) and all(one.participants_needed for one in designs)
    address_of = address_of or (lambda die: f"?{planned.form.with_die(die).query}#front-title")
    rows = tuple(_row(number, one, planned, address_of) for number, one in enumerate(designs, start=1))
    return Front(
        rows=rows,
        figures=tuple(_figures(designs, rows, planned)) if finds_something else (),
        sentences=tuple(_sentences(designs, rows)) if finds_something else (),
        students=whole(planned.plan.n),
    )


def address_with(typed: dict[str, str]) -> AddressOf:
    """The address of a page whose other inputs keep what is typed."""
    return lambda die: f"?{urlencode({**typed, **die.texts})}#front-title"


def _row(number: int, one: FrontDesign, planned: Planned, address_of: AddressOf) -> FrontRow:
    root, die = sqrt(planned.plan.n), front_die(one)
    names = {
        "participants": _("fewest students"),
        "effect": _("smallest error of the effect"),
        "cheaters": _("knows most about cheaters"),
    }
    return FrontRow(
        number=number,
        die=_("%(sides)s sides") % {"sides": one.sides},
        subsamples=tuple(_("%(yes)s yes, %(no)s no") % {"yes": yes, "no": no} for no, yes in one.faces),
        shares=" : ".join(map(str, one.weights)),
        epsilon=decimal(one.epsilon, 2),
        needed=whole(one.participants_needed),
        effect_error=points(one.unit_effect_error / root),
        cheater_error=points(one.unit_honest_proportion_error / root),
        best_at=tuple(names[name] for name in one.best_at),
        is_robust=one.robust,
        address=address_of(die),
        in_use=die == planned.form.die,
    )


def _sentences(designs: Sequence[FrontDesign], rows: Sequence[FrontRow]) -> list[str]:
    """The conflict, in the numbers of the designs at its ends."""
    best = {name: row for one, row in zip(designs, rows, strict=True) for name in one.best_at}
    if not best:
        return []
    fewest, size = best["participants"], best["effect"]
    words = {
        "first": fewest.number,
        "second": size.number,
        "needed": fewest.needed,
        "more": size.needed,
        "error": fewest.effect_error,
        "smaller": size.effect_error,
    }
    if fewest is size:
        return [_("Design %(first)s needs fewest students and knows the size of the effect best.") % words]
    return [
        _(
            "The test of no effect and its size ask for different dice: design %(first)s needs fewest students, %(needed)s, and leaves a "
            "standard error of %(error)s points for the size; design %(second)s knows the size to %(smaller)s points and needs %(more)s."
        )
        % words
    ]


def _figures(designs: Sequence[FrontDesign], rows: Sequence[FrontRow], planned: Planned) -> list[FrontFigure]:
    root = sqrt(planned.plan.n)
    own, cheaters = hardest(planned.plan), planned.plan.cheater_proportion
    return [
        _figure(
            name="front-effect",
            title=_("Students needed and the size of the effect"),
            up=_("error of the effect, points"),
            heights=[one.unit_effect_error / root for one in designs],
            own=own.standard_error,
            designs=designs,
            rows=rows,
            planned=planned,
        ),
        _figure(
            name="front-cheaters",
            title=_("Students needed and the share of cheaters"),
            up=_("error of the share of cheaters, points"),
            heights=[one.unit_honest_proportion_error / root for one in designs],
            own=None if cheaters is None else cheaters.standard_error,
            designs=designs,
            rows=rows,
            planned=planned,
        ),
    ]


def _figure(
    *,
    name: str,
    title: str,
    up: str,
    heights: Sequence[float],
    own: float | None,
    designs: Sequence[FrontDesign],
    rows: Sequence[FrontRow],
    planned: Planned,
) -> FrontFigure:
    """Numbered dots on logarithmic axes."""
    across = [float(one.participants_needed or 0) for one in designs]
    needed = hardest(planned.plan).participants_needed
    here = (float(needed), own) if needed and own else None
    x = Axis(
        scale=Logarithmic.around([*across, *([here[0]] if here else [])]),
        title=_("students needed"),
        write=lambda value: whole(value) if value < 1_000_000 else f"{value:.0e}",
    )
    y = Axis(
        scale=Logarithmic.around([*heights, *([here[1]] if here else [])]),
        title=up,
        write=lambda value: points(value, 0 if value >= 0.01 else 1),
    )
    chart = Chart(title=f"{title}. {up}", x=x, y=y)
    for one, row, at in sorted(
        zip(designs, rows, zip(across, heights, strict=True), strict=True), key=lambda found: bool(found[0].best_at)
    ):
        chart.link(
            at,
            "point" if one.best_at else "point-second",
            row.number,
            address=row.address,
            words=_words(row),
            label=_("best at something") if one.best_at else _("a compromise"),
        )
    if here:
        words = _("the die in use: %(needed)s students, error %(error)s points") % {"needed": whole(needed), "error": points(own)}
        chart.point(here, "point-own", words=words, label=_("the die in use"))
    return FrontFigure(name=name, title=title, svg=safe_svg(chart.drawing), legend=legend_of(chart))


def _words(row: FrontRow) -> str:
    words = {
        "number": row.number,
        "die": row.die,
        "faces": "; ".join(row.subsamples),
        "epsilon": row.epsilon,
        "needed": row.needed,
        "effect": row.effect_error,
        "cheaters": row.cheater_error,
    }
    said = _(
        "Use design %(number)s: %(die)s, %(faces)s; ε = %(epsilon)s, %(needed)s students, error of the effect %(effect)s points, of "
        "cheaters %(cheaters)s"
    )
    return ", ".join([said % words, *row.best_at])
