"""How often the interval of a survey, a study with one arm, holds the prevalence; all seeds are fixed."""

import numpy as np
from scipy.stats import binom

from candor.designs.design import Design
from candor.estimators.effects import estimate_outcome
from tests.designs import MIRRORED, THREE


def survey(subsamples) -> Design:
    return Design.of(arms=("students",), control="students", subsamples=subsamples, cheater_model="any")


def test_the_interval_of_an_open_prevalence_covers():
    """300 surveys of 2,000 people, 20 % cheaters of whom 70 % say yes: the bounds that allow for chance hold the prevalence."""
    design = survey(MIRRORED)
    rng = np.random.default_rng(7)
    mean = 0.8 * (design.truth * 0.3 + design.forced_yes) + 0.2 * 0.7
    yes = rng.binomial(1000, mean, size=(300, 2))
    hits = sum(
        estimate_outcome([[[1000 - a, a], [1000 - b, b]]], design=design).prevalence[0].interval.contains(0.3) for a, b in yes.tolist()
    )
    assert binom.cdf(hits, 300, 0.95) > 1e-6


def test_three_dice_cover_the_prevalence_without_any_assumption():
    design = survey(THREE)
    rng = np.random.default_rng(9)
    mean = 0.8 * (design.truth * 0.3 + design.forced_yes) + 0.2 * 0.7
    yes = rng.binomial(3000, mean, size=(200, 3))
    found = [estimate_outcome([[[3000 - one, one] for one in row]], design=design).prevalence[0] for row in yes.tolist()]
    assert binom.cdf(sum(one.interval.contains(0.3) for one in found), 200, 0.95) > 1e-6
