"""Estimates of people who were assigned in clusters or within strata."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from candor.clusters.cell_covariance import clustered_cells
from candor.clusters.clustered_effects import (
    clustered_cheaters,
    degrees_of_freedom,
    estimate_assigned_together,
    intraclass_correlation,
)
from candor.clusters.people import AssignedTogether, assigned_together
from candor.errors import DataError, MethodError
from candor.estimators.cell_means import maximum_likelihood_fit
from candor.estimators.contrasts import UNBOUNDED
from candor.estimators.effects import estimate_outcome
from candor.results import CLUSTERED, STRATIFIED, to_json
from tests.clustered_people import DESIGN, alone, clustered_people, three_arms, together
from tests.designs import DESIGNS


def estimated(people: AssignedTogether, level: float = 0.95):
    return estimate_assigned_together(people, rng=np.random.default_rng(1), level=level)


def efficient(people: AssignedTogether, level: float = 0.95):
    return next(one for one in estimate_outcome(people.counts, design=people.design, level=level).effects if one.method == "efficient")


@pytest.mark.parametrize("name", ["mirrored", "symmetric, stated rate"])
def test_clusters_change_the_uncertainty_and_not_the_estimate(name: str) -> None:
    people = replace(clustered_people(1, effect=0.2), design=DESIGNS[name])
    (effect,), inference = estimated(people)[0].effects, estimated(people)[1]
    plain = efficient(people)
    assert effect.method == CLUSTERED
    assert effect.honest_times_effect.value == pytest.approx(plain.honest_times_effect.value, abs=1e-8)
    ratio = effect.honest_times_effect.standard_error / plain.honest_times_effect.standard_error
    assert inference.design_effect == pytest.approx((ratio**2,), rel=1e-6)
    assert inference.clusters == 12


def test_people_who_are_alone_get_the_interval_of_the_plain_estimate() -> None:
    """HC2 against the binomial variance, t with many degrees of freedom against the normal: they differ by a percent."""
    people = clustered_people(2, clusters=40)
    alone = together(people.reported, people.arm, people.subsample, None)
    (effect,), inference = estimated(alone)[0].effects, estimated(alone)[1]
    plain = efficient(alone)
    assert effect.method == STRATIFIED
    assert effect.honest_times_effect.standard_error == pytest.approx(plain.honest_times_effect.standard_error, rel=0.02)
    assert inference.degrees_of_freedom[0] > 500
    assert inference.intraclass_correlation is None


@pytest.mark.parametrize(
    ("people", "lost"),
    [
        (three_arms(1, answers=2), 0),  # strata inside clusters
        (clustered_people(5, clusters=16, strata=2), 1),
        (alone(clustered_people(5, strata=2)), 0),
    ],
)
def test_the_degrees_of_freedom_are_welch_s(people: AssignedTogether, lost: int) -> None:
    cells, sizes = clustered_cells(people), np.bincount(people.cluster)
    freedom, variances = [], []
    for arm in range(len(people.design.arms)):
        there = sizes[people.arm_of_cluster == arm]
        freedom.append(there.sum() ** 2 / (there**2).sum() - 1)
        variances.append((one := np.array([0.3, 0.7])) @ cells.covariance[2 * arm : 2 * arm + 2, 2 * arm : 2 * arm + 2] @ one)
    first, second = variances[0], 4 * variances[1]
    one_number = np.zeros((1, len(people.design.arms) * 2))
    one_number[0, :4] = 0.3, 0.7, -0.6, -1.4
    expected = (first + second) ** 2 / (first**2 / freedom[0] + second**2 / freedom[1]) - lost
    assert degrees_of_freedom(people, cells, one_number) == pytest.approx(expected)
    of_one_arm = np.eye(2, one_number.shape[1])  # two numbers, which together have the degrees of freedom of their arm
    assert degrees_of_freedom(people, cells, of_one_arm) == pytest.approx(freedom[0] - lost)


@pytest.mark.parametrize(
    "people",
    [
        clustered_people(1, clusters=4, effect=0.3),
        clustered_people(2, clusters=14, size=300, spread=0.3, effect=0.2),
        three_arms(2, answers=2, clusters=15, size=800),
    ],
)
def test_student_s_t_takes_the_place_of_the_normal_distribution_everywhere(people: AssignedTogether) -> None:
    """Fieller's set, solved for its ends; its note; Wald's interval; p-values; cheaters with the fewest degrees of freedom."""
    outcome, inference = estimated(people, 0.9)
    cheaters = outcome.cheater_proportion
    honest = 1 - cheaters.raw
    for effect, freedom in zip(outcome.effects, inference.degrees_of_freedom, strict=True):
        delta, t = effect.honest_times_effect, scipy.stats.t.ppf(0.95, freedom)
        assert effect.p_value == delta.p_value == pytest.approx(2 * scipy.stats.t.sf(abs(delta.value) / delta.standard_error, freedom))
        assert effect.fieller == effect.interval
        assert (effect.interval.kind == "unbounded") == (UNBOUNDED in effect.notes) == (honest < t * cheaters.standard_error)
        assert (effect.wald.low, effect.wald.high) == pytest.approx(effect.value + t * effect.standard_error * np.array([-1, 1]))
        least = delta.standard_error**2 + (effect.value * cheaters.standard_error) ** 2
        covariance = (least - (effect.standard_error * honest) ** 2) / (2 * effect.value)
        for end in {effect.interval.low, effect.interval.high} - {-1, 1, None}:
            variance = delta.standard_error**2 - 2 * end * covariance + (end * cheaters.standard_error) ** 2
            assert abs(delta.value - end * honest) == pytest.approx(t * np.sqrt(variance))
    half = scipy.stats.t.ppf(0.95, min(inference.degrees_of_freedom)) * cheaters.standard_error
    assert (cheaters.interval.low, cheaters.interval.high) == pytest.approx((max(cheaters.raw - half, 0), min(cheaters.raw + half, 1)))
    assert cheaters.value == cheaters.raw


def test_each_stratum_of_clusters_costs_a_degree_of_freedom_and_explains_what_differs() -> None:
    people = clustered_people(5, clusters=16, size=30, spread=0.1, strata=2)
    with_strata = estimated(people)
    without = estimated(together(people.reported, people.arm, people.subsample, people.cluster))
    assert with_strata[1].strata == 2
    better, worse = (one[0].effects[0].honest_times_effect.standard_error for one in (with_strata, without))
    assert better < worse


def test_the_interval_excludes_zero_exactly_when_the_test_rejects() -> None:
    for seed in range(30):
        (effect,) = estimated(clustered_people(seed, effect=0.35), 0.9)[0].effects
        if effect.interval.low is not None:
            assert (effect.p_value < 0.1) == (not effect.interval.contains(0.0))


def test_few_clusters_are_named_and_the_document_is_json() -> None:
    outcome, inference = estimated(clustered_people(3, clusters=6))
    assert any("degrees of freedom" in note for note in outcome.notes)
    assert outcome.specification_test is None
    assert to_json(outcome)
    assert to_json(inference)


def test_the_intraclass_correlation_by_hand() -> None:
    """Two arms of two clusters of two people; residuals ±.5 between clusters of arm 0, and within those of arm 1: MSB = MSW = ½·1."""
    reported = np.array([1, 1, 0, 0, 1, 0, 1, 0])
    people = assigned_together(
        np.tile(reported, 2),
        np.tile(np.repeat([0, 1], 4), 2),
        np.repeat([0, 1], 8),
        design=DESIGN,
        cluster=[str(one) for one in np.tile(np.repeat([0, 1, 2, 3], 2), 2)],
    )
    # Between: two clusters of four people at ±.5, so 4·.25·2 = 2 over 4 − 2. Within: eight squares of .25 over 16 − 4.
    between, within = 2 / 2, 2 / 12
    assert intraclass_correlation(people) == pytest.approx((between - within) / (between + 3 * within))
    with pytest.raises(MethodError, match="everybody in a cell gave the same answer"):
        intraclass_correlation(replace(people, reported=people.arm))


@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        (["a", "a", "b", "b", "c", "c", "c", "c"], "arm 'treatment' has 1 cluster:"),
        (["a", "a", "b", "b", "a", "a", "a", "a"], "cluster 'a' has people in the arms 'control' and 'treatment'"),
        (["a", "a", "b", None, "c", "c", "d", "d"], "1 people with an answer have no cluster; the first stands in row 4"),
    ],
)
def test_clusters_that_cannot_be_are_refused(cluster: list[str | None], said: str) -> None:
    with pytest.raises(DataError, match=said):
        assigned_together(np.tile([0, 1], 4), np.repeat([0, 1], 4), np.tile([0, 1], 4), design=DESIGN, cluster=cluster)


def test_missing_strata_are_a_stratum_of_their_own() -> None:
    people = assigned_together(
        np.tile([0, 1], 4), np.repeat([0, 1], 4), np.tile([0, 1], 4), design=DESIGN, cluster=None, strata=[["x", None, 1.0, 2.5] * 2]
    )
    assert people.strata == ("1", "2.5", "not answered", "x")


def test_where_strata_explain_every_answer_there_is_no_standard_error_whatever_the_order_of_people() -> None:
    """A standard error of rounding, 10⁻¹⁷, used to make an effect of eight people certain, with a p-value of 10⁻³³."""
    arm, subsample, reported, stratum = np.array(
        [[0, 1, 1, 0, 0, 1, 1, 0], [1, 0, 0, 1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 1, 0, 0], [1, 1, 0, 0, 0, 1, 0, 0]]
    )
    for order in (np.arange(8), np.arange(8)[::-1], np.random.default_rng(1).permutation(8)):
        people = assigned_together(
            reported[order], arm[order], subsample[order], design=DESIGN, cluster=None, strata=[stratum[order].tolist()]
        )
        (effect,) = estimated(people)[0].effects
        assert (effect.honest_times_effect.standard_error, effect.p_value) == (None, None)


@pytest.mark.parametrize(("honest", "value", "ends"), [(1.2, 0.0, (0.0, 0.118)), (0.9, 0.1, (0.0, 0.418)), (-0.1, 1.0, (0.782, 1.0))])
def test_cheaters_are_a_share(honest: float, value: float, ends: tuple[float, float]) -> None:
    """Student's t of three degrees of freedom is 3.182: 1 − x̂ ± .318, cut."""
    fit = replace(
        maximum_likelihood_fit(np.full((2, 2, 2), 9.0), DESIGN), coefficients=np.full(3, honest), covariance=np.full((3, 3), 0.01)
    )
    found = clustered_cheaters(fit, freedom=3.0, level=0.95)
    assert (found.value, found.interval.low, found.interval.high) == pytest.approx((value, *ends), abs=5e-4)


def test_everybody_alone_says_yes() -> None:
    outcome, inference = estimated(together(np.ones(40, int), np.tile([0, 1], 20), np.repeat([0, 1], 20), None))
    assert (outcome.effects[0].p_value, inference.degrees_of_freedom) == (None, (1.0,))


def test_a_variance_of_nothing_may_be_negative_by_rounding() -> None:
    """It ended the analysis with an error of arithmetic."""
    fit = replace(
        maximum_likelihood_fit(np.full((2, 2, 2), 9.0), DESIGN), coefficients=np.array([0.9] * 3), covariance=np.full((3, 3), -1e-20)
    )
    found = clustered_cheaters(fit, freedom=3.0, level=0.95)
    assert (found.raw, found.standard_error, found.interval) == (pytest.approx(0.1), None, None)
