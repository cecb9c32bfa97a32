"""From values to places on the paper, and the round numbers that stand beside an axis."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, log10


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear:
    """A straight scale.

    Attributes
    ----------
    low, high : float
        The ends of the axis, in units of the data; `low` is below `high`.
    ticks : tuple of float
        Where the axis is marked, in units of the data.
    start, end : float
        Where `low` and `high` lie on the paper, in pixels.

    Examples
    --------
    >>> Linear(low=0.0, high=10.0, start=100, end=200)(2.5)
    125.0
    """

    low: float
    high: float
    ticks: tuple[float, ...] = ()
    start: float = 0.0
    end: float = 1.0

    @classmethod
    def holding(cls, numbers: Iterable[float], *, start: float = 0.0, end: float = 1.0, about: int = 5) -> Linear:
        """The scale between round numbers that holds every given one, marked at about so many steps.

        Examples
        --------
        >>> Linear.holding([3.0, 17.5]).ticks
        (0.0, 5.0, 10.0, 15.0, 20.0)
        """
        given = list(numbers) or [0.0, 1.0]
        low, high = min(given), max(given)
        if high <= low:
            low, high = low - 0.5, high + 0.5
        ticks = round_ticks(low, high, about=about)
        return cls(low=ticks[0], high=ticks[-1], ticks=ticks, start=start, end=end)

    def __call__(self, value: float) -> float:
        """The place of a value in pixels; a value beyond the axis lies at its end."""
        low, high, inside = self._bent(self.low), self._bent(self.high), self._bent(self.cut(value))
        return self.start + (inside - low) / (high - low) * (self.end - self.start)

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def cut(self, value: float) -> float:
        return min(max(value, self.low), self.high)

    def spread(self, count: int) -> list[float]:
        """Values that lie evenly on the paper, both ends of the axis among them.

        Examples
        --------
        >>> Linear(low=0, high=1).spread(3), [round(one) for one in Logarithmic(low=1, high=100).spread(3)]
        ([0.0, 0.5, 1.0], [1, 10, 100])
        """
        low, high = self._bent(self.low), self._bent(self.high)
        return [self._straight(low + (high - low) * step / (count - 1)) for step in range(count)]

    def _bent(self, value: float) -> float:
        return value

    def _straight(self, value: float) -> float:
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Logarithmic(Linear):
    """A scale on which equal factors are equally far apart; its ends and values are positive.

    Examples
    --------
    >>> Logarithmic(low=10, high=1000)(100)
    0.5
    """

    @classmethod
    def holding(cls, numbers: Iterable[float], *, start: float = 0.0, end: float = 1.0, about: int = 5) -> Logarithmic:
        """The scale over whole decades that holds every given number, marked also at threes where there is room.

        Examples
        --------
        >>> Logarithmic.holding([20, 500]).ticks
        (10.0, 30.0, 100.0, 300.0, 1000.0)
        """
        given = list(numbers)
        first, last = floor(log10(min(given)) + 1e-9), ceil(log10(max(given)) - 1e-9)
        last = max(last, first + 1)
        factors = (1, 3) if 2 * (last - first) < about else (1,)
        ticks = (*(factor * 10.0**power for power in range(first, last) for factor in factors), 10.0**last)
        return cls(low=ticks[0], high=ticks[-1], ticks=ticks, start=start, end=end)

    @classmethod
    def around(cls, numbers: Iterable[float], *, start: float = 0.0, end: float = 1.0) -> Logarithmic:
        """The scale that ends at the next one, two or five times a power of ten around the given numbers, for clouds of points.

        Examples
        --------
        >>> Logarithmic.around([790, 4300]).ticks
        (500.0, 1000.0, 2000.0, 5000.0)
        """
        given = list(numbers)
        lowest, highest = min(given), max(given)
        steps = [factor * 10.0**power for power in range(floor(log10(lowest)), ceil(log10(highest)) + 1) for factor in (1, 2, 5)]
        low = max(step for step in steps if step <= lowest * (1 + 1e-9))
        high = min(step for step in steps if step >= highest * (1 - 1e-9) and step > low)
        ticks = tuple(round(step, 12) for step in steps if low <= step <= high)
        return cls(low=ticks[0], high=ticks[-1], ticks=ticks, start=start, end=end)

    def _bent(self, value: float) -> float:
        return log10(value)

    def _straight(self, value: float) -> float:
        return float(10.0**value)


def round_ticks(low: float, high: float, *, about: int = 5) -> tuple[float, ...]:
    """Multiples of 1, 2 or 5 times a power of ten, from the last one below `low` to the first one above `high`.

    Parameters
    ----------
    low, high : float
        What the ticks enclose; `low` is below `high`.
    about : int
        The step is the smallest that the span holds at most so many times.

    Examples
    --------
    >>> round_ticks(0, 37), round_ticks(-0.13, 0.4)
    ((0.0, 10.0, 20.0, 30.0, 40.0), (-0.2, 0.0, 0.2, 0.4))
    """
    rough = (high - low) / about
    magnitude = 10.0 ** floor(log10(rough))
    step = next(size * magnitude for size in (1, 2, 5, 10) if size * magnitude >= rough * (1 - 1e-9))
    return tuple(round(index * step, 12) for index in range(floor(low / step + 1e-9), ceil(high / step - 1e-9) + 1))
