"""Planning: the figures that the specification quotes, closed forms by hand, and the best die by exhaustive search."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from math import ceil, expm1, log, sqrt, tanh

import numpy as np
import pytest
from statsmodels.stats.power import NormalIndPower, normal_power

from candor.designs.design import Design
from candor.errors import MethodError
from candor.estimators.effects import estimate_outcome
from candor.planning.best_die import DICE, best_dice, mirrored_epsilon, mirrored_precision, optimal_mirrored
from candor.planning.effect_tests import EffectTest, power_of_z_test
from candor.planning.information import Scenario, precision
from candor.planning.power import plan_study


def mirrored(smaller: str, larger: str, **options: object) -> Design:
    return Design.of(
        arms=("control", "treatment"),
        control="control",
        subsamples={"1": {"forced_yes": smaller, "forced_no": larger}, "2": {"forced_yes": larger, "forced_no": smaller}},
        **options,
    )


def of_unequal_arms(share: str, other: str) -> Design:
    return mirrored("1/6", "2/6", arm_probabilities=(share, other))


def symmetric(cheater_model: object) -> Design:
    return Design.of(
        arms=("control", "treatment"),
        control="control",
        cheater_model=cheater_model,
        subsamples={"1": {"forced_yes": "1/6", "forced_no": "1/6"}, "2": {"forced_yes": "2/6", "forced_no": "2/6"}},
    )


SIX_SIDED = mirrored("1/6", "2/6")
QUOTED = Scenario(prevalence=(0.4, 0.6), honest_proportion=0.85, cheater_yes_rate=0.0)


@pytest.mark.parametrize(
    ("design", "epsilon", "effect_error", "honest_error"),
    [
        (mirrored("1/10", "4/10"), 1.79, 2.39, 3.17),
        (mirrored("3/20", "8/20"), 1.39, 2.70, 3.85),
        (SIX_SIDED, 1.39, 2.70, 5.85),
    ],
)
def test_the_figures_of_the_specification_are_reproduced(design, epsilon, effect_error, honest_error):
    found = precision(design, QUOTED)
    assert design.epsilon == pytest.approx(epsilon, abs=0.005)
    assert found.unit_effect_error[0] == pytest.approx(effect_error, abs=0.005)
    assert found.unit_honest_proportion_error == pytest.approx(honest_error, abs=0.005)
    assert found.unit_ordinary_error[0] == pytest.approx(0.98, abs=0.005)


def test_the_reference_standard_errors_at_a_thousand_are_reproduced():
    """λ = .15: mirrored with q = ½ gives SE(λ̂) ≈ .19 and SE(τ̂) ≈ .087; symmetric with q = 0 known .10 and .074."""
    unknown = precision(SIX_SIDED, Scenario(prevalence=(0.4, 0.6), honest_proportion=0.85, cheater_yes_rate=0.5))
    known = precision(symmetric("always_no"), QUOTED)
    assert unknown.unit_honest_proportion_error / 1000**0.5 == pytest.approx(0.19, abs=0.005)
    assert unknown.unit_effect_error[0] / 1000**0.5 == pytest.approx(0.087, abs=0.001)
    assert known.unit_honest_proportion_error / 1000**0.5 == pytest.approx(0.10, abs=0.005)
    assert known.unit_effect_error[0] / 1000**0.5 == pytest.approx(0.074, abs=0.001)


def test_the_variance_of_the_mirrored_design_by_hand():
    """With p = ½ in both arms and nobody cheating, every cell of subsample s has variance v = 1/9·… = (5/12)(7/12) and n/4 answers.

    x̂ = 6(m₂ − m₁) has variance 36·2·2v/n; Δ̂ = 2(m₁. − m₀.) has 4·2·2v/n; with τ = 0 the effect has the same.
    """
    v = 5 / 12 * 7 / 12
    found = precision(SIX_SIDED, Scenario(prevalence=(0.5, 0.5), honest_proportion=1.0, cheater_yes_rate=0.5))
    assert found.unit_honest_proportion_error**2 == pytest.approx(36 * 4 * v)
    assert found.unit_honest_times_effect_error[0] ** 2 == pytest.approx(16 * v)
    assert found.unit_effect_error[0] ** 2 == pytest.approx(16 * v)


def test_cheaters_rate_cannot_matter_to_what_is_identified_in_a_mirrored_design():
    """Stating q adds nothing there: it is absorbed by the arms' constants."""
    scenario = Scenario(prevalence=(0.3, 0.5), honest_proportion=0.7, cheater_yes_rate=0.2)
    free, stated = (precision(mirrored("1/6", "2/6", cheater_model=model), scenario) for model in ("any", {"yes_rate": 0.2}))
    assert free.unit_effect_error[0] == pytest.approx(stated.unit_effect_error[0], rel=1e-9)
    assert free.unit_honest_proportion_error == pytest.approx(stated.unit_honest_proportion_error, rel=1e-9)


def test_knowing_the_cheaters_is_worth_something_when_the_truth_is_asked_unequally():
    three = SIX_SIDED.to_document() | {"allocation": None}
    three["subsamples"] = three["subsamples"] | {"3": {"forced_yes": "1/6", "forced_no": "1/6"}}
    scenario = Scenario(prevalence=(0.4, 0.6), honest_proportion=0.85, cheater_yes_rate=0.0)
    free, stated = (precision(Design.from_document(three | {"cheater_model": model}), scenario) for model in ("any", "always_no"))
    assert stated.unit_effect_error[0] < free.unit_effect_error[0]


def test_an_unidentified_design_still_has_power_but_no_size_of_the_effect():
    plan = plan_study(symmetric("unknown"), prevalence=0.4, effects=0.2, cheater_proportion=0.1, n=1000)
    known = plan_study(symmetric("always_no"), prevalence=0.4, effects=0.2, cheater_proportion=0.1, n=1000, cheater_yes_rate=0.5)
    (contrast,) = plan.contrasts
    assert contrast.standard_error is None
    assert contrast.cost_of_privacy is None
    assert plan.cheater_proportion is None
    assert not plan.identified
    assert any("not identified" in note for note in plan.notes)
    assert 0.5 < contrast.power == pytest.approx(known.contrasts[0].power)  # with two subsamples q is no help for Δ


def test_power_is_the_level_without_an_effect_and_grows_with_it():
    powers = [power_of_z_test(effect=effect, standard_error=0.1, level=0.9) for effect in (0, 0.05, 0.1, 0.2, 1)]
    assert powers[0] == pytest.approx(0.1)
    assert powers == sorted(powers)
    assert powers[-1] == pytest.approx(1)
    assert power_of_z_test(effect=-0.2, standard_error=0.1) == power_of_z_test(effect=0.2, standard_error=0.1)


@pytest.mark.parametrize(("effect", "power", "level"), product((0.02, -0.1, 0.3), (0.12, 0.5, 0.8, 0.95), (0.9, 0.95)))
def test_the_participants_needed_are_the_fewest_that_reach_the_power(effect, power, level):
    n = EffectTest(effect=effect, unit_error=2.4, unit_test_error=2.4, level=level).participants_needed(power)
    assert power_of_z_test(effect=effect, standard_error=2.4 / n**0.5, level=level) >= power
    assert power_of_z_test(effect=effect, standard_error=2.4 / (n - 1) ** 0.5, level=level) < power


@pytest.mark.parametrize(("effect", "error", "level"), product((0, 0.02, -0.1, 0.3), (0.01, 0.05, 0.2), (0.8, 0.95, 0.99)))
def test_power_is_that_of_statsmodels(effect, error, level):
    theirs = normal_power(abs(effect) / error, nobs=1, alpha=1 - level)
    assert power_of_z_test(effect=effect, standard_error=error, level=level) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(("effect", "power", "level"), product((0.02, -0.1, 0.3), (0.12, 0.5, 0.8, 0.95), (0.9, 0.95)))
def test_the_participants_needed_are_those_of_statsmodels_rounded_up(effect, power, level):
    theirs = NormalIndPower(ddof=0).solve_power(effect_size=abs(effect) / 2.4, alpha=1 - level, power=power, ratio=0)
    test = EffectTest(effect=effect, unit_error=2.4, unit_test_error=2.4, level=level)
    assert test.participants_needed(power) == ceil(theirs)


def test_a_plan_without_a_number_of_participants_takes_as_many_as_the_power_needs():
    plan = plan_study(SIX_SIDED, prevalence=0.4, effects=0.2, cheater_proportion=0.1, power=0.9)
    (contrast,) = plan.contrasts
    assert plan.n == contrast.participants_needed
    assert contrast.power == pytest.approx(0.9, abs=0.001)


def test_privacy_always_costs_and_less_of_it_costs_less():
    costs = []
    for smaller, larger in (("4/20", "7/20"), ("3/20", "8/20"), ("2/20", "8/20"), ("1/20", "8/20")):
        plan = plan_study(mirrored(smaller, larger), prevalence=0.4, effects=0.2, cheater_proportion=0.0, n=500)
        costs.append((plan.epsilon, plan.contrasts[0].cost_of_privacy))
    assert [cost for _, cost in sorted(costs)] == sorted((cost for _, cost in costs), reverse=True)
    assert min(cost for _, cost in costs) > 1


def test_privacy_costs_the_ratio_to_a_trial_that_sees_true_answers():
    (contrast,) = plan_study(of_unequal_arms("1/4", "3/4"), prevalence=0.4, effects=0.2, cheater_proportion=0.1, n=800).contrasts
    assert contrast.ordinary_standard_error == pytest.approx(sqrt(0.24 / 200 + 0.24 / 600))
    assert contrast.cost_of_privacy == pytest.approx(contrast.standard_error / contrast.ordinary_standard_error)


def test_the_fewest_expected_answers_of_an_arm_are_told_with_the_people_that_are_enough():
    """Nobody cheats: a share 1/4 + p/2 says yes, 1 − that no. Of 80 people 20 are treated, and of these .275 say no."""
    plan = partial(plan_study, of_unequal_arms("3/4", "1/4"), prevalence=0.5, effects=0.45, cheater_proportion=0.0)
    [note] = [note for note in plan(n=80).notes if "rarest answer" in note]
    assert "An arm is expected to give its rarest answer 5.5 times" in note
    assert "plan 117 people or more" in note, "8/(.275/4) = 116.4"
    assert not any("rarest answer" in note for note in plan(n=117).notes)
    assert any("rarest answer" in note for note in plan(n=116).notes)


def test_losses_of_several_questions_add_up():
    plan = plan_study(SIX_SIDED, prevalence=0.4, effects=0.2, cheater_proportion=0.1, n=72, questions=4)
    assert plan.epsilon == pytest.approx(log(4))
    assert plan.epsilon_total == pytest.approx(4 * log(4))
    assert any("4 questions, one roll each: privacy losses add up to 5.5452" in note for note in plan.notes)
    alone = plan_study(SIX_SIDED, prevalence=0.4, effects=0.2, cheater_proportion=0.1, n=72)
    assert not any("one roll each" in note for note in alone.notes)


def test_seventy_two_participants_are_told_that_they_learn_little_about_cheaters():
    plan = plan_study(SIX_SIDED, prevalence=0.4, effects=0.2, cheater_proportion=0.15, n=72)
    assert plan.cheater_proportion.standard_error > 0.6
    assert plan.cheater_proportion.unbounded_probability > 0.7
    takes = f"5 percentage points, which takes {plan.cheater_proportion.participants_for_five_points} participants"
    assert any(takes in note for note in plan.notes)
    assert not any("±" in note for note in plan.notes), "the page gives the precision in points, the command line as a share"
    assert any("hardly excludes anything" in note for note in plan.notes)


def test_the_people_for_five_points_give_the_interval_of_cheaters_five_points():
    """The likelihood interval takes 2.136 standard errors; with 1.96 the plan would promise 5 points where 5.45 are found."""
    plan = plan_study(SIX_SIDED, prevalence=0.4, effects=0.2, cheater_proportion=0.3, n=1000)
    people = plan.cheater_proportion.participants_for_five_points
    yes = 0.7 * (np.array([[0.4], [0.6]]) / 2 + np.array([1 / 6, 2 / 6])) + 0.3 / 2
    found = estimate_outcome(np.round(people / 4 * np.stack([1 - yes, yes], axis=-1)).astype(int), design=SIX_SIDED)
    ends = found.cheater_proportion.interval
    assert (ends.high - ends.low) / 2 == pytest.approx(0.05, abs=0.0002)


def test_several_arms_are_planned_at_the_strictest_step_of_holm():
    arms = ("control", "face", "voice")
    design = Design.of(
        arms=arms,
        control="control",
        subsamples={"1": {"forced_yes": "1/6", "forced_no": "2/6"}, "2": {"forced_yes": "2/6", "forced_no": "1/6"}},
    )
    plan = plan_study(design, prevalence=0.4, effects={"face": 0.2}, cheater_proportion=0.1, n=2000)
    face, voice = plan.contrasts
    assert (face.effect, voice.effect) == (pytest.approx(0.2), 0.0)
    assert face.power == pytest.approx(
        power_of_z_test(
            effect=0.18,
            standard_error=face.honest_times_effect_standard_error,
            test_standard_error=face.test_standard_error,
            level=0.975,
        ),
        rel=1e-9,
    )
    assert voice.power == pytest.approx(0.025)
    assert voice.participants_needed is None


def exhaustive_best(outcomes: int, cap: float) -> tuple[float, int, int]:
    """Smallest standard error over all mirrored faces of one die, each made into a design of its own."""
    found = []
    for a, b in product(range(1, outcomes), repeat=2):
        t = outcomes - a - b
        if a < b and t > 0 and (outcomes - b) / a <= np.exp(cap) * (1 + 1e-9):
            design = mirrored(f"{a}/{outcomes}", f"{b}/{outcomes}")
            found.append((precision(design, QUOTED).unit_effect_error[0], a, b))
    return min(found)


@pytest.mark.parametrize("cap", [0.6, 1.0, log(4), 2.2])
def test_the_best_die_is_the_best_of_all_faces(cap):
    suggestions = {one.die: one for one in best_dice(SIX_SIDED, QUOTED, epsilon_cap=cap)}
    for sides in (6, 10, 20):
        die = suggestions.get(f"{sides}-sided die")
        try:
            error, a, b = exhaustive_best(sides, cap)
        except ValueError:  # no faces respect the cap
            assert die is None
            continue
        assert (die.forced_yes, die.forced_no) == (f"{a}/{sides}", f"{b}/{sides}")
        assert die.unit_effect_error == pytest.approx(error, rel=1e-9)


@pytest.mark.parametrize("cap", [0.4, 1.0, 1.8])
def test_a_suggested_die_plays_the_shares_and_the_epsilon_it_promises(cap):
    suggestions = best_dice(SIX_SIDED, QUOTED, epsilon_cap=cap)
    assert suggestions
    for one in suggestions:
        ways = DICE[one.die]
        yes, no = (sum(ways[roll] for roll in rolls) for rolls in (one.yes, one.no))
        assert (f"{yes}/{one.outcomes}", f"{no}/{one.outcomes}") == (one.forced_yes, one.forced_no)
        assert not set(one.yes) & set(one.no)
        design = mirrored(one.forced_yes, one.forced_no)
        assert design.epsilon == pytest.approx(one.epsilon)
        assert one.epsilon <= cap + 1e-9
    assert [one.unit_effect_error for one in suggestions] == pytest.approx(sorted(one.unit_effect_error for one in suggestions))


def test_no_die_is_suggested_under_a_cap_that_none_can_keep():
    plan = plan_study(SIX_SIDED, prevalence=0.4, effects=0.2, cheater_proportion=0.1, n=100, epsilon_cap=0.02)
    assert plan.suggested_die is None
    assert any("No die that people own" in note for note in plan.notes)
    assert plan.optimum.epsilon == 0.02


@pytest.mark.parametrize(("epsilon", "effect", "honest"), product((0.5, log(4), 3.0), (0.05, 0.2, 0.4), (0.7, 1.0)))
def test_the_optimum_of_the_continuum_beats_a_fine_grid_and_the_formula_is_close(epsilon, effect, honest):
    scenario = Scenario(prevalence=(0.3, 0.3 + effect), honest_proportion=honest, cheater_yes_rate=0.5)
    best = optimal_mirrored(SIX_SIDED, scenario, epsilon=epsilon)
    assert best.truth + best.smaller_forced + best.larger_forced == pytest.approx(1)
    assert mirrored_epsilon(best.smaller_forced, best.larger_forced) == pytest.approx(epsilon)
    on_grid = [
        mirrored_precision(SIX_SIDED, scenario, smaller_forced=truth / expm1(epsilon), larger_forced=1 - truth - truth / expm1(epsilon))
        for truth in np.linspace(0.01, 0.99, 99) * tanh(epsilon / 2)
    ]
    assert best.unit_effect_error <= min(one.unit_effect_error[0] for one in on_grid) * (1 + 1e-9)
    assert best.near_optimal_unit_effect_error <= 1.004 * best.unit_effect_error


@pytest.mark.parametrize("between", [0.0, 4.0])
@pytest.mark.parametrize("shares", [("1/2", "1/2"), ("1/5", "4/5"), ("1/4", "1/4", "1/2")])
def test_the_optimum_has_the_errors_of_its_own_design(shares, between):
    """They are those of the hardest of two contrasts, with its sections, and in the shares of two subsamples; three are two halves."""
    faces = {
        str(place): {"forced_yes": yes, "forced_no": no} for place, (yes, no) in enumerate([("1/6", "2/6"), ("2/6", "1/6"), ("1/6", "1/6")])
    }
    arms = {"arms": ("control", "first", "second"), "control": "control", "arm_probabilities": ("1/2", "1/4", "1/4")}
    given = Design.of(**arms, subsamples=dict(list(faces.items())[: len(shares)]), subsample_probabilities=shares)
    scenario = Scenario(prevalence=(0.4, 0.5, 0.1), honest_proportion=0.85, cheater_yes_rate=0.3)
    best = optimal_mirrored(given, scenario, epsilon=log(4), between=between)
    low, high = (str(Fraction(forced).limit_denominator(10**6)) for forced in (best.smaller_forced, best.larger_forced))
    faces = {"1": {"forced_yes": low, "forced_no": high}, "2": {"forced_yes": high, "forced_no": low}}
    found = precision(Design.of(**arms, subsamples=faces, subsample_probabilities=shares if len(shares) == 2 else ()), scenario)
    assert best.unit_effect_error == pytest.approx(sqrt(max(found.unit_effect_error) ** 2 + between), rel=1e-4)
    assert best.unit_honest_proportion_error == pytest.approx(found.unit_honest_proportion_error, rel=1e-4)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, 700.0, float("nan")])
def test_an_optimum_without_privacy_or_without_answers_is_refused(epsilon):
    with pytest.raises(MethodError, match="a finite epsilon above 0"):
        optimal_mirrored(SIX_SIDED, QUOTED, epsilon=epsilon)


def test_a_looser_use_of_the_cap_is_never_better():
    """The optimum uses all of ε: every design strictly inside the cap, on a grid, is worse."""
    best = optimal_mirrored(SIX_SIDED, QUOTED, epsilon=log(4))
    for smaller, larger in product(np.linspace(0.02, 0.45, 30), repeat=2):
        if smaller < larger and smaller + larger < 0.98 and mirrored_epsilon(smaller, larger) < log(4) - 0.01:
            found = mirrored_precision(SIX_SIDED, QUOTED, smaller_forced=smaller, larger_forced=larger)
            assert found.unit_effect_error[0] > best.unit_effect_error


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"n": 0}, "from 1 to 10000000000 participants, found 0"),
        ({"level": 1.0}, "confidence level must lie between 0 and 1, found 1"),
        ({"power": 0.01}, "the power must lie between 0.05"),
        ({"effects": 0.0}, "no number of people on earth finds an effect this close to 0"),
        ({"effects": 0.7}, "every prevalence must lie between 0 and 1, found 1.1"),
        ({"effects": {"drug": 0.1}}, "there is no treatment arm 'drug'; the design has 'treatment'"),
        ({"cheater_proportion": 1.0}, "the cheater proportion must be below 1"),
        ({"epsilon_cap": 0.0}, "cap on epsilon must be above 0, found 0"),
    ],
)
def test_impossible_plans_are_refused(arguments, complaint):
    expectations = {"prevalence": 0.4, "effects": 0.2, "cheater_proportion": 0.1}
    with pytest.raises(MethodError, match=complaint):
        plan_study(SIX_SIDED, **(expectations | arguments))


def test_a_design_that_protects_nobody_is_not_planned():
    paper = mirrored("0", "1/6", reanalysis=True)
    with pytest.raises(MethodError, match="protects nobody"):
        plan_study(paper, prevalence=0.4, effects=0.2, cheater_proportion=0.1, n=72)
