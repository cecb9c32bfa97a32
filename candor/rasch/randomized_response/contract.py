"""The promise of randomised response, the attack on it, and a chance that forgets that a row has several answers."""

from __future__ import annotations

from itertools import product

import numpy as np

from candor.privacy.auditing import Audit, Scores
from candor.privacy.contracts import Contract, Small
from candor.privacy.losses import Loss
from candor.privacy.sensitivity import Sensitivity, Whole
from candor.rasch.randomized_response.release import private_answers

EPSILON, ITEMS = 1.0, 4
# One person solved nothing, or everything.
PAIR = (np.zeros(ITEMS, dtype=np.int64), np.ones(ITEMS, dtype=np.int64))


def _draw(world: int, runs: int) -> Scores:
    return _score(private_answers(np.tile(PAIR[world], (runs, 1)), epsilon=EPSILON).values)


def _draw_control(world: int, runs: int) -> Scores:
    """Each answer has all of ε."""
    return _score(private_answers(np.tile(PAIR[world], (runs, 1)), epsilon=ITEMS * EPSILON).values)


def _score(reported: Whole) -> Scores:
    return np.asarray(reported.sum(axis=1), dtype=np.float64)


CONTRACT = Contract(
    name="randomised response of each answer (for comparison)",
    small=tuple(
        Small(np.array(list(product((0, 1), repeat=m))), np.ravel, Sensitivity(l1=m, l2_squared=m, linf=1), n=1) for m in (1, 3, 5)
    ),
    release=lambda answers: private_answers(answers, epsilon=EPSILON),
    audit=Audit(Loss.pure(EPSILON), _draw),
    control=Audit(Loss.pure(EPSILON), _draw_control),
    runs=20_000,
)
