"""A figure as a page shows it: drawn for wide and for narrow screens, of which the style sheet shows one, and its points as a table."""

from dataclasses import dataclass
from typing import Protocol

from django.utils.safestring import SafeString, mark_safe

from candor.figures.charts import Chart
from candor.figures.drawing import Drawing, Reading


class Draw(Protocol):
    """Draws a figure on wide or on narrow paper; None while there is nothing to draw."""

    def __call__(self, *, narrow: bool = False) -> Drawing | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFigure:
    """Both drawings of the same points, and what each point says."""

    wide: SafeString
    narrow: SafeString
    readings: tuple[Reading, ...]


def shown_figure(draw: Draw) -> ShownFigure | None:
    """The figure for a page; None while there is nothing to draw."""
    wide, narrow = draw(), draw(narrow=True)
    if wide is None or narrow is None:
        return None
    return ShownFigure(wide=safe_svg(wide), narrow=safe_svg(narrow), readings=tuple(wide.readings))


def safe_svg(drawing: Drawing) -> SafeString:
    return mark_safe(drawing.svg())  # noqa: S308  # escaped by Drawing


def legend_of(chart: Chart) -> tuple[tuple[SafeString, str], ...]:
    """The meaning of a chart's marks, each with the mark."""
    return tuple((safe_svg(key.drawing), key.label) for key in chart.legend)
