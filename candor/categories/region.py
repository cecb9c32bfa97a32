"""Shadows of the likelihood region of a question with categories: every number that the answers do not contradict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from candor.categories.likelihood import Shares, highest, possible_shares
from candor.categories.results import AT_LEAST, CATEGORY, MEAN_SCORE
from candor.designs.design import Design, FloatArray
from candor.likelihood.maximum import Chosen, Maximum
from candor.likelihood.polytope import ROUNDED
from candor.likelihood.region import crossings, quantile, quantile_at_an_end, tail_of_limits
from candor.results import ModelTest

EDGE = 1e-7
"""How far from its end a number is when it is at its end: the search needs room on both sides."""
NOBODY = 1e-5

Ends = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A number about the true answers: Σ_c w_c·p_c with weights between 0 and 1, which stands for low + (high − low) times that."""

    kind: str
    category: str | None
    weights: tuple[float, ...]
    low: float = 0.0
    high: float = 1.0

    def __call__(self, value: float) -> float:
        """A share as a value of this measure."""
        return float(self.low + (self.high - self.low) * value)

    def difference(self, value: float) -> float:
        """A difference of shares as one of this measure."""
        return float((self.high - self.low) * value)


def measures_of(design: Design) -> tuple[Measure, ...]:
    """The share of each category; of ordered categories also of each and all above it, and the mean score.

    Examples
    --------
    >>> from candor.designs.design import Design
    >>> device = {"never": "1/8", "once": "1/8", "often": "3/8"}
    >>> design = Design.of(arms=("a", "b"), control="a", categories=("never", "once", "often"), ordered=True,
    ...     subsamples={"1": device, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}})
    >>> [(one.kind, one.category) for one in measures_of(design)][3:]
    [('at_least', 'once'), ('at_least', 'often'), ('mean_score', None)]
    """
    names, unit = design.categories, np.eye(len(design.categories))
    found = [Measure(kind=CATEGORY, category=name, weights=tuple(unit[c])) for c, name in enumerate(names)]
    if design.scores:
        above = np.triu(np.ones_like(unit))
        found += [Measure(kind=AT_LEAST, category=names[c], weights=tuple(above[c])) for c in range(1, len(names))]
        low, high = float(design.scores[0]), float(design.scores[-1])
        weights = tuple((float(score) - low) / (high - low) for score in design.scores)
        found.append(Measure(kind=MEAN_SCORE, category=None, weights=weights, low=low, high=high))
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryRegion:
    """The region from each side, for measures M, arms K and contrasts K − 1.

    ``best_prevalences`` (K, M) and ``best_effects`` (K − 1, M) are at the most likely parameters, NaN where nobody is honest.
    ``prevalences`` and ``effects`` are the ends of their shadows, in the same order, on the measures' own scales.
    """

    best_honest_proportion: float
    best_log_likelihood: float
    best_prevalences: FloatArray
    best_effects: FloatArray
    honest_proportion: Ends
    prevalences: tuple[tuple[Ends, ...], ...]
    effects: tuple[tuple[Ends, ...], ...]
    model_test: ModelTest
    settled: bool


def category_region(counts: FloatArray, design: Design, *, level: float = 0.95) -> CategoryRegion:
    """The likelihood region of one question.

    Parameters
    ----------
    counts : ndarray of float, shape (K, S, C)
        Not checked.
    design : Design
        Identified or not.
    level : float
        Nominal coverage of every shadow of the region by itself.

    Notes
    -----
    As `candor.likelihood.region.likelihood_region`, whose region this is with two answers: all values at which twice the loss of the
    log-likelihood is at most a quantile of χ² with 1 degree of freedom; for x, and for effects where the cheaters' answers are estimated as
    well, the larger one of `quantile_at_an_end`.
    """
    return _region(np.ascontiguousarray(counts, dtype=float).tobytes(), design, level)


@lru_cache(maxsize=256)
def _region(counts: bytes, design: Design, level: float) -> CategoryRegion:
    """That of the counts in these bytes, kept as in `candor.likelihood.region`."""
    table, shares, measures = np.frombuffer(counts), possible_shares(design), measures_of(design)
    (arms, _), others, honest = design.shape, len(design.categories) - 1, shares.honest
    free = highest(table, shares)
    phi, largest = free.coordinates[0], float(free.log_likelihood[0])
    x = float(phi[honest])
    weights = np.array([one.weights for one in measures])
    by_arm = np.zeros((arms, len(measures), len(phi)))
    for arm in range(arms):
        by_arm[arm, :, arm * others : (arm + 1) * others] = weights[:, 1:] - weights[:, :1]
    contrasts = by_arm[list(design.treatment_indexes)] - by_arm[design.control_index]
    by_arm[:, :, honest] = weights[:, 0]
    unit = np.zeros((1, len(phi)))
    unit[0, honest] = 1
    # x = v, then Σw·Π_a = v·x, then Σw·(Π_a − Π_0) = v·x.
    rows = np.vstack([unit, by_arm.reshape(-1, len(phi)), contrasts.reshape(-1, len(phi))])
    lowest = np.repeat([0.0, 0.0, -1.0], [1, by_arm.shape[0] * len(measures), contrasts.shape[0] * len(measures)])
    start = np.concatenate([[x], rows[1:] @ phi / x if x > NOBODY else np.full(len(rows) - 1, np.nan)])
    estimated = design.cheater_shares is None and design.identification.cheater_yes_rate
    split = 1 + arms * len(measures)
    critical = np.full(len(rows), quantile(level))
    critical[:1] = quantile_at_an_end(level)
    critical[split:] = quantile_at_an_end(level) if estimated else quantile(level)
    settled = [bool(free.settled[0])]

    def excess(values: FloatArray, going: Chosen) -> FloatArray:
        at = np.clip(values, lowest[:, None] + EDGE, 1 - EDGE)
        fixed = np.repeat(rows[:, None], values.shape[1], axis=1)
        fixed[1:, :, honest] -= at[1:]
        begin = _starts(at, weights, design)
        found = highest(table, shares, fixed=fixed[going], start=begin[going])
        settled.append(bool(found.settled.all()))
        ratio = 2 * (largest - found.log_likelihood)
        return np.asarray(np.sqrt(np.maximum(ratio, 0)) - critical[np.nonzero(going)[0]])

    ends = crossings(excess, start=start, lowest=lowest, critical=critical)
    best = _clean(start)

    def arranged(those: list[Ends], scale: Callable[[Measure, float], float]) -> tuple[tuple[Ends, ...], ...]:
        rows = [those[first : first + len(measures)] for first in range(0, len(those), len(measures))]
        return tuple(tuple((scale(one, low), scale(one, high)) for one, (low, high) in zip(measures, row, strict=True)) for row in rows)

    low, spread = np.array([one.low for one in measures]), np.array([one.high - one.low for one in measures])
    best_prevalences, best_effects = low + spread * best[1:split].reshape(arms, -1), spread * best[split:].reshape(arms - 1, len(measures))
    for array in (best_prevalences, best_effects):
        array.setflags(write=False)
    return CategoryRegion(
        best_honest_proportion=float(best[0]),
        best_log_likelihood=largest,
        best_prevalences=best_prevalences,
        best_effects=best_effects,
        honest_proportion=ends[0],
        prevalences=arranged(ends[1:split], Measure.__call__),
        effects=arranged(ends[split:], Measure.difference),
        model_test=model_test(table, shares, free),
        settled=all(settled),
    )


def _starts(at: FloatArray, weights: FloatArray, design: Design) -> FloatArray:
    """Possible parameters at which the numbers are these: x (row 0), measures by arm, measures by contrast; shape (N, 2, D)."""
    arms, categories, measures = len(design.arms), len(design.categories), len(weights)
    even = np.full(categories, 1 / categories)
    honest = np.full(at.shape, 0.5)
    honest[0] = at[0]
    prevalences = np.tile(even, (*at.shape, arms, 1))
    split = 1 + arms * measures
    for arm in range(arms):
        rows = slice(1 + arm * measures, 1 + (arm + 1) * measures)
        prevalences[rows, :, arm] = _with_mean(at[rows], weights)
    for contrast, arm in enumerate(design.treatment_indexes):
        rows = slice(split + contrast * measures, split + (contrast + 1) * measures)
        prevalences[rows, :, arm] = _with_mean((1 + at[rows]) / 2, weights)
        prevalences[rows, :, design.control_index] = _with_mean((1 - at[rows]) / 2, weights)
    shares = (honest[..., None, None] * prevalences[..., 1:]).reshape(*at.shape, -1)
    cheaters = (1 - honest)[..., None] * even[1:] if design.cheater_shares is None else honest[..., :0]
    return np.concatenate([shares, honest[..., None], cheaters.reshape(*at.shape, -1)], axis=-1)


def _with_mean(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Shares p (M, 2, C), all above 0, with w·p = v for values (M, 2) strictly between 0 and 1, the ends of the weights (M, C)."""
    unit, mean = np.eye(weights.shape[1]), weights.mean(axis=1, keepdims=True)
    low, high = unit[weights.argmin(axis=1)][:, None], unit[weights.argmax(axis=1)][:, None]
    above = values > mean
    even = np.where(above, (1 - values) / (1 - mean), values / mean)[..., None]
    return np.asarray(even / weights.shape[1] + (1 - even) * np.where(above[..., None], high, low), dtype=float)


def _clean(values: FloatArray) -> FloatArray:
    """Shares and differences that the search left close to 0, 1 or −1 are there."""
    near = np.round(values)
    return np.where(np.abs(values - near) < NOBODY, near, values)


def model_test(table: FloatArray, shares: Shares, free: Maximum) -> ModelTest:
    """Compares the best parameters with the best of the same linear model without limits, as `candor.likelihood.region.model_test`."""
    directions, sizes, _ = np.linalg.svd(shares.matrix, full_matrices=False)
    basis = directions[:, sizes > sizes[0] * ROUNDED]
    unlimited = replace(
        shares, matrix=basis, limits=-basis, ends=shares.offset, inside=basis.T @ (shares.matrix @ shares.inside), honest=-1
    )
    df = basis.shape[1]
    statistic = max(2 * float(highest(table, unlimited).log_likelihood[0] - free.log_likelihood[0]), 0.0)
    return ModelTest(statistic=statistic, df=df, p_value=float(tail_of_limits(statistic, df)))
