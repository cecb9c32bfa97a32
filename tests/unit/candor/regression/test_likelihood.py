"""The likelihood against finite differences, SciPy's own search, and statsmodels with a link of the die."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize

from candor.designs.design import Design
from candor.errors import MethodError
from candor.regression.faces import NOBODY_CHEATS, with_stated_rate
from candor.regression.fitted_model import FittedModel
from candor.regression.likelihood import Data, Fit, climb, derivatives, highest, information, log_likelihood
from tests.designs import DESIGNS, THREE, _design
from tests.unit.candor.regression.simulated import data_of, simulated

NEARLY_TRUTHFUL = {
    "1": {"forced_no": "1/10000000", "forced_yes": "1/10000000"},
    "2": {"forced_no": "2/10000000", "forced_yes": "1/10000000"},
}
MIRRORED_NO = DESIGNS["mirrored, cheaters say no"]
SYMMETRIC = DESIGNS["symmetric, cheaters say no"]
OPEN = _design(THREE, "any")


@pytest.mark.parametrize("logistic", [True, False])
def test_gradient_and_curvature_are_those_of_finite_differences(logistic):
    data = data_of(simulated(OPEN, n=400, seed=3), OPEN, logistic=logistic)
    theta = np.array([-0.4, 0.3, 0.2, 0.8, 0.1]) if logistic else np.array([0.4, 0.1, 0.02, 0.8, 0.1])
    step = 1e-6

    def height(at):
        return log_likelihood(data, at[:3], at[3], at[4])

    def gradient(at):
        return derivatives(data, at[:3], at[3], at[4])[0]

    found, curvature = derivatives(data, theta[:3], theta[3], theta[4])
    moves = step * np.eye(5)
    assert found == pytest.approx([(height(theta + move) - height(theta - move)) / (2 * step) for move in moves], rel=1e-5, abs=1e-3)
    assert curvature == pytest.approx(
        np.array([(gradient(theta + m) - gradient(theta - m)) / (2 * step) for m in moves]), rel=1e-5, abs=1e-2
    )
    assert np.all(np.linalg.eigvalsh(information(data, theta[:3], theta[3], theta[4])) > 0)


@pytest.mark.parametrize("logistic", [True, False])
def test_people_who_are_alike_are_one_row_of_the_same_likelihood(logistic):
    frame = simulated(OPEN, n=400, seed=3)
    whole = data_of(frame | {"age": np.round(frame["age"], -1)}, OPEN, logistic=logistic)
    joined = whole.joined()
    theta = np.array([-0.4, 0.3, 0.2]) if logistic else np.array([0.4, 0.1, 0.02])
    assert len(joined.people) == len(joined.reported) < 50
    assert joined.people.sum() == 400
    assert log_likelihood(joined, theta, 0.8, 0.1) == pytest.approx(log_likelihood(whole, theta, 0.8, 0.1), rel=1e-12)
    of_both = [(*derivatives(data, theta, 0.8, 0.1), information(data, theta, 0.8, 0.1)) for data in (joined, whole)]
    for found, expected in zip(*of_both, strict=True):
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-10)


@pytest.mark.parametrize("seed", [7, 16, 34, 35])
def test_the_highest_of_several_tops_is_taken(seed):
    """A search that begins where hardly anybody cheats stops at a lower top, in three of four at coefficients that run away."""
    data = data_of(simulated(MIRRORED_NO, n=500, seed=seed, honest=0.6), MIRRORED_NO)
    found = FittedModel.of(data, yes_rate=0.0).fit
    honest = climb(data, NOBODY_CHEATS, start=Fit(beta=np.zeros(3), x=1.0, c=0.0, log_likelihood=-np.inf))
    lower = highest(data, with_stated_rate(0.0), start=Fit(beta=honest.beta, x=0.85, c=0.0, log_likelihood=-np.inf))
    assert found.log_likelihood > lower.log_likelihood + 0.1
    assert np.abs(found.beta).max() < 5


@pytest.mark.parametrize(
    ("design", "yes_rate", "honest", "seed"),
    [(MIRRORED_NO, 0.0, 0.8, 1), (SYMMETRIC, 0.0, 0.8, 2), (OPEN, None, 0.7, 3), (OPEN, None, 1.0, 4), (MIRRORED_NO, 0.0, 1.0, 5)],
)
def test_the_top_is_scipy_s(design, yes_rate, honest, seed):
    """SciPy climbs without our derivatives, over another parametrisation (x and q), from several starts."""
    data = data_of(simulated(design, n=1500, seed=seed, honest=honest, yes_rate=yes_rate or 0.4), design)
    found = FittedModel.of(data, yes_rate=yes_rate).fit

    def depth(theta):
        x, q = theta[3], theta[4] if yes_rate is None else yes_rate
        return -max(log_likelihood(data, theta[:3], x, (1 - x) * q), -1e6)

    bounds = [(-5, 5)] * 3 + [(0.02, 1.0), (0.0, 1.0)]
    starts = [np.array([0.0, 0.0, 0.0, x, q]) for x in (0.5, 0.9) for q in (0.2, 0.8)]
    best = min(
        (minimize(depth, start, bounds=bounds, method="L-BFGS-B", options={"maxiter": 500}) for start in starts), key=lambda one: one.fun
    )
    assert found.log_likelihood >= -best.fun - 1e-6
    assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-3)
    assert found.beta == pytest.approx(best.x[:3], abs=0.02)
    assert found.x == pytest.approx(best.x[3], abs=0.02)


def test_a_die_that_hardly_forces_anything_is_statsmodels_logit():
    design = Design.of(arms=("control", "treatment"), control="control", subsamples=NEARLY_TRUTHFUL, cheater_model="always_no")
    data = data_of(simulated(design, n=2000, seed=8, honest=1.0), design)
    oracle = sm.Logit(data.reported, data.columns).fit(disp=0)
    # Two like dice say nothing about cheaters, so that x is held at 1 here.
    found = climb(data, NOBODY_CHEATS, start=Fit(beta=np.zeros(3), x=1.0, c=0.0, log_likelihood=-np.inf))
    assert found.beta == pytest.approx(oracle.params, abs=1e-5)
    assert found.log_likelihood == pytest.approx(oracle.llf, abs=1e-3)
    expected = information(data, found.beta, 1.0, 0.0)[:3, :3]
    assert np.sqrt(np.diag(np.linalg.inv(expected))) == pytest.approx(oracle.bse, rel=1e-4)


class LinkOfTheDie(sm.families.links.Logit):
    """μ = x(t·expit(η) + f1) + (1 − x)q for one person each, as statsmodels wants it."""

    def __init__(self, data: Data, x: float, c: float) -> None:
        self.scale, self.shift = x * data.truth, x * data.forced_yes + c

    def _share(self, mean):
        return np.clip((mean - self.shift) / self.scale, 1e-9, 1 - 1e-9)

    def __call__(self, mean):
        share = self._share(mean)
        return np.log(share / (1 - share))

    def inverse(self, eta):
        return self.scale / (1 + np.exp(-eta)) + self.shift

    def deriv(self, mean):
        share = self._share(mean)
        return 1 / (self.scale * share * (1 - share))

    def inverse_deriv(self, eta):
        share = 1 / (1 + np.exp(-eta))
        return self.scale * share * (1 - share)


def test_given_the_cheaters_it_is_a_generalised_linear_model_of_statsmodels():
    data = data_of(simulated(SYMMETRIC, n=2000, seed=12, honest=0.8), SYMMETRIC)
    model = FittedModel.of(data, yes_rate=0.0)
    family = sm.families.Binomial(link=LinkOfTheDie(data, model.fit.x, model.fit.c))
    oracle = sm.GLM(data.reported, data.columns, family=family).fit(start_params=np.zeros(3), maxiter=200, tol=1e-12)
    assert model.fit.beta == pytest.approx(oracle.params, abs=1e-4)
    expected = information(data, model.fit.beta, model.fit.x, model.fit.c)[:3, :3]
    assert np.sqrt(np.diag(np.linalg.inv(expected))) == pytest.approx(oracle.bse, rel=1e-3)


def test_a_group_that_says_never_yes_has_no_top_and_is_named():
    frame = simulated(MIRRORED_NO, n=1000, seed=1)
    data = data_of(frame, MIRRORED_NO)
    group = np.arange(1000) < 200
    reported = np.where(group & (np.arange(1000) % 20 != 0), 0.0, data.reported)
    separated = Data(
        reported=reported,
        truth=data.truth,
        forced_yes=data.forced_yes,
        columns=np.column_stack([data.columns, group]),
        people=data.people,
        labels=(*data.labels, "course: law"),
        logistic=True,
    )
    with pytest.raises(MethodError, match="the coefficient of course: law grows without end"):
        FittedModel.of(separated, yes_rate=0.0)


def test_the_profile_is_that_of_a_fine_grid():
    data = data_of(simulated(OPEN, n=3000, seed=21, yes_rate=0.3), OPEN)
    model = FittedModel.of(data, yes_rate=None)
    error = float(np.sqrt(model.covariance()[1, 1]))
    found = model.profile(1, error=error, level=0.9)
    heights = {
        value: model._highest([model.fit], held=(1, value)).log_likelihood
        for value in (found.low - 0.01, found.low + 0.01, found.high - 0.01, found.high + 0.01)
    }
    inside = [2 * (model.fit.log_likelihood - height) <= 2.705543 for height in heights.values()]
    assert inside == [False, True, True, False]


@pytest.mark.parametrize(("design", "yes_rate", "seed"), [(MIRRORED_NO, 0.0, 3), (SYMMETRIC, 0.0, 3), (OPEN, None, 4)])
def test_a_top_has_eight_digits(design, yes_rate, seed):
    """Nothing is left to climb: a further Newton step changes no coefficient."""
    data = data_of(simulated(design, n=1500, seed=seed, honest=0.8, yes_rate=0.4 if yes_rate is None else yes_rate), design)
    fit = FittedModel.of(data, yes_rate=yes_rate).fit
    gradient, hessian = derivatives(data, fit.beta, fit.x, fit.c)
    chain = np.eye(5) if yes_rate is None else np.vstack([np.eye(4), [0, 0, 0, -yes_rate]])
    assert 0 < fit.x < 1
    assert np.abs(np.linalg.solve(chain.T @ hessian @ chain, chain.T @ gradient)).max() < 1e-8
