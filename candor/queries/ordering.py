"""Questions about the order of values: the most common one, and quantiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from candor.errors import QuestionError
from candor.privacy.losses import Loss
from candor.privacy.noise import Noisy
from candor.privacy.sensitivity import Whole
from candor.queries.columns import Schema, Table
from candor.queries.counting import CountsOfCells
from candor.queries.histogram.release import SENSITIVITY, histogram
from candor.queries.most_common.release import private_most_common
from candor.queries.parts import CELLS_AT_MOST, in_order, number, text, whole
from candor.queries.questions import Answer, Cell, Question, in_words, part


@dataclass(frozen=True, kw_only=True)
class MostCommon(Question):
    """The declared value that most people (or entries) have: the name alone. Pure ε only."""

    kind: ClassVar[str] = "most_common"
    pure_only: ClassVar[bool] = True
    column: str = part(text)

    sensitivity_of_one = SENSITIVITY

    @property
    def about(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def check(self, schema: Schema) -> None:
        """Raises QuestionError also for a ρ and for numbers."""
        super().check(schema)
        schema.category(self.column)
        if self.spending.epsilon is None:
            raise QuestionError("expected epsilon: the most common value is found with pure ε, found rho")

    def exact(self, table: Table) -> Whole:
        """One number for each declared value."""
        rows, inside = self.selected(table)
        codes, declared = rows[self.column].astype(np.intp), table.schema.category(self.column).values
        given = codes >= 0 if inside is None else inside & (codes >= 0)
        return histogram(codes[given], cells=len(declared))

    def noisy(self, exact: Whole) -> Noisy:
        """Noise of scale 2/ε on each count, and only the place of the largest."""
        return private_most_common(exact, epsilon=self.spending.epsilon or 0.0, entries=self.entries or 1)

    def error(self, schema: Schema, n: int) -> float:
        """How many fewer people the chosen value can have than the most common one, with 95 %."""
        scale = 2 * self.sensitivity.linf / (self.spending.epsilon or 1.0)
        return scale * math.log(len(schema.category(self.column).values) / 0.05)

    def typical(self, schema: Schema, n: int) -> float:
        """People with a value."""
        return self.people(schema, n) / len(schema.category(self.column).values)

    def release(self, exact: Whole) -> tuple[int, Loss]:
        """The place of the value."""
        noisy = self.noisy(exact)
        return int(noisy.values), noisy.loss

    def explain(self, released: int, schema: Schema, n: int) -> Answer:
        """The name."""
        name = schema.category(self.column).values[released]
        gap = f"With 95 % certainty, at most {self.error(schema, n):,.0f} more {self.unit} have another value."
        return Answer(unit="name", cells=(Cell(labels=(name,), value=None, low=None, high=None),), notes=(gap,))

    def sentence(self) -> str:
        """In words."""
        return f"The most common value of {self.column} among {in_words(self.where)}"


@dataclass(frozen=True, kw_only=True)
class Quantile(CountsOfCells):
    """The value that a share q of the people lie below, from a histogram of equal bins. q = 0.01 stands for the minimum."""

    kind: ClassVar[str] = "quantile"
    column: str = part(text)
    q: float = part(number)
    low: float = part(number)
    high: float = part(number)
    bins: int = part(whole, default=32)

    @property
    def about(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def check(self, schema: Schema) -> None:
        """Raises QuestionError also for bounds of no use, a q that is no share, or too many bins."""
        super().check(schema)
        schema.number(self.column)
        in_order(self.low, self.high)
        if not 0 < self.q < 1:
            raise QuestionError(f"expected q above 0 and below 1 (0.01 and 0.99 stand for minimum and maximum), found {self.q:g}")
        if not 2 <= self.bins <= CELLS_AT_MOST:
            raise QuestionError(f"expected 2 to {CELLS_AT_MOST:,} bins, found {self.bins:,}")

    def exact(self, table: Table) -> Whole:
        """One number for each bin; values outside the bounds are in the outer ones."""
        rows, inside = self.selected(table)
        values = rows[self.column].astype(np.float64)
        given = ~np.isnan(values) if inside is None else inside & ~np.isnan(values)
        places = np.floor((np.clip(values[given], self.low, self.high) - self.low) / (self.high - self.low) * self.bins)
        return histogram(np.clip(places, 0, self.bins - 1).astype(np.intp), cells=self.bins)

    def error(self, schema: Schema, n: int) -> float:
        """± of the share of people below the answer by noise alone: where many have one value, the width of a bin is added."""
        spread = math.sqrt(self.bins * self.q * (1 - self.q))
        return min(self.spending.half_width(self.sensitivity) * spread / max(self.people(schema, n), 1), 1.0)

    @property
    def step(self) -> float:
        """The width of a bin: values within one are not told apart."""
        return (self.high - self.low) / self.bins

    def error_of_value(self, schema: Schema, n: int) -> float:
        """± of the answer itself, with 95 %, if the values were spread evenly between the bounds: the noise, and a bin.

        An error of the share of people becomes one of the value by the slope of the quantiles, which only the data know. Where people are
        k times thinner than even, the part of the noise is k times as large. The interval of an answer needs no such assumption.
        """
        return min(self.error(schema, n) * (self.high - self.low) + self.step, self.high - self.low)

    def typical(self, schema: Schema, n: int) -> float:
        """A half."""
        return 0.5

    def explain(self, released: Sequence[int], schema: Schema, n: int) -> Answer:
        """The value, and all values that the noisy sums do not exclude.

        If the quantile lies in bin j, at most q·N people are in bins before j and at least q·N in those up to j. Both differences are sums
        of noisy counts with weights 1 − q and −q, so their noise is known, and each is tested at 2.5 %.
        """
        counts = np.asarray(released, dtype=np.float64)
        upto = np.concatenate([[0.0], np.cumsum(counts)])
        before = np.arange(self.bins + 1)
        excess = upto - self.q * upto[-1]
        sd = self.spending.sd(self.sensitivity) * np.sqrt(before * (1 - self.q) ** 2 + (self.bins - before) * self.q**2)
        margin = self.spending.multiplier(self.sensitivity) * sd
        possible = (excess[:-1] <= margin[:-1]) & (excess[1:] >= -margin[1:])
        edges = np.linspace(self.low, self.high, self.bins + 1)
        value = crossing(excess, edges)
        bin_ = min(int(np.searchsorted(edges, value, side="right")) - 1, self.bins - 1)
        possible[bin_] = True
        places = np.flatnonzero(possible)
        cell = Cell(labels=(), value=value, low=float(edges[places[0]]), high=float(edges[places[-1] + 1]))
        return Answer(unit="number", cells=(cell,), notes=(f"Found among {self.bins} bins from {self.low:g} to {self.high:g}.",))

    def sentence(self) -> str:
        """In words."""
        return f"The value of {self.column} that {self.q:.0%} of people lie below, {in_words(self.where)}"


def crossing(sums: NDArray[np.float64], places: NDArray[np.float64]) -> float:
    """The place at which noisy sums, which would rise without the noise, cross 0.

    Notes
    -----
    The rising numbers that are nearest to the sums cross 0 there (isotonic regression), between two places by a straight line, and in the
    middle where several are 0. The first sum above 0 would lie too low: noise lets sums go up and down, and the first is among many.

    References
    ----------
    Hay, M., Rastogi, V., Miklau, G. & Suciu, D. (2010). Boosting the accuracy of differentially private histograms through consistency.
    Proceedings of the VLDB Endowment 3, 1021–1032.

    Examples
    --------
    The sums 3 and −3 become 0 and 0:

    >>> crossing(np.array([-8.0, 3.0, -3.0, 8.0]), np.array([0.0, 1.0, 2.0, 3.0]))
    1.5
    """
    from scipy.optimize import isotonic_regression

    rising = isotonic_regression(sums).x
    return float(np.interp(0.0, rising, places) - np.interp(0.0, -rising[::-1], -places[::-1])) / 2
