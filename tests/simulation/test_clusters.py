"""How often clusters alone make an effect where there is none; 200 trials of twelve sections, seeds fixed."""

import numpy as np
from scipy.stats import binom

from candor.clusters.clustered_effects import estimate_assigned_together
from candor.estimators.effects import estimate_outcome
from tests.clustered_people import DESIGN, clustered_people

TRIALS = 200


def test_twelve_unlike_sections_make_an_effect_no_more_often_than_they_should() -> None:
    """The limit is the binomial quantile at 1 − 10⁻⁶ of .05; the test that ignores the sections (negative control) is far beyond it."""
    clustered = drawn = plain = 0
    for trial in range(TRIALS):
        people = clustered_people(1000 + trial, clusters=12, size=30, spread=1.5)
        outcome, inference = estimate_assigned_together(people, rng=np.random.default_rng(trial))
        clustered += outcome.effects[0].p_value < 0.05
        drawn += inference.randomisation_p_values[0] <= 0.05
        plain += next(one.p_value for one in estimate_outcome(people.counts, design=DESIGN).effects if one.method == "efficient") < 0.05
    limit = binom.ppf(1 - 1e-6, TRIALS, 0.05)
    assert clustered <= limit
    assert drawn <= limit
    assert plain > 1.5 * limit
