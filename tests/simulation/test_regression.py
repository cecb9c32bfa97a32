"""Intervals of the regression on a sensitive trait cover as they should; an ordinary regression of the reports does not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from candor.designs.design import Design
from candor.errors import MethodError
from candor.regression.faces import NOBODY_CHEATS
from candor.regression.fitted_model import FittedModel
from candor.regression.likelihood import Fit, climb, derivatives
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
            height, _ = model._height(place, truth, start=Fit(beta=model.fit.beta, x=model.fit.x, c=model.fit.c, log_likelihood=-np.inf))
            hits[place - 1] += 2 * (model.fit.log_likelihood - height) <= 3.841459
    assert refused <= 2
    assert np.all(binom.cdf(hits, TRIALS - refused, 0.95) > 1e-6), hits


def test_forgetting_the_cheaters_does_not_cover():
    """The negative control: with 30 % cheaters and x held at 1, the intercept's interval misses."""
    design = DESIGNS["mirrored, cheaters say no"]
    hits = 0
    for seed in range(40):
        data = data_of(simulated(design, n=1500, seed=seed, honest=0.7), design)
        fit = climb(data, NOBODY_CHEATS, start=Fit(beta=np.zeros(3), x=1.0, c=0.0, log_likelihood=-np.inf))
        error = np.sqrt(np.linalg.inv(derivatives(data, fit.beta, 1.0, 0.0)[2][:3, :3])[0, 0])
        hits += abs(fit.beta[0] - BETA[0]) <= 1.96 * error
    assert binom.cdf(hits, 40, 0.95) < 1e-6
