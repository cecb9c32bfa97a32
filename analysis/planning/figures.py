"""The six figures of a plan, as data: curves, axis, words and the columns of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from analysis.figures.shown import legend_of, safe_svg
from analysis.planning.curves import Curves
from analysis.planning.plans import EPSILONS, Planned
from analysis.planning.wording import decimal, percent, points, whole
from candor.figures.charts import Axis, Chart
from candor.figures.scales import Linear, Logarithmic

Layer = Callable[[Chart, Curves, Sequence[float]], None]
TABLE_EPSILONS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
# The curve of the best designs may leave the paper to the left of this privacy loss, where errors have no bound.
ALWAYS_ON_PAPER = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Over:
    """A figure's horizontal axis: where curves are drawn, where tables have rows, and where the plan itself is."""

    header: Promise
    axis: Callable[[Curves], Axis]
    along: Callable[[Linear], Sequence[float]]
    rows: Callable[[Curves, Linear], Sequence[float]]
    here: Callable[[Curves], float]
    write: Callable[[float], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One figure of the page: `sentences` describe it, `own` is the height at which the plan itself stands."""

    name: str
    title: Promise
    over: Over
    y: Callable[[Curves], Axis]
    sentences: Callable[[Curves], Sequence[Promise]]
    layers: Sequence[Layer]
    columns: Sequence[tuple[Promise, Callable[[Curves, float], str]]]
    own: Callable[[Curves], float | None] = lambda _curves: None
    own_label: str | Promise = ""
    exists: Callable[[Curves], bool] = lambda _curves: True

    def draw(self, curves: Curves) -> Figure:
        x, title = self.over.axis(curves), str(self.title)
        description = " ".join(str(sentence) for sentence in self.sentences(curves)) % curves.words
        chart = Chart(title=f"{title}. {description}", x=x, y=self.y(curves))
        chart.stops = tuple(self.over.rows(curves, x.scale))
        for layer in self.layers:
            layer(chart, curves, self.over.along(x.scale))
        if (own := self.own(curves)) is not None:
            chart.point((self.over.here(curves), own), "point", words=description, label=str(self.own_label))
        rows = ((self.over.write(at), *(cell(curves, at) for _header, cell in self.columns)) for at in self.over.rows(curves, x.scale))
        return Figure(
            name=self.name,
            title=title,
            description=description,
            svg=safe_svg(chart.drawing),
            legend=legend_of(chart),
            header=tuple(map(str, (self.over.header, *(header for header, _cell in self.columns)))),
            rows=tuple(rows),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure for the template: the picture, the meaning of its marks, and the same in numbers; the first column heads the rows."""

    name: str
    title: str
    description: str
    svg: SafeString
    legend: tuple[tuple[SafeString, str], ...]
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def figures_of(planned: Planned) -> tuple[Figure, ...]:
    """All figures, in the order of the page."""
    curves = Curves(planned=planned)
    return tuple(spec.draw(curves) for spec in FIGURES if spec.exists(curves))


def _short(number: float) -> str:
    """A number that fits below an axis."""
    if number >= 1_000_000:
        return gettext("%(millions)s m") % {"millions": decimal(number / 1_000_000, 0)}
    return whole(number)


def _students_axis(curves: Curves) -> Axis:
    """From well below to well above the planned and the needed number of students."""
    plan, needed = curves.plan, curves.contrast.participants_needed or 0
    low = min(max(plan.n / 4, 10), 100_000)
    high = min(max(1.5 * plan.n, 1.2 * min(needed, 40 * plan.n), 1000), 10_000_000)
    return Axis(scale=Logarithmic.holding([low, high]), title=gettext("students"), write=_short)


def _sizes(curves: Curves, scale: Linear) -> list[float]:
    """Numbers of students for a table: round ones along the axis, and the planned and the needed one."""
    steps = [factor * 10.0**power for power in range(1, 8) for factor in (1, 2, 5)]
    return sorted({size for size in [*steps, curves.plan.n, curves.contrast.participants_needed] if size and scale.holds(size)})


def _epsilon_axis(curves: Curves) -> Axis:
    highest = max(4.0, min(curves.plan.epsilon, 6.0))
    return Axis(scale=Linear.holding([0, highest]), title=gettext("ε per question"), write=lambda value: decimal(value, 0))


def _share_axis(title: Promise) -> Callable[[Curves], Axis]:
    return lambda _curves: Axis(scale=Linear.holding([0, 1]), title=str(title), write=percent)


def _error_axis(largest: float, *, limit: float) -> Axis:
    scale = Linear.holding([0, min(largest, limit)])
    places = 0 if scale.ticks[1] >= 0.01 else 1 if scale.ticks[1] >= 0.001 else 2
    return Axis(scale=scale, title=gettext("standard error, points"), write=lambda value: points(value, places))


def _error_over_students_axis(curves: Curves) -> Axis:
    fewest = _students_axis(curves).scale.low
    return _error_axis(max(curves.error(fewest) or 0.0, curves.ordinary_error(fewest)), limit=0.5)


def _error_over_epsilon_axis(curves: Curves) -> Axis:
    return _error_axis(max(curves.best_error(ALWAYS_ON_PAPER), curves.error(curves.plan.n) or 0.0), limit=1.0)


def _needed_axis(curves: Curves) -> Axis:
    contrast = curves.contrast
    shown = [contrast.participants_needed, contrast.ordinary_participants_needed]
    shown += [curves.best_needed(ALWAYS_ON_PAPER), curves.best_needed(max(curves.best))]
    return Axis(scale=Logarithmic.holding([needed for needed in shown if needed]), title=gettext("students needed"), write=_short)


def _curve(value: Callable[[Curves, float], float | None], kind: str, label: Promise) -> Layer:
    def draw(chart: Chart, curves: Curves, along: Sequence[float]) -> None:
        points, stops = ([(x, found) for x in places if (found := value(curves, x)) is not None] for places in (along, chart.stops))
        chart.curve(points, kind, label=str(label), stops=stops)

    return draw


def _band(ends: Callable[[Curves, float], tuple[float, float] | None], kind: str, label: Promise) -> Layer:
    def draw(chart: Chart, curves: Curves, along: Sequence[float]) -> None:
        edges, stops = ([(x, *found) for x in places if (found := ends(curves, x)) is not None] for places in (along, chart.stops))
        chart.band(edges, kind, label=str(label), stops=stops)

    return draw


def _guide(value: Callable[[Curves], float | None], kind: str, label: Promise, *, upright: bool = False) -> Layer:
    """A straight line at one value, from left to right or upright."""

    def draw(chart: Chart, curves: Curves, _along: Sequence[float]) -> None:
        if (at := value(curves)) is not None:
            (chart.upright if upright else chart.across)(at, kind, label=str(label))

    return draw


def _dice(chart: Chart, curves: Curves, _along: Sequence[float]) -> None:
    """The dice that people own, each with its best faces."""
    for die in curves.plan.dice:
        error = die.unit_effect_error / sqrt(curves.plan.n)
        words = {"die": die.die, "epsilon": decimal(die.epsilon, 2), "error": points(error)}
        chart.point(
            (die.epsilon, error),
            "point-second",
            words=gettext("%(die)s: ε = %(epsilon)s, standard error %(error)s points") % words,
            label=gettext("best faces of dice that people own"),
            radius=4,
        )


STUDENTS = Over(
    header=_("Students"),
    axis=_students_axis,
    along=lambda scale: scale.spread(81),
    rows=_sizes,
    here=lambda curves: curves.plan.n,
    write=whole,
)
EPSILON = Over(
    header=_("ε per question"),
    axis=_epsilon_axis,
    along=lambda _scale: EPSILONS,
    rows=lambda _curves, _scale: TABLE_EPSILONS,
    here=lambda curves: curves.plan.epsilon,
    write=lambda epsilon: decimal(epsilon, 1),
)
YOUR_PLAN = _guide(lambda curves: curves.plan.n, "here", _("your plan"), upright=True)
YOUR_CAP = _guide(lambda curves: curves.planned.form.value("cap"), "limit", _("your cap"), upright=True)
POWER_WANTED = _guide(lambda curves: curves.plan.target_power, "limit", _("power wanted"))
THIS_STUDY, ORDINARY_TRIAL, BEST_DESIGN = (
    _("this study"),
    _("ordinary trial that sees true answers"),
    _("design best for the effect’s size"),
)

FIGURES = (
    Spec(
        name="power-students",
        title=_("Power against students"),
        over=STUDENTS,
        y=_share_axis(_("power")),
        sentences=lambda curves: (
            _("With %(n)s students the power is %(power)s."),
            *((_("%(target)s is reached with %(needed)s students."),) if curves.contrast.participants_needed is not None else ()),
        ),
        layers=(
            POWER_WANTED,
            YOUR_PLAN,
            _curve(Curves.ordinary_power, "comparison", ORDINARY_TRIAL),
            _curve(Curves.power, "curve", THIS_STUDY),
        ),
        own=lambda curves: curves.power(curves.plan.n),
        columns=(
            (_("Power"), lambda curves, n: percent(curves.power(n))),
            (_("Ordinary trial"), lambda curves, n: percent(curves.ordinary_power(n))),
        ),
    ),
    Spec(
        name="error-students",
        title=_("Standard error against students"),
        over=STUDENTS,
        y=_error_over_students_axis,
        sentences=lambda curves: (
            _("This design does not determine the size of the effect, so that it has no standard error.")
            if curves.contrast.standard_error is None
            else _("With %(n)s students the standard error of the effect is %(error)s points, in an ordinary trial %(ordinary_error)s."),
        ),
        layers=(
            YOUR_PLAN,
            _curve(Curves.ordinary_error, "comparison", ORDINARY_TRIAL),
            _curve(Curves.error, "curve", THIS_STUDY),
        ),
        own=lambda curves: curves.error(curves.plan.n),
        columns=(
            (_("Standard error, points"), lambda curves, n: points(curves.error(n))),
            (_("Ordinary trial"), lambda curves, n: points(curves.ordinary_error(n))),
        ),
    ),
    Spec(
        name="cheaters-students",
        title=_("What the study will know about cheaters"),
        over=STUDENTS,
        y=_share_axis(_("cheaters")),
        sentences=lambda _curves: (
            _("If %(cheaters)s do not follow the die, the interval from %(n)s students reaches from %(low)s to %(high)s."),
        ),
        layers=(
            _band(Curves.cheaters_interval, "band-over-grid", _("interval (95 %)")),
            YOUR_PLAN,
            _guide(lambda curves: curves.cheaters, "curve", _("the share that you expect")),
        ),
        columns=(
            (_("±, points"), lambda curves, n: points(curves.half_width(n))),
            (_("Interval"), lambda curves, n: " – ".join(map(percent, curves.cheaters_interval(n) or ()))),
        ),
        exists=lambda curves: curves.plan.cheater_proportion is not None,
    ),
    Spec(
        name="power-epsilon",
        title=_("Power against privacy loss"),
        over=EPSILON,
        y=_share_axis(_("power")),
        sentences=lambda _curves: (_("With %(n)s students and your die (ε = %(epsilon)s) the power is %(power)s."),),
        layers=(POWER_WANTED, YOUR_CAP, _curve(Curves.best_power, "curve", BEST_DESIGN)),
        own=lambda curves: curves.power(curves.plan.n),
        own_label=_("your die"),
        columns=((_("Power"), lambda curves, epsilon: percent(curves.best_power(epsilon))),),
    ),
    Spec(
        name="error-epsilon",
        title=_("Standard error against privacy loss"),
        over=EPSILON,
        y=_error_over_epsilon_axis,
        sentences=lambda _curves: (_("With %(n)s students and your die (ε = %(epsilon)s) the standard error is %(error)s points."),),
        layers=(
            YOUR_CAP,
            _guide(lambda curves: curves.ordinary_error(curves.plan.n), "comparison", ORDINARY_TRIAL),
            _curve(Curves.best_error, "curve", BEST_DESIGN),
            _dice,
        ),
        own=lambda curves: curves.error(curves.plan.n),
        own_label=_("your die"),
        columns=((_("Standard error, points"), lambda curves, epsilon: points(curves.best_error(epsilon))),),
    ),
    Spec(
        name="students-epsilon",
        title=_("Cost of privacy in students"),
        over=EPSILON,
        y=_needed_axis,
        sentences=lambda _curves: (
            _("For a power of %(target)s your die needs %(needed)s students, an ordinary trial %(ordinary_needed)s."),
        ),
        layers=(
            YOUR_CAP,
            _guide(lambda curves: curves.contrast.ordinary_participants_needed, "comparison", ORDINARY_TRIAL),
            _curve(Curves.best_needed, "curve", BEST_DESIGN),
        ),
        own=lambda curves: curves.contrast.participants_needed,
        own_label=_("your die"),
        columns=((_("Students needed"), lambda curves, epsilon: whole(curves.best_needed(epsilon))),),
        exists=lambda curves: curves.contrast.participants_needed is not None,
    ),
)
