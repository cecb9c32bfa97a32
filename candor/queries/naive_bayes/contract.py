"""The promise of the tables of naive Bayes, the attack on it, and a wrong calibration that the same attack catches."""

from __future__ import annotations

from itertools import product

import numpy as np

from candor.privacy.auditing import Audit, Scores
from candor.privacy.contracts import Contract, Small
from candor.privacy.losses import Loss
from candor.privacy.noise import Noisy, discrete_laplace
from candor.privacy.sensitivity import Sensitivity, Whole
from candor.queries.naive_bayes.release import private_tables, sensitivity, tables

EPSILON, FEATURES = 2.0, 2
# Two classes and features of two values: a person of class 0 with zeros becomes one of class 1 with ones. Cells that move, by table.
BEFORE, AFTER = (5, 5), (4, 6)


def _exact(world: int, runs: int) -> Whole:
    """For each run, each table's cell that loses the person, then the one that gains them."""
    return np.tile(np.repeat((BEFORE, AFTER)[world], FEATURES), (runs, 1))


def _score(noisy: Noisy) -> Scores:
    lost, gained = np.split(noisy.values, 2, axis=1)
    return np.asarray((np.clip(gained, 5, 6) - np.clip(lost, 4, 5)).sum(axis=1), dtype=np.float64)


def _draw(world: int, runs: int) -> Scores:
    return _score(private_tables(_exact(world, runs), features=FEATURES, epsilon=EPSILON))


def _draw_control(world: int, runs: int) -> Scores:
    return _score(discrete_laplace(_exact(world, runs), sensitivity=Sensitivity.of_histogram(), epsilon=EPSILON))


def _small(class_count: int, sizes: tuple[int, ...]) -> Small:
    rows = np.array(list(product(range(-1, class_count), *map(range, sizes))))
    return Small(
        rows=rows,
        statistic=lambda table: tables(table[:, 0], table[:, 1:], class_count=class_count, sizes=sizes),
        claimed=sensitivity(len(sizes)),
    )


CONTRACT = Contract(
    name="naive Bayes",
    small=(_small(2, (2,)), _small(2, (2, 3)), _small(3, (2, 2, 2))),
    release=lambda exact: private_tables(exact, features=FEATURES, epsilon=EPSILON),
    audit=Audit(Loss.pure(EPSILON), _draw),
    control=Audit(Loss.pure(EPSILON), _draw_control),
    runs=6000,
)
