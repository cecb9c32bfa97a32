"""Intervals of the regression on a sensitive trait cover as they should; an ordinary regression of the reports does not."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.coverage_by_trial import KINDS, regression_data
from candor.designs.design import Design
from candor.errors import MethodError
from candor.regression.faces import NOBODY_CHEATS
from candor.regression.fitted_model import FittedModel
from candor.regression.likelihood import Fit, climb, information
from tests.designs import DESIGNS, THREE
from tests.unit.candor.regression.simulated import BETA, data_of, simulated

TRIALS = 100
OPEN = Design.of(arms=("control", "treatment"), control="control", subsamples=THREE, cheater_model="any")


@pytest.mark.parametrize(("design", "stated", "yes_rate"), [(DESIGNS["mirrored, cheaters say no"], 0.0, 0.0), (OPEN, None, 0.5)])
def test_profile_intervals_cover(design, stated, yes_rate):
    """100 trials of 1,500 people: within the binomial limits of .95 at 1e-6."""
    hits, refused = np.zeros(2), 0
    for seed in range(TRIALS):
        try:
            model = FittedModel.of(data_of(simulated(design, n=1500, seed=seed, yes_rate=yes_rate), design), yes_rate=stated)
        except MethodError:
            refused += 1
            continue
        assert model.fit.x <= 1
        for place, truth in enumerate(BETA[1:], start=1):
            hits[place - 1] += model.contains(place, truth, level=0.95)
    assert refused <= 2
    assert np.all(binom.cdf(hits, TRIALS - refused, 0.95) > 1e-6), hits


def test_forgetting_the_cheaters_does_not_cover():
    """The negative control: with 30 % cheaters and x held at 1, the intercept's interval misses."""
    design = DESIGNS["mirrored, cheaters say no"]
    hits = 0
    for seed in range(40):
        data = data_of(simulated(design, n=1500, seed=seed, honest=0.7), design)
        fit = climb(data, NOBODY_CHEATS, start=Fit(beta=np.zeros(3), x=1.0, c=0.0, log_likelihood=-np.inf))
        error = np.sqrt(np.linalg.inv(information(data, fit.beta, 1.0, 0.0)[:3, :3])[0, 0])
        hits += abs(fit.beta[0] - BETA[0]) <= 1.96 * error
    assert binom.cdf(hits, 40, 0.95) < 1e-6


def test_p_values_of_few_people_keep_their_level_and_find_a_large_effect():
    """A higher top without the coefficient is missed now and then. Still, of no effect as few p-values are below .05 as should be."""

    def below(n: int, arm: float) -> tuple[int, int]:
        found = []
        for seed in range(100):
            frame = simulated(DESIGNS["mirrored, cheaters say no"], n=n, seed=seed, beta=np.array([-0.6, arm, 0.5]))
            with suppress(MethodError):
                model = FittedModel.of(data_of(frame, DESIGNS["mirrored, cheaters say no"]), yes_rate=0.0)
                model.require_an_estimate()
                found.append(model.likelihood_ratio_p_value(1) < 0.05)
        return sum(found), len(found)

    false, fitted = below(200, 0.0)
    assert fitted > 50
    assert binom.sf(false - 1, fitted, 0.05) > 1e-3
    true, fitted = below(200, 3.0)
    assert true > fitted / 2


def test_an_end_that_a_longer_search_removes_is_no_error():
    """In the second of these trials other coefficients grow without end along the profile of the arm's. Each search comes a little further
    than the last: an end that was found is none.
    """
    truth = KINDS["regression"].settings[0]
    rng = truth.rng(20211205, "regression")
    _first, data = regression_data(truth, rng), regression_data(truth, rng)
    model = FittedModel.of(data, yes_rate=0.0)
    found = model.profile(1, error=float(np.sqrt(model.covariance()[1, 1])), level=0.95)
    assert found.contains(0.8)
    assert found.contains(0.8) == model.contains(1, 0.8, level=0.95)
    assert found.high is None
