"""A chart: curves, bands, guides and points between two axes, and a legend that says what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from candor.figures.drawing import Drawing
from candor.figures.scales import Linear

WIDTH, HEIGHT, FONT_SIZE = 360, 236, 12.5
LEFT, RIGHT, TOP, BOTTOM = 46, WIDTH - 20, 12, HEIGHT - 42


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A scale with its title, and how its numbers are written."""

    scale: Linear
    title: str
    write: Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Key:
    """One line of a legend: a kind of mark and what it means."""

    kind: str
    label: str

    @property
    def drawing(self) -> Drawing:
        """The mark alone, as small as a letter."""
        drawing = Drawing(width=26, height=10, title=self.label)
        if self.kind.startswith("point"):
            drawing.dot(13, 5, self.kind, radius=4)
        elif self.kind.startswith("band"):
            drawing.box(1, 1, 24, 8, self.kind, radius=0)
        else:
            drawing.line(1, 5, 25, 5, self.kind)
        return drawing


class Chart:
    """A drawing with two axes; marks are given in units of the data, and what lies beside the paper is not drawn.

    Parameters
    ----------
    title : str
        The accessible name of the figure.
    x, y : Axis
        What runs to the right and what runs upwards.

    Examples
    --------
    >>> axis = Axis(scale=Linear.holding([0, 1]), title="share", write="{:g}".format)
    >>> chart = Chart(title="A line", x=axis, y=axis)
    >>> chart.curve([(0, 0), (1, 1), (2, 2)], "curve", label="as many")
    >>> chart.legend, 'd="M46 194 L340 12"' in chart.drawing.svg()
    ([Key(kind='curve', label='as many')], True)
    """

    def __init__(self, *, title: str, x: Axis, y: Axis) -> None:
        self._x, self._y = x, y
        self.x, self.y = replace(x.scale, start=LEFT, end=RIGHT), replace(y.scale, start=BOTTOM, end=TOP)
        self.drawing = Drawing(width=WIDTH, height=HEIGHT, title=title, font_size=FONT_SIZE)
        self.legend: list[Key] = []
        self.stops: Sequence[float] = ()
        """Where along the x axis a reader can stop, for those who draw curves."""
        for tick in self.y.ticks:
            self.drawing.line(LEFT, self.y(tick), RIGHT, self.y(tick), "grid")
            self.drawing.text(LEFT - 7, self.y(tick) + 4, y.write(tick), "faint", anchor="end", axis="y")
        for tick in self.x.ticks:
            self.drawing.line(self.x(tick), TOP, self.x(tick), BOTTOM, "grid")
            self.drawing.text(self.x(tick), BOTTOM + 17, x.write(tick), "faint", anchor="middle", axis="x")
        self.drawing.text(RIGHT, HEIGHT - 5, x.title, anchor="end")

    def curve(
        self, points: Iterable[tuple[float, float]], kind: str, *, label: str = "", stops: Iterable[tuple[float, float]] = ()
    ) -> None:
        """A line through the points that lie on the paper; a reader can stop at `stops` and read the numbers."""
        self.drawing.path([(self.x(x), self.y(y)) for x, y in points if self.x.holds(x) and self.y.holds(y)], kind)
        for x, y in stops:
            self._stop(x, y, f"{self._y.title} {self._y.write(y)}", label, value=y)
        self._explain(kind, label)

    def band(
        self,
        edges: Sequence[tuple[float, float, float]],
        kind: str,
        *,
        label: str = "",
        stops: Iterable[tuple[float, float, float]] = (),
    ) -> None:
        """The area between two curves, given as (x, lower, upper) and cut at the edges of the paper; `stops` as in `curve`."""
        upper, lower = ([(self.x(edge[0]), self.y(edge[side])) for edge in edges] for side in (2, 1))
        self.drawing.path([*upper, *reversed(lower)], kind, closed=True)
        for x, low, high in stops:
            words = f"{self._y.title} {self._y.write(low)} – {self._y.write(high)}"
            self._stop(x, (self.y.cut(low) + self.y.cut(high)) / 2, words, label, low=low, high=high)
        self._explain(kind, label)

    def across(self, value: float, kind: str, *, label: str = "") -> None:
        """A guide from left to right at a height."""
        if self.y.holds(value):
            self.drawing.line(LEFT, self.y(value), RIGHT, self.y(value), kind)
        self._explain(kind, label)

    def upright(self, value: float, kind: str, *, label: str = "") -> None:
        """A guide from the bottom to the top at a place of the x axis."""
        if self.x.holds(value):
            self.drawing.line(self.x(value), BOTTOM, self.x(value), TOP, kind)
        self._explain(kind, label)

    def point(self, at: tuple[float, float], kind: str, *, words: str, label: str = "", radius: float = 5.5) -> None:
        """A dot, if it lies on the paper, with its words for who stops there."""
        if self.x.holds(at[0]) and self.y.holds(at[1]):
            with self.drawing.mark(words, "", x=at[0], value=at[1]) if words else nullcontext():
                self.drawing.dot(self.x(at[0]), self.y(at[1]), kind, radius=radius)
            self._explain(kind, label)

    def link(self, at: tuple[float, float], kind: str, text: object, *, address: str, words: str, label: str = "") -> None:
        """A dot with a short text inside that leads to an address, if it lies on the paper."""
        if self.x.holds(at[0]) and self.y.holds(at[1]):
            self.drawing.linked_dot(self.x(at[0]), self.y(at[1]), kind, text, address=address, words=words, x=at[0], value=at[1])
            self._explain(kind, label)

    def _stop(self, x: float, y: float, words: str, label: str, **numbers: float) -> None:
        """A place that is not to be seen until somebody stops there."""
        if self.x.holds(x) and self.y.holds(y):
            with self.drawing.mark(f"{label}, {self._x.title} {self._x.write(x)}", words, x=x, **numbers):
                self.drawing.dot(self.x(x), self.y(y), "stop", radius=4)

    def _explain(self, kind: str, label: str) -> None:
        if label and Key(kind, label) not in self.legend:
            self.legend.append(Key(kind, label))
