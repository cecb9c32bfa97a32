"""Estimates in plain words."""

from dataclasses import asdict, replace
from itertools import product

import numpy as np
import pytest
from django.utils.translation import override

from analysis.live.matrix import p_in_words, verdict_of
from analysis.live.wording import (
    FoundEffect,
    always_known_sentence,
    assignment_sentences,
    bounds_sentence,
    cheater_sentence,
    effect_sentence,
    missing_alike_sentence,
    missing_sentence,
    missing_test_sentences,
    specification_sentence,
)
from analysis.releases.findings import _cells
from candor.designs.design import Design
from candor.estimators.difference_in_means import difference_in_means_kernel
from candor.estimators.missing_answers import missing_answers
from candor.results import (
    AssignmentInference,
    Effect,
    HonestTimesEffect,
    Interval,
    SequentialEffect,
    SequentialTest,
    SequentialValue,
    SpecificationTest,
)


def proportion(value: float | None, low: float | None = None, high: float | None = None, *, kind: str = "sequence") -> SequentialValue:
    return SequentialValue(value=value, interval=Interval(kind=kind, low=low, high=high, level=0.95))


INTERVAL = Interval(kind="fieller", low=0.1, high=0.3, level=0.95)
ESTIMATED = Effect(
    treatment="face",
    control="slides",
    method="efficient",
    value=0.2,
    standard_error=None,
    interval=INTERVAL,
    wald=None,
    p_value=None,
    adjusted_p_value=None,
    honest_times_effect=HonestTimesEffect(value=None, standard_error=None, p_value=None),
    honest_proportion=None,
    assumption="",
)
ALIKE_IN_BOTH = "if people who do not follow the die answer alike in both groups."
ALIKE_IN_ALL = "if people who do not follow the die answer alike in all groups."
AS_STATED = "if people who do not follow the die answer as the study assumes."
FOUND = FoundEffect(value=None, interval=None, honest_times_effect=None, direction=0)


def said_of_cheaters(found: SequentialValue | None) -> str:
    return cheater_sentence(found, stated_rate=False)


def effect(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    *,
    kind: str = "sequence",
    treatment: str = "Face",
    direction: int = 1,
    stated_rate: bool = False,
) -> str:
    found = replace(FOUND, value=value, interval=Interval(kind=kind, low=low, high=high, level=0.95), direction=direction)
    return effect_sentence(found, treatment=treatment, control="Slides", stated_rate=stated_rate)


def sign(direction: int, low: float | None = None, high: float | None = None) -> str:
    delta = Interval(kind="sequence", low=low, high=high, level=0.95)
    return always_known_sentence(replace(FOUND, honest_times_effect=delta, direction=direction), treatment="Face", control="Slides")


@pytest.mark.parametrize(
    ("value", "low", "high", "words"),
    [
        (0.1, 0.0, 0.3, "About 1 in 10 students did not follow the die (between 0 and 3 in 10)"),
        (0.123, 0.049, 0.251, "About 12 in 100 students did not follow the die (between 4 and 26 in 100)"),
        (0.0, 0.0, 0.04, "About 0 in 100 students did not follow the die (between 0 and 4 in 100)"),
        (1.0, 0.9, 1.0, "About 100 in 100 students did not follow the die (between 90 and 100 in 100)"),
    ],
)
def test_cheaters_are_counted_in_tens_or_when_more_is_known_in_hundreds(value: float, low: float, high: float, words: str) -> None:
    assert said_of_cheaters(proportion(value, low, high)) == f"{words}, {ALIKE_IN_ALL}"


def test_an_interval_from_nobody_to_everybody_says_nothing_yet() -> None:
    assert said_of_cheaters(proportion(0.4, 0.0, 1.0)).startswith("The answers do not tell")
    assert said_of_cheaters(proportion(0.4)).startswith("The answers do not tell")


def test_a_design_that_cannot_tell_says_so() -> None:
    assert said_of_cheaters(None) == "This design cannot tell how many did not follow the die."


def test_answers_that_contradict_the_assumptions_say_so() -> None:
    assert "contradict the assumptions" in said_of_cheaters(proportion(None, kind="empty"))
    assert "contradict the assumptions" in effect(0.2, kind="empty")
    assert "“Face”" in effect(0.2, kind="empty")


def test_an_effect_is_told_in_a_hundred_honest_students() -> None:
    more, fewer = effect(0.2, 0.1, 0.31), effect(-0.2, -0.31, -0.1, direction=-1)
    assert more.startswith("Of 100 honest students, about 20 more would say yes with “Face” than with “Slides” (between +10 and +31)")
    assert fewer.startswith("Of 100 honest students, about 20 fewer would say yes with “Face” than with “Slides” (between −31 and −10)")


def test_an_effect_carries_its_condition() -> None:
    assert effect(0.2, 0.1, 0.3).endswith(f", {ALIKE_IN_BOTH}")
    assert effect(0.05, -0.1, 0.2, direction=0).endswith(f", {ALIKE_IN_BOTH}")
    assert effect(0.2, 0.1, 0.3, stated_rate=True).endswith(f", {AS_STATED}")
    assert cheater_sentence(proportion(0.1, 0.0, 0.3), stated_rate=True).endswith(f", {AS_STATED}")


def test_an_effect_whose_direction_is_not_certain_may_be_chance() -> None:
    assert "than with “Slides”; that may be chance (between −10 and +20), if" in effect(0.05, -0.1, 0.2, direction=0)
    assert "chance" not in effect(0.05, 0.004, 0.1)


def test_numbers_in_words_leave_out_nothing_that_the_interval_holds() -> None:
    """Rounded to the nearest, both would be false of an effect of .104 and of .296."""
    assert "(between +10 and +30)" in effect(0.2, 0.104, 0.296)
    assert "(between 1 and 6 in 10)" in said_of_cheaters(proportion(0.3, 0.16, 0.54))


@pytest.mark.parametrize("unknown", [effect(None), effect(0.3), effect(0.3, -0.2, None), effect(0.3, -1.0, 1.0)])
def test_an_effect_without_bounds_is_too_early_to_tell(unknown: str) -> None:
    assert unknown == "The answers do not tell how much “Face” and “Slides” differ among honest students."


def test_percent_signs_in_labels_do_no_harm() -> None:
    assert "“100 % slides %s”" in effect(0.2, 0.1, 0.3, treatment="100 % slides %s")


@pytest.mark.parametrize(("direction", "low", "high", "word"), [(1, 0.129, 0.3, "more"), (-1, -0.3, -0.129, "less")])
def test_a_finding_about_the_sign_says_how_large_it_is_at_least_and_carries_its_condition(
    direction: int, low: float, high: float, word: str
) -> None:
    """Cheaters who answer differently in two arms can turn the sign, and no test sees it where t is the same in all subsamples."""
    assert sign(direction, low, high) == f"“Face” makes yes {word} frequent than “Slides”, by at least 12 in 100, {ALIKE_IN_BOTH}"


@pytest.mark.parametrize(("direction", "word"), [(1, "more"), (-1, "less")])
def test_a_sign_without_a_least_size_is_said_alone(direction: int, word: str) -> None:
    assert sign(direction) == sign(direction, -0.1, 0.3) == f"“Face” makes yes {word} frequent than “Slides”, {ALIKE_IN_BOTH}"


def test_chance_alone_is_said_of_the_answers_and_not_of_the_cheaters() -> None:
    assert sign(0, -0.1, 0.2) == "Chance alone could explain the difference between “Face” and “Slides”."


def test_one_look_decides_by_the_adjusted_p_value() -> None:
    """Two of several contrasts: one that Holm's adjustment takes away, and one that stays."""
    delta = HonestTimesEffect(value=-0.1, standard_error=0.04, p_value=0.02)
    found = replace(ESTIMATED, value=-0.2, interval=replace(INTERVAL, low=-0.3, high=-0.1), honest_times_effect=delta, p_value=0.02)
    assert FoundEffect.of_one_look(replace(found, adjusted_p_value=0.06)).direction == 0
    assert FoundEffect.of_one_look(replace(found, adjusted_p_value=0.04)).direction == -1


@pytest.mark.parametrize(("low", "high", "told"), [(0.001, 0.3, 1), (0.0, 0.3, 0), (-0.001, 0.3, 0), (None, None, 0)])
def test_no_direction_is_told_beside_an_interval_that_holds_no_difference(low: float | None, high: float | None, told: int) -> None:
    """The test and the likelihood region may decide otherwise where the answers just reach either."""
    interval, delta = replace(INTERVAL, low=low, high=high), HonestTimesEffect(value=0.1, standard_error=0.04, p_value=0.02)
    one_look = replace(ESTIMATED, interval=interval, honest_times_effect=delta, p_value=0.02, adjusted_p_value=0.02)
    nothing = SequentialValue(value=0.1, interval=interval)
    sequence = SequentialEffect(
        **{name: getattr(one_look, name) for name in ("treatment", "control", "method", "value", "interval")},
        honest_times_effect=nothing,
        log_e_more=4.0,
        log_e_fewer=-4.0,
        direction=1,
    )
    for found in (FoundEffect.of_one_look(one_look), FoundEffect.of(sequence)):
        assert found.direction == told
        assert verdict_of(found, planned=True) == ("more" if told else "chance")
    published = {**asdict(one_look), "honest_times_effect": asdict(delta)}
    assert [cell.verdict for cell in _cells([published], level=0.95)] == ["more" if told else "chance"]


def test_answers_that_contradict_the_model_have_no_direction_in_the_table() -> None:
    nothing = Interval(kind="empty", low=None, high=None, level=0.95)
    assert verdict_of(replace(FOUND, interval=nothing, direction=1), planned=True) == "contradicted"


@pytest.mark.parametrize("contradicted", [True, False])
def test_the_model_is_contradicted_by_evidence_or_by_one_look(contradicted: bool) -> None:
    always = SequentialTest(statistic=9.0, df=1, log_e_value=3.0 if contradicted else 2.9, contradicted=contradicted)
    once = SpecificationTest(statistic=9.0, df=1, p_value=0.01 if contradicted else 0.2)
    for test in (always, once):
        assert specification_sentence(test).startswith("The answers do not fit" if contradicted else "The answers fit")
    assert specification_sentence(None) == ""


def test_answers_that_no_shares_explain_are_not_said_to_fit() -> None:
    """The test of alike cheating sees no difference between arms where the answers of both arms are impossible alike."""
    always = SequentialTest(statistic=0.0, df=1, log_e_value=0.0, contradicted=False)
    for test in (always, SpecificationTest(statistic=0.0, df=1, p_value=1.0), SpecificationTest(statistic=0.0, df=1, p_value=None), None):
        for survey in (False, True):
            assert "do not fit the model: an assumption fails" in specification_sentence(test, survey=survey, contradicted=True)
    once = SpecificationTest(statistic=9.0, df=1, p_value=0.0)
    assert "depend on the arm" in specification_sentence(once, contradicted=True)


@pytest.mark.parametrize(("low", "high", "words"), [(-0.004, 0.434, "between −1 and +44 in"), (0.104, 0.296, "between +10 and +30 in")])
def test_bounds_leave_out_nothing_that_the_interval_holds(low: float, high: float, words: str) -> None:
    """Rounded to the nearest, the first would deny an effect below zero."""
    interval = Interval(kind="likelihood", low=low, high=high, level=0.95)
    assert words in bounds_sentence(replace(ESTIMATED, bounds=(0.15, 0.25), interval=interval))


def test_bounds_carry_the_same_condition() -> None:
    interval = Interval(kind="likelihood", low=0.1, high=0.3, level=0.95)
    found = bounds_sentence(replace(ESTIMATED, bounds=(0.15, 0.25), interval=interval))
    assert found == f"The effect lies between +10 and +30 in 100, {ALIKE_IN_BOTH}"


def test_missing_answers_are_told_with_what_they_could_change() -> None:
    """40 of 400 are missing, all in one arm: (.4 − .4)/.5 to (.6 − .4)/.5. The sentence is right in all 441 ways that they could have
    answered. A blinded reader gets no contrast.
    """
    subsamples = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
    design = Design.of(arms=("slides", "face"), control="slides", subsamples=subsamples)
    counts = np.array([[[60.0, 40.0], [60.0, 40.0]], [[40.0, 40.0], [40.0, 40.0]]])
    found = missing_answers(counts, [[0, 0], [20, 20]], design=design)
    assert found is not None
    said = missing_sentence(found, names={"slides": "Slides", "face": "Face"})
    assert said.startswith("40 of 400 people did not answer this question. With any answers of theirs, the estimated change of the share ")
    assert "from “Slides” to “Face”, by the difference in means, would lie between 0 and +40 in 100" in said
    completed = np.tile(counts, (21, 21, 1, 1, 1))
    for first, second in product(range(21), repeat=2):
        completed[first, second, 1] += [[20 - first, first], [20 - second, second]]
    changes = difference_in_means_kernel(completed, design).honest_times_effect
    assert (round(float(changes.min()), 6), round(float(changes.max()), 6)) == (0.0, 0.4)
    tested = list(missing_test_sentences(found, names={"slides": "Slides", "face": "Face"}))
    assert tested[0].startswith("Answers are not missing equally often in all groups")
    assert "chance alone would give such differences in less than 0.1 % of studies." in tested[0]
    with override("de"):
        assert "gäbe solche Unterschiede in weniger als 0,1 % der Studien" in missing_alike_sentence(found)
    assert "such differences in 0.1 % of studies" in missing_alike_sentence(replace(found, p_value=0.0005))
    assert "from “Slides” to “Face” lies between 0 and +50 in 100, if a group" in tested[1]  # Lee's bounds, by hand in docs/methods.md
    alike = missing_answers(counts, [[10, 10], [10, 8]], design=design)
    said = next(missing_test_sentences(alike, names={"slides": "Slides", "face": "Face"}))
    assert said.startswith("Chance alone could explain in which groups answers are missing")
    assert "equally" not in said
    assert list(missing_test_sentences(None, names={})) == []
    assert missing_sentence(replace(found, contrasts=()), names={}) == "40 of 400 people did not answer this question."
    assert missing_sentence(None, names={}) == ""


def test_numbers_of_sentences_are_written_as_their_language_writes_them() -> None:
    clustered = AssignmentInference(
        clusters=7,
        strata=1,
        clusters_per_arm=(4.0, 3.5),
        degrees_of_freedom=(5.0,),
        randomisation_p_values=(0.042,),
        intraclass_correlation=0.0514,
        design_effect=(1.5,),
    )
    with override("de"):
        assert (p_in_words(0.034), p_in_words(0.0001)) == ("p = 0,034", "p < 0,001")
        first, few, drawn = assignment_sentences(clustered)
    assert "ähneln (Intraklassenkorrelation der gemeldeten Antworten 0,051)" in first
    assert "1,50-mal" in first
    assert "so viel wert wie 3,5 von" in few
    assert "in 4,2 % der Ziehungen" in drawn
    assert p_in_words(0.034) == "p = 0.034"
