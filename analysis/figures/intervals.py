"""Estimates with their intervals: one below the other (forest), as answers came in (running), and between the arms (balance)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analysis.live.wording import down, signed, up
from candor.figures.drawing import Drawing
from candor.figures.forest import Ends, ForestRow, forest_drawing
from candor.figures.scales import Linear
from candor.results import BootstrapSummary, Interval

Counted = Callable[[int], str]
RUNNING_PANEL = 330
WIDE, NARROW = 760, 360


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


def people(n: int) -> str:
    """The participants on whom a number rests."""
    return ngettext("%(n)d person", "%(n)d people", n) % {"n": n}


def bots(n: int) -> str:
    """The same where all answers are simulated."""
    return ngettext("%(n)s bot", "%(n)s bots", n) % {"n": n}


def _of_whom(of: Counted, people_words: str, bots_words: str) -> str:
    """The sentence about people, or the one about bots: simulated answers are nobody's."""
    return bots_words if of is bots else people_words


def ends_of(interval: Interval | BootstrapSummary | None) -> Ends | None:
    """The two ends of an interval; None where it holds nothing."""
    if interval is None or (isinstance(interval, Interval) and interval.kind == "empty"):
        return None
    return interval.low, interval.high


def forest_figure(rows: Sequence[ForestRow], *, title: str, of: Counted = people, narrow: bool = False) -> Drawing:
    """Effects among honest people in percentage points, one method below the other."""
    points = _of_whom(of, _("points more “yes” among honest people"), _("points more “yes” among honest bots"))
    percent = _of_whom(of, _("percentage points more “yes” among honest people"), _("percentage points more “yes” among honest bots"))
    axis_title = points if narrow else percent
    return forest_drawing(
        rows, title=title, axis_title=axis_title, write_tick=_in_points, write_row=_effect, read_row=_read(_effect, of), narrow=narrow
    )


def prevalence_figure(rows: Sequence[ForestRow], *, title: str, of: Counted = people, narrow: bool = False) -> Drawing:
    """Shares of true yes among honest people in percent."""
    axis_title = _of_whom(of, _("of 100 honest people, so many truly say “yes”"), _("of 100 honest bots, so many truly say “yes”"))
    return _shares_figure(rows, title=title, axis_title=axis_title, of=of, narrow=narrow)


def _shares_figure(rows: Sequence[ForestRow], *, title: str, axis_title: str, of: Counted, narrow: bool) -> Drawing:
    return forest_drawing(
        rows,
        title=title,
        axis_title=axis_title,
        write_tick=_of_100,
        write_row=_share_in_words,
        read_row=_read(_share_in_words, of),
        narrow=narrow,
    )


def category_effects_figure(rows: Sequence[ForestRow], *, title: str, of: Counted = people, narrow: bool = False) -> Drawing:
    """Differences of the shares of answers among honest people in percentage points."""
    people_words = _("percentage points more honest people with this answer")
    whole = _of_whom(of, people_words, _("percentage points more honest bots with this answer"))
    axis_title = _("points more with this answer") if narrow else whole
    return forest_drawing(
        rows, title=title, axis_title=axis_title, write_tick=_in_points, write_row=_effect, read_row=_read(_effect, of), narrow=narrow
    )


def category_shares_figure(rows: Sequence[ForestRow], *, title: str, of: Counted = people, narrow: bool = False) -> Drawing:
    """Shares of true answers among honest people in percent."""
    people_words = _("of 100 honest people, so many truly give this answer")
    axis_title = _of_whom(of, people_words, _("of 100 honest bots, so many truly give this answer"))
    return _shares_figure(rows, title=title, axis_title=axis_title, of=of, narrow=narrow)


def subgroups_figure(rows: Sequence[ForestRow], *, title: str, named: bool = False, narrow: bool = False) -> Drawing:
    """Honest share times effect in percentage points, one group below the other. `named`: each row is about one of several answers."""
    if named:
        all_people = _("percentage points more with this answer among all people (honest share times effect)")
        axis_title = _("points more with this answer (honest share times effect)") if narrow else all_people
    else:
        all_people = _("percentage points more “yes” among all people (honest share times effect)")
        axis_title = _("points more “yes” (honest share times effect)") if narrow else all_people
    return forest_drawing(
        rows, title=title, axis_title=axis_title, write_tick=_in_points, write_row=_effect, read_row=_read(_effect), narrow=narrow
    )


def running_figure(
    contrasts: Mapping[str, Sequence[Moment]], *, planned: int, title: str, least: float = -1.0, narrow: bool = False
) -> Drawing:
    """The estimate as answers came in, one panel for each contrast, all on the same scales. `least`: the smallest possible value, 0 for a
    share.

    The band holds at every moment at once, so that readers may look as often as they like.
    """
    width = NARROW if narrow else WIDE
    drawing = Drawing(width=width, height=RUNNING_PANEL * len(contrasts), title=title)
    shown = [0, planned, *(moment.n for moments in contrasts.values() for moment in moments)]
    across = Linear.holding(shown, start=44 if narrow else 64, end=width - 30)
    for index, (contrast, moments) in enumerate(contrasts.items()):
        name = contrast if len(contrasts) > 1 else ""
        _running_panel(drawing, moments, across=across, planned=planned, top=RUNNING_PANEL * index, least=least, name=name)
        if name:
            drawing.text(width - 40, RUNNING_PANEL * index + 38, name, "heading", anchor="end")
    return drawing


def _running_panel(
    drawing: Drawing, moments: Sequence[Moment], *, across: Linear, planned: int, top: float, least: float, name: str
) -> None:
    write = _in_points if least < 0 else _of_100
    seen = [moment for moment in moments if moment.value is not None]
    up = Linear.holding([least, 1.0], start=top + 270, end=top + 20)
    shifts = (-5, 5) if len(moments) == 1 else (0,)  # a band from a moment to itself could not be seen
    for tick in up.ticks:
        drawing.text(across.start - 10, up(tick) + 5, write(tick), "faint", anchor="end", axis="y")
    ends = [(across(moment.n) + shift, moment.ends or (None, None)) for moment in moments for shift in shifts]
    upper = [(x, up(1.0 if high is None else high)) for x, (_low, high) in ends]
    lower = [(x, up(least if low is None else low)) for x, (low, _high) in ends]
    drawing.path([*upper, *reversed(lower)], "band", closed=True)
    for tick in up.ticks:
        drawing.line(across.start, up(tick), across.end, up(tick), "no-effect" if tick == 0 and least < 0 else "grid")
    for tick in across.ticks:
        drawing.text(across(tick), top + 290, number_format(round(tick), force_grouping=True), "faint", anchor="middle", axis="x")
    drawing.line(across(planned), top + 20, across(planned), top + 270, "plan")
    drawing.path([(across(moment.n), up(moment.value or 0)) for moment in seen], "curve")
    for moment in seen:
        low, high = moment.ends or (None, None)
        words = (_effect if least < 0 else _share_in_words)(ForestRow.of(moment.value, moment.ends, label=""))
        batch = _("batch up to %(n)d people") % {"n": moment.n}
        with drawing.mark(f"{name}, {batch}" if name else batch, words, value=moment.value, low=low, high=high, n=moment.n):
            drawing.dot(across(moment.n), up(moment.value or 0), "estimate", radius=5 if moment is seen[-1] else 3)
    drawing.text((across.start + across.end) / 2, top + 316, _("people who answered (dashed: planned)"), "faint", anchor="middle")


def balance_figure(differences: Sequence[BalanceLine], *, notable: float, narrow: bool = False) -> Drawing:
    """Standardised differences, one variable below the other; on narrow paper its name stands above it."""
    pitch, width, left = (48, NARROW, 24) if narrow else (28, WIDE, 300)
    drawing = Drawing(width=width, height=pitch * len(differences) + 70, title=_("Balance of what people told about themselves"))
    values = [one.value for one in differences if one.value is not None]
    across = Linear.holding([-2 * notable, 2 * notable, *values], start=left, end=width - 30)
    bottom = pitch * len(differences) + 20
    rows = [(pitch * row + 36, pitch * row + 56) for row in range(len(differences))]
    for upper, lower in rows if narrow else [(10, bottom)]:
        for at, kind in [*((tick, "grid") for tick in across.ticks), (-notable, "plan"), (notable, "plan"), (0, "axis")]:
            drawing.line(across(at), upper, across(at), lower, kind)
    for tick in across.ticks:
        drawing.text(across(tick), bottom + 20, _signed(tick, "+g") if tick else "0", "faint", anchor="middle", axis="x")
    words = _("standardised difference (dashed: ±%(limit)s)") % {"limit": number_format(f"{notable:g}")}
    drawing.text((left + width - 30) / 2, bottom + 42, words, "faint", anchor="middle")
    for index, one in enumerate(differences):
        y = 24 + pitch * index + (22 if narrow else 0)
        drawing.text(10, y - 16 if narrow else y + 5, one.label)
        if one.value is not None:
            with drawing.mark(one.label, _signed(one.value, "+z.3f"), value=one.value):
                drawing.dot(across(one.value), y, "notable" if one.notable else "estimate")
    return drawing


def _signed(value: float, form: str) -> str:
    return number_format(format(value, form)).replace("-", "−")


def _effect(row: ForestRow) -> str:
    return _with_ends("–" if row.value is None else _in_points(row.value), row.intervals[0] if row.has_interval else None)


def _read(write_row: Callable[[ForestRow], str], of: Counted = people) -> Callable[[ForestRow], str]:
    """The words for somebody who stops at a row: the numbers beside it, and how many people or bots they rest on."""

    def read(row: ForestRow) -> str:
        return ", ".join(filter(None, (write_row(row), "" if row.n is None else of(row.n))))

    return read


def _in_points(value: float) -> str:
    """In percentage points with a sign; zero has none."""
    return signed(round(value * 100))


def _of_100(share: float) -> str:
    return str(round(share * 100))


def _share_in_words(row: ForestRow) -> str:
    low, high = (None if end is None else str(outwards(end * 100)) for end, outwards in ((row.low, down), (row.high, up)))
    if low is None or high is None:
        return "–" if row.value is None else _of_100(row.value)
    if row.value is None:
        return _("%(low)s to %(high)s") % {"low": low, "high": high}
    return _("%(value)s (%(low)s to %(high)s)") % {"value": _of_100(row.value), "low": low, "high": high}


def _with_ends(shown: str, ends: Ends | None) -> str:
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
    low, high = ("" if end is None else signed(outwards(end * 100)) for end, outwards in zip(ends, (down, up), strict=True))
    return words % {"value": shown, "low": low, "high": high}
