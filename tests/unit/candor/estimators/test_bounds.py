"""The linear programmes against the closed form, a grid, random parameters, and the truth itself."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from candor.designs.design import Design, FloatArray
from candor.errors import DataError
from candor.estimators.bounds import ParameterBounds, confidence_bounds, sharp_bounds
from tests.designs import means_of

shares = st.floats(0.02, 0.98)
PAIRS = {
    "p* = 1/2": ((1 / 6, 1 / 6), (1 / 3, 1 / 3)),
    "p* = 1/4": ((0.3, 0.1), (0.15, 0.05)),
    "p* above 1": ((0.2, 0.1), (0.1, 0.4)),
    "p* below 0": ((0.1, 0.2), (0.4, 0.1)),
}


def unknown_cheaters(pair: str) -> Design:
    forced = {str(s): {"forced_no": no, "forced_yes": yes} for s, (no, yes) in enumerate(PAIRS[pair])}
    return Design.of(arms=("a", "b"), control="a", subsamples=forced, cheater_model="unknown")


def found_bounds(means: FloatArray, design: Design) -> ParameterBounds:
    bounds = sharp_bounds(means, design)
    assert bounds is not None
    return bounds


def closed_form(design: Design, x: float, p: tuple[float, float], q: float) -> tuple[float, float]:
    (t1, t2), (f1, f2) = design.truth, design.forced_yes
    star = -(f1 - f2) / (t1 - t2)
    assert 0 < star < 1
    alike = t1 * star + f1
    honest_yes, cheater_yes = x * np.array(p), (1 - x) * q
    down = np.minimum(honest_yes / star, (x - honest_yes) / (1 - star)).min()
    return x - down, x + min(cheater_yes / alike, (1 - x - cheater_yes) / (1 - alike))


@settings(max_examples=40)
@given(st.sampled_from(["p* = 1/2", "p* = 1/4"]), shares, shares, shares, shares)
def test_the_programme_finds_the_closed_form(pair: str, x: float, p0: float, p1: float, q: float) -> None:
    design = unknown_cheaters(pair)
    bounds = found_bounds(means_of(design, x, (p0, p1), q), design)
    assert bounds.honest_proportion == pytest.approx(closed_form(design, x, (p0, p1), q), abs=1e-6)


@settings(max_examples=60)
@given(st.sampled_from(list(PAIRS)), shares, shares, shares, shares)
def test_the_bounds_contain_the_truth_and_the_sign_is_never_in_doubt(pair: str, x: float, p0: float, p1: float, q: float) -> None:
    design = unknown_cheaters(pair)
    bounds = found_bounds(means_of(design, x, (p0, p1), q), design)
    (low, high), tau = bounds.effects[0], p1 - p0
    assert bounds.honest_proportion[0] - 1e-6 <= x <= bounds.honest_proportion[1] + 1e-6
    assert low - 1e-5 <= tau <= high + 1e-5
    if abs(tau) > 1e-3:
        assert np.sign(low) == np.sign(high) == np.sign(tau)


@pytest.mark.parametrize("pair", list(PAIRS))
def test_no_grid_point_outside_the_bounds_gives_the_same_means(pair: str) -> None:
    """Sharp from both sides: along the direction in which the means do not change, exactly the points within the bounds are possible."""
    design = unknown_cheaters(pair)
    x, p, q = 0.7, (0.4, 0.65), 0.3
    means = means_of(design, x, p, q)
    low, high = found_bounds(means, design).honest_proportion
    (t1, t2), (f1, f2) = design.truth, design.forced_yes
    star = -(f1 - f2) / (t1 - t2)
    for other in np.linspace(0.001, 1, 1000):
        step = other - x
        honest_yes, cheater_yes = x * np.array(p) + star * step, (1 - x) * q - (t1 * star + f1) * step
        assert np.outer(honest_yes, design.truth) + other * design.forced_yes + cheater_yes == pytest.approx(means)
        possible = bool(np.all((honest_yes >= 0) & (honest_yes <= other)) and 0 <= cheater_yes <= 1 - other)
        if min(abs(other - low), abs(other - high)) > 1e-3:
            assert possible == (low <= other <= high)


def test_means_that_no_model_gives_have_no_bounds(symmetric_unknown: Design) -> None:
    """The point nearest to such means would be unique, and look like certainty."""
    assert sharp_bounds(np.array([[0.05, 0.02], [0.9, 0.97]]), symmetric_unknown) is None


def test_answers_that_chance_does_not_explain_have_no_confidence_bounds_and_four_people_exclude_nothing(symmetric_unknown: Design) -> None:
    contradiction = [[[950, 50], [980, 20]], [[100, 900], [30, 970]]]
    assert confidence_bounds(contradiction, symmetric_unknown) is None
    few = confidence_bounds(np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]]), symmetric_unknown)
    assert few is not None
    assert few.cheater_proportion == pytest.approx((0, 1), abs=1e-6)
    assert few.effects[0] == pytest.approx((-1, 1), abs=1e-6)


@pytest.mark.parametrize("pair", list(PAIRS))
def test_confidence_bounds_are_the_range_of_parameters_whose_means_lie_in_exact_intervals(pair: str) -> None:
    """A search of its own: Clopper–Pearson from SciPy's binomial test, and those of 400,000 random parameters that fit."""
    design = unknown_cheaters(pair)
    sizes = np.array([[60, 50], [40, 70]])
    yes = np.round(sizes * means_of(design, 0.8, (0.2, 0.9), 0.3)).astype(int)
    bounds = confidence_bounds(np.stack([sizes - yes, yes], axis=-1), design)
    assert bounds is not None
    level = 0.95 ** (1 / 4)
    intervals = [stats.binomtest(k, n).proportion_ci(level) for k, n in zip(yes.flat, sizes.flat, strict=True)]
    low, high = (np.array([getattr(one, end) for one in intervals]).reshape(2, 2) for end in ("low", "high"))
    rng = np.random.default_rng(4)
    x, p, q = rng.random(400_000), rng.beta(0.5, 0.5, (400_000, 2)), rng.beta(0.5, 0.5, 400_000)
    means = x[:, None, None] * (design.truth * p[:, :, None] + design.forced_yes) + ((1 - x) * q)[:, None, None]
    fits = np.all((means >= low) & (means <= high), axis=(1, 2))
    effect = (p[:, 1] - p[:, 0])[fits]
    for (least, largest), found in ((bounds.honest_proportion, x[fits]), (bounds.effects[0], effect)):
        assert least - 1e-6 <= found.min() <= least + 0.06
        assert largest - 0.06 <= found.max() <= largest + 1e-6


def test_a_stated_rate_that_looks_honest_still_gives_bounds(cell_probabilities: Callable[..., FloatArray]) -> None:
    forced = {"1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/3", "forced_yes": "1/3"}}
    design = Design.of(arms=("a", "b"), control="a", subsamples=forced, cheater_model={"yes_rate": "1/2"})
    bounds = found_bounds(means_of(design, 0.8, (0.4, 0.6), 0.5), design)
    # x·(p − 1/2) = ∓.08 is all that is known of x: the smallest x is .16, where p is 0 and 1.
    assert bounds.honest_proportion == pytest.approx((0.16, 1), abs=1e-6)
    assert bounds.effects[0] == pytest.approx((0.16, 1), abs=1e-6)
    assert bounds.cheater_proportion == pytest.approx((0, 0.84), abs=1e-6)


def test_three_arms_share_one_range_of_the_honest_share() -> None:
    two = unknown_cheaters("p* = 1/4")
    three = Design.of(arms=("a", "b", "c"), control="a", subsamples=dict(two.subsamples), cheater_model="unknown")
    means = means_of(three, 0.7, (0.3, 0.5, 0.1), 0.4)
    bounds = found_bounds(means, three)
    pairs = [found_bounds(means[[0, arm]], two).honest_proportion for arm in (1, 2)]
    assert bounds.honest_proportion == pytest.approx((max(low for low, _ in pairs), min(high for _, high in pairs)), abs=1e-6)
    assert bounds.effects[0][0] > 0 > bounds.effects[1][1]


@pytest.mark.parametrize("means", [np.ones((2, 3)) / 2, np.array([[0.5, 1.2], [0.5, 0.5]])])
def test_impossible_means_are_refused(symmetric_unknown: Design, means: FloatArray) -> None:
    with pytest.raises(DataError, match="cell means must be"):
        sharp_bounds(means, symmetric_unknown)
