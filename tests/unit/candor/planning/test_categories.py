"""Plans and dice for two to six answers: two answers have today's plan, powers are simulated, small dice are all tried."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from candor.categories.estimates import estimate_categories
from candor.categories.linear_model import category_model, maximum_likelihood_fit
from candor.designs.design import Design
from candor.designs.dice import DieDesign
from candor.errors import DesignError, MethodError
from candor.planning.best_die import best_dice
from candor.planning.categories import CategoryScenario, plan_categories
from candor.planning.category_dice import best_category_dice, precision_with
from candor.planning.information import Scenario
from candor.planning.power import plan_study

NAMES = ("never", "once", "often")
DESIGN = Design.of(
    arms=("slides", "face"),
    control="slides",
    categories=NAMES,
    ordered=True,
    subsamples={"1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}},
)
EXPECTED = {"slides": (0.6, 0.3, 0.1), "face": (0.4, 0.35, 0.25)}
YES_NO = Design.of(
    arms=("a", "b"),
    control="a",
    subsamples={"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}},
)


@pytest.mark.parametrize("cheaters", ["any", "always_no"])
def test_two_answers_have_the_plan_that_they_had(cheaters):
    design = replace(YES_NO, cheater_model=Design.of(**parts(), cheater_model=cheaters).cheater_model)
    rate = 0.0 if cheaters == "always_no" else 0.5
    old = plan_study(design, prevalence=0.4, effects=0.1, cheater_proportion=0.2, power=0.8)
    new = plan_categories(
        design, prevalence={"a": (0.6, 0.4), "b": (0.5, 0.5)}, cheater_proportion=0.2, cheater_shares=(1 - rate, rate), n=old.n
    )
    (before,), (contrast,) = old.contrasts, new.contrasts
    yes = contrast.measures[1]
    assert yes.standard_error == pytest.approx(before.standard_error, rel=1e-9)
    assert yes.power == pytest.approx(before.power, rel=1e-9)
    assert yes.participants_needed == before.participants_needed
    assert contrast.participants_needed == pytest.approx(before.participants_needed, rel=0.01), "χ² with one degree of freedom is z²"


def test_the_rarest_answer_of_an_arm_is_told_with_the_people_that_are_enough():
    """Nobody cheats: each subsample has a share 3/8 of true answers and forces “once” with 1/8. Half are of each arm."""
    plan = partial(plan_categories, DESIGN, prevalence={"slides": (0.6, 0.2, 0.2), "face": (0.5, 0.1, 0.4)})
    [note] = plan(n=80).notes
    assert "its rarest answer 6.5 times" in note, "40 · (.1·3/8 + 1/8)"
    assert "plan 99 people or more" in note, "8/(.1625/2) = 98.5"
    assert len(plan(n=98).notes) == 1
    assert plan(n=99).notes == ()


def test_several_arms_have_the_power_of_holms_strictest_step_as_the_plan_of_two_answers_has_it():
    """The tests that are made are adjusted by Holm over the contrasts: without that a plan of four arms promised .80 where .66 come."""
    arms = ("a", "b", "c", "d")
    design, share = Design.of(**parts() | {"arms": arms}), {arm: (0.6, 0.4) if arm == "a" else (0.45, 0.55) for arm in arms}
    old = plan_study(design, prevalence=0.4, effects=0.15, cheater_proportion=0.2, power=0.8)
    new = plan_categories(design, prevalence=share, cheater_proportion=0.2, power=0.8)
    assert new.n == pytest.approx(old.n, rel=0.01)
    at_once = plan_categories(design, prevalence=share, cheater_proportion=0.2, n=old.n)
    for before, contrast in zip(old.contrasts, at_once.contrasts, strict=True):
        assert contrast.power == pytest.approx(before.power, abs=0.005)
        assert contrast.measures[1].power == pytest.approx(before.power, rel=1e-9)
        assert contrast.measures[1].participants_needed == before.participants_needed
    unlike = plan_categories(design, prevalence=share | {"d": (0.5, 0.5)}, cheater_proportion=0.2)
    needed = [contrast.participants_needed for contrast in unlike.contrasts]
    assert unlike.n == max(needed) > 2 * min(needed)
    assert min(contrast.power for contrast in unlike.contrasts) == pytest.approx(0.8, abs=0.001)


def parts():
    return {"arms": YES_NO.arms, "control": "a", "subsamples": dict(YES_NO.subsamples)}


def test_two_answers_have_the_dice_that_they_had():
    scenario = Scenario(prevalence=(0.4, 0.6), honest_proportion=0.85, cheater_yes_rate=0.5)
    old = {one.die: one for one in best_dice(YES_NO, scenario, epsilon_cap=1.4) if one.die.endswith("-sided die")}
    same = CategoryScenario(prevalence=((0.6, 0.4), (0.4, 0.6)), honest_proportion=0.85, cheater_shares=(0.5, 0.5))
    new = {f"{one.die.sides}-sided die": one for one in best_category_dice(YES_NO, same, epsilon_cap=1.4)}
    assert set(old) == set(new)
    for die, one in new.items():
        assert one.unit_effect_error == pytest.approx(old[die].unit_effect_error, rel=1e-9)
        assert one.epsilon == pytest.approx(old[die].epsilon, rel=1e-12)


def test_the_power_is_that_of_simulated_studies():
    plan = plan_categories(DESIGN, prevalence=EXPECTED, cheater_proportion=0.1, power=0.8)
    scenario = CategoryScenario.of(DESIGN, prevalence=EXPECTED, cheater_proportion=0.1)
    rng, trials = np.random.default_rng(3), 400
    counts = rng.multinomial(plan.n // 4, scenario.shares(DESIGN), size=(trials, 2, 2))
    model = category_model(DESIGN)
    fits = [maximum_likelihood_fit(one.astype(float), model) for one in counts]
    effects = [fit.ratio(model.of_arm(1, (0, 0, 1)) - model.of_arm(0, (0, 0, 1))).value for fit in fits]
    often = plan.contrasts[0].measures[2]
    # 400 values: the standard deviation is known to 3.5 %, five times that is 18 %; ratios have heavier tails.
    assert np.std(effects) == pytest.approx(often.standard_error, rel=0.3)
    deltas = np.array([[(model.of_arm(1, one) - model.of_arm(0, one)) @ fit.coefficients for one in np.eye(3)[1:]] for fit in fits])
    rows = np.array([model.of_arm(1, one) - model.of_arm(0, one) for one in np.eye(3)[1:]])
    rejected = [delta @ np.linalg.solve(rows @ fit.covariance @ rows.T, delta) > 5.991465 for delta, fit in zip(deltas, fits, strict=True)]
    assert np.mean(rejected) == pytest.approx(0.8, abs=0.12), "six standard errors of a share of 400"


def test_the_plan_and_the_estimates_speak_of_the_same_standard_errors():
    scenario = CategoryScenario.of(DESIGN, prevalence=EXPECTED, cheater_proportion=0.1)
    n = 4_000_000
    counts = np.round(scenario.shares(DESIGN) * n / 4)
    found, plan = estimate_categories(counts, design=DESIGN), plan_categories(DESIGN, prevalence=EXPECTED, cheater_proportion=0.1, n=n)
    for one, planned in zip(found.effects, plan.contrasts[0].measures, strict=True):
        assert (one.measure, one.category) == (planned.measure, planned.category)
        assert one.value == pytest.approx(planned.effect, abs=1e-4)
        assert one.standard_error == pytest.approx(planned.standard_error, rel=1e-3)


@pytest.mark.parametrize("sides", [6, 8])
def test_no_mirrored_die_of_two_subsamples_beats_the_suggestion(sides):
    """Every pair of mirrored rules that a small die can play: also those in which several categories change."""
    cap = 1.8
    scenario = CategoryScenario.of(DESIGN, prevalence=EXPECTED, cheater_proportion=0.1)
    (best,) = (one for one in best_category_dice(DESIGN, scenario, epsilon_cap=cap) if one.die.sides == sides)
    rules = [rule for rule in product(range(1, sides), repeat=3) if sum(rule) < sides]
    tried = 0
    for first, second in combinations(rules, 2):
        if sum(first) != sum(second):
            continue
        faces = {str(s): dict(zip(NAMES, numbered(rule), strict=True)) for s, rule in enumerate((first, second))}
        die = DieDesign(sides=sides, faces=faces, categories=NAMES)
        if max(one.epsilon for one in die.forced_responses().values()) > cap + 1e-9:
            continue
        tried += 1
        assert precision_with(die, DESIGN, scenario).unit_effect_error >= best.unit_effect_error * (1 - 1e-9), (first, second)
    assert tried > 3


def numbered(rule):
    """Faces, one after the other."""
    ends = np.cumsum([0, *rule]).tolist()
    return [tuple(range(first + 1, last + 1)) for first, last in pairwise(ends)]


def test_a_suggested_die_is_a_design_that_can_be_used():
    scenario = CategoryScenario.of(DESIGN, prevalence=EXPECTED, cheater_proportion=0.1)
    for one in best_category_dice(DESIGN, scenario, epsilon_cap=1.4):
        played = replace(DESIGN, subsamples=tuple(one.die.forced_responses().items()))
        assert played.epsilon == one.epsilon <= 1.4
        assert played.identification.effect


def test_a_die_that_cannot_cover_the_categories_says_what_could_be_reached():
    names = tuple("abcdef")
    device = {str(s): dict(zip(names, [f"{one}/20" for one in rule], strict=True)) for s, rule in enumerate(([1] * 5 + [2], [2] + [1] * 5))}
    six = Design.of(arms=("slides", "face"), control="slides", categories=names, subsamples=device)
    scenario = CategoryScenario.of(six, prevalence=dict.fromkeys(six.arms, (1 / 6,) * 6))
    with pytest.raises(DesignError, match=r"forces 6 categories with ε ≤ 0\.2: the smallest is 0\.288"):
        best_category_dice(six, scenario, epsilon_cap=0.2)
    assert min(one.die.sides for one in best_category_dice(six, scenario, epsilon_cap=2.5)) == 8, "six faces cannot force six answers"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"prevalence": {"slides": (0.5, 0.5), "face": (0.2, 0.3, 0.5)}}, "slides: expected 3 shares"),
        ({"prevalence": {"slides": (0.5, 0.4, 0.2), "face": (0.2, 0.3, 0.5)}}, "add up to 1"),
        ({"prevalence": {"slides": (0.5, 0.3, 0.2)}}, "each of slides, face"),
        ({"cheater_proportion": 1.0}, r"must lie in \[0, 1\)"),
        ({"cheater_shares": (0.5, 0.5)}, "cheaters: expected 3 shares"),
        ({"prevalence": {"slides": (1.1, -0.3, 0.2), "face": (0.2, 0.3, 0.5)}}, "slides: expected 3 shares that add up to 1"),
        ({"power": 0.04}, "the power must lie"),
        ({"power": 1.0}, "the power must lie"),
        ({"n": 0}, "at least 1"),
        ({"prevalence": dict.fromkeys(("slides", "face"), (0.5, 0.3, 0.2))}, "no number of people up to 10,000,000,000"),
    ],
)
def test_impossible_expectations_are_refused(change, words):
    with pytest.raises(MethodError, match=words):
        plan_categories(DESIGN, **{"prevalence": EXPECTED, **change})


def test_a_survey_has_no_plan_for_effects():
    survey = replace(DESIGN, arms=("all",), control="all", arm_probabilities=())
    with pytest.raises(MethodError, match="a survey has no effect to be found"):
        plan_categories(survey, prevalence={"all": (0.5, 0.3, 0.2)})
