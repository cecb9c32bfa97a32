"""How often tests and intervals of subgroups keep what they promise, over many simulated studies; all seeds are fixed."""

import numpy as np
import pytest
from scipy.stats import binom

from candor.designs.design import Design
from candor.estimators.cell_means import efficient_kernel
from candor.planning.simulation import LatentModel, simulate_counts
from candor.subgroups.effects import FEWEST_IN_A_CELL, interaction_tests, subgroup_analysis
from candor.subgroups.every_answer import same_on_every_answer
from candor.subgroups.shrinkage import shrunken
from tests.designs import simulated

MIRRORED = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
CATEGORIES = {"1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}}
TRIALS, STUDIES, CATEGORY_STUDIES = 2000, 200, 150


@pytest.mark.parametrize("groups", [(100, 100), (60, 100, 200)])
def test_the_tests_of_equal_effects_keep_their_level_also_when_cheating_differs(groups):
    """200 studies. In the second test honest shares differ: .9, .6 and .75, τ = .2 in all, where the test of one Δ may well reject."""
    design, rng = Design.of(arms=("a", "b"), control="a", subsamples=MIRRORED, cheater_model="any"), np.random.default_rng(11)
    shares = (0.1, 0.4, 0.25)
    rejected = {"same": 0, "effect": 0}
    alike = [simulate(design, n, 0.1, rng) for n in groups]
    unlike = [simulate(design, n, share, rng) for n, share in zip(groups, shares, strict=False)]
    for trial in range(STUDIES):
        found = compared([tables[trial] for tables in alike], design)
        rejected["same"] += found[0].p_value < 0.05 if found else 0
        found = compared([tables[trial] for tables in unlike], design)
        rejected["effect"] += found[1].p_value < 0.05 if found else 0
        if trial < 10:
            whole = subgroup_analysis({str(group): tables[trial] for group, tables in enumerate(unlike)}, design=design, variable="v")
            assert found == whole.interaction
    for times in rejected.values():
        assert times <= binom.isf(1e-6, STUDIES, 0.06)


def compared(groups, design):
    """The part of an analysis of these groups that compares them: the rest takes twenty times as long."""
    large = [table for table in groups if table.sum(axis=-1).min() >= FEWEST_IN_A_CELL]
    return interaction_tests([efficient_kernel(table, design) for table in large], design) if len(large) > 1 else ()


def simulate(design, n, cheaters, rng):
    model = LatentModel(prevalence=0.4, effects={"b": 0.2}, cheater_proportion=cheaters)
    return simulate_counts(design, model, n=n, trials=STUDIES, rng=rng)


@pytest.mark.parametrize("between", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("groups", [2, 5])
def test_shrunken_intervals_cover_on_average_and_lie_closer_than_the_groups_alone(groups, between):
    """2,000 draws from the model itself: coverage over all groups, and the squared error against that of the groups alone."""
    rng = np.random.default_rng(7)
    variances = np.linspace(0.005, 0.03, groups)
    covered, squared, alone = 0, 0.0, 0.0
    for _ in range(TRIALS):
        truth = 0.1 + between * rng.standard_normal(groups)
        values = truth + np.sqrt(variances) * rng.standard_normal(groups)
        found = shrunken(values, variances)
        covered += sum(interval.low <= one <= interval.high for interval, one in zip(found.intervals, truth, strict=True))
        squared += float(((np.array(found.values) - truth) ** 2).sum())
        alone += float(((values - truth) ** 2).sum())
    assert covered / (TRIALS * groups) > 0.935
    assert squared < 1.05 * alone
    assert between or squared < 0.9 * alone


def test_groups_with_one_effect_are_told_apart_as_often_as_promised():
    """One effect, but twice as many cheaters in one group: Δ differs, τ does not. Binomial limits of 99.9 %."""
    rng = np.random.default_rng(20260305)
    design = Design.of(
        arms=("slides", "face"), control="slides", categories=("never", "once", "often"), subsamples=CATEGORIES, cheater_model="any"
    )
    true, alike, other = [[0.5, 0.3, 0.2], [0.3, 0.3, 0.4]], [], []
    for _ in range(CATEGORY_STUDIES):
        honest = [simulated(rng, design, people=400, true=true, honest=share, cheaters=[1, 0, 0]) for share in (0.9, 0.9, 0.6)]
        alike.append([one.p_value < 0.05 for one in same_on_every_answer(honest[:2], design)])
        other.append(same_on_every_answer(honest[1:], design)[1].p_value < 0.05)
    low, high = binom.ppf([0.0005, 0.9995], CATEGORY_STUDIES, 0.05)
    assert all(low <= found <= high for found in np.sum(alike, axis=0)), np.mean(alike, axis=0)
    assert np.sum(other) <= high, np.mean(other)
