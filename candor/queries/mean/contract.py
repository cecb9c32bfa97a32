"""The promise of means, the attack on it, and a wrong calibration that the same attack catches."""

from __future__ import annotations

from itertools import product

import numpy as np

from candor.privacy.auditing import Audit, Scores
from candor.privacy.contracts import Contract, Small
from candor.privacy.losses import Loss
from candor.privacy.noise import discrete_laplace
from candor.privacy.sensitivity import Sensitivity, Whole
from candor.queries.mean.release import private_sums, sensitivity, sums

EPSILON, STEPS = 1.0, 4
# Five people in the middle, and one who is at the lower bound in one world and at the upper bound in the other.
PAIR = np.array([[-STEPS // 2], [STEPS // 2]])
TOO_SMALL = Sensitivity(l1=STEPS // 2, l2_squared=STEPS**2 // 4, linf=STEPS // 2)


def _draw(world: int, runs: int) -> Scores:
    # Many releases at once: the noise on each sum is drawn by itself, with the scale of one group.
    exact = np.tile(PAIR[world], (runs, 1))
    return np.asarray(private_sums(exact, epsilon=EPSILON, steps=STEPS).values[:, 0], dtype=np.float64)


def _draw_control(world: int, runs: int) -> Scores:
    return np.asarray(discrete_laplace(np.tile(PAIR[world], runs), sensitivity=TOO_SMALL, epsilon=EPSILON).values, dtype=np.float64)


def _small(groups: int, entries: int, steps: int) -> Small:
    distances = range(-steps // 2, steps // 2 + 1)
    one = [(value, group) for group in range(groups) for value in distances] + [(0, -1)]
    rows = np.array([np.ravel(entry) for entry in product(one, repeat=entries)])

    def statistic(table: Whole) -> Whole:
        values, places = table.reshape(-1, 2).T
        return sums(values, places, count=groups, steps=steps).ravel()

    return Small(rows=rows, statistic=statistic, claimed=sensitivity(groups, steps=steps).times(entries))


CONTRACT = Contract(
    name="mean",
    small=(_small(1, 1, 4), _small(2, 1, 4), _small(3, 1, 2), _small(2, 2, 2)),
    release=lambda exact: private_sums(exact, epsilon=EPSILON, steps=STEPS),
    audit=Audit(Loss.pure(EPSILON), _draw),
    control=Audit(Loss.pure(EPSILON), _draw_control),
    runs=20_000,
)
