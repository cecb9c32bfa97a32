"""Dice in the address of a plan."""

import doctest
from fractions import Fraction

import pytest

from analysis.planning import faces, forms
from analysis.planning.faces import OFFERED, PlannedDie, rolls_of, suggested_die, usual_die
from candor.designs.design import Design
from candor.errors import DesignError
from candor.planning.best_die import DICE, best_dice
from candor.planning.information import Scenario

DEFAULT = PlannedDie(code="6", groups=("ynnttt", "nyyttt"))


@pytest.mark.parametrize("module", [faces, forms])
def test_the_examples_in_the_documentation_are_right(module: object) -> None:
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0


def test_every_die_that_the_methods_recommend_can_be_chosen() -> None:
    assert set(OFFERED.values()) == set(DICE)
    assert set(OFFERED) == {"6", "8", "10", "12", "20", "2d6"}


def test_a_face_turns_through_yes_no_and_truth_and_round_again() -> None:
    turned = DEFAULT
    said = []
    for _press in range(3):
        turned = turned.turned(1, 0)
        said.append(turned.groups[1][0])
    assert said == ["t", "y", "n"]
    assert turned == DEFAULT


def test_two_dice_count_the_ways_of_each_sum() -> None:
    seven_says_yes_and_twelve_no = PlannedDie(code="2d6", groups=("tttttyttttn", "tttttnttttt"))
    first = seven_says_yes_and_twelve_no.forced_responses()[0]
    assert (first.forced_yes, first.forced_no, first.truth) == (Fraction(6, 36), Fraction(1, 36), Fraction(29, 36))


def test_the_mirror_exchanges_yes_and_no() -> None:
    assert DEFAULT.turned(1, 3).mirrored() == DEFAULT


def test_a_third_subsample_makes_the_design_robust_to_cheaters_of_each_arm() -> None:
    three = DEFAULT.with_third_subsample()
    design = Design(
        arms=("control", "treatment"),
        control="control",
        subsamples=tuple(zip("123", three.forced_responses(), strict=True)),
    )
    assert design.identification.arm_specific_cheaters
    assert three.without_third_subsample() == DEFAULT


@pytest.mark.parametrize("code", [*OFFERED, "4", "5", "30", "100"])
def test_the_usual_faces_of_every_die_make_a_design(code: str) -> None:
    die = usual_die(code)
    design = Design(arms=("control", "treatment"), control="control", subsamples=tuple(zip("12", die.forced_responses(), strict=True)))
    assert design.kind == "mirrored"
    assert {len(letters) for letters in die.groups} == {len(rolls_of(code))}


@pytest.mark.parametrize("code", ["", "0", "2", "06", "101", "1000", "six", "3d6", "²", "-6"])
def test_an_impossible_die_is_refused(code: str) -> None:
    with pytest.raises(DesignError, match="a die is 6, 8, 10, 12, 20, 2d6 or has 3 to 100 sides"):
        rolls_of(code)


def test_a_suggestion_can_be_played_exactly_as_suggested() -> None:
    design = Design(arms=("control", "treatment"), control="control", subsamples=tuple(zip("12", DEFAULT.forced_responses(), strict=True)))
    scenario = Scenario.of(design, prevalence=0.4, effects=0.2, cheater_proportion=0.1)
    for suggestion in best_dice(design, scenario, epsilon_cap=1.4):
        first, second = suggested_die(suggestion).forced_responses()
        assert (first.forced_yes, first.forced_no) == (Fraction(suggestion.forced_yes), Fraction(suggestion.forced_no))
        assert (second.forced_yes, second.forced_no) == (first.forced_no, first.forced_yes)
        assert max(first.epsilon, second.epsilon) == pytest.approx(suggestion.epsilon)
