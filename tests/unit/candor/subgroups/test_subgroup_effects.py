"""Effects by subgroup against derivations by hand."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from scipy.stats import chi2

from candor.designs.design import Design
from candor.errors import DataError
from candor.estimators.effects import estimate_outcome
from candor.subgroups.effects import EXPLORATORY, ONE_GROUP, subgroup_analysis
from candor.subgroups.interaction import same_effect, same_honest_times_effect

MIRRORED = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
SYMMETRIC = {"1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "2/6", "forced_yes": "2/6"}}
COUNTS = np.array([[[130, 70], [110, 90]], [[90, 110], [70, 130]]])


def design_of(*, arms=("a", "b"), subsamples=MIRRORED, cheaters="any"):
    return Design.of(arms=arms, control="a", subsamples=subsamples, cheater_model=cheaters)


def test_each_group_is_a_trial_of_its_own():
    found = subgroup_analysis({"x": COUNTS, "y": 2 * COUNTS}, design=design_of(), variable="year", planned=True)
    for one, times in zip(found.effects, (1, 2), strict=True):
        alone = next(e for e in estimate_outcome(times * COUNTS, design=design_of()).effects if e.method == "efficient")
        assert (one.n, one.effect.value, one.effect.interval) == (times * 800, alone.value, alone.interval)
        assert one.shrunken_value == pytest.approx(alone.honest_times_effect.value)
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


def test_the_test_of_one_tau_is_chi_square_where_every_share_is_known():
    """Oracle: with x known exactly, Q is Cochran's statistic of the ratios."""
    delta, share, variance = np.array([0.3, 0.1, 0.25]), np.array([0.9, 0.5, 0.7]), np.array([0.01, 0.02, 0.005])
    known = {"numerator_variance": variance, "denominator_variance": np.zeros(3), "covariance": np.zeros(3)}
    found = same_effect(delta, share, **known, treatment="b", control="a")
    assert found.statistic == pytest.approx(
        same_honest_times_effect(delta / share, variance / share**2, treatment="b", control="a").statistic, abs=1e-6
    )
    assert found.p_value == pytest.approx(chi2.sf(found.statistic, 2))


@pytest.mark.parametrize("delta", [(0.3, -0.1, 0.25), (1.2, 0.7, 0.6), (-1.2, -0.7, -0.6)])
def test_the_test_of_one_tau_is_the_distance_to_the_nearest_truth_with_one_tau(delta):
    """Oracle: the least Mahalanobis distance of all (Δ̂_g, x̂_g) to any (τx_g, x_g), for each τ by least squares in x_g."""
    delta, honest = np.array(delta), np.array([0.9, 0.5, 0.3])
    spread = np.array([[[0.02, 0.01], [0.01, 0.03]], [[0.01, -0.008], [-0.008, 0.02]], [[0.03, 0.02], [0.02, 0.05]]])
    distances = []
    for effect in np.linspace(-1, 1, 801):
        line = np.array([effect, 1.0])
        total = 0.0
        for found, of_group in zip(np.column_stack([delta, honest]), spread, strict=True):
            precision = np.linalg.inv(of_group)
            away = found - line * (line @ precision @ found) / (line @ precision @ line)
            total += away @ precision @ away
        distances.append(total)
    known = {"numerator_variance": spread[:, 0, 0], "denominator_variance": spread[:, 1, 1], "covariance": spread[:, 0, 1]}
    test = same_effect(delta, honest, **known, treatment="b", control="a")
    assert test.statistic == pytest.approx(min(distances), abs=1e-4)
    assert test.p_value == pytest.approx(chi2.sf(min(distances), 2), abs=1e-4)
