"""One outcome from its counts: hand-derived cases, real counts, and data that must not give a number quietly."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from candor.designs.design import Design, FloatArray
from candor.errors import DataError, DesignError, MethodError, TooFewResponsesError
from candor.estimators.effects import estimate_outcome
from candor.estimators.sensitivity import sensitivity_to_arm_dependent_cheating
from candor.results import Effect, OutcomeEstimate

# "Yes" of n by question, (treated sub 1, treated sub 2, control sub 1, control sub 2): the 72 complete answers of the spring 2021 study of
# Kancharla & Kang (control = slides only, treatment = slides with the instructor's face), as published by its authors.
SPRING_2021 = {
    "attention": ((8, 18), (10, 17), (11, 20), (12, 17)),
    "retention": ((8, 18), (8, 17), (5, 20), (6, 17)),
    "judgement": ((11, 18), (10, 17), (8, 20), (10, 17)),
    "comprehension": ((4, 18), (6, 17), (5, 20), (6, 17)),
}
REPORTED_DIFFERENCE = {"attention": -0.107, "retention": 0.160, "judgement": 0.114, "comprehension": -0.012}
# Forced probabilities of the authors' analysis script.
SPRING_2021_FORCED = {"1": {"forced_no": 0, "forced_yes": 0.1667}, "2": {"forced_no": 0, "forced_yes": 0.104}}


def spring_counts(question: str) -> np.ndarray:
    cells = np.array([[n - yes, yes] for yes, n in SPRING_2021[question]]).reshape(2, 2, 2)
    return cells[::-1]


def effect(estimate: OutcomeEstimate, method: str, treatment: str = "treatment") -> Effect:
    (one,) = [entry for entry in estimate.effects if (entry.method, entry.treatment) == (method, treatment)]
    return one


def test_a_case_by_hand(mirrored: Design) -> None:
    """Arm means .4 and .6, subsample means .45 and .55, 200 people per cell.

    Δ̂ = .2/.5 = .4, V_Δ = (2·.24/400)/.25 = .0048. x̂ = .1·6 = .6, V_x = 36·2·.2475/400 = .04455. With E[(ỹ − m(a,·))(ỹ − m(·,s))] = .2325 in
    the cells of equal signs and .2425 in the others, C = ¼·4·12·(2·.2325 − 2·.2425)/800 = −.0003. τ̂ = 2/3 and its variance is
    (.0048 + (4/3)·.0003 + (4/9)·.04455)/.36 = .025/.36. Without an effect half of all people say yes, V_Δ = (2·.25/400)/.25·800/799.
    Test and interval use this larger one. Fieller: a = .36 − z²V_x, b = .24 − z²C, c = .16 − z²V_Δ.

    The efficient fit gives the same λ̂, since the means are additive. Its variance is that within the cells, .35·.65 in two and .45·.55 in
    two: in each arm 36·(.2275 + .2475)/200, so that both arms weigh alike, and half of that together.
    """
    estimate = estimate_outcome([[[130, 70], [110, 90]], [[90, 110], [70, 130]]], design=mirrored)
    one = effect(estimate, "difference_in_means")
    assert estimate.n == 800
    assert one.honest_times_effect.value == pytest.approx(0.4)
    assert one.honest_times_effect.standard_error == pytest.approx(0.0048**0.5)
    assert estimate.cheater_proportion.value == pytest.approx(0.4)
    assert estimate.cheater_proportion.standard_error == pytest.approx((36 * (0.2275 + 0.2475) / 2 / 200) ** 0.5)
    assert one.value == pytest.approx(2 / 3)
    assert one.standard_error == pytest.approx(0.025**0.5 / 0.6)
    assert one.fieller is not None
    a, b, c = 0.36 - 3.841459 * 0.04455, 0.24 + 3.841459 * 0.0003, 0.16 - 3.841459 * 0.005 * 800 / 799
    assert one.fieller.low == pytest.approx((b - (b * b - a * c) ** 0.5) / a, rel=1e-5)
    assert one.fieller.high == 1
    assert one.interval is not None
    assert (one.interval.kind, one.interval.high) == ("likelihood", 1)
    assert one.interval.low == pytest.approx(one.fieller.low, abs=0.003)
    assert one.wald is not None
    assert one.wald.low == pytest.approx(2 / 3 - 1.959964 * 0.025**0.5 / 0.6)
    assert one.p_value == pytest.approx(2 * ndtr(-0.4 / (0.005 * 800 / 799) ** 0.5))


@pytest.mark.parametrize("question", list(SPRING_2021))
def test_the_design_of_the_spring_2021_study_is_refused_and_can_only_be_reanalysed(question: str) -> None:
    parts: dict[str, Any] = {"arms": ("control", "treatment"), "control": "control", "subsamples": SPRING_2021_FORCED}
    with pytest.raises(DesignError, match="epsilon is infinite"):
        Design.of(**parts)
    estimate = estimate_outcome(spring_counts(question), design=Design.of(**parts, reanalysis=True))
    truth = (1 - 0.1667) * 38 / 72 + (1 - 0.104) * 34 / 72
    one = effect(estimate, "difference_in_means")
    assert estimate.n == 72
    assert estimate.epsilon is None
    assert "Epsilon is infinite" in estimate.notes[0]
    assert not estimate.identified
    assert estimate.cheater_proportion.value is None
    assert one.value is None
    assert one.interval is not None
    assert (one.interval.low, one.interval.high) == (-1, 1)
    assert one.honest_times_effect.value is not None
    assert one.honest_times_effect.value * truth == pytest.approx(REPORTED_DIFFERENCE[question], abs=0.0006)
    assert one.p_value is not None
    assert one.p_value > 0.1
    assert estimate.cheater_proportion.interval is not None
    assert (estimate.cheater_proportion.interval.low, estimate.cheater_proportion.interval.high) == (0, 1)
    assert estimate.bounds is not None


@pytest.mark.parametrize("question", list(SPRING_2021))
def test_had_they_used_the_mirrored_die_72_answers_would_still_say_nothing(mirrored: Design, question: str) -> None:
    estimate = estimate_outcome(spring_counts(question), design=mirrored)
    one = effect(estimate, "difference_in_means")
    assert one.honest_times_effect.value == pytest.approx(2 * REPORTED_DIFFERENCE[question], abs=0.0012)
    assert one.fieller is not None
    assert one.fieller.kind in ("unbounded", "empty")
    assert one.interval is not None
    assert (one.interval.low, one.interval.high) == (-1, 1)
    assert any("interval rules nothing out" in note for note in one.notes)
    assert estimate.cheater_proportion.interval is not None
    assert estimate.cheater_proportion.interval.high == 1


def test_identification_is_stated_with_its_assumption(
    design: Design, truth_about: Any, cell_probabilities: Callable[..., FloatArray]
) -> None:
    honest, prevalence, rate = truth_about
    table = np.round(1e6 * cell_probabilities(design, honest=honest, prevalence=prevalence, cheater_yes_rate=rate))
    estimate = estimate_outcome(table, design=design)
    effects = {arm: prevalence[design.arms.index(arm)] - prevalence[design.control_index] for arm in design.treatments}
    assert estimate.identified == design.identification.effect
    assert estimate.assumption == design.identification.assumption
    assert estimate.specification_test is not None
    assert estimate.specification_test.p_value is not None
    assert estimate.specification_test.p_value > 0.9
    for one in estimate.effects:
        assert one.honest_times_effect.value == pytest.approx(honest * effects[one.treatment], abs=1e-4)
        if estimate.identified:
            assert one.value == pytest.approx(effects[one.treatment], abs=2e-4)
            assert one.bounds is None
        else:
            assert (one.value, one.fieller, one.wald) == (None, None, None)
            assert one.bounds is not None
            assert one.interval is not None
            assert one.interval.low is not None
            assert one.interval.high is not None
            assert one.interval.low < one.bounds[0] < effects[one.treatment] < one.bounds[1] <= one.interval.high
    if estimate.identified:
        assert estimate.cheater_proportion.value == pytest.approx(1 - honest, abs=1e-4)
        assert estimate.bounds is None
    if design.identification.prevalence:
        assert [one.value for one in estimate.prevalence] == pytest.approx(prevalence, abs=5e-4)
        for found, true in zip(estimate.prevalence, prevalence, strict=True):
            assert found.interval is not None
            assert found.interval.contains(true)
    else:
        assert estimate.prevalence == ()


def test_only_three_subsamples_offer_the_estimate_for_cheaters_who_differ_by_arm(mirrored: Design, three_subsamples: Design) -> None:
    two = {one.method for one in estimate_outcome(np.full((2, 2, 2), 50), design=mirrored).effects}
    three = {one.method for one in estimate_outcome(np.full((2, 3, 2), 50), design=three_subsamples).effects}
    assert two == {"difference_in_means", "efficient"}
    assert three - two == {"efficient_arm_specific_cheaters"}


def test_several_arms_get_holm_adjusted_p_values() -> None:
    subsamples = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
    design = Design.of(arms=("a", "b", "c"), control="b", subsamples=subsamples)
    estimate = estimate_outcome([[[120, 80], [100, 100]], [[130, 70], [110, 90]], [[90, 110], [80, 120]]], design=design)
    first, second = (effect(estimate, "efficient", arm) for arm in ("a", "c"))
    assert first.p_value is not None
    assert second.p_value is not None
    assert second.adjusted_p_value == pytest.approx(2 * second.p_value)
    assert first.adjusted_p_value == pytest.approx(first.p_value)
    assert estimate.honest_times_effect == effect(estimate, "efficient", "a").honest_times_effect


@pytest.mark.parametrize(
    ("counts", "complaint"),
    [
        ([[[1, 2], [3, 4]]], "shape"),
        ([[[1, 2], [3, -4]], [[1, 2], [3, 4]]], "at least 0, found -4"),
        ([[[1, 2], [3, 0.5]], [[1, 2], [3, 4]]], "whole numbers of at least 0, found 0.5"),
        ([[[1, 2], [3, float("nan")]], [[1, 2], [3, 4]]], "found nan"),
        ([[["a", "b"], ["c", "d"]], [[1, 2], [3, 4]]], "whole numbers"),
        ([[1, 2], [3]], "whole numbers"),
    ],
)
def test_counts_that_are_no_counts_are_refused(mirrored: Design, counts: Any, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        estimate_outcome(counts, design=mirrored)


@pytest.mark.parametrize(
    ("counts", "where"),
    [
        (np.zeros((2, 2, 2)), "arm 'control'"),
        ([[[5, 5], [5, 5]], [[0, 0], [0, 0]]], "arm 'treatment'"),
        ([[[5, 5], [0, 0]], [[5, 5], [0, 0]]], "subsample '2'"),
        ([[[1, 0], [0, 1]], [[1, 0], [0, 0]]], "arm 'treatment', subsample '2'"),
    ],
)
def test_one_arm_only_an_empty_subsample_or_three_people_are_too_few(mirrored: Design, counts: Any, where: str) -> None:
    with pytest.raises(TooFewResponsesError, match=f"too few answers in {where}: needed at least 1, found 0") as caught:
        estimate_outcome(counts, design=mirrored)
    assert (caught.value.needed, caught.value.found) == (1, 0)


def test_the_level_is_checked(mirrored: Design) -> None:
    with pytest.raises(MethodError, match="confidence level"):
        estimate_outcome(np.full((2, 2, 2), 9), design=mirrored, level=95)


@pytest.mark.parametrize("answer", [0, 1])
def test_when_everybody_answers_alike_there_is_no_estimate_and_the_reason_is_given(identified_design: Design, answer: int) -> None:
    table = np.zeros((*identified_design.shape, 2), int)
    table[..., answer] = 50
    estimate = estimate_outcome(table, design=identified_design)
    simple = effect(estimate, "difference_in_means", identified_design.treatments[0])
    assert (simple.standard_error, simple.fieller, simple.p_value) == (None, None, None)
    assert simple.interval is not None
    assert simple.interval.contains(0) or simple.interval.kind == "empty"
    assert any("do not vary" in note for note in estimate.notes)
    assert estimate.cheater_proportion.standard_error is None


def test_nobody_honest_means_no_effect(mirrored: Design) -> None:
    """Subsample 2 says yes less often than subsample 1: x̂ = −.12. Nothing is likelier than that all are cheaters."""
    estimate = estimate_outcome([[[490, 510], [510, 490]], [[490, 510], [510, 490]]], design=mirrored)
    assert estimate.cheater_proportion.raw == pytest.approx(1.12)
    assert estimate.cheater_proportion.value == 1
    assert estimate.cheater_proportion.interval is not None
    for one in estimate.effects:
        assert (one.value, one.standard_error, one.wald) == (None, None, None)
        assert any("zero or less" in note for note in one.notes)
        assert one.honest_times_effect.value == pytest.approx(0)
    assert any("outside [0, 1]" in note for note in estimate.notes)


def test_an_honest_share_of_exactly_zero_gives_no_effect_rather_than_a_huge_one(mirrored: Design) -> None:
    estimate = estimate_outcome([[[50, 50], [50, 50]], [[50, 50], [50, 50]]], design=mirrored)
    assert estimate.cheater_proportion.value == pytest.approx(1)
    for one in estimate.effects:
        assert (one.value, one.p_value) == (None, pytest.approx(1))
        assert one.interval is not None
        assert (one.interval.low, one.interval.high) == (-1, 1)
        assert one.fieller is not None
        assert one.fieller.kind == "unbounded"
        assert any("interval rules nothing out" in note for note in one.notes)


def test_an_honest_share_too_small_for_the_difference_gives_way_to_the_most_likely(mirrored: Design) -> None:
    """x̂ = 0, but Δ̂ = .2/.5 = .4: nobody honest cannot differ, and the region knows it where Fieller's interval has no end."""
    estimate = estimate_outcome([[[120, 80], [120, 80]], [[80, 120], [80, 120]]], design=mirrored)
    assert estimate.cheater_proportion.raw == pytest.approx(1)
    assert estimate.cheater_proportion.value is not None
    assert estimate.cheater_proportion.value < 0.7
    for one in estimate.effects:
        assert one.fieller is not None
        assert one.fieller.kind == "unbounded"
        assert one.interval is not None
        assert one.interval.low is not None
        assert one.interval.low > 0.2
        assert one.value == 1
        assert any("the most likely possible effect is given" in note for note in one.notes)


def test_more_honest_than_possible_uses_an_honest_share_of_one_and_says_so(mirrored: Design) -> None:
    """x̂ = 6·(.6 − .4) = 1.2, hence x = 1 and about τ̂ = Δ̂ = .1/.5: the cells weigh by their own variances."""
    estimate = estimate_outcome([[[130, 70], [90, 110]], [[110, 90], [70, 130]]], design=mirrored)
    simple = effect(estimate, "difference_in_means")
    assert (estimate.cheater_proportion.value, estimate.cheater_proportion.raw) == (0, pytest.approx(-0.2))
    assert simple.value == pytest.approx(0.2, abs=0.003)
    assert simple.honest_proportion == 1
    assert any("the honest share would be 1.200 and the effect 0.167, which is impossible" in note for note in simple.notes)


def test_a_model_that_the_data_contradict_is_told_so(mirrored: Design) -> None:
    """x̂ = 6·(.8 − .2) = 3.6 cannot be chance with 4,000 answers."""
    estimate = estimate_outcome([[[800, 200], [200, 800]], [[800, 200], [200, 800]]], design=mirrored)
    assert estimate.cheater_proportion.interval is not None
    assert estimate.cheater_proportion.interval.kind == "empty"
    assert (estimate.cheater_proportion.value, estimate.cheater_proportion.raw) == (None, pytest.approx(-2.6))
    assert estimate.model_test is not None
    assert estimate.model_test.p_value < 1e-20
    assert any("The answers contradict the model" in note for note in estimate.notes)
    for one in estimate.effects:
        assert one.interval is not None
        assert (one.value, one.interval.kind) == (None, "empty")


def test_answers_that_call_for_more_cheaters_than_people_are_told_to_contradict_the_model(mirrored: Design) -> None:
    """λ̂ = 1 − 6·(.4 − .642) = 2.452 was printed as a cheater proportion of 0.000, because that was likelier than one of 1."""
    estimate = estimate_outcome([[[1100, 900], [1580, 420]], [[332, 1668], [820, 1180]]], design=mirrored)
    assert estimate.cheater_proportion.raw == pytest.approx(2.452, abs=0.001)
    assert estimate.cheater_proportion.value is None
    assert estimate.cheater_proportion.interval is not None
    assert estimate.cheater_proportion.interval.kind == "empty"
    assert any("The answers contradict the model" in note and "p ≤ 0.0005" in note for note in estimate.notes)


def test_separated_arms_give_the_largest_possible_effect_instead_of_a_huge_one(mirrored: Design) -> None:
    """Nobody against everybody, but for one person: Δ̂/x̂ = 1.98/.06 = 33 is no difference of two shares."""
    estimate = estimate_outcome([[[50, 0], [49, 1]], [[0, 50], [0, 50]]], design=mirrored)
    for one in estimate.effects:
        assert one.value is None
        assert one.p_value is not None
        assert one.interval is not None
        assert one.interval.kind == "empty"
    assert any("The answers contradict the model" in note for note in estimate.notes)


def test_an_estimate_a_little_outside_gives_way_to_the_most_likely_effect(mirrored: Design) -> None:
    """Δ̂ = .52/.5, x̂ = 6·(.57 − .41) = .96: Δ̂/x̂ = 1.083, with the Wald interval about that."""
    estimate = estimate_outcome([[[850, 150], [690, 310]], [[330, 670], [170, 830]]], design=mirrored)
    simple = effect(estimate, "difference_in_means")
    assert simple.value == 1
    assert simple.interval is not None
    assert simple.interval.contains(1)
    assert simple.wald is not None
    assert simple.wald.low is not None
    assert simple.wald.high is not None
    assert (simple.wald.low + simple.wald.high) / 2 == pytest.approx(1.04 / 0.96)
    assert any("the honest share would be 0.960 and the effect 1.083" in note for note in simple.notes)


def test_few_answers_of_one_kind_are_pointed_out(mirrored: Design) -> None:
    estimate = estimate_outcome([[[50, 50], [50, 50]], [[50, 50], [98, 2]]], design=mirrored)
    assert any("Only 2 said yes in arm 'treatment', subsample '2'" in note for note in estimate.notes)


def test_four_people_get_a_labelled_answer(mirrored: Design) -> None:
    estimate = estimate_outcome([[[1, 0], [0, 1]], [[0, 1], [0, 1]]], design=mirrored)
    assert estimate.n == 4
    assert any("rough" in note for note in estimate.notes)
    assert all(one.fieller is None or one.fieller.kind != "fieller" for one in estimate.effects)


def test_ten_million_answers_cost_no_more_than_ten(mirrored: Design) -> None:
    """A relative result, not a clock: the same table times 10⁶ gives the same value and a standard error 1,000 times smaller."""
    table = np.array([[[13, 7], [11, 9]], [[9, 11], [7, 13]]])
    small, large = (effect(estimate_outcome(table * k, design=mirrored), "efficient") for k in (1, 10**6))
    assert large.value == pytest.approx(small.value)
    assert small.honest_times_effect.standard_error is not None
    assert large.honest_times_effect.standard_error == pytest.approx(small.honest_times_effect.standard_error / 1000)


def test_counts_too_large_for_a_float_are_still_whole_numbers(mirrored: Design) -> None:
    with pytest.raises(DataError):
        estimate_outcome(np.full((2, 2, 2), np.inf), design=mirrored)


def test_effects_are_covered_where_nobody_says_yes_in_one_arm_and_everybody_in_all_others():
    """The region alone held the effects of 1 in 86 of these 100 cases."""
    arms = tuple("abcdef")
    six = Design.of(arms=arms, control="a", subsamples={str(s): {"forced_no": f"{3 - s}/6", "forced_yes": f"{s}/6"} for s in (1, 2)})
    means = 0.85 * (0.5 * np.array([0, 1, 1, 1, 1, 1])[:, None] + six.forced_yes) + 0.15 * 0.5
    tables = [np.stack([200 - yes, yes], axis=-1) for yes in np.random.default_rng(3).binomial(200, means, size=(20, 6, 2))]
    found = [estimate_outcome(table, design=six).effects[:5] for table in tables]
    assert sum(effect.interval.contains(1.0) for effects in found for effect in effects) >= 93
    # Cheaters who may differ by arm leave no less; the region for them alone would, in half of the cases.
    for effect, more in zip(found[17], sensitivity_to_arm_dependent_cheating(tables[17], design=six, kappa=0.02), strict=True):
        assert more.interval.low <= effect.interval.low


def test_ten_million_people_who_all_answer_alike_are_estimated():
    """Forced responses of thousandths, and three subsamples that hardly tell cheaters: rounding left no inverse of the information."""
    thousandths = {"1": {"forced_no": "399/1000", "forced_yes": "51/1000"}, "2": {"forced_no": "235/1000", "forced_yes": "441/1000"}}
    nearly_on_a_line = {
        "1": {"forced_no": "20000/100000", "forced_yes": "10000/100000"},
        "2": {"forced_no": "10000/100000", "forced_yes": "20000/100000"},
        "3": {"forced_no": "14999/100000", "forced_yes": "15000/100000"},
    }
    for subsamples, cheaters, counts in (
        (thousandths, "always_yes", [[[0, 8392497], [6489344, 0]], [[0, 5446826], [8094400, 0]], [[0, 5975201], [166538, 0]]]),
        (nearly_on_a_line, "any", [[[2595617, 0], [8102242, 0], [3111929, 0]], [[7304732, 0], [5823089, 0], [4130827, 0]]]),
        (nearly_on_a_line, "any", [[[0, 3349455], [692893, 1331095], [8312919, 0]], [[0, 8450456], [0, 7700045], [7000905, 9879472]]]),
    ):
        design = Design.of(arms=tuple("abc"[: len(counts)]), control="a", subsamples=subsamples, cheater_model=cheaters)
        many, few = (estimate_outcome(np.ceil(np.array(counts) / times), design=design) for times in (1, 1000))
        assert many.model_test is not None
        assert few.model_test is not None
        assert many.model_test.contradicts(0.95) == few.model_test.contradicts(0.95)
        assert [one.value is None for one in many.effects] == [one.value is None for one in few.effects]
