"""The test of no effect that is shown: its level with few people, and its power where a plan promises one. Seeds are fixed."""

import numpy as np
import pytest

from benchmarks.level_and_power import ALLOCATIONS, DICE, NamedSetting, Setting, plan_of, planned, rejected
from candor.estimators.cell_means import efficient_kernel
from candor.estimators.difference_in_means import difference_in_means_kernel
from candor.planning.categories import plan_categories

TRIALS = 20_000
# A share of .055 in 20,000 trials is above this once in a million.
AT_MOST = 0.055 + 4.75 * (0.055 * 0.945 / TRIALS) ** 0.5


@pytest.mark.parametrize(("blocks", "prevalence"), [(False, 0.02), (True, 0.4)])
@pytest.mark.parametrize("allocation", ["1:1", "1:3"])
@pytest.mark.parametrize("die", DICE)
def test_few_people_do_not_make_it_find_what_is_not_there(die, allocation, prevalence, blocks):
    setting = Setting(die=die, shares=ALLOCATIONS[allocation], n=60, prevalence=prevalence, cheaters=0.0, blocks=blocks)
    assert rejected(setting, trials=TRIALS).shown < AT_MOST


def test_the_closed_form_with_its_own_standard_error_finds_too_much():
    """The negative control: this is what people saw before, one in nine where one in twenty was promised."""
    setting = Setting(die="unequal truth, q known", shares=ALLOCATIONS["1:3"], n=40, prevalence=0.1, cheaters=0.3)
    found = rejected(setting, trials=TRIALS)
    assert found.closed_form > 0.1
    assert found.shown < AT_MOST


@pytest.mark.parametrize(("die", "n"), [("six sides", 100), ("ten sides", 200)])
def test_a_small_control_group_keeps_the_error_of_the_family(die, n):
    """Three treatments against a tenth of the people; the standard error at the estimates alone would not."""
    found = rejected(Setting(die=die, shares=("1/10", "3/10", "3/10", "3/10"), n=n, prevalence=0.02, cheaters=0.1), trials=TRIALS)
    assert found.shown < AT_MOST < max(found.closed_form, found.at_the_estimates)


# A share of .8 in 20,000 trials is farther from it than .0139 once in a million; the normal approximation costs up to .01 more.
NEAR = 0.024


@pytest.mark.parametrize("allocation", ["1:1", "1:3", "3:1"])
@pytest.mark.parametrize("die", DICE)
def test_a_planned_power_is_the_power_of_the_test_that_is_shown(die, allocation):
    found = rejected(planned(die, ALLOCATIONS[allocation], prevalence=0.2, cheaters=0.15, effect=0.2), trials=TRIALS)
    assert found.shown == pytest.approx(0.8, abs=NEAR)


@pytest.mark.parametrize(
    ("n", "warned", "too_much"), [(100, True, (0.15, 0.2)), (308, False, (-0.02, 0.045))], ids=["few answers", "as many as it asks for"]
)
def test_a_plan_warns_where_few_answers_find_less_than_it_promises(n, warned, too_much):
    """A tenth are controls, and hardly one of them would truly say yes; three subsamples would miss by .2."""
    setting = Setting(die="ten sides", shares=("1/10", "9/10"), n=n, prevalence=0.02, cheaters=0.0, effect=0.5 if warned else 0.3)
    plan = plan_of(setting, n=n)
    assert any("rarest answer" in note for note in plan.notes) is warned
    assert too_much[0] < plan.contrasts[0].power - rejected(setting, trials=TRIALS).shown < too_much[1]


@pytest.mark.parametrize(
    ("n", "warned", "too_much"), [(150, True, (0.2, 0.35)), (880, False, (-0.05, 0.08))], ids=["few answers", "as many as it asks for"]
)
def test_a_plan_for_named_answers_warns_where_few_find_less_than_it_promises(n, warned, too_much):
    """A tenth are controls, and hardly one of them would be true to the rarest answer. 600 trials have a standard error of .02."""
    prevalence = ((0.9, 0.08, 0.02), (0.6, 0.25, 0.15) if warned else (0.75, 0.2, 0.05))
    setting = NamedSetting(die="weak", shares=("1/10", "9/10"), n=n, prevalence=prevalence, cheaters=0.0)
    assert bool(plan_categories(setting.design, n=n, **setting.expected).notes) is warned
    assert too_much[0] < setting.missed(600) < too_much[1]


def test_the_closed_form_would_have_missed_what_was_planned():
    """The negative control: the test that was shown before."""
    found = rejected(planned("ten sides", ALLOCATIONS["1:1"], prevalence=0.2, cheaters=0.0, effect=0.2), trials=TRIALS)
    assert found.shown == pytest.approx(0.8, abs=NEAR)
    assert found.closed_form < 0.8 - NEAR


def test_the_standard_error_that_is_shown_is_the_spread_under_permuted_blocks():
    """Blocks balance arms and subsamples. The closed form's standard error counts a difference between the subsamples that is not there.

    The standard deviation of 20,000 estimates has a relative error of .5 %; four of those.
    """
    setting = Setting(die="ten sides", shares=ALLOCATIONS["1:1"], n=2000, prevalence=0.4, cheaters=0.0, effect=0.1, blocks=True)
    tables = setting.tables(TRIALS)
    errors = {}
    for name, kernel in (("shown", efficient_kernel), ("closed form", difference_in_means_kernel)):
        joint = kernel(tables, setting.design)
        errors[name] = np.sqrt(joint.honest_times_effect_variance).mean() / joint.honest_times_effect.std()
    assert errors["shown"] == pytest.approx(1, abs=0.02)
    assert errors["closed form"] > 1.04
