"""Differences of prevalence: the top of a concave likelihood within linear limits, and how it falls on both sides of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, minimize
from scipy.stats import chi2

from candor.errors import MethodError
from candor.regression.fitted_model import FittedModel
from candor.regression.likelihood import Data
from candor.regression.trait_regression import regress
from tests.designs import DESIGNS

DESIGN = DESIGNS["mirrored, cheaters say no"]
NEVER = "the likelihood is highest where some people would never, or always, report yes"


def data_of_a_class(seed: int) -> Data:
    """150 people of five ages, one in ten of whom says no whatever the die says."""
    rng, n = np.random.default_rng(seed), 150
    arm, subsample, age = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.integers(18, 23, n)
    truth, die = rng.random(n) < 0.4 + 0.15 * arm + 0.1 * (age - 20), rng.random(n)
    yes, no = DESIGN.forced_yes[subsample], DESIGN.forced_no[subsample]
    said = np.where(die < yes, 1, np.where(die < yes + no, 0, truth))
    return Data(
        reported=np.where(rng.random(n) < 0.9, said, 0).astype(float),
        truth=DESIGN.truth[subsample],
        forced_yes=yes,
        columns=np.column_stack([np.ones(n), arm, (age - age.mean()) / age.std()]),
        people=np.ones(n),
        labels=("intercept", "arm", "age"),
        logistic=False,
    ).joined()


def height(data: Data, held: tuple[int, float] | None = None) -> float:
    """Oracle: SciPy's constrained search over Π = xβ and x; a held coefficient is a linear equation."""
    matrix = np.column_stack([data.columns * data.truth[:, None], data.forced_yes])
    tiny = 1e-9
    within = [LinearConstraint(matrix, tiny, 1 - tiny)]
    if held is not None:
        index, value = held
        within.append(LinearConstraint(np.eye(4)[index] - value * np.eye(4)[3], 0, 0))

    def below(at: np.ndarray) -> float:
        mean = np.clip(matrix @ at, tiny, 1 - tiny)
        return -float(data.people @ np.where(data.reported == 1, np.log(mean), np.log(1 - mean)))

    begun = [np.array([x / 2, 0, 0, x]) for x in (0.9, 0.4, 0.1)]
    bounds = Bounds([-np.inf] * 3 + [tiny], [np.inf] * 3 + [1])
    found = [
        minimize(below, one, method="SLSQP", constraints=within, bounds=bounds, options={"maxiter": 500, "ftol": 1e-12}) for one in begun
    ]
    return -min(one.fun for one in found if one.success)


@pytest.mark.parametrize("seed", [19, 1])
def test_the_likelihood_falls_by_half_of_chi_square_up_to_each_end(seed):
    """The search got stuck where some mean is 0 or 1: the intercept's interval ended at 1.42 (seed 19), a class was refused (seed 1)."""
    data = data_of_a_class(seed)
    model = FittedModel.of(data, yes_rate=0.0)
    assert model.fit.log_likelihood == pytest.approx(height(data), abs=1e-5)
    errors, ends = np.sqrt(np.diag(model.covariance())), 0
    for index in range(3):
        found = model.profile(index, error=float(errors[index]), level=0.95)
        for end in (found.low, found.high):
            assert end is not None
            assert 2 * (model.fit.log_likelihood - height(data, (index, end))) == pytest.approx(chi2.ppf(0.95, 1), abs=1e-3)
            ends += end > 1.5
    assert ends > 0


def test_a_prevalence_that_no_share_of_honest_people_makes_possible_is_ruled_out():
    model = FittedModel.of(data_of_a_class(19), yes_rate=0.0)
    assert model.contains(0, float(model.fit.beta[0]), level=0.95)
    assert not model.contains(0, -50.0, level=0.95)


def test_a_top_where_some_people_would_never_report_yes_is_refused():
    """Nobody in treatment said yes where the die forces it seldom: the standard errors of a mean of 0 are unknown."""
    said = np.array([[[60, 40], [50, 50]], [[100, 0], [85, 15]]])
    rows = [(DESIGN.arms[a], DESIGN.subsample_names[s], y) for (a, s, y), people in np.ndenumerate(said) for _ in range(people)]
    arm, subsample, attention = zip(*rows, strict=True)
    with pytest.raises(MethodError, match=NEVER):
        regress({"arm": arm, "subsample": subsample, "attention": attention}, DESIGN, link="identity")
