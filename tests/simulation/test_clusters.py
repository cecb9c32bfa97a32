"""How often clusters alone make an effect where there is none, and how often intervals hold it; 200 trials of sections, seeds fixed."""

import numpy as np
from scipy.stats import binom

from candor.categories.estimates import estimate_categories
from candor.clusters.clustered_categories import estimate_categories_assigned_together
from candor.clusters.clustered_effects import estimate_assigned_together
from candor.estimators.effects import estimate_outcome
from tests.clustered_people import CATEGORIES, DESIGN, clustered_category_people, clustered_people

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


def test_twelve_unlike_sections_change_no_answer_more_often_than_they_should() -> None:
    """The tests of a question with three answers: of all at once, of each, and by drawing the sections again."""
    together = drawn = plain = 0
    of_each = np.zeros(3)
    for trial in range(TRIALS):
        people = clustered_category_people(2000 + trial, clusters=12, size=30, spread=1.5)
        outcome = estimate_categories_assigned_together(people, rng=np.random.default_rng(trial))
        together += outcome.no_effect[0].p_value < 0.05
        drawn += outcome.assignment.randomisation_p_values[0] <= 0.05
        of_each += [one.p_value < 0.05 for one in outcome.effects[:3]]
        plain += estimate_categories(people.counts, design=CATEGORIES).no_effect[0].p_value < 0.05
    limit = binom.ppf(1 - 1e-6, TRIALS, 0.05)
    assert together <= limit
    assert drawn <= limit
    assert of_each.max() <= limit
    assert plain > 1.5 * limit


def test_intervals_of_unlike_sections_hold_the_effect() -> None:
    """The lower limit is the binomial quantile at 10⁻⁶ of .95; the intervals that ignore the sections (negative control) are far below."""
    lean = np.random.default_rng(1).normal(0, 1.5, (400_000, 2))
    odds = np.column_stack([np.full(len(lean), np.exp(0.3)), np.exp(lean[:, 0]), np.exp(lean[:, 1] - 0.3)])
    true = 0.25 * (np.array([0, 0, 1]) - (odds / odds.sum(axis=1, keepdims=True)).mean(axis=0))
    held, plain = np.zeros(3), np.zeros(3)
    for trial in range(TRIALS):
        people = clustered_category_people(3000 + trial, clusters=16, size=40, spread=1.5, effect=0.25)
        outcome = estimate_categories_assigned_together(people, rng=np.random.default_rng(trial))
        alone = estimate_categories(people.counts, design=CATEGORIES)
        held += [one.interval.contains(share) for one, share in zip(outcome.effects[:3], true, strict=True)]
        plain += [one.interval.contains(share) for one, share in zip(alone.effects[:3], true, strict=True)]
    assert held.min() >= binom.ppf(1e-6, TRIALS, 0.95)
    assert plain.min() < 0.9 * TRIALS
