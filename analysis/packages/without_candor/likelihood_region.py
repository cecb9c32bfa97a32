"""The likelihood region of a question whose answers are named, for named_answers.py: the intervals of all its numbers, with NumPy alone.

Every set of possible shares has a likelihood. An interval holds each value that a number may have while twice the loss of the
log-likelihood stays below a quantile of chi-squared, whatever the other shares are. See Candor's docs/methods.md.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]
GAP, NEARLY_ALL, SHRINKAGE, RIDGE, IMPOSSIBLE = 1e-10, 0.99, 0.06, 1e-12, 1e-100
EDGE, NOBODY, ROUNDED = 1e-7, 1e-5, 1e-6


class Asked(Protocol):
    """The design as numbers, as named_answers.py has it."""

    arms: list[str]
    control: int
    treatments: list[int]
    truth: Array
    forced: Array
    q: Array | None
    line: bool


def upper_tail(half: float, x: float) -> float:
    """Q(half, x) for half a whole number: the upper tail of chi-squared with 2 half degrees of freedom at 2x."""
    if x <= 0:
        return 1.0
    if not half:
        return 0.0
    at = 0.5 if half % 1 else 1.0
    total = math.erfc(math.sqrt(x)) if half % 1 else math.exp(-x)
    while at < half:
        total += math.exp(at * math.log(x) - x - math.lgamma(at + 1))
        at += 1
    return total


def chi_square(df: int, statistic: float) -> float:
    return upper_tail(df / 2, max(statistic, 0.0) / 2)


@dataclass(frozen=True)
class Limited:
    """Shares matrix · φ + offset for all φ with limits · φ ≤ ends; the coordinate `honest` is x."""

    matrix: Array
    offset: Array
    limits: Array
    ends: Array
    inside: Array
    honest: int = -1


def of_others(size: int) -> Array:
    """The effect of the share of each answer but the first on the shares of all answers."""
    return np.vstack([-np.ones(size - 1), np.eye(size - 1)])


def of_truth(design: Asked) -> Array:
    """That of each arm's true shares on the shares in every cell."""
    on = of_others(design.forced.shape[1])
    return np.kron(np.eye(len(design.arms)), (design.truth[:, None, None] * on).reshape(-1, on.shape[1]))


def possible(design: Asked) -> Limited:
    """All parameters that are possible: φ is each arm's x·p of all answers but the first, x, and (1 − x)q of them if it is unknown."""
    arms, (subsamples, size) = len(design.arms), design.forced.shape
    cells, on = arms * subsamples, of_others(size)
    others, at = size - 1, len(design.arms) * (size - 1)
    honest, rates = design.forced.copy(), 0 if design.q is not None else others
    honest[:, 0] += design.truth
    offset = np.eye(size)[0] if design.q is None else design.q
    matrix = np.hstack([of_truth(design), np.tile((honest - offset).reshape(-1, 1), (arms, 1)), np.tile(on, (cells, 1))[:, :rates]])
    unit = np.eye(at + 1 + rates)
    sums = np.hstack([np.kron(np.eye(arms), np.ones((1, others))), -np.ones((arms, 1)), np.zeros((arms, rates))])
    limits = np.vstack([-unit[:at], sums, -unit[at + 1 :], np.concatenate([np.zeros(at), np.ones(1 + rates)])])
    ends = np.zeros(len(limits))
    ends[-1] = 1
    inside = np.concatenate([np.full(at, 0.5 / size), [0.5], np.full(rates, 0.5 / size)])
    return Limited(matrix, np.tile(offset, cells), limits, ends, inside, at)


def highest(counts: Array, shares: Limited, normal: Array | None = None, start: Array | None = None) -> tuple[Array, float]:
    """The largest log-likelihood between the limits, where normal · φ stays what it is at the start, by an interior-point method."""
    rows, limits, size = shares.matrix, shares.limits, shares.matrix.shape[1]
    normals = np.zeros((0, size)) if normal is None else normal[None]
    people = float(counts.sum())
    phi = shares.inside if start is None else start
    slack = shares.ends - limits @ phi
    force = 0.1 * people / len(limits) / slack
    for _ in range(120):
        mu = np.maximum(rows @ phi + shares.offset, IMPOSSIBLE)
        gap = float(slack @ force)
        target = SHRINKAGE * max(gap, GAP) / len(limits)
        curvature = (rows.T * (counts / mu**2)) @ rows + (limits.T * (force / slack)) @ limits
        curvature[np.diag_indices(size)] *= 1 + RIDGE
        score = rows.T @ (counts / mu)
        system = np.zeros((size + len(normals), size + len(normals)))
        system[:size, :size], system[:size, size:], system[size:, :size] = curvature, normals.T, normals
        solved = np.linalg.solve(system, np.concatenate([score - limits.T @ (target / slack), np.zeros(len(normals))]))
        step, price = solved[:size], solved[size:]
        change = -(limits @ step)
        lifted = (target - force * change) / slack - force
        length = NEARLY_ALL / max(float((-(rows @ step) / mu).max()), float((-change / slack).max()), NEARLY_ALL)
        climbed = NEARLY_ALL / max(float((-lifted / force).max()), NEARLY_ALL)
        slope = np.abs(score - limits.T @ force - normals.T @ price).max()
        phi, slack, force = phi + length * step, slack + length * change, force + climbed * lifted
        if gap < GAP and (slope < 1e-4 * max(1.0, people / 1e4) or abs(score @ step) < 1e-8):
            break
    return phi, float(counts @ np.log(np.maximum(rows @ phi + shares.offset, IMPOSSIBLE)))


def crossing(excess: Callable[[float], float], start: float, end: float, critical: float) -> float:
    """Where `excess`, −critical at the start, passes zero on the way to the end, by Anderson and Björck's false position; or the end."""
    near, below, far, above = start, -critical, end, excess(end)
    if above <= 0 or math.isnan(near):
        return end
    for attempt in range(80):
        middle = near - below * (near - far) / (below - above) if attempt < 30 else (near + far) / 2
        found = excess(middle)
        if abs(middle - near) <= 1e-10 or found == 0:
            return middle
        if found * below < 0:
            far, above = near, below
        else:
            above *= 1 - found / below if 1 - found / below > 0 else 0.5
        near, below = middle, found
    return near


def quantile_at_an_end(level: float) -> float:
    """The quantile for numbers beside which another share may be at its end: that of ¾ χ² with 1 and ¼ with 2 degrees of freedom."""
    low, high = 0.0, 1000.0
    for _ in range(80):
        middle = (low + high) / 2
        wide = 0.75 * chi_square(1, middle) + 0.25 * chi_square(2, middle) > 1 - level
        low, high = (middle, high) if wide else (low, middle)
    return math.sqrt((low + high) / 2)


def with_mean(value: float, weights: Array) -> Array:
    """Shares above 0 with weights · p = value, where 0 and 1 are the ends of the weights."""
    mean, above = weights.mean(), value > weights.mean()
    even = (1 - value) / (1 - mean) if above else value / mean
    end = int(weights.argmax() if above else weights.argmin())
    return np.asarray(even / len(weights) + (1 - even) * np.eye(len(weights))[end])


@dataclass(frozen=True)
class Shadow:
    """The most likely possible value of a number, and the ends of its interval."""

    best: float
    low: float
    high: float


class Region:
    """All parameters that the answers do not contradict, seen from the side of each number: Σ weights · shares of the answers in an arm.

    `unlimited`: the matrix, offset and a place inside of the same linear model without limits.
    """

    def __init__(
        self, counts: Array, design: Asked, weights: Sequence[Array], *, unlimited: tuple[Array, Array, Array], level: float
    ) -> None:
        self.counts, self.design, self.shares = counts.reshape(-1), design, possible(design)
        self.phi, self.largest = highest(self.counts, self.shares)
        plain, wide = statistics.NormalDist().inv_cdf((1 + level) / 2), quantile_at_an_end(level)
        x = np.eye(len(self.phi))[self.shares.honest]
        self.honest = self._shadow(x, 0.0, wide, None)
        self.prevalences = [
            [self._shadow(self._row(arm, one) + one[0] * x, 0.0, plain, self._with(one, {arm: 1})) for one in weights]
            for arm in range(len(design.arms))
        ]
        critical = wide if design.q is None and not design.line else plain
        self.effects = [
            [
                self._shadow(
                    self._row(arm, one) - self._row(design.control, one), -1.0, critical, self._with(one, {arm: 1, design.control: -1})
                )
                for one in weights
            ]
            for arm in design.treatments
        ]
        matrix, offset, inside = unlimited
        free = highest(self.counts, Limited(matrix, offset, -matrix, offset, inside))[1]
        statistic, df = max(2 * (free - self.largest), 0.0), matrix.shape[1]
        p = (chi_square(df - 1, statistic) + chi_square(df, statistic)) / 2
        self.contradicted = p < 1 - level
        # A statistic that is rounding alone has no p-value to compare.
        self.test: dict[str, float] = {"statistic": statistic, "df": df} | ({"p_value": p} if statistic >= ROUNDED else {})

    def _row(self, arm: int, weights: Array) -> Array:
        row, others = np.zeros(len(self.phi)), len(weights) - 1
        row[arm * others : (arm + 1) * others] = weights[1:] - weights[0]
        return row

    def _even(self) -> Array:
        size = self.design.forced.shape[1]
        return np.full((len(self.design.arms), size), 1 / size)

    def _with(self, weights: Array, signs: dict[int, int]) -> Callable[[float], Array]:
        """Shares of the answers by arm, at which one arm's number, or the difference of two, has a value."""

        def shares(value: float) -> Array:
            found = self._even()
            for arm, sign in signs.items():
                found[arm] = with_mean(value if len(signs) == 1 else (1 + sign * value) / 2, weights)
            return found

        return shares

    def _shadow(self, row: Array, lowest: float, critical: float, parts: Callable[[float], Array] | None) -> Shadow:
        """The number row · φ / x. `parts` gives shares of the answers by arm for each value; without it the number is x itself."""
        x, even = float(self.phi[self.shares.honest]), self._even()
        start = x if parts is None else float(row @ self.phi) / x if x > NOBODY else math.nan

        def excess(value: float) -> float:
            at = min(max(value, lowest + EDGE), 1 - EDGE)
            honest, own = (at, even) if parts is None else (0.5, parts(at))
            cheaters = (1 - honest) * even[0, 1:] if self.design.q is None else even[0, :0]
            normal = row.copy()
            if parts is not None:
                normal[self.shares.honest] -= at
            begin = np.concatenate([(honest * own[:, 1:]).reshape(-1), [honest], cheaters])
            return math.sqrt(max(2 * (self.largest - highest(self.counts, self.shares, normal, begin)[1]), 0.0)) - critical

        near = start if math.isnan(start) else round(start)
        best = near if abs(start - near) < NOBODY else start
        return Shadow(best, crossing(excess, start, lowest, critical), crossing(excess, start, 1.0, critical))
