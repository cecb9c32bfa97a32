"""Lines on paper: axes, curves and marks as coordinates of an SVG, whose colours are in the style sheet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

WIDTH, HEIGHT = 360, 236
LEFT, RIGHT, TOP, BOTTOM = 46, 20, 12, 42
Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A scale from data to a stretch of the paper, with its ticks in data units."""

    low: float
    high: float
    title: str
    ticks: tuple[tuple[float, str], ...]
    logarithmic: bool = False

    def share(self, value: float) -> float:
        """How far along the axis a value lies, 0 to 1.

        Examples
        --------
        >>> Axis(low=10, high=1000, title="n", ticks=(), logarithmic=True).share(100)
        0.5
        """
        if self.logarithmic:
            return (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))
        return (value - self.low) / (self.high - self.low)

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def cut(self, value: float) -> float:
        return min(max(value, self.low), self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A curve, straight guide or filled band: a path and its kind."""

    path: str
    style: str
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A point, the words that a pointer shows, and the kind of point."""

    x: float
    y: float
    style: str
    words: str
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    at: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The numbers of a figure; the first column heads its rows."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A drawing for the template, with the table of the same numbers."""

    name: str
    title: str
    description: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...]
    table: Table

    width, height, left, right, top, bottom = WIDTH, HEIGHT, LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2

    @property
    def x_ticks(self) -> tuple[Tick, ...]:
        return tuple(Tick(at=across(self.x, value), label=label) for value, label in self.x.ticks)

    @property
    def y_ticks(self) -> tuple[Tick, ...]:
        return tuple(Tick(at=down(self.y, value), label=label) for value, label in self.y.ticks)

    @property
    def legend(self) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if line.label)

    @property
    def kinds_of_marks(self) -> tuple[Mark, ...]:
        return tuple({mark.style: mark for mark in self.marks if mark.label}.values())


def across(axis: Axis, value: float) -> float:
    """Where a value lies from the left edge of the paper."""
    return round(LEFT + axis.share(value) * (WIDTH - LEFT - RIGHT), 1)


def down(axis: Axis, value: float) -> float:
    """Where a value lies from the top edge of the paper."""
    return round(HEIGHT - BOTTOM - axis.share(value) * (HEIGHT - TOP - BOTTOM), 1)


def curve(points: Iterable[Point], x: Axis, y: Axis, *, style: str, label: str = "") -> Line:
    """A line through the points that lie on the paper."""
    path = " ".join(f"{across(x, a)},{down(y, b)}" for a, b in points if x.holds(a) and y.holds(b))
    return Line(path=f"M{path}" if path else "", style=f"curve {style}", label=label)


def band(edges: Sequence[tuple[float, float, float]], x: Axis, y: Axis, *, style: str, label: str = "") -> Line:
    """The area between two curves, given as (x, lower, upper)."""
    upper = [f"{across(x, a)},{down(y, y.cut(high))}" for a, _low, high in edges]
    lower = [f"{across(x, a)},{down(y, y.cut(low))}" for a, low, _high in reversed(edges)]
    return Line(path=f"M{' '.join(upper + lower)}Z", style=f"band {style}", label=label)


def level(value: float, x: Axis, y: Axis, *, style: str, label: str = "") -> Line:
    """A line across the paper."""
    path = f"M{across(x, x.low)},{down(y, value)} {across(x, x.high)},{down(y, value)}" if y.holds(value) else ""
    return Line(path=path, style=f"guide {style}", label=label)


def plumb(value: float, x: Axis, y: Axis, *, style: str, label: str = "") -> Line:
    """A line down the paper."""
    path = f"M{across(x, value)},{down(y, y.low)} {across(x, value)},{down(y, y.high)}" if x.holds(value) else ""
    return Line(path=path, style=f"guide {style}", label=label)


def mark(point: Point, x: Axis, y: Axis, *, style: str, words: str, label: str = "") -> tuple[Mark, ...]:
    """A point, if it lies on the paper."""
    if not (x.holds(point[0]) and y.holds(point[1])):
        return ()
    return (Mark(x=across(x, point[0]), y=down(y, point[1]), style=style, words=words, label=label),)


def evenly(low: float, high: float, count: int, *, logarithmic: bool = False) -> list[float]:
    """Numbers from low to high, evenly spaced, both ends among them.

    Examples
    --------
    >>> evenly(0, 1, 3), [round(one) for one in evenly(1, 100, 3, logarithmic=True)]
    ([0.0, 0.5, 1.0], [1, 10, 100])
    """
    if logarithmic:
        return [low * (high / low) ** (step / (count - 1)) for step in range(count)]
    return [low + (high - low) * step / (count - 1) for step in range(count)]


def round_step(span: float, *, at_most: int) -> float:
    """The smallest of 1, 2, 5 times a power of ten of which a span holds at most so many.

    Examples
    --------
    >>> round_step(37, at_most=5), round_step(0.9, at_most=5)
    (10.0, 0.2)
    """
    power = 10.0 ** floor(log10(span / at_most))
    return next(factor * power for factor in (1, 2, 5, 10) if span / (factor * power) <= at_most)


def upwards(high: float, *, title: str, write: Callable[[float], str], at_most: int = 5) -> Axis:
    """An axis from 0 to the next round number."""
    step = round_step(high, at_most=at_most)
    count = ceil(high / step - 1e-9)
    return Axis(low=0, high=count * step, title=title, ticks=tuple((step * one, write(step * one)) for one in range(count + 1)))


def decades(low: float, high: float, *, title: str, write: Callable[[float], str]) -> Axis:
    """A logarithmic axis over whole decades, with finer ticks where there is room."""
    first, last = floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9)
    last = max(last, first + 1)
    factors = (1, 3) if last - first <= 2 else (1,)
    values = [factor * 10.0**power for power in range(first, last) for factor in factors] + [10.0**last]
    return Axis(low=10.0**first, high=10.0**last, title=title, ticks=tuple((value, write(value)) for value in values), logarithmic=True)
