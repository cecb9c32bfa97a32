"""Estimates of people who were assigned in clusters or within strata."""

import numpy as np
import pytest

from candor.clusters.clustered_effects import clustered_cheaters, estimate_assigned_together, intraclass_correlation
from candor.clusters.people import AssignedTogether, assigned_together
from candor.errors import DataError
from candor.estimators.effects import estimate_outcome
from candor.results import CLUSTERED, STRATIFIED, to_json
from tests.clustered_people import DESIGN, clustered_people, together


def estimated(people: AssignedTogether, level: float = 0.95):
    return estimate_assigned_together(people, rng=np.random.default_rng(1), level=level)


def efficient(people: AssignedTogether, level: float = 0.95):
    return next(one for one in estimate_outcome(people.counts, design=DESIGN, level=level).effects if one.method == "efficient")


def test_clusters_change_the_uncertainty_and_not_the_estimate() -> None:
    people = clustered_people(1, effect=0.2)
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


def test_the_degrees_of_freedom_are_welch_s() -> None:
    """Five clusters of four people alike in each arm: about 2 · (5 − 1) where both arms vary alike, never fewer than 4."""
    rng = np.random.default_rng(8)
    cluster = np.repeat(np.arange(10), 40)
    people = together(rng.integers(0, 2, 400), cluster % 2, np.tile([0, 1], 200), cluster)
    (freedom,) = estimated(people)[1].degrees_of_freedom
    assert 4 <= freedom <= 8 + 1e-9


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


@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        (["a", "a", "b", "b", "c", "c", "c", "c"], "arm 'treatment' has 1 cluster:"),
        (["a", "a", "b", "b", "a", "a", "d", "d"], "cluster 'a' has people in the arms 'control' and 'treatment'"),
        (["a", "a", "b", None, "c", "c", "d", "d"], "1 people with an answer have no cluster; the first stands in row 4"),
    ],
)
def test_clusters_that_cannot_be_are_refused(cluster: list[str | None], said: str) -> None:
    with pytest.raises(DataError, match=said):
        assigned_together(np.tile([0, 1], 4), np.repeat([0, 1], 4), np.tile([0, 1], 4), design=DESIGN, cluster=cluster)


def test_missing_strata_are_a_stratum_of_their_own() -> None:
    people = assigned_together(
        np.tile([0, 1], 4), np.repeat([0, 1], 4), np.tile([0, 1], 4), design=DESIGN, cluster=None, strata=[["x", None, "x", "y"] * 2]
    )
    assert people.strata == ("not answered", "x", "y")


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


def test_a_variance_of_nothing_may_be_negative_by_rounding() -> None:
    """It ended the analysis with an error of arithmetic."""
    found = clustered_cheaters(np.array([0.9]), np.array([[-1e-20]]), 0, freedom=3.0, level=0.95)
    assert (found.raw, found.standard_error, found.interval) == (pytest.approx(0.1), None, None)
