"""Shares of true answers among everybody: those of a survey of all arms together, with the arms compared beside them."""

from dataclasses import replace

import numpy as np
import pytest

from candor.categories.distribution import estimate_distribution
from candor.categories.estimates import estimate_categories
from candor.categories.results import EVERYBODY
from candor.designs.design import Design
from candor.errors import TooFewResponsesError

SUBSAMPLES = {"1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}}
COUNTS = np.array([[[148, 84, 168], [228, 84, 88]], [[140, 90, 170], [220, 90, 90]], [[150, 80, 170], [230, 80, 90]]])


def design(*arms: str, cheaters: object = "any") -> Design:
    return Design.of(arms=arms, control=arms[0], categories=("never", "once", "often"), subsamples=SUBSAMPLES, cheater_model=cheaters)


@pytest.mark.parametrize("cheaters", ["any", {"always": "never"}])
def test_it_is_a_survey_of_all_arms_together_with_the_tests_of_the_experiment(cheaters: object) -> None:
    experiment = design("a", "b", "c", cheaters=cheaters)
    found = estimate_distribution(COUNTS, design=experiment)
    together = estimate_categories(COUNTS.sum(axis=0, keepdims=True), design=design(EVERYBODY, cheaters=cheaters))
    assert found == replace(together, no_effect=estimate_categories(COUNTS, design=experiment).no_effect)
    assert [(one.treatment, one.control) for one in found.no_effect] == [("b", "a"), ("c", "a")]
    assert (found.n, found.effects, {one.arm for one in found.prevalence}) == (COUNTS.sum(), (), {"all arms"})


def test_in_a_survey_it_is_the_estimate_of_the_survey() -> None:
    assert estimate_distribution(COUNTS[:1], design=design("a")) == estimate_categories(COUNTS[:1], design=design("a"))


def test_arms_that_differ_are_noticed_and_arms_without_people_are_refused() -> None:
    other = COUNTS[:2].copy()
    other[1] = [[60, 84, 256], [140, 84, 176]]
    assert estimate_distribution(other, design=design("a", "b")).no_effect[0].p_value < 1e-6
    other[1, 0] = 0
    with pytest.raises(TooFewResponsesError):
        estimate_distribution(other, design=design("a", "b"))
