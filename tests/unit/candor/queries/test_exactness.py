"""Intervals of answers against the exact distribution of the noise, which is written down here anew."""

import math

import numpy as np
import pytest

from candor.errors import QuestionError
from candor.queries.columns import Category, Number, Schema
from candor.queries.exactness import Spending
from candor.queries.intervals import ratio, share_cell
from candor.queries.kinds import read_question
from candor.queries.questions import Question

SCHEMA = Schema((Category(name="passed", values=("yes", "no")), Number(name="gpa", minimum=0, maximum=4)))
SHARE = {"kind": "share", "event": [{"column": "passed", "in": ["yes"]}]}
COUNT = {"kind": "count", "where": [{"column": "passed", "in": ["yes"]}]}
SPENDINGS = [*({"rho": rho} for rho in (0.5, 1.0, 2.0, 4.0, 10.0)), *({"epsilon": epsilon} for epsilon in (1.0, 3.0, 10.0))]


def noise(question: Question) -> dict[int, float]:
    """The probability of each number that the noise can be, but for 10⁻⁹ of them."""
    l1, l2_squared = question.sensitivity.l1, question.sensitivity.l2_squared
    epsilon, rho = question.spending.epsilon, question.spending.rho
    weights = {z: math.exp(-abs(z) * epsilon / l1) if epsilon else math.exp(-(z**2) * (rho or 0) / l2_squared) for z in range(-60, 61)}
    return {z: weight / sum(weights.values()) for z, weight in weights.items() if weight > 1e-12}


@pytest.mark.parametrize("spending", SPENDINGS, ids=str)
@pytest.mark.parametrize("yes", [0, 30, 60])
def test_the_interval_of_a_share_holds_it_as_often_as_it_says_however_little_noise_there_is(spending: dict[str, float], yes: int) -> None:
    question = read_question(SHARE | spending)
    held = 0.0
    for more_yes, of_yes in noise(question).items():
        for more_no, of_no in noise(question).items():
            (cell,) = question.explain([yes + more_yes, 60 - yes + more_no], SCHEMA, 60).cells
            held += of_yes * of_no * (cell.low is not None and cell.low - 1e-12 <= yes / 60 <= cell.high + 1e-12)
    assert held >= 0.95


@pytest.mark.parametrize(("yes", "no"), [(40, 60), (3, 90), (70, -2), (1, 5), (-9, 80)])
def test_the_ends_of_a_share_and_of_a_ratio_are_where_the_noise_just_explains_the_difference(yes: int, no: int) -> None:
    """(1 − p)·yes − p·no has noise of variance σ²((1 − p)² + p²) for two counts; top − r·bottom, σ²(1 + r²). All is told where the
    bottom can be 0."""
    shares, ratios = np.linspace(0, 1, 100_001), np.linspace(-1, 1, 200_001)
    share, a_ratio = share_cell(yes, no, labels=(), sd=3, multiplier=2), ratio(yes, no, variances=(9, 9, 0), multiplier=2, low=-1)
    for (low, high), possible, grid in (
        ((share.low, share.high), np.abs((1 - shares) * yes - shares * no) <= 6 * np.hypot(1 - shares, shares), shares),
        (a_ratio[1:], (np.abs(yes - ratios * no) <= 6 * np.hypot(1, ratios)) | (abs(no) <= 6), ratios),
    ):
        assert (low is None) == (not possible.any())
        if low is not None:
            assert (low, high) == pytest.approx((grid[possible].min(), grid[possible].max()), abs=2e-5)


@pytest.mark.parametrize("spending", SPENDINGS, ids=str)
def test_the_interval_of_a_count_is_of_whole_numbers_and_holds_it_as_often_as_it_says(spending: dict[str, float]) -> None:
    question = read_question(COUNT | spending)
    (cell,) = question.explain([30], SCHEMA, 60).cells
    assert cell.high - 30 == 30 - cell.low == int(cell.high - 30)
    assert sum(chance for z, chance in noise(question).items() if abs(z) <= cell.high - 30) >= 0.95
    if "epsilon" in spending and cell.high > 30:  # and no smaller one does
        assert sum(chance for z, chance in noise(question).items() if abs(z) < cell.high - 30) < 0.95


def quantile(counts: list[int], q: float) -> tuple[float, float, float]:
    question = read_question({"kind": "quantile", "column": "gpa", "q": q, "low": 0, "high": 4, "bins": len(counts), "epsilon": 0.5})
    (cell,) = question.explain(counts, SCHEMA, 100).cells
    return cell.value, cell.low, cell.high


@pytest.mark.parametrize("q", [0.1, 0.5, 0.8])
def test_a_quantile_of_numbers_that_are_counted_from_above_is_the_same(q: float) -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        counts = rng.integers(-20, 25, size=16).tolist()
        value, low, high = quantile(counts, q)
        assert low <= value <= high
        if sum(counts) > 0:
            assert (4 - value, 4 - high, 4 - low) == pytest.approx(quantile(counts[::-1], 1 - q))


def test_a_median_with_much_noise_is_not_too_low() -> None:
    """Values are spread evenly about 2, the middle of the bounds; the first sum that reaches a half lies at 1.5 on average."""
    question = read_question({"kind": "quantile", "column": "gpa", "q": 0.5, "low": 0, "high": 4, "epsilon": 0.2})
    rng = np.random.default_rng(1)
    drawn = rng.geometric(1 - math.exp(-0.1), size=(2, 2000, 32)).astype(int)
    values = [question.explain((3 + noisy).tolist(), SCHEMA, 96).cells[0].value for noisy in drawn[0] - drawn[1]]
    assert np.mean(values) == pytest.approx(2, abs=4 * np.std(values) / math.sqrt(2000))


def test_a_price_lies_between_its_ends() -> None:
    """ρ = ε²/2 of the same ends: 10 and a billionth."""
    for ends in ({"epsilon": 10.0}, {"rho": 50.0}, {"epsilon": 1e-9}, {"rho": 5e-19}):
        ((name, end),) = ends.items()
        Spending(**ends)
        with pytest.raises(QuestionError, match=f"expected {name}"):
            Spending(**{name: math.nextafter(end, 100 if end >= 10 else 0)})
