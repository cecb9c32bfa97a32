"""A planned test against a margin has its power: simulated at the planned number of people, with the test itself."""

import numpy as np
import pytest
from scipy.special import ndtri

from candor.equivalence.margin_tests import FARTHEST, contrast_statistic
from candor.equivalence.margins import Margin
from candor.errors import MethodError
from candor.planning.information import Scenario
from candor.planning.margins import plan_margin
from candor.planning.power import plan_study
from candor.planning.simulation import Behaviour, LatentModel, simulate_counts
from tests.designs import DESIGNS

TRIALS = 4000


def simulated_power(name: str, margin: Margin, *, effect: float, n: int, cheaters: float) -> float:
    design = DESIGNS[name]
    people = LatentModel(
        prevalence=0.4,
        effects=dict.fromkeys(design.treatments, effect),
        cheater_proportion=cheaters,
        cheater_behaviour=Behaviour.RANDOM if design.cheater_model.yes_rate is None else Behaviour.ALWAYS_NO,
    )
    counts = simulate_counts(design, people, n=n, trials=TRIALS, rng=np.random.default_rng(n)).astype(float)
    z = float(ndtri(0.95))
    sizes = (margin.size, FARTHEST) if design.identification.effect else (margin.size,)
    rejected = np.ones(TRIALS, dtype=bool)
    for size in sizes:
        if margin.worse != "fewer_yes":
            rejected &= contrast_statistic(counts, size, design=design) < -z
        if margin.worse != "more_yes":
            rejected &= contrast_statistic(counts, -size, design=design) > z
    return float(rejected.mean())


@pytest.mark.parametrize(
    ("name", "margin", "effect"),
    [
        ("mirrored", Margin(size=0.15), 0.0),
        ("mirrored", Margin(size=0.2), 0.05),
        ("mirrored", Margin(size=0.15, worse="more_yes"), 0.0),
        ("mirrored", Margin(size=0.1, worse="fewer_yes"), 0.1),
        ("three subsamples", Margin(size=0.2), 0.0),
        ("symmetric, unknown", Margin(size=0.15), 0.0),
        ("symmetric, unknown", Margin(size=0.15, worse="more_yes"), -0.05),
        ("symmetric, cheaters say no", Margin(size=0.15, worse="more_yes"), -0.05),
    ],
)
def test_the_planned_number_of_people_has_the_wanted_power(name: str, margin: Margin, effect: float) -> None:
    """4,000 trials: six standard errors of .006, and a point for the approximation; never less than wanted."""
    design = DESIGNS[name]
    (plan,) = plan_margin(
        design,
        Scenario.of(design, prevalence=0.4, effects=effect, cheater_proportion=0.1),
        margin,
        n=None,
        power=0.8,
        level=0.95,
    )
    assert plan.participants_needed is not None
    assert plan.power == pytest.approx(0.8, abs=0.01)
    assert simulated_power(name, margin, effect=effect, n=plan.participants_needed, cheaters=0.1) == pytest.approx(0.8, abs=0.05)


def test_no_number_of_people_shows_what_is_not_so() -> None:
    design = DESIGNS["mirrored"]
    beyond = Scenario.of(design, prevalence=0.4, effects=0.2, cheater_proportion=0.1)
    for margin in (Margin(size=0.2), Margin(size=0.1, worse="more_yes")):
        (plan,) = plan_margin(design, beyond, margin, n=1000, power=0.8, level=0.95)
        assert plan.participants_needed is None
        assert plan.power < 0.06
    (other,) = plan_margin(design, beyond, Margin(size=0.1, worse="fewer_yes"), n=1000, power=0.8, level=0.95)
    assert other.power > 0.8


def test_several_arms_are_tested_more_strictly() -> None:
    needed = []
    for name in ("mirrored", "three arms"):
        design = DESIGNS[name]
        people = Scenario.of(design, prevalence=0.4, effects=0.0, cheater_proportion=0.1)
        needed.append(plan_margin(design, people, Margin(size=0.2), n=None, power=0.8, level=0.95)[0].participants_needed)
    assert needed[1] > 1.5 * needed[0]  # a third of the people in each arm for a half, and α/2 for α


def test_a_study_is_planned_for_the_test_that_needs_most() -> None:
    expected = {"prevalence": 0.4, "cheater_proportion": 0.1}
    alone = plan_study(DESIGNS["mirrored"], **expected, effects=0.0, margins=[Margin(size=0.15)])
    assert alone.n == alone.margins[0].participants_needed
    both = plan_study(DESIGNS["mirrored"], **expected, effects=0.05, margins=[Margin(size=0.15)])
    assert both.n == max(both.contrasts[0].participants_needed, both.margins[0].participants_needed)
    assert both.margins[0].power >= 0.8
    with pytest.raises(MethodError, match="sections"):
        plan_study(DESIGNS["mirrored"], **expected, effects=0.0, margins=[Margin(size=0.15)], cluster_size=20)
