"""Effects by subgroup against derivations by hand and many simulated studies."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from scipy.stats import binom, chi2

from candor.designs.design import Design
from candor.errors import DataError
from candor.estimators.cell_means import efficient_kernel
from candor.estimators.effects import estimate_outcome
from candor.planning.simulation import LatentModel, simulate_counts
from candor.subgroups.effects import EXPLORATORY, FEWEST_IN_A_CELL, ONE_GROUP, interaction_tests, subgroup_analysis
from candor.subgroups.interaction import same_effect, same_honest_times_effect
from candor.subgroups.shrinkage import shrunken

MIRRORED = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
SYMMETRIC = {"1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "2/6", "forced_yes": "2/6"}}
COUNTS = np.array([[[130, 70], [110, 90]], [[90, 110], [70, 130]]])
TRIALS, STUDIES = 2000, 200


def design_of(*, arms=("a", "b"), subsamples=MIRRORED, cheaters="any"):
    return Design.of(arms=arms, control="a", subsamples=subsamples, cheater_model=cheaters)


def test_each_group_is_a_trial_of_its_own():
    found = subgroup_analysis({"x": COUNTS, "y": 2 * COUNTS}, design=design_of(), variable="year", planned=True)
    for one, times in zip(found.effects, (1, 2), strict=True):
        alone = next(e for e in estimate_outcome(times * COUNTS, design=design_of()).effects if e.method == "efficient")
        assert (one.n, one.effect.value, one.effect.interval) == (times * 800, alone.value, alone.interval)
    assert found.interaction[0].statistic == pytest.approx(0, abs=1e-12)
    assert EXPLORATORY not in found.notes
    assert EXPLORATORY in subgroup_analysis({"x": COUNTS, "y": COUNTS}, design=design_of(), variable="year").notes
    assert json.loads(json.dumps(asdict(found), allow_nan=False))["variable"] == "year"


def test_p_values_are_holms_over_groups_and_contrasts():
    three = np.concatenate([COUNTS, COUNTS[:1] + np.array([[3, -3], [2, -2]])])
    found = subgroup_analysis({"x": three, "y": three // 2, "z": three // 3}, design=design_of(arms=("a", "b", "c")), variable="year")
    raw = np.array([one.effect.p_value for one in found.effects])
    order = np.argsort(raw)
    by_hand = np.minimum(np.maximum.accumulate(raw[order] * np.arange(6, 0, -1)), 1)
    np.testing.assert_allclose(np.array([one.adjusted_p_value for one in found.effects])[order], by_hand)
    assert [(test.treatment, test.of, test.df) for test in found.interaction] == [
        ("b", "honest_times_effect", 2), ("b", "effect", 2), ("c", "honest_times_effect", 2), ("c", "effect", 2)
    ]  # fmt: skip


def test_a_group_with_a_small_cell_is_left_out_by_name_and_a_single_group_is_compared_with_none():
    small = COUNTS.copy()
    small[0, 0] = [2, 2]
    found = subgroup_analysis({"x": COUNTS, "few": small}, design=design_of(), variable="year")
    assert [one.group for one in found.effects] == ["x"]
    assert found.interaction == found.common == ()
    assert found.effects[0].shrunken is None
    assert any(note.startswith("few: left out") for note in found.notes)
    assert ONE_GROUP in found.notes
    with pytest.raises(DataError, match="at least one group"):
        subgroup_analysis({}, design=design_of(), variable="year")
    with pytest.raises(DataError):
        subgroup_analysis({"x": COUNTS[:1]}, design=design_of(), variable="year")


def test_without_an_identified_honest_share_groups_are_compared_by_delta_alone():
    design = design_of(subsamples=SYMMETRIC, cheaters="unknown")
    found = subgroup_analysis({"x": COUNTS, "y": COUNTS[::-1]}, design=design, variable="year")
    assert [test.of for test in found.interaction] == ["honest_times_effect"]
    assert found.interaction[0].p_value < 0.001
    assert all(one.effect.value is None for one in found.effects)


def test_the_order_of_groups_does_not_matter():
    groups = {"x": COUNTS, "y": COUNTS // 2 + 3, "z": COUNTS[::-1]}
    found = subgroup_analysis(groups, design=design_of(), variable="year")
    turned = subgroup_analysis(dict(reversed(groups.items())), design=design_of(), variable="year")
    assert turned.interaction[0].statistic == pytest.approx(found.interaction[0].statistic)
    assert turned.effects[-1].shrunken_value == pytest.approx(found.effects[0].shrunken_value)


@pytest.mark.parametrize("groups", [(100, 100), (60, 100, 200)])
def test_the_tests_of_equal_effects_keep_their_level_also_when_cheating_differs(groups):
    """200 studies. In the second test honest shares differ: .9, .6 and .75, τ = .2 in all, where the test of one Δ may well reject."""
    design, rng = design_of(), np.random.default_rng(11)
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


def test_the_test_of_one_tau_is_chi_square_where_every_share_is_known():
    """Oracle: with x known exactly, Q is Cochran's statistic of the ratios."""
    delta, share, variance = np.array([0.3, 0.1, 0.25]), np.array([0.9, 0.5, 0.7]), np.array([0.01, 0.02, 0.005])
    known = {"numerator_variance": variance, "denominator_variance": np.zeros(3), "covariance": np.zeros(3)}
    found = same_effect(delta, share, **known, treatment="b", control="a")
    assert found.statistic == pytest.approx(
        same_honest_times_effect(delta / share, variance / share**2, treatment="b", control="a").statistic, abs=1e-6
    )
    assert found.p_value == pytest.approx(chi2.sf(found.statistic, 2))


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
