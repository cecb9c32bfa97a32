"""The promise of the noisy maximum, the attack on it, and a wrong calibration that the same attack catches."""

from __future__ import annotations

from functools import partial

import numpy as np

from candor.privacy.auditing import Audit, Scores
from candor.privacy.contracts import Contract, Small
from candor.privacy.losses import Loss
from candor.privacy.noise import noisy_maximum
from candor.queries.histogram.release import SENSITIVITY, histogram
from candor.queries.most_common.release import private_most_common

EPSILON = 1.0
# One person takes one from the first value and gives one to the second: the second is behind by two in one world, and equal in the other.
PAIR = np.array([[6, 4, 0], [5, 5, 0]])
# Right where all counts move the same way, as when a person is removed: half of the noise.
TOO_MUCH = 2 * EPSILON


def _draw(world: int, runs: int) -> Scores:
    return np.array([private_most_common(PAIR[world], epsilon=EPSILON).values == 1 for _ in range(runs)], dtype=np.float64)


def _draw_control(world: int, runs: int) -> Scores:
    noisy = (noisy_maximum(PAIR[world], sensitivity=SENSITIVITY, epsilon=TOO_MUCH) for _ in range(runs))
    return np.array([one.values == 1 for one in noisy], dtype=np.float64)


CONTRACT = Contract(
    name="most common value",
    small=tuple(
        Small(rows=np.arange(cells)[:, None], statistic=partial(histogram, cells=cells), claimed=SENSITIVITY) for cells in (2, 3, 5)
    ),
    release=lambda counts: private_most_common(counts, epsilon=EPSILON),
    audit=Audit(Loss.pure(EPSILON), _draw),
    control=Audit(Loss.pure(EPSILON), _draw_control),
)
