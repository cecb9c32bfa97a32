"""Small charts of curves with a legend inside, as files: what `benchmarks.papers` draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from candor.figures.charts import HEIGHT, LEFT, Axis, Chart
from candor.figures.scales import Linear, Logarithmic

LINE_HEIGHT = 17
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One chart.

    ``curves`` and ``dots`` are points by the kind of mark and what it is called, ``levels`` are guides from left to right. Both scales
    hold all points; ``logarithmic`` names the axes with equal factors, ``x`` and ``y`` say what runs along them.
    """

    name: str
    title: str
    x: str
    y: str
    curves: Mapping[tuple[str, str], Points]
    dots: Mapping[tuple[str, str], Points] = field(default_factory=dict)
    levels: Mapping[tuple[str, str], float] = field(default_factory=dict)
    logarithmic: str = ""

    def __post_init__(self) -> None:
        if "y" in self.logarithmic and (none := [label for (_, label), line in self.curves.items() if not any(y > 0 for _, y in line)]):
            raise ValueError(f"{self.name}: expected numbers above 0 on a logarithmic axis, found none in {', '.join(none)}")

    def svg(self) -> str:
        """The chart, with its legend below."""
        points = [point for marks in (self.curves, self.dots) for line in marks.values() for point in line]
        across, up = [x for x, _ in points], [y for _, y in points] + list(self.levels.values())
        if "y" in self.logarithmic:
            up = [y for y in up if y > 0]
        x = self._axis("x", across, self.x)
        chart = Chart(title=f"{self.title}: {self.y}", x=x, y=self._axis("y", up, self.y))
        for (kind, label), level in self.levels.items():
            chart.across(level, kind, label=label)
        for (kind, label), cloud in self.dots.items():
            for point in cloud:
                chart.point(point, kind, words="", label=label, radius=2)
        for (kind, label), line in self.curves.items():
            chart.curve(line, kind, label=label)
        drawing = chart.drawing
        for place, key in enumerate(chart.legend):
            at = HEIGHT + LINE_HEIGHT * (place + 0.8)
            if key.kind.startswith("point"):
                drawing.dot(LEFT + 13, at - 4, key.kind, radius=3)
            else:
                drawing.line(LEFT, at - 4, LEFT + 26, at - 4, key.kind)
            drawing.text(LEFT + 34, at, key.label)
        drawing.height = HEIGHT + LINE_HEIGHT * (len(chart.legend) + 0.5)
        return drawing.svg(font="Helvetica, Arial, sans-serif")

    def _axis(self, name: str, values: Sequence[float], title: str) -> Axis:
        scale = Logarithmic.holding(values) if name in self.logarithmic else Linear.holding(values)
        return Axis(scale=scale, title=title, write="{:g}".format)

    def rows(self) -> list[tuple[str, ...]]:
        """The plotted numbers of the curves and guides: figure, curve, x, y."""
        lines = [(self.name, label, f"{x:g}", f"{y:.4g}") for (_, label), line in self.curves.items() for x, y in line]
        return lines + [(self.name, label, "", f"{level:.4g}") for (_, label), level in self.levels.items()]
