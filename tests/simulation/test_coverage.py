"""A short version of ``benchmarks/coverage.py``: intervals cover, tests keep their level, plans come true.

Tolerances. The share of R independent trials that cover has standard error s = sqrt(.95·.05/R). A setting passes when the share is above
.935 − 4 s; for 4,000 trials s = .0034, for 120 trials .020. All seeds are fixed, so that what passes goes on passing.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from benchmarks.coverage import DESIGNS, MIRRORED, SMALLEST, Setting, from_counts
from benchmarks.coverage_by_trial import KINDS, Kind, Truth
from benchmarks.coverage_intervals import Trials
from candor.designs.design import Design
from candor.estimators.cell_means import maximum_likelihood_fit
from candor.estimators.difference_in_means import difference_in_means_kernel
from candor.estimators.effects import efficient_kernel
from candor.likelihood.region import quantile, quantile_at_an_end
from candor.planning.information import Scenario, precision
from candor.planning.power import plan_study
from candor.planning.simulation import Behaviour, LatentModel, cell_probabilities, simulate_counts

TRIALS = 20_000


IDENTIFIED = [name for name in DESIGNS if name != "symmetric, q unknown"]


def design_named(name: str) -> Design:
    return Setting(design=name, n=1, cheaters=0.0, effect=0.0).trial_design


WORST = [
    Setting(design="three subsamples", n=2000, cheaters=0.0, effect=0.3, prevalence=0.4),
    Setting(design="three subsamples", n=200, cheaters=0.0, effect=0.0, prevalence=0.02),
    Setting(design="three subsamples, cheaters say no", n=200, cheaters=0.5, effect=0.0, prevalence=0.02),
    Setting(design="six-sided, mirrored", n=60, cheaters=0.0, effect=0.0, prevalence=0.02),
    Setting(design="six-sided, mirrored", n=500, cheaters=0.3, effect=0.05, prevalence=0.1),
    Setting(design="ten-sided, mirrored", n=100, cheaters=0.3, effect=0.05, prevalence=0.1, treated=0.25),
    Setting(design="ten-sided, mirrored", n=60, cheaters=0.0, effect=0.05, prevalence=0.4, treated=0.25),
    Setting(design="symmetric, q known", n=100, cheaters=0.1, effect=0.05, prevalence=0.1),
    Setting(design="symmetric, q unknown", n=60, cheaters=0.0, effect=0.3, prevalence=0.02),
]
"""The settings in which the large run of the benchmark found the smallest coverages of the region, and some without a boundary."""


@pytest.mark.parametrize("setting", WORST, ids=lambda one: one.key)
def test_every_shadow_of_the_region_covers_also_at_the_worst_places(setting):
    """4,000 trials: a coverage of .94 gives less than .935 − .0134 = .9216, four standard errors, hardly ever."""
    found = from_counts(setting, replicates=4000, rng=setting.rng(2021, "region test"))
    shadows = {name: share for name, share in found.items() if name.endswith("likelihood region") or name.startswith("no contradiction")}
    assert len(shadows) in (3, 5, 6)
    assert min(shadows.values()) > SMALLEST - 4 * (0.95 * 0.05 / 4000) ** 0.5, shadows


def test_the_smaller_quantile_would_be_too_small_where_several_shares_are_at_an_end():
    """The negative control: with χ² of one degree of freedom the honest share covers .925 here; 20,000 trials tell that from .935."""
    setting = Setting(design="six-sided, mirrored", n=60, cheaters=0.0, effect=0.0, prevalence=0.02)
    design = setting.trial_design
    counts = simulate_counts(design, setting.model, n=60, trials=TRIALS, rng=np.random.default_rng(3)).astype(float)
    counts = counts[(counts.sum(axis=-1) > 0).all(axis=(1, 2))]
    trials = Trials(counts=counts, design=design, honest=1.0, effect=0.0, prevalence=0.02)
    smaller, larger = (
        float(trials.within(trials.polytope.at_honest_proportion(1.0), critical(0.95)).mean())
        for critical in (quantile, quantile_at_an_end)
    )
    assert smaller < SMALLEST < larger


@pytest.mark.parametrize("effect", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("cheaters", [0.0, 0.3])
@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize("design", IDENTIFIED)
def test_the_specification_test_keeps_its_level(design, n, cheaters, effect):
    """Chi-square in small cells: between 4 % and 6.5 % false alarms at a nominal 5 %."""
    setting = Setting(design=design, n=n, cheaters=cheaters, effect=effect)
    counts = simulate_counts(setting.trial_design, setting.model, n=n, trials=TRIALS, rng=setting.rng(2021, "test")).astype(float)
    fit = maximum_likelihood_fit(counts, setting.trial_design)
    assert 0.04 < (chi2.sf(fit.statistic, fit.df) < 0.05).mean() < 0.065


@pytest.mark.parametrize("name", KINDS)
def test_intervals_that_are_computed_one_trial_at_a_time_cover(name):
    """60 trials of the first setting: .935 less four standard errors is .822."""
    kind = KINDS[name]
    truth = kind.settings[0]
    found = kind.measured(truth, trials=60, rng=truth.rng(2021, name))
    assert found
    assert min(found.values()) > SMALLEST - 4 * (0.95 * 0.05 / 60) ** 0.5, found
    assert max(found.values()) <= 1


def test_a_share_of_trials_is_counted_by_interval():
    """One interval covers in half of the trials, the other exists in every second one and never covers."""
    trials = [{"half": np.bool_(number % 2), **({"never": False} if number % 2 else {})} for number in range(10)]
    kind = Kind(trials=10, settings=(), covered=lambda _truth, _trials, _rng: iter(trials))
    assert kind.measured(Truth(n=1), trials=10, rng=np.random.default_rng(1)) == {"half": 0.5, "never": 0}


@pytest.mark.parametrize("name", ["six-sided, mirrored", "symmetric, q known", "three subsamples"])
def test_the_planned_standard_errors_are_those_of_simulated_trials(name):
    """20,000 trials of 20,000 people: a standard deviation is known to 0.5 %, and the asymptotic one is 1 % accurate; 3 % are allowed."""
    design, behaviour = design_named(name), DESIGNS[name][2]
    rate = 0.5 if behaviour is Behaviour.RANDOM else 0.0
    scenario = Scenario(prevalence=(0.4, 0.6), honest_proportion=0.85, cheater_yes_rate=rate)
    model = LatentModel(prevalence=0.4, effects={"treatment": 0.2}, cheater_proportion=0.15, cheater_behaviour=behaviour)
    counts = simulate_counts(design, model, n=20_000, trials=TRIALS, rng=np.random.default_rng(5)).astype(float)
    # x̂ before the boundary rule, which the asymptotic variance knows nothing of.
    joint = maximum_likelihood_fit(counts, design).joint_estimates()
    expected = precision(design, scenario)
    raw_effect = joint.honest_times_effect[:, 0] / joint.honest_proportion
    for found, unit in (
        (raw_effect, expected.unit_effect_error[0]),
        (joint.honest_times_effect[:, 0], expected.unit_honest_times_effect_error[0]),
        (joint.honest_proportion, expected.unit_honest_proportion_error),
    ):
        assert np.std(found) == pytest.approx(unit / 20_000**0.5, rel=0.03)


@pytest.mark.parametrize(("name", "n"), [("six-sided, mirrored", 1000), ("symmetric, q known", 500), ("three subsamples", 2000)])
def test_the_planned_power_is_the_share_of_simulated_trials_that_reject(name, n):
    """20,000 trials: four standard errors of a share are .014; the normal approximation at these n costs up to .01 more."""
    design, behaviour = design_named(name), DESIGNS[name][2]
    rate = 0.5 if behaviour is Behaviour.RANDOM else 0.0
    (contrast,) = plan_study(design, prevalence=0.4, effects=0.15, cheater_proportion=0.1, cheater_yes_rate=rate, n=n).contrasts
    model = LatentModel(prevalence=0.4, effects={"treatment": 0.15}, cheater_proportion=0.1, cheater_behaviour=behaviour)
    joint = efficient_kernel(simulate_counts(design, model, n=n, trials=TRIALS, rng=np.random.default_rng(6)).astype(float), design)
    rejected = joint.honest_times_effect[:, 0] ** 2 > 1.959964**2 * joint.honest_times_effect_variance[:, 0]
    assert 0.3 < contrast.power < 0.97
    assert rejected.mean() == pytest.approx(contrast.power, abs=0.024)


def test_the_chance_of_an_unbounded_interval_is_as_planned():
    design, model = design_named("six-sided, mirrored"), LatentModel(prevalence=0.4, effects={"treatment": 0.2}, cheater_proportion=0.15)
    plan = plan_study(design, prevalence=0.4, effects=0.2, cheater_proportion=0.15, n=300)
    joint = difference_in_means_kernel(
        simulate_counts(design, model, n=300, trials=TRIALS, rng=np.random.default_rng(7)).astype(float), design
    )
    unbounded = joint.honest_proportion**2 <= 1.959964**2 * joint.honest_proportion_variance
    assert unbounded.mean() == pytest.approx(plan.cheater_proportion.unbounded_probability, abs=0.02)


def exact_effect(design: Design, model: LatentModel, *, method: str, trial_size: float = 1e6) -> float:
    """The limit of an estimator: its value at the exact cell probabilities, as if a million answers had no chance variation."""
    yes = cell_probabilities(design, model)
    shares = trial_size * np.outer(design.arm_shares, design.subsample_shares)
    table = np.stack([shares * (1 - yes), shares * yes], axis=-1)
    if method == "difference_in_means":
        return float(difference_in_means_kernel(table, design).effect[0])
    return float(efficient_kernel(table, design, arm_specific_cheaters=method.endswith("arm_specific_cheaters")).effect[0])


def population(behaviour: Behaviour) -> LatentModel:
    """The statistics page's example: τ = .2 and 20 % cheaters."""
    return LatentModel(prevalence=0.4, effects={"treatment": 0.2}, cheater_proportion=0.2, cheater_behaviour=behaviour)


@pytest.mark.parametrize(
    ("behaviour", "limit"),
    [
        (Behaviour.ALWAYS_NO, 0.2),
        (Behaviour.ALWAYS_YES, 0.2),
        (Behaviour.RANDOM, 0.2),
        (Behaviour.OPPOSITE, 0.1),
        (Behaviour.TRUTHFUL, 0.3),
        (Behaviour.REFUSE_FORCED_YES, 0.25),
    ],
)
def test_the_mirrored_design_forgives_alike_cheaters_and_is_biased_as_stated_by_others(behaviour, limit):
    assert exact_effect(design_named("six-sided, mirrored"), population(behaviour), method="difference_in_means") == pytest.approx(
        limit, abs=1e-9
    )


@pytest.mark.parametrize("behaviour", [Behaviour.ALWAYS_NO, Behaviour.RANDOM, Behaviour.OPPOSITE, Behaviour.TRUTHFUL])
def test_three_subsamples_recover_the_effect_even_when_cheating_depends_on_the_arm(behaviour):
    found = exact_effect(design_named("three subsamples"), population(behaviour), method="efficient_arm_specific_cheaters")
    assert found == pytest.approx(0.2, abs=1e-6)


def test_refusing_only_the_forced_yes_is_beyond_three_subsamples_too():
    """Such people say yes with probability t_s·p_a, differently in every subsample, which none of the models allows."""
    found = exact_effect(
        design_named("three subsamples"), population(Behaviour.REFUSE_FORCED_YES), method="efficient_arm_specific_cheaters"
    )
    assert found == pytest.approx(0.25, abs=1e-6)


def test_a_wrong_assumption_about_cheaters_misleads_as_stated():
    """Symmetric design, 20 % answer at random, q = 0 assumed: λ̂ → 0 and τ̂ → .16."""
    design = design_named("symmetric, q known")
    yes = cell_probabilities(design, population(Behaviour.RANDOM))
    table = np.stack([1 - yes, yes], axis=-1) * 1e6
    joint = difference_in_means_kernel(table, design)
    assert float(joint.honest_proportion) == pytest.approx(1.0, abs=1e-9)
    assert exact_effect(design, population(Behaviour.RANDOM), method="difference_in_means") == pytest.approx(0.16, abs=1e-9)


def test_the_specification_test_notices_cheating_that_depends_on_arm_and_subsample():
    """Half report the opposite of a truth that the treatment changes: the test for equal cheater shares then fails in 20,000 people."""
    design = design_named("three subsamples")
    model = LatentModel(prevalence=0.2, effects={"treatment": 0.6}, cheater_proportion=0.5, cheater_behaviour=Behaviour.OPPOSITE)
    fit = maximum_likelihood_fit(simulate_counts(design, model, n=20_000, trials=200, rng=np.random.default_rng(8)).astype(float), design)
    assert (fit.statistic > 5.991).mean() > 0.9  # χ² with 2 degrees of freedom at 5 %
    assert fit.df == 2


def test_the_design_of_the_page_is_the_one_that_is_simulated():
    assert design_named("six-sided, mirrored") == Design.of(arms=("control", "treatment"), control="control", subsamples=MIRRORED)
