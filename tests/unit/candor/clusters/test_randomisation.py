"""Randomisation inference, against going through all arrangements one by one."""

from itertools import permutations, product

import numpy as np
import pytest

from candor.clusters import randomisation
from candor.clusters.people import AssignedTogether
from candor.clusters.randomisation import randomisation_p_values
from tests.clustered_people import clustered_people


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def t_of(people: AssignedTogether, arms: np.ndarray) -> float:
    """The difference of means of residuals between two arms, by its standard error between clusters."""
    columns = [people.subsample == 0, people.subsample == 1, *(people.stratum == one for one in range(1, len(people.strata)))]
    matrix = np.column_stack(columns).astype(float)
    residual = people.reported - matrix @ np.linalg.lstsq(matrix, people.reported.astype(float))[0]
    means, variances = [], []
    for arm in (0, 1):
        there = arms[people.cluster] == arm
        mean, groups = residual[there].mean(), (arms == arm).sum()
        sums = [(residual[people.cluster == one] - mean).sum() for one in np.flatnonzero(arms == arm)]
        means.append(mean)
        variances.append(np.square(sums).sum() / there.sum() ** 2 * groups / (groups - 1))
    return (means[1] - means[0]) / np.sqrt(sum(variances))


@pytest.mark.parametrize(("clusters", "strata"), [(6, 1), (8, 2)])
def test_the_p_value_counts_every_arrangement(clusters: int, strata: int) -> None:
    people = clustered_people(11, clusters=clusters, size=8, strata=strata, effect=0.4)
    arms, stratum = people.arm_of_cluster, people.stratum_of_cluster
    parts = [sorted(set(permutations(arms[stratum == one]))) for one in range(strata)]
    values = []
    for orders in product(*parts):
        again = arms.copy()
        for one, order in enumerate(orders):
            again[stratum == one] = order
        values.append(t_of(people, again))
    expected = np.mean(np.abs(values) >= abs(t_of(people, arms)) - 1e-9)
    assert randomisation_p_values(people, rng=rng()) == pytest.approx((expected,))


def test_drawn_arrangements_come_near_the_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """3,000 draws: four standard errors of a share."""
    people = clustered_people(12, clusters=10, effect=0.3)
    (exact,) = randomisation_p_values(people, rng=rng())
    monkeypatch.setattr(randomisation, "MOST_ARRANGEMENTS", 200)
    monkeypatch.setattr(randomisation, "_several", lambda labels: 10**9)
    monkeypatch.setattr(randomisation, "MOST_ARRANGEMENTS", 3000)
    (drawn,) = randomisation_p_values(people, rng=rng())
    assert exact is not None
    assert drawn == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 3000) + 1 / 3000)
    assert drawn > 0


def test_several_arms_are_drawn_together() -> None:
    from candor.clusters.people import assigned_together
    from tests.designs import DESIGNS

    two = clustered_people(13, clusters=9, size=20)
    arm = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2])[two.cluster]
    people = assigned_together(two.reported, arm, two.subsample, design=DESIGNS["three arms"], cluster=[str(one) for one in two.cluster])
    found = randomisation_p_values(people, rng=rng())
    assert len(found) == 2
    assert all(p is not None and 0 < p <= 1 for p in found)
