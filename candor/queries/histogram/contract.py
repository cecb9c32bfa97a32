"""The promise of the histogram, the attack on it, and a wrong calibration that the same attack catches."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np

from candor.privacy.auditing import Audit, Scores
from candor.privacy.contracts import Contract, Small
from candor.privacy.losses import Loss
from candor.privacy.noise import discrete_laplace
from candor.privacy.sensitivity import Sensitivity, Whole
from candor.queries.histogram.release import SENSITIVITY, histogram, private_histogram

EPSILON = 1.0
# One person moves from the first cell to the second.
PAIR = np.array([[5, 5, 5], [4, 6, 5]])
# "A histogram has sensitivity 1" holds when a person is removed, not when n is public and a row is replaced.
TOO_SMALL = Sensitivity(l1=1, l2_squared=1, linf=1)


def _draw(world: int, runs: int) -> Scores:
    """The second cell minus the first: all that tells the worlds apart."""
    noisy = private_histogram(np.tile(PAIR[world], (runs, 1)), epsilon=EPSILON).values
    return _score(noisy)


def _draw_control(world: int, runs: int) -> Scores:
    return _score(discrete_laplace(np.tile(PAIR[world], (runs, 1)), sensitivity=TOO_SMALL, epsilon=EPSILON).values)


def _score(noisy: Whole) -> Scores:
    # The log likelihood ratio of Laplace noise is bounded by where each count falls: on which side of its two possible values.
    sides = np.clip(noisy[:, 1], 5, 6) - np.clip(noisy[:, 0], 4, 5)
    return np.asarray(sides, dtype=np.float64)


CONTRACT = Contract(
    name="histogram",
    # People with one entry, and with three.
    small=tuple(
        Small(
            rows=np.array(list(product(range(cells), repeat=entries))),
            statistic=partial(histogram, cells=cells),
            claimed=SENSITIVITY.times(entries),
        )
        for cells, entries in ((2, 1), (3, 1), (5, 1), (3, 3))
    ),
    release=lambda counts: private_histogram(counts, epsilon=EPSILON),
    audit=Audit(Loss.pure(EPSILON), _draw),
    control=Audit(Loss.pure(EPSILON), _draw_control),
)
