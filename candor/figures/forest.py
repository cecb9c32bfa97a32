"""Forest plots: estimates with their intervals, one per row, as text for a terminal and as SVG for paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from textwrap import wrap
from typing import TYPE_CHECKING

from candor.figures.drawing import ACCENT, MUTED, Drawing
from candor.figures.scales import Linear
from candor.figures.tables import interval, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABEL_WIDTH, PLOT_WIDTH, VALUE_WIDTH, ROW_HEIGHT, TALL_ROW_HEIGHT = 290, 380, 220, 28, 46
WIDE_LINE, WIDE_LETTERS, MOST_LINES = 17, 42, 4
NARROW_WIDTH, NARROW_LINE, NARROW_LETTERS = 340, 19, 44
Ends = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestRow:
    """One line of a forest plot.

    Attributes
    ----------
    label : str
        What is estimated, and how.
    value : float or None
        The estimate; None when there is none.
    low, high : float or None
        The ends of the interval; None where it has no end.
    has_interval : bool
        False when there is no interval to draw at all.
    detail : str
        A second line of the label.
    second : pair of float or None, optional
        The ends of another interval for the same estimate, drawn below the first; None when there is none.
    n : int or None
        How many people the estimate rests on, for who reads the row.
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    has_interval: bool = True
    detail: str = ""
    second: Ends | None = None
    n: int | None = None

    @classmethod
    def of(
        cls,
        value: float | None,
        ends: Ends | None,
        *,
        label: str,
        detail: str = "",
        second: Ends | None = None,
        n: int | None = None,
    ) -> ForestRow:
        """A row with the ends of its interval as a pair, or None where there is no interval."""
        low, high = ends or (None, None)
        return cls(label=label, value=value, low=low, high=high, has_interval=ends is not None, detail=detail, second=second, n=n)

    @property
    def name(self) -> str:
        """The label with its second line."""
        return f"{self.label}, {self.detail}" if self.detail else self.label

    @property
    def intervals(self) -> tuple[Ends, ...]:
        """The ends of the interval and of the second one, as far as there are any."""
        main = ((self.low, self.high),) if self.has_interval else ()
        return main if self.second is None else (*main, self.second)

    @property
    def text(self) -> str:
        """The numbers, for people."""
        estimate = "" if self.value is None else number(self.value, signed=True)
        if not self.has_interval:
            return estimate or "no estimate"
        return f"{estimate} ({interval(self.low, self.high, signed=True)})".lstrip()


def forest_text(rows: Sequence[ForestRow], *, width: int = 100) -> str:
    """Draw a forest plot with characters.

    Parameters
    ----------
    rows : sequence of ForestRow
        From top to bottom.
    width : int
        Characters per line; labels and numbers take what they need and the plot at least 40.

    Returns
    -------
    str
        One line per row, then the axis. An arrow head marks an interval that has no end.

    Examples
    --------
    >>> rows = [ForestRow(label="A", value=0.5, low=0.0, high=1.0), ForestRow(label="B", value=0.0, low=None, high=0.5)]
    >>> print(forest_text(rows, width=60))
    A                     ├────────●─────────┤ +0.500 (+0.000 to +1.000)
    B  ◀──────────────────●────────┤           +0.000 (−∞ to +0.500)
       -1       -0.5      0       0.5        1
    """
    label_width = max((len(row.label) for row in rows), default=0)
    value_width = max((len(row.text) for row in rows), default=0)
    cells = max(width - label_width - value_width - 3, 40)
    cells -= 1 - cells % 2
    axis = _axis(rows, end=cells - 1)

    def cell(value: float) -> int:
        return round(axis(value))

    lines = []
    for row in rows:
        line = [" "] * cells
        line[cell(0)] = "│"
        if row.has_interval:
            first = 0 if row.low is None else cell(row.low)
            last = cells - 1 if row.high is None else cell(row.high)
            line[first : last + 1] = "─" * (last + 1 - first)
            line[first] = "◀" if row.low is None else "├"
            line[last] = "▶" if row.high is None else "┤"
        if row.value is not None:
            line[cell(row.value)] = "●"
        lines.append(f"{row.label:<{label_width}}  {''.join(line)} {row.text}".rstrip())
    scale = [" "] * (cells + 8)
    for tick in axis.ticks:
        text = f"{tick:g}"
        start = max(cell(tick) - (len(text) - 1) // 2, 0)
        scale[start : start + len(text)] = text
    lines.append(" " * (label_width + 2) + "".join(scale).rstrip())
    return "\n".join(lines)


def forest_svg(rows: Sequence[ForestRow], *, title: str) -> str:
    """Draw a forest plot as a stand-alone SVG document, with a class on every kind of mark and no style sheet.

    Parameters
    ----------
    rows : sequence of ForestRow
        From top to bottom.
    title : str
        Heading, also the accessible name of the figure.

    Examples
    --------
    >>> forest_svg([ForestRow(label="A", value=0.5, low=0.0, high=1.0)], title="Effects").count("<circle")
    1
    """
    return forest_drawing(rows, title=title, heading=title).svg()


class ForestFigure(str):
    """The text of an SVG document that a notebook shows as a figure; ``Path("effects.svg").write_text(figure)`` keeps it."""

    def _repr_svg_(self) -> str:
        return str(self)


def forest_drawing(
    rows: Sequence[ForestRow],
    *,
    title: str,
    heading: str = "",
    axis_title: str = "",
    write_tick: Callable[[float], str] = "{:g}".format,
    write_row: Callable[[ForestRow], str] = lambda row: row.text,
    read_row: Callable[[ForestRow], str] | None = None,
    narrow: bool = False,
) -> Drawing:
    """Draw a forest plot, with words in the reader's language.

    Parameters
    ----------
    rows : sequence of ForestRow
        From top to bottom.
    title : str
        The accessible name of the figure.
    heading, axis_title : str
        Words above the rows and below the axis; empty for none.
    write_tick, write_row, read_row : callable
        How a number stands at the axis, what stands beside a row, and what somebody reads who stops there: by default the same.
    narrow : bool
        For a telephone: label and numbers stand above the interval instead of beside it.

    Examples
    --------
    >>> rows = [ForestRow(label="A", value=0.5, low=0.0, high=1.0)]
    >>> forest_drawing(rows, title="Effects").height, forest_drawing(rows, title="Effects", narrow=True).width
    (82, 340)
    """
    words = [_narrow_words(row, write_row(row)) if narrow else _label_lines(row, WIDE_LETTERS) for row in rows]
    tall = TALL_ROW_HEIGHT if any(row.detail or row.second for row in rows) else ROW_HEIGHT
    pitches = [NARROW_LINE * len(lines) + 32 if narrow else max(tall, WIDE_LINE * len(lines) + 11) for lines in words]
    left, right = (24, NARROW_WIDTH - 24) if narrow else (LABEL_WIDTH, LABEL_WIDTH + PLOT_WIDTH)
    top = 40 if heading else 10
    bottom = top + sum(pitches) + 10
    grid = [(top + end - 24, top + end - 4) for end in accumulate(pitches)] if narrow else [(top, bottom)]
    width = NARROW_WIDTH if narrow else LABEL_WIDTH + PLOT_WIDTH + VALUE_WIDTH
    drawing = Drawing(width=width, height=bottom + (50 if axis_title else 34), title=title)
    across = _axis(rows, start=left, end=right)
    if heading:
        drawing.text(10, 24, heading, "heading")
    for tick in across.ticks:
        for upper, lower in grid:
            drawing.line(across(tick), upper, across(tick), lower, "grid" if tick else "no-effect")
        drawing.text(across(tick), bottom + 20, write_tick(tick), "faint", anchor="middle", axis="x")
    if axis_title:
        drawing.text((left + right) / 2, bottom + 42, axis_title, "faint", anchor="middle")
    start: float = top
    for row, lines, pitch in zip(rows, words, pitches, strict=True):
        y = start + pitch - 14 if narrow else start + pitch / 2
        between, first = (NARROW_LINE, start + NARROW_LINE) if narrow else (WIDE_LINE, y + 5 - WIDE_LINE * (len(lines) - 1) / 2)
        for place, (line, kind) in enumerate(lines):
            drawing.text(10, first + between * place, line, kind)
        if not narrow:
            drawing.text(LABEL_WIDTH + PLOT_WIDTH + 20, y + 5, write_row(row))
        _draw_row(drawing, across, row, y, words=(read_row or write_row)(row))
        start += pitch
    return drawing


def _narrow_words(row: ForestRow, written: str) -> list[tuple[str, str]]:
    """The lines above an interval, each with its kind."""
    return [*_label_lines(row, NARROW_LETTERS), (written, "heading")]


def _label_lines(row: ForestRow, letters: int) -> list[tuple[str, str]]:
    """The label in lines of at most so many letters, each with its kind; the point keeps all of a label that is longer than a few lines."""
    cut = partial(wrap, width=letters, max_lines=MOST_LINES, placeholder="…")
    return [*((line, "words") for line in cut(row.label)), *((line, "faint") for line in cut(row.detail))]


def _draw_row(drawing: Drawing, across: Linear, row: ForestRow, y: float, *, words: str) -> None:
    """The marks of one row, which are one point to stop at."""
    low, high = (row.low, row.high) if row.has_interval else (None, None)
    second_low, second_high = row.second or (None, None)
    numbers = {"value": row.value, "low": low, "high": high, "second-low": second_low, "second-high": second_high, "n": row.n}
    with drawing.mark(row.name, words, **numbers):
        if row.second is not None:
            _draw_interval(drawing, across, row.second, y + 9, "interval-second")
        if row.has_interval:
            _draw_interval(drawing, across, (row.low, row.high), y, "interval")
        if row.value is not None:
            drawing.dot(across(row.value), y, "estimate")


def draw_forest(rows: Sequence[ForestRow], *, axes: Axes, title: str) -> Axes:
    """Draw a forest plot on axes of matplotlib, and give them back.

    Parameters
    ----------
    rows : sequence of ForestRow
        From top to bottom.
    axes : matplotlib.axes.Axes
        An interval without an end runs to the end of the axis.
    title : str
        Heading.
    """
    across = _axis(rows)
    first, last = across.low, across.high
    axes.axvline(0.0, color=MUTED, linestyle="--", linewidth=1)
    for place, row in enumerate(rows):
        if row.has_interval:
            axes.hlines(place, first if row.low is None else row.low, last if row.high is None else row.high, color=ACCENT)
        if row.value is not None:
            axes.plot([row.value], [place], marker="o", color=ACCENT)
    axes.set_yticks(range(len(rows)), [row.label for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(first, last)
    axes.set_title(title)
    return axes


def _draw_interval(drawing: Drawing, across: Linear, ends: Ends, y: float, kind: str) -> None:
    low, high = (across.low if ends[0] is None else ends[0], across.high if ends[1] is None else ends[1])
    drawing.line(across(low), y, across(high), y, kind)
    for end, x, direction in ((ends[0], across(low), -1), (ends[1], across(high), 1)):
        if end is None:
            drawing.arrow_head(x, y, direction)
        elif kind == "interval":
            drawing.line(x, y - 5, x, y + 5, "end")


def _axis(rows: Sequence[ForestRow], *, start: float = 0.0, end: float = 1.0) -> Linear:
    """The axis holds 0 and every number, and reaches −1 and 1 where an interval has no end."""
    ends = [pair for row in rows for pair in row.intervals]
    numbers = [0.0, *(row.value for row in rows if row.value is not None)]
    numbers += [-1.0 if low is None else low for low, _high in ends] + [1.0 if high is None else high for _low, high in ends]
    return Linear.holding(numbers if any(numbers) else [-1.0, 1.0], start=start, end=end)
