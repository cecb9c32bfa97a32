"""Where a coefficient is held there may be two tops: the ends of intervals follow the higher one, also where others run away with it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

import candor
from candor.regression.fitted_model import FittedModel
from candor.regression.trait_regression import TraitRegression
from tests.designs import DESIGNS
from tests.unit.candor.regression.simulated import data_of, simulated

FORCED = np.array([[1, 1], [2, 2]]) / 6
"""No and yes, by subsample. Cheaters always say yes."""
DESIGN = {"subsamples": {"1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "2/6", "forced_yes": "2/6"}}, "control": "a"}
# People by group, arm, subsample and answer.
FLAT = np.array([[[[11, 6], [7, 5]], [[9, 8], [7, 12]], [[6, 7], [6, 7]]], [[[8, 7], [8, 7]], [[3, 11], [9, 6]], [[3, 10], [6, 10]]]])
FEW = np.array([[[[1, 2], [5, 3]], [[8, 4], [6, 2]]], [[[5, 5], [3, 3]], [[5, 2], [2, 4]]]])


LEAST = -1.9207
"""Below the top, at the ends of an interval: half of the quantile of χ²."""


def regressed(counts: np.ndarray, *, opposite: bool) -> tuple[float, list[tuple[float | None, float | None]]]:
    """The height of the top and the intervals: intercept, arms, group."""
    rows = [("gh"[g], "abc"[arm], "12"[s], said != opposite) for (g, arm, s, said), n in np.ndenumerate(counts) for _ in range(n)]
    columns = dict(zip(("group", "arm", "subsample", "cheated"), map(list, zip(*rows, strict=True)), strict=True))
    arms, cheaters = list("abc"[: counts.shape[1]]), "always_no" if opposite else "always_yes"
    found = candor.regress(columns, {**DESIGN, "arms": arms, "cheater_model": cheaters}, outcomes=["cheated"], covariates=["group"])[
        "cheated"
    ]
    return found.log_likelihood, [(one.interval.low, one.interval.high) for one in found.coefficients]


def height(counts: np.ndarray, beta: np.ndarray, honest: float) -> float:
    """The log-likelihood by its definition."""
    odds = beta[0] + np.append(0, beta[1:-1]) + np.array([[0], [beta[-1]]])
    yes = honest * ((1 - FORCED.sum(axis=1)) * expit(odds[..., None]) + FORCED[:, 1]) + 1 - honest
    return float((counts[..., 1] * np.log(yes) + counts[..., 0] * np.log(1 - yes)).sum())


@pytest.mark.parametrize("opposite", [False, True])
def test_an_end_lies_where_the_higher_top_falls_below_the_least(opposite: bool) -> None:
    """The search went over to the lower top, and the end was 4.94; that of the opposite question was 5.19. Oracle: from many beginnings."""
    top, intervals = regressed(FLAT, opposite=opposite)
    end = max(abs(one or 0) for one in intervals[3])
    rng = np.random.default_rng(1)
    beginnings = [np.array([-8.4, 3.3, 4.0, 0.9]), *rng.normal(0, 2, (20, 4))]

    def highest(value: float) -> float:
        ends = [
            minimize(lambda free: -height(FLAT, np.append(free[:3], value), expit(free[3])), one, method="Nelder-Mead")
            for one in beginnings
        ]
        return -min(one.fun for one in ends)

    assert highest(end - 0.05) > top + LEAST > highest(end + 0.05)


@pytest.mark.parametrize("opposite", [False, True])
def test_coefficients_that_run_away_together_have_no_end(opposite: bool) -> None:
    """Everybody in the control would say yes, and the others run after the intercept. The search left them behind, and it ended at 8.7."""
    top, intervals = regressed(FEW, opposite=opposite)
    assert intervals[0] == (None, None)
    assert height(FEW, np.array([15.0, -17.4, -15.3]), 0.915) > top + LEAST


DICE = np.array([[1, 2], [2, 1], [1, 1]]) / 6
"""Forced no and yes of each subsample. Cheaters say yes as often as they like."""
BY_ARM = np.array([[[2, 4], [4, 3], [3, 3]], [[5, 5], [7, 2], [3, 3]], [[3, 3], [3, 1], [4, 2]]])
"""People by arm, subsample and answer."""
MIRRORED = np.array([[13, 1], [1, 13]]) / 20
OF_TWO = np.array([[[7, 3], [2, 18]], [[7, 6], [4, 13]]])


def with_arms_alone(counts: np.ndarray, dice: np.ndarray) -> TraitRegression:
    rows = [("abc"[arm], "123"[s], said == 1) for (arm, s, said), n in np.ndenumerate(counts) for _ in range(n)]
    subsamples = {"123"[s]: {"forced_no": no, "forced_yes": yes} for s, (no, yes) in enumerate(dice.tolist())}
    columns = dict(zip(("arm", "subsample", "cheated"), map(list, zip(*rows, strict=True)), strict=True))
    design = {"arms": list("abc"[: len(counts)]), "control": "a", "subsamples": subsamples, "cheater_model": "any"}
    return candor.regress(columns, design, outcomes=["cheated"])["cheated"]


def highest_of_prevalences(counts: np.ndarray, dice: np.ndarray, x: np.ndarray, c: np.ndarray) -> np.ndarray:
    """With x and C held an arm's prevalence is alone, so that a grid finds the highest likelihood."""
    prevalence = np.linspace(0, 1, 400)[:, None]
    yes = x[..., None, None] * ((1 - dice.sum(axis=1)) * prevalence + dice[:, 1]) + c[..., None, None]
    return np.sum([(arm[:, 1] * np.log(yes) + arm[:, 0] * np.log(1 - yes)).sum(axis=-1).max(axis=-1) for arm in counts], axis=0)


@pytest.mark.parametrize(("times", "has_an_end"), [(1, False), (10, True)])
def test_the_interval_of_cheaters_follows_prevalences_to_none_and_all(times: int, has_an_end: bool) -> None:
    """With few people honest, everybody in the control would say yes. The search gave up there: it told of 73 % cheaters at most."""
    found = with_arms_alone(BY_ARM * times, DICE)

    def above(cheaters: float) -> float:
        c = np.linspace(0, cheaters, 300)
        return float(highest_of_prevalences(BY_ARM * times, DICE, np.full(300, 1 - cheaters), c).max()) - found.log_likelihood - LEAST

    high = found.cheater_proportion.interval.high
    assert above(high - 0.01) > 0
    assert above(0.99) < 0 if has_an_end else high == 1
    assert not has_an_end or above(high + 0.01) < 0


def test_the_interval_of_cheaters_holds_for_every_yes_rate_of_theirs() -> None:
    """Rates with the least and the largest share of cheaters do not have the farthest ends: it told of 62 % where 66 % are possible."""
    rates, honest = np.meshgrid(np.linspace(0, 1, 11), np.linspace(0.01, 1, 200), indexing="ij")
    heights = highest_of_prevalences(OF_TWO, MIRRORED, honest, (1 - honest) * rates)
    tops = heights.max(axis=1, keepdims=True)
    possible = (heights >= tops + LEAST) & (tops >= tops.max() + LEAST)
    found = with_arms_alone(OF_TWO, MIRRORED).cheater_proportion.interval
    assert found.high == pytest.approx(1 - honest[possible].min(), abs=0.01)


def test_an_end_is_none_where_a_step_goes_on() -> None:
    """Everybody older than most is taken for one who would say yes. No search from a top comes to such a step, and the end was −1.02."""
    design = DESIGNS["mirrored, cheaters say no"]
    data = data_of(simulated(design, n=200, seed=35), design)
    model = FittedModel.of(data, yes_rate=0.0)
    yes = 0.52 * (data.truth * expit(data.columns @ [31.9, -3.0, 24.2]) + data.forced_yes)
    assert data.people @ np.log(np.where(data.reported == 1, yes, 1 - yes)) > model.fit.log_likelihood + LEAST
    low = model.profile(1, error=1.0, level=0.95).low
    assert low is None or low < -3
