"""The promise of a sum, the attack on it, and a wrong calibration that the same attack catches."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np

from candor.privacy.auditing import Audit, Scores
from candor.privacy.contracts import Contract, Small
from candor.privacy.losses import Loss
from candor.privacy.noise import discrete_laplace
from candor.privacy.sensitivity import Sensitivity
from candor.queries.total.release import private_total, sensitivity, total

EPSILON = 1.0
LOW, HIGH = -2, 2
# One person adds −2 in one world and 2 in the other.
PAIR = (10 + LOW, 10 + HIGH)
# The largest number that a person adds: right where a person is removed, half of the truth where a row is replaced.
TOO_SMALL = Sensitivity(l1=HIGH, l2_squared=HIGH**2, linf=HIGH)


def _draw(world: int, runs: int) -> Scores:
    exact = np.full(runs, PAIR[world])
    return np.asarray(private_total(exact, low=LOW, high=HIGH, epsilon=EPSILON).values, dtype=np.float64)


def _draw_control(world: int, runs: int) -> Scores:
    return np.asarray(discrete_laplace(np.full(runs, PAIR[world]), sensitivity=TOO_SMALL, epsilon=EPSILON).values, dtype=np.float64)


CONTRACT = Contract(
    name="count and sum",
    small=tuple(
        Small(
            rows=np.array(list(product(range(low, high + 1), repeat=entries))),
            statistic=partial(total, low=low, high=high),
            claimed=sensitivity(low, high).times(entries),
        )
        for low, high, entries in ((0, 1, 1), (-2, 2, 1), (0, 1, 3))
    ),
    release=lambda exact: private_total(exact, low=LOW, high=HIGH, epsilon=EPSILON),
    audit=Audit(Loss.pure(EPSILON), _draw),
    control=Audit(Loss.pure(EPSILON), _draw_control),
    runs=10_000,
)
