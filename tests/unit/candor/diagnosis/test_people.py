"""People who cheat and people who leave, against the exact enumeration of the simulator and by hand."""

import numpy as np
import pytest

from candor.diagnosis.people import BEHAVIOURS, Cheating, DropOut, Expected, Setting, answer_probabilities
from candor.errors import MethodError
from candor.planning.simulation import LatentModel, cell_probabilities
from tests.designs import DESIGNS

EXPECTED = Expected(n=100, prevalence=0.4, effects=(0.2,), cheater_proportion=0.25, drop_out=0.5)


@pytest.mark.parametrize("cheating", [one for one in Cheating if one != Cheating.ARM_DEPENDENT])
@pytest.mark.parametrize("name", ["mirrored", "three subsamples", "three arms"])
def test_without_drop_out_the_cells_are_those_of_the_simulator(cheating: Cheating, name: str) -> None:
    design = DESIGNS[name]
    effects = dict(zip(design.treatments, (0.2, -0.1), strict=False))
    expected = Expected(n=100, prevalence=0.4, effects=tuple(effects.values()), cheater_proportion=0.25, drop_out=0.5)
    share = 0.0 if cheating == Cheating.NONE else 0.25
    model = LatentModel(prevalence=0.4, effects=effects, cheater_proportion=share, cheater_behaviour=BEHAVIOURS[cheating][1])
    found = answer_probabilities(design, expected, Setting(cheating, DropOut.NONE))
    assert found.sum() == pytest.approx(1)
    assert found[..., 1] / found.sum(axis=-1) == pytest.approx(cell_probabilities(design, model))
    assert found.sum(axis=-1) == pytest.approx(np.outer(design.arm_shares, design.subsample_shares))


@pytest.mark.parametrize(("prevalence", "effect", "treated"), [(91.93 / 100, 8.07 / 100, 1), (0.3, -(0.1 + 0.2), 0)])
def test_a_rounding_beyond_nobody_and_everybody_is_no_mistake(prevalence: float, effect: float, treated: float) -> None:
    design = DESIGNS["mirrored"]
    expected = Expected(n=100, prevalence=prevalence, effects=(effect,), cheater_proportion=0.1, drop_out=0.5)
    assert np.all(answer_probabilities(design, expected, Setting(Cheating.OPPOSITE, DropOut.NONE)) >= 0)
    model = LatentModel(prevalence=prevalence, effects=dict.fromkeys(design.treatments, effect))
    assert [model.prevalence_in(arm) for arm in design.treatments] == [treated]


def test_cheaters_of_the_arms_differ() -> None:
    """In control the quarter who cheat never say yes; of the treated ones half do. Subsample 1 forces a yes with 1/6 and asks half."""
    found = answer_probabilities(DESIGNS["mirrored"], EXPECTED, Setting(Cheating.ARM_DEPENDENT, DropOut.NONE))
    assert found[0, 0, 1] / 0.25 == pytest.approx(0.75 * (1 / 6 + 0.5 * 0.4))
    assert found[1, 0, 1] / 0.25 == pytest.approx(0.75 * (1 / 6 + 0.5 * 0.6) + 0.25 * 0.5)


@pytest.mark.parametrize(
    ("drop_out", "control", "treated"),
    [(DropOut.NONE, 1, 1), (DropOut.ANYBODY, 0.5, 0.5), (DropOut.TREATED, 1, 0.5), (DropOut.TREATED_YES, 1, 0.4 + 0.6 * 0.5)],
)
def test_the_right_people_leave(drop_out: DropOut, control: float, treated: float) -> None:
    found = answer_probabilities(DESIGNS["mirrored"], EXPECTED, Setting(Cheating.NONE, drop_out))
    assert (found.sum(axis=(1, 2)) * 2).tolist() == pytest.approx([control, treated])


def test_those_who_leave_with_a_true_yes_take_it_along() -> None:
    """Of 6 with yes 3 stay, of 4 with no 4: three in seven."""
    found = answer_probabilities(DESIGNS["mirrored"], EXPECTED, Setting(Cheating.NONE, DropOut.TREATED_YES))
    assert found[1, 0, 1] / found[1, 0].sum() == pytest.approx(1 / 6 + 0.5 * 3 / 7)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"n": 0}, "between 1 and 10000000000, found 0"),
        ({"prevalence": 1.2}, "found 1.2"),
        ({"effects": (0.7,)}, "found 1.1"),
        ({"cheater_proportion": 1.0}, "below 1"),
        ({"drop_out": float("nan")}, "found nan"),
    ],
)
def test_impossible_people_are_refused(change: dict[str, object], complaint: str) -> None:
    given = {"n": 10, "prevalence": 0.4, "effects": (0.2,), "cheater_proportion": 0.1, "drop_out": 0.1}
    with pytest.raises(MethodError, match=complaint):
        Expected(**{**given, **change})
