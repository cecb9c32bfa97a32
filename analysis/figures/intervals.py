"""Estimates with their intervals: one below the other (forest), as answers came in (running), and between the arms (balance)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from candor.figures.drawing import Drawing
from candor.figures.forest import Ends, ForestRow, forest_drawing
from candor.figures.scales import Linear
from candor.results import BootstrapSummary, Interval

ROW = 46
RUNNING_PANEL = 330


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The estimate when `n` people had answered, with the interval that holds at all times at once."""

    n: int
    value: float | None
    ends: Ends | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BalanceLine:
    label: str
    value: float | None
    notable: bool


def ends_of(interval: Interval | BootstrapSummary | None) -> Ends | None:
    """The two ends of an interval; None where it holds nothing."""
    if interval is None or (isinstance(interval, Interval) and interval.kind == "empty"):
        return None
    return interval.low, interval.high


def forest_figure(rows: Sequence[ForestRow], *, title: str) -> Drawing:
    """Effects among honest people in percentage points, one method below the other."""
    return forest_drawing(
        rows,
        title=title,
        axis_title=_("percentage points more “yes” among honest people"),
        write_tick=_in_points,
        write_row=lambda row: "–" if row.value is None else _with_ends(row.value, row.intervals[0] if row.has_interval else None),
    )


def prevalence_figure(rows: Sequence[ForestRow], *, title: str) -> Drawing:
    """Shares of true yes among honest people in percent."""
    return forest_drawing(
        rows, title=title, axis_title=_("of 100 honest people, so many truly say “yes”"), write_tick=_of_100, write_row=_share_in_words
    )


def subgroups_figure(rows: Sequence[ForestRow], *, title: str) -> Drawing:
    """Honest share times effect in percentage points, one group below the other."""
    return forest_drawing(
        rows,
        title=title,
        axis_title=_("percentage points more “yes” among all people (honest share times effect)"),
        write_tick=_in_points,
        write_row=lambda row: "–" if row.value is None else _with_ends(row.value, row.intervals[0] if row.has_interval else None),
    )


def running_figure(contrasts: Mapping[str, Sequence[Moment]], *, planned: int, title: str, least: float = -1.0) -> Drawing:
    """The estimate as answers came in, one panel for each contrast, all on the same scales. `least`: the smallest possible value, 0 for a
    share.

    The band holds at every moment at once, so that readers may look as often as they like.
    """
    drawing = Drawing(width=760, height=RUNNING_PANEL * len(contrasts), title=title)
    across = Linear.holding([0, planned, *(moment.n for moments in contrasts.values() for moment in moments)], start=64, end=730)
    for index, (contrast, moments) in enumerate(contrasts.items()):
        _running_panel(drawing, moments, across=across, planned=planned, top=RUNNING_PANEL * index, least=least)
        if len(contrasts) > 1:
            drawing.text(720, RUNNING_PANEL * index + 38, contrast, "heading", anchor="end")
    return drawing


def _running_panel(drawing: Drawing, moments: Sequence[Moment], *, across: Linear, planned: int, top: float, least: float) -> None:
    write = _in_points if least < 0 else _of_100
    seen = [moment for moment in moments if moment.value is not None]
    up = Linear.holding([least, 1.0], start=top + 270, end=top + 20)
    shifts = (-5, 5) if len(moments) == 1 else (0,)  # a band from a moment to itself could not be seen
    for tick in up.ticks:
        drawing.text(54, up(tick) + 5, write(tick), "faint", anchor="end")
    ends = [(across(moment.n) + shift, moment.ends or (None, None)) for moment in moments for shift in shifts]
    upper = [(x, up(1.0 if high is None else high)) for x, (_low, high) in ends]
    lower = [(x, up(least if low is None else low)) for x, (low, _high) in ends]
    drawing.path([*upper, *reversed(lower)], "band", closed=True)
    for tick in up.ticks:
        drawing.line(64, up(tick), 730, up(tick), "no-effect" if tick == 0 and least < 0 else "grid")
    for tick in across.ticks:
        drawing.text(across(tick), top + 290, f"{tick:g}", "faint", anchor="middle")
    drawing.line(across(planned), top + 20, across(planned), top + 270, "plan")
    drawing.path([(across(moment.n), up(moment.value or 0)) for moment in seen], "curve")
    if seen:
        drawing.dot(across(seen[-1].n), up(seen[-1].value or 0), "estimate")
    drawing.text(397, top + 316, _("people who answered (dashed: planned)"), "faint", anchor="middle")


def balance_figure(differences: Sequence[BalanceLine], *, notable: float) -> Drawing:
    drawing = Drawing(width=760, height=28 * len(differences) + 70, title=_("Balance of what people told about themselves"))
    values = [one.value for one in differences if one.value is not None]
    across = Linear.holding([-2 * notable, 2 * notable, *values], start=300, end=730)
    bottom = 28 * len(differences) + 20
    for tick in across.ticks:
        drawing.line(across(tick), 10, across(tick), bottom, "grid")
        drawing.text(across(tick), bottom + 20, f"{tick:+g}" if tick else "0", "faint", anchor="middle")
    for limit in (-notable, notable):
        drawing.line(across(limit), 10, across(limit), bottom, "plan")
    drawing.line(across(0), 10, across(0), bottom, "axis")
    drawing.text(515, bottom + 42, _("standardised difference (dashed: ±%(limit)g)") % {"limit": notable}, "faint", anchor="middle")
    for index, one in enumerate(differences):
        y = 24 + 28 * index
        drawing.text(10, y + 5, one.label)
        if one.value is not None:
            drawing.dot(across(one.value), y, "notable" if one.notable else "estimate")
    return drawing


def _in_points(value: float) -> str:
    """In percentage points with a sign; zero has none."""
    return f"{points:+d}" if (points := round(value * 100)) else "0"


def _of_100(share: float) -> str:
    return str(round(share * 100))


def _share_in_words(row: ForestRow) -> str:
    low, high = (None if end is None else _of_100(end) for end in (row.low, row.high))
    if low is None or high is None:
        return "–" if row.value is None else _of_100(row.value)
    if row.value is None:
        return _("%(low)s to %(high)s") % {"low": low, "high": high}
    return _("%(value)s (%(low)s to %(high)s)") % {"value": _of_100(row.value), "low": low, "high": high}


def _with_ends(value: float, ends: Ends | None) -> str:
    shown = _in_points(value)
    match ends:
        case None:
            return shown
        case None, None:
            words = _("%(value)s (unbounded)")
        case None, _high:
            words = _("%(value)s (up to %(high)s)")
        case _low, None:
            words = _("%(value)s (from %(low)s)")
        case _:
            words = _("%(value)s (%(low)s to %(high)s)")
    low, high = ("" if end is None else _in_points(end) for end in ends)
    return words % {"value": shown, "low": low, "high": high}
