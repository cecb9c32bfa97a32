"""The promise of the types of classes, the attack on it, and noise for one class, which the same attack catches."""

from __future__ import annotations

from itertools import product

import numpy as np

from candor.networks.attacks import telling_apart
from candor.networks.circles import Circles
from candor.networks.class_types.release import class_types, private_class_types, sensitivity
from candor.privacy.auditing import Audit
from candor.privacy.contracts import Contract, Small
from candor.privacy.losses import Loss
from candor.privacy.noise import discrete_laplace
from candor.privacy.sensitivity import Sensitivity, Whole

EPSILON = 1.0
# One student with an open circle leaves the first class and enters the second with a close one: both become close.
OTHERS = [[2, 1], [4, 3]]
PAIR = np.array([class_types(Circles([*OTHERS, circle]), [0, 1, place], count=2) for circle, place in (([2, 0], 0), ([2, 1], 1))])
# One class replaced changes two counts (slides of 003, partition privacy); one student who changes classes, four.
ONE_CLASS = Sensitivity(l1=2, l2_squared=2, linf=1)
# Friends and linked pairs: an open, a mixed and a close circle, and one without a coefficient.
ROWS = ([2, 0], [4, 3], [2, 1], [0, 0])


def _small(memberships: int, classes: int) -> Small:
    rows = np.array([[*circle, *places] for circle in ROWS for places in product(range(classes), repeat=memberships)])

    def statistic(table: Whole) -> Whole:
        return class_types(Circles(table[:, :2]), table[:, 2:], count=classes)

    return Small(rows=rows, statistic=statistic, claimed=sensitivity(memberships=memberships), n=3)


CONTRACT = Contract(
    name="types of classes",
    small=(_small(1, 2), _small(1, 3)),
    release=lambda counts: private_class_types(counts, epsilon=EPSILON),
    audit=Audit(Loss.pure(EPSILON), telling_apart(PAIR, lambda counts: private_class_types(counts, epsilon=EPSILON).values)),
    control=Audit(
        Loss.pure(EPSILON), telling_apart(PAIR, lambda counts: discrete_laplace(counts, sensitivity=ONE_CLASS, epsilon=EPSILON).values)
    ),
)
