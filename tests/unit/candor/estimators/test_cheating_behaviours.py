"""Effect of each way of cheating on the estimates, in expectation: reports enumerated over honesty, truth and the die's instruction."""

from collections.abc import Callable

import numpy as np
import pytest

from candor.designs.design import Design, FloatArray
from candor.estimators.cell_means import efficient_kernel, maximum_likelihood_fit
from candor.estimators.cheaters import cheater_proportion_kernel
from candor.estimators.difference_in_means import difference_in_means_kernel

PREVALENCE = (0.4, 0.6)
CHEATERS = 0.2
PEOPLE = 1e7


def obey(truth: bool, instruction: str) -> float:
    return {"yes": 1.0, "no": 0.0, "truth": float(truth)}[instruction]


BEHAVIOURS: dict[str, Callable[[bool, str], float]] = {
    "say no": lambda truth, instruction: 0.0,
    "say yes": lambda truth, instruction: 1.0,
    "answer at random": lambda truth, instruction: 0.5,
    "report the opposite": lambda truth, instruction: float(not truth),
    "ignore the die and tell the truth": lambda truth, instruction: float(truth),
    "refuse only the forced yes": lambda truth, instruction: 0.0 if instruction == "yes" else obey(truth, instruction),
}


def table(design: Design, behaviour: str, cheaters: float = CHEATERS) -> FloatArray:
    """Expected counts of a large trial."""
    cells = np.zeros((2, len(design.subsamples), 2))
    for arm, prevalence in enumerate(PREVALENCE):
        for s, forced in enumerate(design.forced_responses):
            chance = {"yes": float(forced.forced_yes), "no": float(forced.forced_no), "truth": float(forced.truth)}
            yes = sum(
                share * (prevalence if truth else 1 - prevalence) * chance[instruction] * act(truth, instruction)
                for share, act in ((1 - cheaters, obey), (cheaters, BEHAVIOURS[behaviour]))
                for truth in (False, True)
                for instruction in chance
            )
            cells[arm, s] = (1 - yes, yes)
    return PEOPLE * cells / (2 * len(design.subsamples))


@pytest.mark.parametrize(
    ("behaviour", "effect"),
    [
        ("say no", 0.2),
        ("say yes", 0.2),
        ("answer at random", 0.2),
        ("report the opposite", 0.10),
        ("ignore the die and tell the truth", 0.30),
        ("refuse only the forced yes", 0.25),
    ],
)
def test_the_mirrored_design_bears_alike_cheaters_and_is_biased_as_stated_by_others(
    mirrored: Design, behaviour: str, effect: float
) -> None:
    cells = table(mirrored, behaviour)
    assert difference_in_means_kernel(cells, mirrored).effect == pytest.approx([effect])
    assert efficient_kernel(cells, mirrored).effect == pytest.approx([effect], abs=1e-6)


def test_assuming_no_where_cheaters_answer_at_random_hides_them_all(symmetric: Design) -> None:
    cells = table(symmetric, "answer at random")
    assert float(cheater_proportion_kernel(cells, symmetric).raw) == pytest.approx(0, abs=1e-12)
    assert difference_in_means_kernel(cells, symmetric).effect == pytest.approx([0.16])


def test_the_right_rate_finds_them(symmetric: Design) -> None:
    design = Design.of(arms=symmetric.arms, control="control", subsamples=dict(symmetric.subsamples), cheater_model={"yes_rate": "1/4"})
    quarter = 0.5 * (table(symmetric, "say no") + table(symmetric, "answer at random"))
    assert float(cheater_proportion_kernel(quarter, design).raw) == pytest.approx(CHEATERS)


@pytest.mark.parametrize("behaviour", ["say no", "say yes", "answer at random", "report the opposite", "ignore the die and tell the truth"])
def test_three_subsamples_recover_the_truth_even_when_cheating_depends_on_the_arm(three_subsamples: Design, behaviour: str) -> None:
    estimate = efficient_kernel(table(three_subsamples, behaviour), three_subsamples, arm_specific_cheaters=True)
    assert estimate.effect == pytest.approx([0.2], abs=1e-6)
    assert float(estimate.honest_proportion) == pytest.approx(1 - CHEATERS, abs=1e-6)


@pytest.mark.parametrize("behaviour", ["report the opposite", "ignore the die and tell the truth"])
def test_three_subsamples_raise_the_alarm_about_arm_dependent_cheating(three_subsamples: Design, behaviour: str) -> None:
    fit = maximum_likelihood_fit(table(three_subsamples, behaviour), three_subsamples)
    assert fit.specification_test().p_value is not None
    assert float(fit.statistic) > 100


@pytest.mark.parametrize("behaviour", ["report the opposite", "ignore the die and tell the truth"])
def test_the_mirrored_design_cannot_see_arm_dependent_cheating(mirrored: Design, behaviour: str) -> None:
    """Its cell means stay in the model, so that only the sensitivity bound helps."""
    assert float(maximum_likelihood_fit(table(mirrored, behaviour), mirrored).statistic) == pytest.approx(0, abs=1e-6)


def test_no_design_sees_those_who_refuse_only_the_forced_yes(three_subsamples: Design) -> None:
    """Their reports t·p_a + f1·x look exactly like people of whom x follow the die and C = 0: τ̂ is τ/x in any design, without alarm."""
    cells = table(three_subsamples, "refuse only the forced yes")
    for arm_specific in (False, True):
        fit = maximum_likelihood_fit(cells, three_subsamples, arm_specific_cheaters=arm_specific)
        assert float(fit.statistic) == pytest.approx(0, abs=1e-6)
        assert fit.joint_estimates().effect == pytest.approx([0.25], abs=1e-6)


@pytest.mark.parametrize("behaviour", list(BEHAVIOURS))
def test_without_cheaters_their_behaviour_does_not_matter(mirrored: Design, behaviour: str) -> None:
    estimate = difference_in_means_kernel(table(mirrored, behaviour, cheaters=0), mirrored)
    assert estimate.effect == pytest.approx([0.2])
    assert float(estimate.honest_proportion) == pytest.approx(1)
