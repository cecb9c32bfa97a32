"""The promise of the mean over classes, the attack on it, and empty classes that count nothing, which the same attack catches."""

from __future__ import annotations

import numpy as np

from candor.networks.attacks import telling_apart
from candor.networks.circles import NO_LIST, Circles
from candor.networks.class_means.release import EMPTY, private_sum_of_class_means, sensitivity, sum_of_class_means
from candor.networks.classes import NO_CLASS
from candor.privacy.auditing import Audit
from candor.privacy.contracts import Contract, Small
from candor.privacy.losses import Loss
from candor.privacy.sensitivity import Whole

EPSILON = 1.0
# One student stays in their class, and their two friends know each other, or do not.
PAIR = np.array([sum_of_class_means(Circles([[2, linked]]), [0], count=2) for linked in (1, 0)])
# Two classes of one close circle each; or the first student goes to the second class, with friends of whom nobody knows the other.
MOVED = [(Circles([[2, linked], [2, 1]]), [place, 1]) for linked, place in ((1, 0), (0, 1))]


def _with_empty_classes_as_nothing(circles: Circles, classes: list[int]) -> Whole:
    """The statistic as it must not be: the empty first class adds 0."""
    return sum_of_class_means(circles, classes, count=2) - EMPTY * (0 not in classes)


def _rows(memberships: int, classes: int) -> Whole:
    """Every circle of none, one or three friends, in every class: friends, linked pairs, classes."""
    circles = [(NO_LIST, NO_LIST), (1, 0), *((3, linked) for linked in range(4))]
    places = np.stack(np.meshgrid(*[np.arange(NO_CLASS, classes)] * memberships), axis=-1).reshape(-1, memberships)
    return np.array([[*circle, *place] for circle in circles for place in places])


def _small(memberships: int, classes: int, n: int) -> Small:
    def statistic(table: Whole) -> Whole:
        return sum_of_class_means(Circles(table[:, :2]), table[:, 2:], count=classes)

    return Small(rows=_rows(memberships, classes), statistic=statistic, claimed=sensitivity(memberships=memberships), n=n)


CONTRACT = Contract(
    name="clustering, mean over classes",
    small=(_small(1, 1, 2), _small(1, 2, 3), _small(2, 2, 2)),
    release=lambda total: private_sum_of_class_means(total, epsilon=EPSILON),
    audit=Audit(Loss.pure(EPSILON), telling_apart(PAIR, lambda total: private_sum_of_class_means(total, epsilon=EPSILON).values)),
    control=Audit(
        Loss.pure(EPSILON),
        telling_apart(
            np.array([_with_empty_classes_as_nothing(*world) for world in MOVED]),
            lambda total: private_sum_of_class_means(total, epsilon=EPSILON).values,
        ),
    ),
    runs=20_000,
)
