"""Randomisation inference, against going through all arrangements one by one."""

from dataclasses import replace
from itertools import permutations, product
from math import comb

import numpy as np
import pytest

from candor.clusters import randomisation
from candor.clusters.people import AssignedTogether, assigned_together
from candor.clusters.randomisation import randomisation_p_values
from tests.clustered_people import CATEGORIES, clustered_people, three_arms
from tests.designs import DESIGNS


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def largest_t(people: AssignedTogether, arms: np.ndarray) -> list[float]:
    """The largest difference of means of residuals to control, by its standard error between clusters, over the answers; by contrast."""
    columns = [people.subsample == 0, people.subsample == 1, *(people.stratum == one for one in range(1, len(people.strata)))]
    matrix = np.column_stack(columns).astype(float)
    by_arm = []
    for arm in range(len(people.design.arms)):
        there, groups = arms[people.cluster] == arm, np.flatnonzero(arms == arm)
        residuals = people.gave - matrix @ np.linalg.lstsq(matrix, people.gave)[0]
        mean = residuals[there].mean(axis=0)
        sums = np.array([(residuals[people.cluster == one] - mean).sum(axis=0) for one in groups])
        by_arm.append((mean, np.square(sums).sum(axis=0) / there.sum() ** 2 * len(groups) / (len(groups) - 1)))
    control, variance = by_arm[people.design.control_index]
    return [np.abs((by_arm[one][0] - control) / np.sqrt(by_arm[one][1] + variance)).max() for one in people.design.treatment_indexes]


@pytest.mark.parametrize(
    "people",
    [
        clustered_people(11, clusters=6, size=8, effect=0.4),
        clustered_people(11, clusters=8, size=8, strata=4, effect=0.4),
        three_arms(1, clusters=7),
    ],
)
def test_the_p_value_counts_every_arrangement(people: AssignedTogether) -> None:
    """Strata that divide clusters cannot have been blocks."""
    arms, stratum = people.arm_of_cluster, people.stratum_of_cluster * people.strata_are_of_clusters()
    parts = [sorted(set(permutations(arms[stratum == one]))) for one in np.unique(stratum)]
    values = []
    for orders in product(*parts):
        again = arms.copy()
        for one, order in enumerate(orders):
            again[stratum == one] = order
        values.append(largest_t(people, again))
    expected = np.mean(np.array(values) >= np.array(largest_t(people, arms)) - 1e-9, axis=0)
    assert randomisation_p_values(people, rng=rng()) == pytest.approx(tuple(expected))


def test_drawn_arrangements_come_near_the_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten clusters have 252 arrangements, of which 251 are drawn where no more are gone through: four standard errors of a share."""
    people = clustered_people(12, clusters=10, effect=0.3)
    monkeypatch.setattr(randomisation, "MOST_ARRANGEMENTS", 252)
    (exact,) = randomisation_p_values(people, rng=rng())
    monkeypatch.setattr(randomisation, "MOST_ARRANGEMENTS", 251)
    (drawn,) = randomisation_p_values(people, rng=rng())
    assert exact is not None
    assert exact * 252 == pytest.approx(round(exact * 252))
    assert drawn == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 251) + 1 / 251)
    assert drawn != exact


def test_the_arrangement_that_was_is_counted_among_the_drawn_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of 252 are as large as it; none of the ten drawn ones is."""
    people = clustered_people(12, clusters=10, spread=0.1, effect=0.9)
    assert randomisation_p_values(people, rng=rng()) == pytest.approx((2 / 252,))
    monkeypatch.setattr(randomisation, "MOST_ARRANGEMENTS", 10)
    assert randomisation_p_values(people, rng=rng()) == pytest.approx((1 / 11,))


def test_answers_that_do_not_vary_have_no_p_value() -> None:
    people = clustered_people(12, clusters=6)
    assert randomisation_p_values(replace(people, reported=np.ones_like(people.reported)), rng=rng()) == (None,)


@pytest.mark.parametrize(("in_control", "size"), [(2, 2), (3, 6), (4, 10), (5, 21)])
def test_arms_that_differ_wholly_are_as_far_apart_only_when_they_change_places(in_control: int, size: int) -> None:
    """Sections of one arm all say no, those of the other all say yes: no section differs from others of its arm."""
    arm = np.repeat([0] * in_control + [1] * 3, size)
    people = assigned_together(arm, arm, np.arange(arm.size) % 2, design=DESIGNS["mirrored"], cluster=np.arange(arm.size) // size)
    arrangements = comb(in_control + 3, 3)
    assert randomisation_p_values(people, rng=rng()) == pytest.approx(((2 if in_control == 3 else 1) / arrangements,))


def test_an_answer_that_nobody_gives_changes_no_p_value() -> None:
    reported, cluster = rng().integers(0, 2, 48), np.arange(48) // 8
    found = [
        randomisation_p_values(assigned_together(reported, cluster % 2, np.arange(48) % 2, design=design, cluster=cluster), rng=rng())
        for design in (DESIGNS["mirrored"], CATEGORIES)
    ]
    assert found[0] == found[1] != (None,)
