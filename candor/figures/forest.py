"""Forest plots: estimates with their intervals, one per row, as text for a terminal and as SVG for paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any
from xml.sax.saxutils import escape

LABEL_WIDTH, PLOT_WIDTH, VALUE_WIDTH, ROW_HEIGHT = 260, 420, 200, 26


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
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    has_interval: bool = True

    @property
    def text(self) -> str:
        """The numbers, for people."""
        if not self.has_interval:
            return "no estimate" if self.value is None else f"{self.value:+.3f}"
        ends = f"({'−∞' if self.low is None else f'{self.low:+.3f}'} to {'+∞' if self.high is None else f'{self.high:+.3f}'})"
        return ends if self.value is None else f"{self.value:+.3f} {ends}"


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
    low, high, ticks = _axis(rows)

    def cell(value: float) -> int:
        return round((value - low) / (high - low) * (cells - 1))

    lines = []
    for row in rows:
        line = [" "] * cells
        if low <= 0 <= high:
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
    axis = [" "] * (cells + 8)
    for tick in ticks:
        text = f"{tick:g}"
        start = max(cell(tick) - (len(text) - 1) // 2, 0)
        axis[start : start + len(text)] = text
    lines.append(" " * (label_width + 2) + "".join(axis).rstrip())
    return "\n".join(lines)


def forest_svg(rows: Sequence[ForestRow], *, title: str) -> str:
    """Draw a forest plot as a stand-alone SVG document, with a class on every kind of mark and no style sheet.

    Parameters
    ----------
    rows : sequence of ForestRow
        From top to bottom.
    title : str
        Heading, also the accessible name of the figure.
    """
    low, high, ticks = _axis(rows)
    height = ROW_HEIGHT * (len(rows) + 3)
    width = LABEL_WIDTH + PLOT_WIDTH + VALUE_WIDTH
    bottom = ROW_HEIGHT * (len(rows) + 1.5)

    def across(value: float) -> float:
        return round(LABEL_WIDTH + (value - low) / (high - low) * PLOT_WIDTH, 2)

    def marks() -> Iterator[str]:
        yield f'<text class="title" x="10" y="20" font-weight="bold">{escape(title)}</text>'
        yield f'<line class="axis" x1="{across(low)}" x2="{across(high)}" y1="{bottom}" y2="{bottom}" stroke="#333"/>'
        for tick in ticks:
            yield f'<line class="tick" x1="{across(tick)}" x2="{across(tick)}" y1="{bottom}" y2="{bottom + 5}" stroke="#333"/>'
            yield f'<text class="tick" x="{across(tick)}" y="{bottom + 20}" text-anchor="middle">{tick:g}</text>'
        if low <= 0 <= high:
            yield (
                f'<line class="no-effect" x1="{across(0)}" x2="{across(0)}" y1="{ROW_HEIGHT * 1.5}" y2="{bottom}" '
                'stroke="#777" stroke-dasharray="4 3"/>'
            )
        for index, row in enumerate(rows):
            middle = ROW_HEIGHT * (index + 2)
            yield f'<text class="label" x="10" y="{middle + 5}">{escape(row.label)}</text>'
            yield f'<text class="value" x="{LABEL_WIDTH + PLOT_WIDTH + 15}" y="{middle + 5}">{escape(row.text)}</text>'
            if row.has_interval:
                ends = across(low if row.low is None else row.low), across(high if row.high is None else row.high)
                along = f'x1="{ends[0]}" x2="{ends[1]}" y1="{middle}" y2="{middle}"'
                yield f'<line class="interval" {along} stroke="#1d70b8" stroke-width="2"/>'
                for end, x, direction in ((row.low, ends[0], 1), (row.high, ends[1], -1)):
                    if end is None:
                        points = f"{x},{middle} {x + 8 * direction},{middle - 5} {x + 8 * direction},{middle + 5}"
                        yield f'<polygon class="unbounded" points="{points}" fill="#1d70b8"/>'
                    else:
                        yield f'<line class="end" x1="{x}" x2="{x}" y1="{middle - 5}" y2="{middle + 5}" stroke="#1d70b8" stroke-width="2"/>'
            if row.value is not None:
                yield f'<circle class="estimate" cx="{across(row.value)}" cy="{middle}" r="5" fill="#1d70b8"/>'

    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height:g}" width="{width}" height="{height:g}" '
            'font-family="sans-serif" font-size="13">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width}" height="{height:g}" fill="#fff"/>',
            *marks(),
            "</svg>\n",
        )
    )


class ForestFigure(str):
    """The text of an SVG document that a notebook shows as a figure; ``Path("effects.svg").write_text(figure)`` keeps it."""

    def _repr_svg_(self) -> str:
        return str(self)


def draw_forest(rows: Sequence[ForestRow], *, axes: Any, title: str) -> Any:
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
    first, last, _ = _axis(rows)
    axes.axvline(0.0, color="#777", linestyle="--", linewidth=1)
    for place, row in enumerate(rows):
        if row.has_interval:
            axes.hlines(place, first if row.low is None else row.low, last if row.high is None else row.high, color="#1d70b8")
        if row.value is not None:
            axes.plot([row.value], [place], marker="o", color="#1d70b8")
    axes.set_yticks(range(len(rows)), [row.label for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(first, last)
    axes.set_title(title)
    return axes


def _axis(rows: Sequence[ForestRow]) -> tuple[float, float, list[float]]:
    """Ends and ticks of an axis that holds every finite number and 0, at about five round steps."""
    numbers = [number for row in rows for number in (row.value, row.low, row.high) if number is not None]
    if any(row.has_interval and row.low is None for row in rows):
        numbers.append(-1.0)
    if any(row.has_interval and row.high is None for row in rows):
        numbers.append(1.0)
    lowest, highest = min([0.0, *numbers]), max([0.0, *numbers])
    if highest == lowest:
        lowest, highest = -1.0, 1.0
    rough = (highest - lowest) / 5
    magnitude = 10.0 ** floor(log10(rough))
    step = next(size * magnitude for size in (1, 2, 5, 10) if size * magnitude >= rough * (1 - 1e-9))
    first, last = floor(lowest / step + 1e-9), ceil(highest / step - 1e-9)
    return first * step, last * step, [round(index * step, 12) for index in range(first, last + 1)]
