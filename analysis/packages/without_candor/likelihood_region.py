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
Places = NDArray[np.intp]
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


def highest(counts: Array, shares: Limited, normals: Array | None = None, starts: Array | None = None) -> tuple[Array, Array]:
    """The largest log-likelihoods between the limits, by an interior-point method, and where they are: one for each start, from which
    normal · φ does not change.
    """
    rows, limits, size = shares.matrix, shares.limits, shares.matrix.shape[1]
    phi = shares.inside[None].copy() if starts is None else starts.copy()
    fixed = np.zeros((len(phi), 0, size)) if normals is None else normals[:, None]
    people = float(counts.sum())
    slack = shares.ends - phi @ limits.T
    force = 0.1 * people / len(limits) / slack
    found, moving, diagonal = phi.copy(), np.arange(len(phi)), np.arange(size)
    for _ in range(120):
        mu = np.maximum(phi @ rows.T + shares.offset, IMPOSSIBLE)
        gap = (slack * force).sum(axis=1)
        target = SHRINKAGE * np.maximum(gap, GAP)[:, None] / len(limits)
        curvature = (rows.T * (counts / mu**2)[:, None]) @ rows + (limits.T * (force / slack)[:, None]) @ limits
        curvature[:, diagonal, diagonal] *= 1 + RIDGE
        score = (counts / mu) @ rows
        system = np.zeros((len(phi), size + fixed.shape[1], size + fixed.shape[1]))
        system[:, :size, :size], system[:, :size, size:], system[:, size:, :size] = curvature, fixed.transpose(0, 2, 1), fixed
        right = np.zeros((*system.shape[:2], 1))
        right[:, :size, 0] = score - (target / slack) @ limits
        solved = np.linalg.solve(system, right)[..., 0]
        step, price = solved[:, :size], solved[:, size:]
        change = -(step @ limits.T)
        lifted = (target - force * change) / slack - force
        reach = np.maximum((-(step @ rows.T) / mu).max(axis=1), (-change / slack).max(axis=1))
        length = NEARLY_ALL / np.maximum(reach, NEARLY_ALL)[:, None]
        climbed = NEARLY_ALL / np.maximum((-lifted / force).max(axis=1), NEARLY_ALL)[:, None]
        slope = np.abs(score - force @ limits - (price[..., None] * fixed).sum(axis=1)).max(axis=1)
        phi, slack, force = phi + length * step, slack + length * change, force + climbed * lifted
        found[moving] = phi
        flat = (slope < 1e-4 * max(1.0, people / 1e4)) | (np.abs((score * step).sum(axis=1)) < 1e-8)
        on = ~((gap < GAP) & flat)
        if not on.any():
            break
        moving, phi, slack, force, fixed = moving[on], phi[on], slack[on], force[on], fixed[on]
    return found, np.log(np.maximum(found @ rows.T + shares.offset, IMPOSSIBLE)) @ counts


def crossings(excess: Callable[[Array, Places], Array], starts: Array, ends: Array, critical: Array) -> Array:
    """Where each `excess`, −critical at the start, passes zero on the way to the end, by Anderson and Björck's false position; or the end.
    `excess` is told the values and which searches they belong to.
    """
    near, below, far, above = starts.copy(), -critical, ends.copy(), excess(ends, np.arange(len(ends)))
    found = ends.copy()
    going = np.flatnonzero((above > 0) & ~np.isnan(near))
    for attempt in range(80):
        n, b, f, a = near[going], below[going], far[going], above[going]
        found[going] = n - b * (n - f) / (b - a) if attempt < 30 else (n + f) / 2
        going = going[np.abs(found[going] - n) > 1e-10]
        if not len(going):
            break
        n, b, f, a, middle = near[going], below[going], far[going], above[going], found[going]
        at = excess(middle, going)
        crossed, factor = at * b < 0, 1 - at / b
        far[going] = np.where(crossed, n, f)
        above[going] = np.where(crossed, b, a * np.where(factor > 0, factor, 0.5))
        near[going], below[going] = middle, at
        going = going[at != 0]
    return found


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
class Number:
    """The number row · φ / x, and its smallest value. `parts` gives shares of the answers by arm for each value; x itself has none."""

    row: Array
    lowest: float
    critical: float
    parts: Callable[[float], Array] | None = None


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
        (self.phi,), (self.largest,) = highest(self.counts, self.shares)
        plain, wide = statistics.NormalDist().inv_cdf((1 + level) / 2), quantile_at_an_end(level)
        x, arms = np.eye(len(self.phi))[self.shares.honest], range(len(design.arms))
        critical = wide if design.q is None and not design.line else plain
        prevalences = [Number(self._row(arm, one) + one[0] * x, 0.0, plain, self._with(one, {arm: 1})) for arm in arms for one in weights]
        effects = [
            Number(self._row(arm, one) - self._row(design.control, one), -1.0, critical, self._with(one, {arm: 1, design.control: -1}))
            for arm in design.treatments
            for one in weights
        ]
        self.honest, *others = self._shadows([Number(x, 0.0, wide), *prevalences, *effects])
        by_arm = [others[at : at + len(weights)] for at in range(0, len(others), len(weights))]
        self.prevalences, self.effects = by_arm[: len(arms)], by_arm[len(arms) :]
        matrix, offset, inside = unlimited
        ((free,), df) = highest(self.counts, Limited(matrix, offset, -matrix, offset, inside))[1], matrix.shape[1]
        statistic = max(2 * float(free - self.largest), 0.0)
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

    def _shadows(self, numbers: list[Number]) -> list[Shadow]:
        """Those of all numbers by one search: from each start down, and up."""
        x, even = float(self.phi[self.shares.honest]), self._even()
        starts = [x if one.parts is None else float(one.row @ self.phi) / x if x > NOBODY else math.nan for one in numbers]
        critical = np.repeat([one.critical for one in numbers], 2)

        def excess(values: Array, which: Places) -> Array:
            held = [self._held(numbers[at // 2], value, even) for at, value in zip(which, values.tolist(), strict=True)]
            reached = highest(self.counts, self.shares, np.array([one for one, _ in held]), np.array([one for _, one in held]))[1]
            return np.asarray(np.sqrt(np.maximum(2 * (self.largest - reached), 0.0)) - critical[which])

        ends = crossings(excess, np.repeat(starts, 2), np.array([end for one in numbers for end in (one.lowest, 1.0)]), critical)
        nearest = [start if math.isnan(start) else round(start) for start in starts]
        best = [near if abs(start - near) < NOBODY else start for start, near in zip(starts, nearest, strict=True)]
        return [Shadow(one, low, high) for one, (low, high) in zip(best, ends.reshape(-1, 2).tolist(), strict=True)]

    def _held(self, number: Number, value: float, even: Array) -> tuple[Array, Array]:
        """The direction that the number at a value does not leave, and shares at which it has the value."""
        at = min(max(value, number.lowest + EDGE), 1 - EDGE)
        honest, own = (at, even) if number.parts is None else (0.5, number.parts(at))
        cheaters = (1 - honest) * even[0, 1:] if self.design.q is None else even[0, :0]
        normal = number.row.copy()
        if number.parts is not None:
            normal[self.shares.honest] -= at
        return normal, np.concatenate([(honest * own[:, 1:]).reshape(-1), [honest], cheaters])
