"""The promise of the out-degree histogram, the attack on it, and the slides' undirected graph, which the same attack catches."""

from __future__ import annotations

import numpy as np

from candor.networks.attacks import all_circles, telling_apart
from candor.networks.circles import Circles
from candor.networks.degrees.release import SENSITIVITY, degrees, private_degrees
from candor.privacy.auditing import Audit
from candor.privacy.contracts import Contract, Small
from candor.privacy.losses import Loss
from candor.privacy.noise import discrete_laplace
from candor.privacy.sensitivity import Sensitivity

EPSILON = 1.0
# One student had no friend, or one.
PAIR = np.array([[5, 5, 5, 5], [4, 6, 5, 5]])
# An undirected graph with or without one friendship, whose ends have 0 and 2 other friends: two people change cells.
FRIENDSHIP = np.array([[5, 5, 5, 5], [4, 6, 4, 6]])
# "ΔF = 2" for a friendship (slides of 003); it is 4.
SLIDES = Sensitivity(l1=2, l2_squared=2, linf=1)

CONTRACT = Contract(
    name="numbers of friends",
    small=(Small(rows=all_circles(), statistic=lambda table: degrees(Circles(table)), claimed=SENSITIVITY),),
    release=lambda counts: private_degrees(counts, epsilon=EPSILON),
    audit=Audit(Loss.pure(EPSILON), telling_apart(PAIR, lambda counts: private_degrees(counts, epsilon=EPSILON).values)),
    control=Audit(
        Loss.pure(EPSILON),
        telling_apart(FRIENDSHIP, lambda counts: discrete_laplace(counts, sensitivity=SLIDES, epsilon=EPSILON).values),
    ),
    runs=20_000,
)
