"""Estimates of questions with categories of people who were assigned in clusters or within strata."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose

from candor.categories.estimates import estimate_categories
from candor.clusters.clustered_categories import estimate_categories_assigned_together
from candor.clusters.clustered_effects import estimate_assigned_together
from candor.clusters.people import AssignedTogether, assigned_together
from candor.designs.design import Design
from candor.errors import DataError, MethodError
from candor.estimators.effects import INFINITE_EPSILON, NO_CHEATER_PROPORTION
from candor.results import to_json
from tests.clustered_people import CATEGORIES, FACES, IN_NO_ORDER, alone, clustered_category_people, clustered_people, three_arms
from tests.designs import DESIGNS

OPEN_DICE = {"1": {"forced_no": "0", "forced_yes": "1/6"}, "2": {"forced_no": "1/3", "forced_yes": "1/3"}}
WITHOUT_CHEATERS = Design.of(arms=("a", "b"), control="a", subsamples=OPEN_DICE, cheater_model="unknown", reanalysis=True)


def estimated(people: AssignedTogether, level: float = 0.95):
    return estimate_categories_assigned_together(people, rng=np.random.default_rng(1), level=level)


@pytest.mark.parametrize(
    "people",
    [
        clustered_people(1, effect=0.2),
        clustered_people(1, strata=2, clusters=16),
        clustered_people(1, clusters=5),
        three_arms(3, answers=2),
        alone(three_arms(4, answers=2)),
        replace(clustered_people(1), design=WITHOUT_CHEATERS),
        replace(clustered_people(1), design=DESIGNS["symmetric, stated rate"]),
    ],
)
def test_two_answers_have_the_numbers_of_yes_and_no(people: AssignedTogether) -> None:
    outcome, inference = estimate_assigned_together(people, rng=np.random.default_rng(1))
    found = estimated(people)
    for yes, expected, none in zip(found.effects[1::2], outcome.effects, found.no_effect, strict=True):
        assert expected.honest_times_effect.value is not None
        assert yes.treatment == none.treatment == expected.treatment
        for name in ("value", "standard_error", "p_value", "adjusted_p_value"):
            assert getattr(yes, name) == pytest.approx(getattr(expected, name), rel=1e-9)
        for name in ("interval", "wald"):
            one, other = getattr(yes, name), getattr(expected, name)
            assert (one and one.kind) == (other and other.kind)
            assert (one and [one.low, one.high]) == (other and pytest.approx([other.low, other.high], rel=1e-9))
        assert yes.honest_times_effect.standard_error == pytest.approx(expected.honest_times_effect.standard_error, rel=1e-9)
        assert (none.p_value, none.adjusted_p_value) == pytest.approx((expected.p_value, expected.adjusted_p_value), rel=1e-9)
    cheaters, said = found.cheater_proportion, outcome.cheater_proportion
    assert (cheaters.value, cheaters.raw) == pytest.approx((said.value, said.raw), abs=1e-9)
    assert (cheaters.interval and cheaters.interval.high) == pytest.approx(said.interval and said.interval.high, abs=1e-9)
    assert set(outcome.notes) <= set(found.notes)
    assert (NO_CHEATER_PROPORTION in found.notes) == (cheaters.value is None)
    assert (INFINITE_EPSILON in found.notes) == (people.design is WITHOUT_CHEATERS)
    for name in ("degrees_of_freedom", "randomisation_p_values", "intraclass_correlation", "clusters_per_arm", "design_effect"):
        one, other = (np.array(getattr(of, name), dtype=float) for of in (found.assignment, inference))
        assert_allclose(one, other, rtol=1e-9)


def test_people_who_are_alone_have_about_the_numbers_of_everybody_alone() -> None:
    grouped = clustered_category_people(3, clusters=60, spread=0.0, effect=0.2)
    alone = assigned_together(grouped.reported, grouped.arm, grouped.subsample, design=CATEGORIES, cluster=None)
    found, plain = estimated(alone), estimate_categories(alone.counts, design=CATEGORIES)
    for one, other in zip(found.effects, plain.effects, strict=True):
        assert (one.measure, one.category) == (other.measure, other.category)
        assert_allclose(one.value, other.value, atol=2e-3)
        assert_allclose(one.standard_error, other.standard_error, rtol=0.03)
    assert found.assignment.intraclass_correlation is None
    assert_allclose(found.assignment.design_effect, 1, rtol=0.03)


def test_unlike_sections_widen_every_interval_of_an_effect() -> None:
    people = clustered_category_people(4, spread=1.5, clusters=14, size=40)
    found, plain = estimated(people), estimate_categories(people.counts, design=CATEGORIES)
    assert found.assignment.intraclass_correlation > 0.02
    assert found.assignment.design_effect[0] > 1.5
    pairs = [(one.honest_times_effect, other.honest_times_effect) for one, other in zip(found.effects, plain.effects, strict=True)]
    wider = [one.standard_error > other.standard_error for one, other in pairs]
    assert sum(wider) >= len(wider) - 1
    assert found.no_effect[0].p_value > plain.no_effect[0].p_value
    assert (found.model_test, found.prevalence, found.specification_test, found.missing_answers) == (None, (), None, None)
    to_json(found)


def test_a_category_counts_alike_wherever_it_stands() -> None:
    """The test of no effect and the effects do not depend on which answer the model leaves out."""
    people = clustered_category_people(5, effect=0.15, ordered=False)
    names = IN_NO_ORDER.categories
    faces = {name: dict(list(of.items())[::-1]) for name, of in FACES.items()}
    turned = Design.of(arms=("slides", "face"), control="slides", categories=names[::-1], subsamples=faces)
    sections = [people.clusters[one] for one in people.cluster]
    other = assigned_together(2 - people.reported, people.arm, people.subsample, design=turned, cluster=sections)
    first, second = estimated(people), estimated(other)
    assert_allclose(first.no_effect[0].p_value, second.no_effect[0].p_value, rtol=1e-7)
    assert_allclose([one.value for one in first.effects], [one.value for one in second.effects][::-1], atol=1e-9)
    assert_allclose([one.p_value for one in first.effects], [one.p_value for one in second.effects][::-1], rtol=1e-7)
    assert first.assignment.randomisation_p_values == second.assignment.randomisation_p_values


def test_few_sections_say_what_cannot_be_tested() -> None:
    people = clustered_category_people(6, clusters=4, size=40)
    found = estimated(people)
    (test,), (freedom,) = found.no_effect, found.assignment.degrees_of_freedom
    assert any("few" in note for note in found.notes)
    assert 1 < freedom < 2
    assert test.p_value == pytest.approx(scipy.stats.f.sf(test.statistic * (freedom - 1) / (2 * freedom), 2, freedom - 1))
    assert 0 <= found.assignment.randomisation_p_values[0] <= 1
    first = [np.flatnonzero(people.arm_of_cluster == arm)[0] for arm in (0, 1)]
    kept = np.isin(people.cluster, first) | (np.arange(len(people.cluster)) % 3 == 0)  # a third of the second section of each arm
    of_kept = {name: getattr(people, name)[kept] for name in ("reported", "arm", "subsample", "cluster", "stratum")}
    fewer = estimated(replace(people, **of_kept))
    assert (fewer.assignment.degrees_of_freedom, fewer.no_effect[0].p_value) == ((1,), 1)
    assert ["can never reject" in note for one in (found, fewer) for note in one.notes].count(True) == 1


def test_answers_that_do_not_vary_are_refused() -> None:
    people = clustered_category_people(1)
    constant = replace(people, reported=np.array([[0, 1], [2, 0]])[people.arm, people.subsample])
    with pytest.raises(MethodError, match="the answers within every arm do not vary"):
        estimated(constant)


def test_an_answer_that_nobody_gave_is_named() -> None:
    people = clustered_category_people(7)
    reported, sections = np.where(people.reported == 1, 0, people.reported), [people.clusters[one] for one in people.cluster]
    lost = assigned_together(reported, people.arm, people.subsample, design=CATEGORIES, cluster=sections)
    with pytest.raises(DataError, match="nobody in the arms 'face' and 'slides' gave the answer “once”"):
        estimated(lost)


def test_an_answer_that_strata_explain_has_no_standard_error_of_rounding() -> None:
    """Everybody of one stratum answered alike: an effect of thirteen people had a p-value of 10⁻⁴³."""
    arm, subsample, stratum, reported = np.array(
        [
            [0, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1],
            [1, 1, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0],
            [0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1],
            [1, 2, 0, 2, 1, 0, 2, 0, 2, 1, 2, 0, 2],
        ]
    )
    people = assigned_together(reported, arm, subsample, design=CATEGORIES, cluster=None, strata=[stratum.tolist()])
    by_measure = {(one.measure, one.category): one for one in estimated(people).effects}
    explained, left = by_measure["category", "often"], by_measure["category", "never"]
    assert (explained.honest_times_effect.standard_error, explained.p_value) == (None, None)
    assert left.p_value is not None
    assert 0 < left.p_value < 1
