"""Estimates in plain words."""

from dataclasses import replace

import pytest

from analysis.live.wording import always_known_sentence, bounds_sentence, cheater_sentence, effect_sentence
from candor.results import CheaterProportion, Effect, HonestTimesEffect, Interval


def proportion(value: float | None, low: float | None = None, high: float | None = None, *, kind: str = "wald") -> CheaterProportion:
    return CheaterProportion(value=value, raw=value, standard_error=None, interval=Interval(kind=kind, low=low, high=high, level=0.95))


ESTIMATED = Effect(
    treatment="face",
    control="slides",
    method="difference_in_means",
    value=None,
    standard_error=None,
    interval=None,
    wald=None,
    p_value=None,
    adjusted_p_value=None,
    honest_times_effect=HonestTimesEffect(value=None, standard_error=None, p_value=None),
    honest_proportion=None,
    assumption="",
)
CONDITION = "if people who do not follow the die answer alike in both groups."


def effect(
    value: float | None, low: float | None = None, high: float | None = None, *, kind: str = "fieller", treatment: str = "Face"
) -> str:
    estimated = replace(ESTIMATED, value=value, interval=Interval(kind=kind, low=low, high=high, level=0.95))
    return effect_sentence(estimated, treatment=treatment, control="Slides")


@pytest.mark.parametrize(
    ("value", "low", "high", "words"),
    [
        (0.1, 0.0, 0.3, "About 1 in 10 students did not follow the die (between 0 and 3 in 10)."),
        (0.123, 0.049, 0.251, "About 12 in 100 students did not follow the die (between 5 and 25 in 100)."),
        (0.0, 0.0, 0.04, "About 0 in 100 students did not follow the die (between 0 and 4 in 100)."),
        (1.0, 0.9, 1.0, "About 100 in 100 students did not follow the die (between 90 and 100 in 100)."),
    ],
)
def test_cheaters_are_counted_in_tens_or_when_more_is_known_in_hundreds(value: float, low: float, high: float, words: str) -> None:
    assert cheater_sentence(proportion(value, low, high)) == words


def test_an_interval_from_nobody_to_everybody_says_nothing_yet() -> None:
    assert cheater_sentence(proportion(0.4, 0.0, 1.0)).startswith("It is too early to say")
    assert cheater_sentence(proportion(0.4)).startswith("It is too early to say")


def test_a_design_that_cannot_tell_says_so() -> None:
    assert cheater_sentence(replace(proportion(None), interval=None)) == "This design cannot tell how many did not follow the die."


def test_answers_that_contradict_the_assumptions_say_so() -> None:
    assert "contradict the assumptions" in cheater_sentence(proportion(0.0, kind="empty"))
    assert "contradict the assumptions" in effect(0.2, kind="empty")
    assert "“Face”" in effect(0.2, kind="empty")


def test_an_effect_is_told_in_a_hundred_honest_students() -> None:
    assert (
        effect(0.2, 0.1, 0.31)
        == "Of 100 honest students, about 20 more would say yes with “Face” than with “Slides” (between +10 and +31)."
    )
    assert (
        effect(-0.2, -0.31, -0.1)
        == "Of 100 honest students, about 20 fewer would say yes with “Face” than with “Slides” (between -31 and -10)."
    )


def test_an_effect_that_may_be_chance_says_so() -> None:
    assert effect(0.05, -0.1, 0.2).endswith("than with “Slides”; that may be chance (between -10 and +20).")


def test_rounding_does_not_turn_an_effect_into_chance() -> None:
    assert "chance" not in effect(0.05, 0.004, 0.1)
    assert "chance" in effect(0.05, 0.0, 0.1)


@pytest.mark.parametrize("unknown", [effect(None), effect(0.3), effect(0.3, -0.2, None)])
def test_an_effect_without_bounds_is_too_early_to_tell(unknown: str) -> None:
    assert unknown == "It is too early to say what difference “Face” makes against “Slides”."


def test_percent_signs_in_labels_do_no_harm() -> None:
    assert "“100 % slides %s”" in effect(0.2, 0.1, 0.3, treatment="100 % slides %s")


@pytest.mark.parametrize(("value", "direction"), [(0.12, "more"), (-0.12, "less")])
def test_a_finding_about_the_sign_carries_its_condition(value: float, direction: str) -> None:
    """Cheaters who answer differently in two arms can turn the sign, and no test sees it where t is the same in all subsamples."""
    found = replace(ESTIMATED, honest_times_effect=HonestTimesEffect(value=value, standard_error=0.03, p_value=0.001))
    sentence = always_known_sentence(found, treatment="Face", control="Slides")
    assert sentence == f"“Face” makes yes {direction} frequent than “Slides”, by about 12 in 100 or more, {CONDITION}"


def test_chance_alone_is_said_of_the_answers_and_not_of_the_cheaters() -> None:
    found = replace(ESTIMATED, honest_times_effect=HonestTimesEffect(value=0.01, standard_error=0.03, p_value=0.7))
    assert always_known_sentence(found, treatment="Face", control="Slides").startswith("So far, chance alone explains the difference")


def test_bounds_carry_the_same_condition() -> None:
    assert (
        bounds_sentence(replace(ESTIMATED, bounds=(0.15, 0.25), interval=Interval(kind="likelihood", low=0.1, high=0.3, level=0.95)))
        == f"The effect lies between +10 and +30 in 100, {CONDITION}"
    )
