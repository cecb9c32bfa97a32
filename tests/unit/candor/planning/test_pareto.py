"""The front of designs: nothing on it beats anything else on it, and an exhaustive search finds nothing better."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from candor.designs.design import Design
from candor.errors import MethodError
from candor.planning.best_die import best_dice
from candor.planning.information import Scenario, precision
from candor.planning.many_designs import precision_of_many
from candor.planning.pareto import TOLERANCES, FrontDesign, pareto_front
from candor.planning.power import plan_study
from tests.designs import DESIGNS, FloatArray

MIRRORED = DESIGNS["mirrored"]
LN4 = float(np.log(4))
EXPECTED = Scenario(prevalence=(0.4, 0.6), honest_proportion=0.85, cheater_yes_rate=0.5)


def twentieths(*faces: tuple[int, int], shares: tuple[str, ...] = ()) -> Design:
    """A design of a 20-sided die, from the faces that say no and yes."""
    return Design.of(
        arms=("control", "treatment"),
        control="control",
        subsamples={str(index): {"forced_no": f"{no}/20", "forced_yes": f"{yes}/20"} for index, (no, yes) in enumerate(faces)},
        subsample_probabilities=shares,
    )


def needed(design: Design, *, prevalence: float = 0.4, cheaters: float = 0.15) -> int:
    (contrast,) = plan_study(design, prevalence=prevalence, effects=0.2, cheater_proportion=cheaters).contrasts
    assert contrast.participants_needed is not None
    return contrast.participants_needed


def test_the_die_for_the_size_of_the_effect_is_not_the_die_for_its_test() -> None:
    """Faces 4/5 need 894 people and know nothing of cheaters; the recommended die 3/8 needs 1,279."""
    for_the_test, for_the_size = twentieths((4, 5), (5, 4)), twentieths((3, 8), (8, 3))
    assert (needed(for_the_test), needed(for_the_size)) == (894, 1279)
    proposed = next(one for one in best_dice(MIRRORED, EXPECTED, epsilon_cap=LN4) if one.die == "20-sided die")
    assert (proposed.forced_yes, proposed.forced_no) == ("3/20", "8/20")
    assert (
        precision(for_the_test, EXPECTED).unit_honest_proportion_error > 5 * precision(for_the_size, EXPECTED).unit_honest_proportion_error
    )


def test_the_front_tells_the_conflict_and_mends_most_of_it() -> None:
    front = pareto_front(MIRRORED, EXPECTED, epsilon_cap=LN4)
    fewest, size = (next(one for one in front if name in one.best_at) for name in ("participants", "effect"))
    proposed = best_dice(MIRRORED, EXPECTED, epsilon_cap=LN4)[0]
    assert fewest.participants_needed is not None
    assert fewest.participants_needed <= 894
    assert fewest.unit_effect_error > 2 * size.unit_effect_error
    assert size.participants_needed is not None
    assert size.participants_needed < 900
    assert size.unit_effect_error < 0.85 * proposed.unit_effect_error
    assert size.robust


def test_three_subsamples_with_equal_shares_beat_every_mirrored_design() -> None:
    three = precision(twentieths((3, 8), (4, 4), (10, 3)), EXPECTED)
    mirrored = [
        precision(twentieths((no, yes), (yes, no)), EXPECTED)
        for no in range(1, 19)
        for yes in range(no + 1, 20 - no)
        if np.log((20 - yes) / no) <= LN4 + 1e-9
    ]
    assert three.unit_effect_error[0] < min(float(one.unit_effect_error[0]) for one in mirrored)
    assert three.identified


def test_unequal_shares_save_people_where_answers_are_rare() -> None:
    def rare(*shares: str) -> int:
        return needed(twentieths((8, 3), (3, 8), shares=shares), prevalence=0.05, cheaters=0.05)

    assert rare("7/10", "3/10") < 0.95 * rare("1/2", "1/2")


def beaten(one: FrontDesign, other: FrontDesign, *, by: float) -> bool:
    """Whether `other` is better in everything by more than this ratio."""
    return all(getattr(other, name) * (1 + by) < getattr(one, name) for name in ("difficulty", "unit_effect_error", "epsilon")) and (
        other.unit_honest_proportion_error * (1 + by) < one.unit_honest_proportion_error
    )


@settings(max_examples=12)
@given(
    prevalence=some.floats(0.02, 0.6),
    effect=some.sampled_from([0.0, 0.05, 0.3]),
    honest=some.floats(0.5, 1.0),
    cap=some.floats(0.4, 5.0),
    model=some.sampled_from(["any", "always_no"]),
)
def test_no_design_of_a_front_beats_another_and_all_keep_the_cap(
    prevalence: float, effect: float, honest: float, cap: float, model: str
) -> None:
    base = Design.of(
        arms=("a", "b", "c"),
        control="a",
        subsamples={"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}},
        cheater_model=model,
    )
    scenario = Scenario(prevalence=(prevalence, prevalence + effect, prevalence), honest_proportion=honest, cheater_yes_rate=0.0)
    front = pareto_front(base, scenario, epsilon_cap=cap)
    assert [one.difficulty for one in front] == sorted(one.difficulty for one in front)
    for one in front:
        design = one.design(base)
        assert design.epsilon == pytest.approx(one.epsilon)
        assert design.epsilon <= cap + 1e-9
        assert design.identification.effect
        assert design.identification.arm_specific_cheaters == one.robust
        assert min(map(float, design.truth)) >= 0.25 - 1e-9
        assert float(precision(design, scenario).unit_effect_error.max()) == pytest.approx(one.unit_effect_error)
        assert not any(beaten(one, other, by=0.0) for other in front)
        assert (one.participants_needed is None) == (effect == 0)


def test_an_exhaustive_search_of_a_die_finds_nothing_better() -> None:
    """All forced responses of a ten-sided die, not only the outermost ones, and all shares in tenths."""
    sides = 10
    faces = [(no, yes) for no in range(1, sides) for yes in range(1, sides - no) if 10 - no - yes >= 3]
    faces = [pair for pair in faces if np.log(1 + (sides - sum(pair)) / min(pair)) <= 1.8]
    chosen = [one for one in combinations(range(len(faces)), 3) if not collinear([faces[index] for index in one])]
    no, yes = np.array(faces).T
    shares = np.array([(a, b, 10 - a - b) for a in range(1, 9) for b in range(1, 10 - a)]) / 10
    everything = precision_of_many(
        truth=1 - (no + yes) / sides,
        forced_yes=yes / sides,
        chosen=np.array(chosen),
        shares=shares,
        arm_shares=MIRRORED.arm_shares,
        control=0,
        stated_yes_rate=None,
        scenario=EXPECTED,
    )
    front = pareto_front(MIRRORED, EXPECTED, epsilon_cap=1.8, most=10_000)
    errors = np.array([[one.unit_honest_times_effect_error, one.unit_effect_error, one.unit_honest_proportion_error] for one in front])
    tried = np.stack([everything.honest_times_effect[..., 0], everything.effect, everything.honest_proportion], axis=-1).reshape(-1, 3)
    near = tried[(tried[:, :2] <= 2.5 * tried[:, :2].min(axis=0)).all(axis=1)]
    assert len(near) > 10_000
    near = near[:: len(near) // 3000]

    def all_matched(by: FloatArray) -> bool:
        return bool((by[None] <= near[:, None] * 1.025).all(axis=2).any(axis=1).all())

    assert all_matched(errors)
    assert not all_matched(errors[[len(one.faces) == 2 for one in front]]), "the comparison notices what is missing"


def collinear(faces: list[tuple[int, int]]) -> bool:
    (a, b), (c, d), (e, f) = faces
    return (c - a) * (f - b) == (e - a) * (d - b)


def test_a_front_is_thin_enough_to_choose_from() -> None:
    few, many = (pareto_front(MIRRORED, EXPECTED, epsilon_cap=LN4, most=most) for most in (8, 10_000))
    assert len(few) <= 12 < len(many)
    assert {name for one in few for name in one.best_at} == {"participants", "effect", "cheaters"}
    assert all(any(not beaten(one, other, by=TOLERANCES[-1]) for other in many) for one in few)


def test_a_cap_that_no_die_respects_has_no_front() -> None:
    assert pareto_front(MIRRORED, EXPECTED, epsilon_cap=0.05) == ()


@pytest.mark.parametrize(
    ("name", "value"), [("epsilon_cap", 0.0), ("epsilon_cap", float("nan")), ("least_truth", 1.0), ("least_truth", -0.1)]
)
def test_limits_that_mean_nothing_are_refused(name: str, value: float) -> None:
    with pytest.raises(MethodError, match="found"):
        pareto_front(MIRRORED, EXPECTED, **{"epsilon_cap": 1.0, name: value})


@pytest.mark.parametrize(("name", "prevalence"), [("mirrored", (0.4, 0.6)), ("three arms", (0.4, 0.6, 0.3))])
def test_the_difficulty_is_the_root_of_the_people_needed(name: str, prevalence: tuple[float, ...]) -> None:
    front = pareto_front(DESIGNS[name], Scenario(prevalence=prevalence, honest_proportion=0.85, cheater_yes_rate=0.5), epsilon_cap=LN4)
    assert [np.ceil(one.difficulty**2) for one in front] == [one.participants_needed for one in front]


def test_sections_are_in_the_errors_and_in_the_people_needed() -> None:
    """Each design of the front needs as many as `plan_study` says of it, whose own errors are those of the front."""
    together = {"cluster_size": 20, "intraclass_correlation": 0.1}
    for one in pareto_front(MIRRORED, EXPECTED, epsilon_cap=LN4, **together)[:3]:
        plan = plan_study(
            one.design(MIRRORED),
            prevalence=EXPECTED.prevalence[0],
            effects=EXPECTED.prevalence[1] - EXPECTED.prevalence[0],
            cheater_proportion=1 - EXPECTED.honest_proportion,
            cheater_yes_rate=EXPECTED.cheater_yes_rate,
            n=1000,
            **together,
        )
        (contrast,) = plan.contrasts
        assert one.participants_needed == contrast.participants_needed
        assert one.unit_effect_error == pytest.approx(contrast.standard_error * 1000**0.5)
        assert one.unit_honest_times_effect_error == pytest.approx(contrast.honest_times_effect_standard_error * 1000**0.5)
