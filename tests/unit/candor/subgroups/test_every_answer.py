"""Effects on named answers by subgroup: against yes/no questions and derivations by hand."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from scipy.optimize import brute, fmin
from scipy.stats import chi2

from candor.categories.estimates import estimate_categories
from candor.categories.linear_model import category_model, maximum_likelihood_fit
from candor.designs.design import Design
from candor.errors import DataError
from candor.subgroups.effects import FEWEST_IN_A_CELL, TOO_FEW, subgroup_analysis
from candor.subgroups.every_answer import same_on_every_answer
from tests.designs import simulated

MIRRORED = {"1": ("2/6", "1/6"), "2": ("1/6", "2/6")}
THREE = {"1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}}


def design_of(*, arms=("slides", "face"), ordered=False, cheaters="any", names=("never", "once", "often"), dice=THREE):
    return Design.of(arms=arms, control="slides", categories=names, subsamples=dice, ordered=ordered, cheater_model=cheaters)


@pytest.mark.parametrize("arms", [("slides", "face"), ("slides", "face", "sound")])
def test_two_named_answers_are_a_yes_no_question(arms):
    rng = np.random.default_rng(20260304)
    named = design_of(arms=arms, names=("lo", "hi"), dice={name: {"lo": no, "hi": yes} for name, (no, yes) in MIRRORED.items()})
    yes_no = Design.of(
        arms=arms, control="slides", subsamples={name: {"forced_no": no, "forced_yes": yes} for name, (no, yes) in MIRRORED.items()}
    )
    groups = {
        name: simulated(rng, named, people=300, true=[[0.6, 0.4], [0.4, 0.6], [0.5, 0.5]][: len(arms)], honest=0.9, cheaters=[1, 0])
        for name in ("x", "y", "z")
    }
    expected = subgroup_analysis(groups, design=yes_no, variable="year", planned=True)
    found = subgroup_analysis(groups, design=named, variable="year", planned=True)
    near = {"rel": 1e-9, "abs": 1e-9}
    for one, other in zip([row for row in found.effects if row.category == "hi"], expected.effects, strict=True):
        assert (one.group, one.n, one.effect.treatment) == (other.group, other.n, other.effect.treatment)
        numbers = [
            (
                row.effect.value, row.effect.standard_error, row.effect.interval.low, row.effect.interval.high, row.effect.p_value,
                row.effect.honest_times_effect.value, row.effect.honest_times_effect.standard_error, row.alone.low, row.alone.high,
                row.adjusted_p_value, row.shrunken_value, row.shrunken.low, row.shrunken.high,
            )
            for row in (one, other)
        ]  # fmt: skip
        assert numbers[0] == pytest.approx(numbers[1], **near)
    assert [(one.of, one.treatment, one.df) for one in found.interaction] == [
        (one.of, one.treatment, one.df) for one in expected.interaction
    ]
    statistics = [[number for one in each.interaction for number in (one.statistic, one.p_value)] for each in (found, expected)]
    assert statistics[0] == pytest.approx(statistics[1], **near)
    assert [one.low for one in found.common[1::2]] == pytest.approx([one.low for one in expected.common], **near)
    assert found.notes == expected.notes


def test_each_group_is_a_trial_of_its_own():
    design, rng = design_of(ordered=True), np.random.default_rng(1)
    groups = {
        name: simulated(rng, design, people=200, true=[[0.5, 0.3, 0.2], [0.3, 0.3, 0.4]], honest=0.9, cheaters=[1, 0, 0]) for name in "xy"
    }
    found = subgroup_analysis(groups, design=design, variable="year")
    for group, table in groups.items():
        alone = estimate_categories(table, design=design).effects
        rows = [one for one in found.effects if one.group == group]
        assert [(one.measure, one.category, one.effect.interval) for one in rows] == [
            (one.measure, one.category, one.interval) for one in alone
        ]
        assert [(one.effect.value, one.effect.honest_times_effect) for one in rows] == [
            (one.value, one.honest_times_effect) for one in alone
        ]
    assert len(found.effects) == 2 * (3 + 2 + 1)
    assert len(found.common) == 3 + 2 + 1
    shares = [one.adjusted_p_value for one in found.effects if one.measure == "category"]
    raw = [one.effect.p_value for one in found.effects if one.measure == "category"]
    assert min(shares) == pytest.approx(6 * min(raw))
    assert json.loads(json.dumps(asdict(found), allow_nan=False))["effects"][0]["category"] == "never"


def test_a_group_with_a_small_cell_is_left_out_by_name():
    table = np.full((2, 2, 3), 20.0)
    few = table.copy()
    few[0, 0] = [2, 1, 1]
    found = subgroup_analysis({"x": table, "few": few}, design=design_of(), variable="year", planned=True)
    assert {one.group for one in found.effects} == {"x"}
    assert TOO_FEW.format(group="few", fewest=FEWEST_IN_A_CELL) in found.notes
    with pytest.raises(DataError):
        subgroup_analysis({"x": table[..., :2]}, design=design_of(), variable="year")


def test_the_order_of_answers_and_of_groups_does_not_matter():
    rng, order = np.random.default_rng(2), [2, 0, 1]
    design, names = design_of(), ("never", "once", "often")
    tables = [simulated(rng, design, people=150, true=rng.dirichlet([3, 3, 3], size=2), honest=0.8, cheaters=[1, 0, 0]) for _ in range(3)]
    turned = design_of(
        names=tuple(names[c] for c in order), dice={key: {names[c]: one[names[c]] for c in order} for key, one in THREE.items()}
    )
    found = same_on_every_answer(tables, design)
    other = same_on_every_answer([table[..., order] for table in reversed(tables)], turned)
    assert [one.statistic for one in other] == pytest.approx([one.statistic for one in found], rel=1e-6)


def test_the_statistics_are_those_of_the_definition():
    """Generalised least squares on stacked groups, and a search over a fine grid of effects."""
    rng, design = np.random.default_rng(3), design_of()
    tables = [simulated(rng, design, people=200, true=rng.dirichlet([4, 4, 4], size=2), honest=0.8, cheaters=[1, 0, 0]) for _ in range(2)]
    model = category_model(design)
    fits = [maximum_likelihood_fit(table, model) for table in tables]
    rows = np.array([[-1, 0, 1, 0, 0], [0, -1, 0, 1, 0]], dtype=float)
    first, second = (rows @ fit.coefficients for fit in fits)
    spread = sum(rows @ fit.covariance @ rows.T for fit in fits)
    delta, effect = same_on_every_answer(tables, design)
    assert delta.statistic == pytest.approx(float((first - second) @ np.linalg.inv(spread) @ (first - second)))
    assert (delta.df, delta.p_value) == (2, pytest.approx(chi2.sf(delta.statistic, 2)))

    def off(tau):
        total = 0.0
        for fit in fits:
            away = np.array([[-1, 0, 1, 0, -tau[0]], [0, -1, 0, 1, -tau[1]]])
            total += float((away @ fit.coefficients) @ np.linalg.solve(away @ fit.covariance @ away.T, away @ fit.coefficients))
        return total

    lowest = brute(
        off,
        [(-1, 1), (-1, 1)],
        Ns=41,
        full_output=True,
        finish=lambda *args, **kwargs: fmin(*args, xtol=1e-9, ftol=1e-12, disp=0, full_output=True),
    )
    assert effect.statistic == pytest.approx(lowest[1], abs=1e-6)


def test_groups_that_differ_are_told_apart():
    rng, design = np.random.default_rng(5), design_of()
    groups = [
        simulated(rng, design, people=400, true=true, honest=0.9, cheaters=[1, 0, 0])
        for true in ([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]], [[0.2, 0.3, 0.5], [0.5, 0.3, 0.2]])
    ]
    assert all(one.p_value < 1e-3 for one in same_on_every_answer(groups, design))
