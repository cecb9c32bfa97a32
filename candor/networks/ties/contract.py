"""The promise of the table of friends by clustering, the attack on it, and the slides' noise, which the same attack catches."""

from __future__ import annotations

from functools import partial

import numpy as np

from candor.networks.attacks import all_circles, telling_apart
from candor.networks.circles import Circles, Thresholds
from candor.networks.ties.release import SENSITIVITY, private_ties, ties
from candor.privacy.auditing import Audit
from candor.privacy.contracts import Contract, Small
from candor.privacy.losses import Loss
from candor.privacy.noise import discrete_laplace
from candor.privacy.sensitivity import Sensitivity, Whole

EPSILON = 1.0
# One student has two friends who know each other, or six of whom nobody does.
PAIR = np.array([ties(Circles([[2, 1]] * 5 + [[6, 0]] * 5 + [one])) for one in ([2, 1], [6, 0])])
# Laplace noise of scale 1/ε (slides of 003, algorithm 2) is for a student who is removed, not for a row that is replaced.
SLIDES = Sensitivity(l1=1, l2_squared=1, linf=1)


def _ties(limits: Thresholds, table: Whole) -> Whole:
    return ties(Circles(table), limits)


CONTRACT = Contract(
    name="friends by clustering",
    small=tuple(
        Small(rows=all_circles(), statistic=partial(_ties, limits), claimed=SENSITIVITY)
        for limits in (Thresholds(), Thresholds(friends=(3, 8), clustering=(0.5, 1.0)))
    ),
    release=lambda counts: private_ties(counts, epsilon=EPSILON),
    audit=Audit(Loss.pure(EPSILON), telling_apart(PAIR, lambda counts: private_ties(counts, epsilon=EPSILON).values)),
    control=Audit(
        Loss.pure(EPSILON), telling_apart(PAIR, lambda counts: discrete_laplace(counts, sensitivity=SLIDES, epsilon=EPSILON).values)
    ),
)
