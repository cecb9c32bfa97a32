"""The six figures of a plan, each with its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from django.utils.translation import gettext as _

from analysis.planning.plans import BestAtEpsilon, Planned, best_at_epsilons
from analysis.planning.plots import (
    Axis,
    Figure,
    Line,
    Mark,
    Table,
    band,
    curve,
    decades,
    evenly,
    level,
    mark,
    plumb,
    upwards,
)
from analysis.planning.wording import decimal, hardest, percent, points, whole
from candor.planning.power import ContrastPlan, participants_for_power, power_of_z_test

POWER_TICKS = tuple((tenth / 10, f"{tenth * 10} %") for tenth in (0, 2, 4, 6, 8, 10))
TABLE_EPSILONS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """√n times the standard errors of a plan's hardest contrast, and their values at other n."""

    planned: Planned
    contrast: ContrastPlan

    @property
    def strict_level(self) -> float:
        """The confidence level at which each of several contrasts is tested."""
        return 1 - (1 - self.planned.plan.level) / len(self.planned.plan.contrasts)

    def power(self, n: float) -> float:
        error = self.contrast.honest_times_effect_standard_error * sqrt(self.planned.plan.n / n)
        return power_of_z_test(effect=self.contrast.honest_times_effect, standard_error=error, level=self.strict_level)

    def ordinary_power(self, n: float) -> float | None:
        error = self.ordinary_error(n)
        return power_of_z_test(effect=self.contrast.effect, standard_error=error, level=self.strict_level) if error > 0 else None

    def error(self, n: float) -> float | None:
        error = self.contrast.standard_error
        return None if error is None else error * sqrt(self.planned.plan.n / n)

    def ordinary_error(self, n: float) -> float:
        return self.contrast.ordinary_standard_error * sqrt(self.planned.plan.n / n)

    def half_width(self, n: float) -> float | None:
        """Half-width of the interval for the share of cheaters."""
        cheaters = self.planned.plan.cheater_proportion
        return None if cheaters is None else cheaters.half_width * sqrt(self.planned.plan.n / n)

    def power_at(self, best: BestAtEpsilon) -> float:
        error = best.unit_honest_times_effect_error / sqrt(self.planned.plan.n)
        return power_of_z_test(effect=self.contrast.honest_times_effect, standard_error=error, level=self.strict_level)


def figures_of(planned: Planned) -> tuple[Figure, ...]:
    """All figures, in the order of the page."""
    curves = Curves(planned=planned, contrast=hardest(planned.plan))
    students = _students_axis(curves)
    best = best_at_epsilons(planned.design, planned.scenario)
    found = [
        _power_by_students(curves, students),
        _error_by_students(curves, students),
        _cheaters_by_students(curves, students),
        _power_by_epsilon(curves, best),
        _error_by_epsilon(curves, best),
        _students_by_epsilon(curves, best),
    ]
    return tuple(figure for figure in found if figure is not None)


def _students_axis(curves: Curves) -> Axis:
    """From well below to well above the planned and the needed number of students."""
    plan, needed = curves.planned.plan, curves.contrast.participants_needed or 0
    low = min(max(plan.n / 4, 10), 100_000)
    return decades(low, min(max(1.5 * plan.n, 1.2 * min(needed, 40 * plan.n), 1000), 10_000_000), title=_("students"), write=_short)


def _short(number: float) -> str:
    """A number that fits below an axis."""
    if number >= 1_000_000:
        return _("%(millions)s m") % {"millions": decimal(number / 1_000_000, 0)}
    return whole(number)


def _sizes(axis: Axis, curves: Curves) -> list[float]:
    """Numbers of students for a table: round ones along the axis, and the planned and the needed one."""
    plan, needed = curves.planned.plan, curves.contrast.participants_needed
    steps = [factor * 10.0**power for power in range(1, 8) for factor in (1, 2, 5)]
    return sorted({size for size in [*steps, plan.n, needed] if size and axis.holds(size)})


def _power_by_students(curves: Curves, x: Axis) -> Figure:
    plan = curves.planned.plan
    y = Axis(low=0, high=1, title=_("power"), ticks=POWER_TICKS)
    sizes = evenly(x.low, x.high, 81, logarithmic=True)
    needed = curves.contrast.participants_needed
    description = _("With %(n)s students the power is %(power)s.") % {"n": whole(plan.n), "power": percent(curves.power(plan.n))}
    if needed is not None:
        description += " " + _("%(target)s is reached with %(needed)s students.") % {
            "target": percent(plan.target_power),
            "needed": whole(needed),
        }
    ordinary = [(n, power) for n in sizes if (power := curves.ordinary_power(n)) is not None]
    return Figure(
        name="power-students",
        title=_("Power against students"),
        description=description,
        x=x,
        y=y,
        lines=(
            level(plan.target_power, x, y, style="target", label=_("power wanted")),
            *_here(plan.n, x, y),
            curve(ordinary, x, y, style="ordinary", label=_("ordinary trial that sees true answers")),
            curve([(n, curves.power(n)) for n in sizes], x, y, style="own", label=_("this study")),
        ),
        marks=mark((plan.n, curves.power(plan.n)), x, y, style="own", words=description),
        table=Table(
            header=(_("Students"), _("Power"), _("Ordinary trial")),
            rows=tuple((whole(n), percent(curves.power(n)), percent(curves.ordinary_power(n))) for n in _sizes(x, curves)),
        ),
    )


def _here(value: float, x: Axis, y: Axis) -> tuple[Line, ...]:
    return (plumb(value, x, y, style="here", label=_("your plan")),)


def _error_by_students(curves: Curves, x: Axis) -> Figure:
    plan = curves.planned.plan
    own = curves.error(plan.n)
    largest = 100 * max(error for error in (curves.error(x.low), curves.ordinary_error(x.low)) if error is not None)
    y = upwards(min(largest, 50), title=_("standard error, points"), write=lambda value: decimal(value, 0 if largest >= 5 else 1))
    sizes = evenly(x.low, x.high, 81, logarithmic=True)
    if own is None:
        description = _("This design does not determine the size of the effect, so that it has no standard error.")
    else:
        words = {"n": whole(plan.n), "own": points(own), "ordinary": points(curves.ordinary_error(plan.n))}
        description = (
            _("With %(n)s students the standard error of the effect is %(own)s points, in an ordinary trial %(ordinary)s.") % words
        )
    return Figure(
        name="error-students",
        title=_("Standard error against students"),
        description=description,
        x=x,
        y=y,
        lines=(
            *_here(plan.n, x, y),
            curve(
                [(n, 100 * curves.ordinary_error(n)) for n in sizes],
                x,
                y,
                style="ordinary",
                label=_("ordinary trial that sees true answers"),
            ),
            curve([(n, 100 * error) for n in sizes if (error := curves.error(n)) is not None], x, y, style="own", label=_("this study")),
        ),
        marks=() if own is None else mark((plan.n, 100 * own), x, y, style="own", words=description),
        table=Table(
            header=(_("Students"), _("Standard error, points"), _("Ordinary trial")),
            rows=tuple((whole(n), points(curves.error(n)), points(curves.ordinary_error(n))) for n in _sizes(x, curves)),
        ),
    )


def _cheaters_by_students(curves: Curves, x: Axis) -> Figure | None:
    plan, share = curves.planned.plan, 1 - curves.planned.scenario.honest_proportion
    half_width = curves.half_width(plan.n)
    if half_width is None:
        return None
    y = Axis(low=0, high=1, title=_("cheaters"), ticks=POWER_TICKS)

    def interval(n: float) -> tuple[float, float, float]:
        half = curves.half_width(n) or 0.0
        return n, share - half, share + half

    words = {
        "n": whole(plan.n),
        "share": percent(share),
        "low": percent(max(share - half_width, 0)),
        "high": percent(min(share + half_width, 1)),
    }
    description = _("If %(share)s do not follow the die, the interval from %(n)s students reaches from %(low)s to %(high)s.") % words
    return Figure(
        name="cheaters-students",
        title=_("What the study will know about cheaters"),
        description=description,
        x=x,
        y=y,
        lines=(
            band([interval(n) for n in evenly(x.low, x.high, 81, logarithmic=True)], x, y, style="own", label=_("interval (95 %)")),
            *_here(plan.n, x, y),
            level(share, x, y, style="truth", label=_("the share that you expect")),
        ),
        marks=(),
        table=Table(
            header=(_("Students"), _("±, points"), _("Interval")),
            rows=tuple(
                (whole(n), points(curves.half_width(n)), f"{percent(max(low, 0))} – {percent(min(high, 1))}")
                for n, low, high in map(interval, _sizes(x, curves))
            ),
        ),
    )


def _epsilon_axis(curves: Curves) -> Axis:
    highest = max(4.0, min(curves.planned.plan.epsilon, 6.0))
    return upwards(highest, title=_("ε per question"), write=lambda value: decimal(value, 0))


def _power_by_epsilon(curves: Curves, best: tuple[BestAtEpsilon, ...]) -> Figure:
    plan, x = curves.planned.plan, _epsilon_axis(curves)
    y = Axis(low=0, high=1, title=_("power"), ticks=POWER_TICKS)
    words = {"n": whole(plan.n), "epsilon": decimal(plan.epsilon, 2), "power": percent(curves.power(plan.n))}
    description = _("With %(n)s students and your die (ε = %(epsilon)s) the power is %(power)s.") % words
    return Figure(
        name="power-epsilon",
        title=_("Power against privacy loss"),
        description=description,
        x=x,
        y=y,
        lines=(
            level(plan.target_power, x, y, style="target", label=_("power wanted")),
            *_cap(curves, x, y),
            curve([(one.epsilon, curves.power_at(one)) for one in best], x, y, style="best", label=_("design best for the effect’s size")),
        ),
        marks=mark((plan.epsilon, curves.power(plan.n)), x, y, style="own", words=description, label=_("your die")),
        table=Table(
            header=(_("ε per question"), _("Power")),
            rows=tuple((decimal(one.epsilon, 1), percent(curves.power_at(one))) for one in best if one.epsilon in TABLE_EPSILONS),
        ),
    )


def _needed(curves: Curves, best: BestAtEpsilon) -> int | None:
    return participants_for_power(
        effect=curves.contrast.honest_times_effect,
        unit_standard_error=best.unit_honest_times_effect_error,
        power=curves.planned.plan.target_power,
        level=curves.strict_level,
    )


def _cap(curves: Curves, x: Axis, y: Axis) -> tuple[Line, ...]:
    return (plumb(curves.planned.form.value("cap"), x, y, style="cap", label=_("your cap")),)


def _error_by_epsilon(curves: Curves, best: tuple[BestAtEpsilon, ...]) -> Figure:
    plan, x = curves.planned.plan, _epsilon_axis(curves)
    root, own = sqrt(plan.n), curves.error(plan.n)
    largest = 100 * max(best[3].unit_effect_error / root, own or 0.0)
    y = upwards(min(largest, 100), title=_("standard error, points"), write=lambda value: decimal(value, 0 if largest >= 5 else 1))
    dice: list[Mark] = []
    for die in plan.dice:
        words = {"die": die.die, "epsilon": decimal(die.epsilon, 2), "error": points(die.unit_effect_error / root)}
        dice += mark(
            (die.epsilon, 100 * die.unit_effect_error / root),
            x,
            y,
            style="die",
            words=_("%(die)s: ε = %(epsilon)s, standard error %(error)s points") % words,
            label=_("best faces of dice that people own"),
        )
    words = {"n": whole(plan.n), "epsilon": decimal(plan.epsilon, 2), "error": points(own)}
    description = _("With %(n)s students and your die (ε = %(epsilon)s) the standard error is %(error)s points.") % words
    return Figure(
        name="error-epsilon",
        title=_("Standard error against privacy loss"),
        description=description,
        x=x,
        y=y,
        lines=(
            *_cap(curves, x, y),
            level(100 * curves.ordinary_error(plan.n), x, y, style="ordinary", label=_("ordinary trial that sees true answers")),
            curve(
                [(one.epsilon, 100 * one.unit_effect_error / root) for one in best],
                x,
                y,
                style="best",
                label=_("design best for the effect’s size"),
            ),
        ),
        marks=(*dice, *(() if own is None else mark((plan.epsilon, 100 * own), x, y, style="own", words=description, label=_("your die")))),
        table=Table(
            header=(_("ε per question"), _("Standard error, points")),
            rows=tuple((decimal(one.epsilon, 1), points(one.unit_effect_error / root)) for one in best if one.epsilon in TABLE_EPSILONS),
        ),
    )


def _students_by_epsilon(curves: Curves, best: tuple[BestAtEpsilon, ...]) -> Figure | None:
    """The cost of privacy, in students."""
    plan, x = curves.planned.plan, _epsilon_axis(curves)
    own, ordinary = curves.contrast.participants_needed, curves.contrast.ordinary_participants_needed
    needed = [(one.epsilon, count) for one in best if (count := _needed(curves, one)) is not None]
    if own is None or not needed:
        return None
    y = decades(min(ordinary or own, own, needed[-1][1]), max(own, needed[3][1]), title=_("students needed"), write=_short)
    words = {"power": percent(plan.target_power), "own": whole(own), "ordinary": whole(ordinary)}
    description = _("For a power of %(power)s your die needs %(own)s students, an ordinary trial %(ordinary)s.") % words
    return Figure(
        name="students-epsilon",
        title=_("Cost of privacy in students"),
        description=description,
        x=x,
        y=y,
        lines=(
            *_cap(curves, x, y),
            *(() if ordinary is None else (level(ordinary, x, y, style="ordinary", label=_("ordinary trial that sees true answers")),)),
            curve(needed, x, y, style="best", label=_("design best for the effect’s size")),
        ),
        marks=mark((plan.epsilon, own), x, y, style="own", words=description, label=_("your die")),
        table=Table(
            header=(_("ε per question"), _("Students needed")),
            rows=tuple((decimal(epsilon, 1), whole(count)) for epsilon, count in needed if epsilon in TABLE_EPSILONS),
        ),
    )
