"""The promise of the corrected baseline, the attack on it, and the paper's scale, which the same attack catches."""

from __future__ import annotations

import numpy as np

from candor.privacy.auditing import Audit, Scores
from candor.privacy.contracts import Contract, Small
from candor.privacy.losses import Loss
from candor.privacy.noise import discrete_laplace
from candor.privacy.sensitivity import Sensitivity, Whole
from candor.rasch.persons_and_items.release import of_persons_and_items, private_persons_and_items
from candor.rasch.small_quizzes import all_rows, quiz

EPSILON = 1.0
ITEMS = 3
# The paper's scale m/ε, in which the scores of people are forgotten.
HALF = Sensitivity(l1=ITEMS, l2_squared=ITEMS, linf=1)


def scores_and_totals(table: Whole) -> Whole:
    """Scores of people, then totals of items."""
    answers = quiz(table)
    return np.concatenate([answers.scores(), answers.totals()])


# The only person of a class of one: everything wrong, or everything right. Other people change nothing but the centre.
PAIR = tuple(scores_and_totals(np.full((1, ITEMS), right)) for right in (0, 1))


def _draw(world: int, runs: int) -> Scores:
    return _likelihood_ratio(private_persons_and_items(np.tile(PAIR[world], (runs, 1)), m=ITEMS, epsilon=EPSILON).values)


def _draw_control(world: int, runs: int) -> Scores:
    return _likelihood_ratio(discrete_laplace(np.tile(PAIR[world], (runs, 1)), sensitivity=HALF, epsilon=EPSILON).values)


def _likelihood_ratio(noisy: Whole) -> Scores:
    return np.asarray((np.abs(noisy - PAIR[0]) - np.abs(noisy - PAIR[1])).sum(axis=1), dtype=np.float64)


CONTRACT = Contract(
    name="difficulties from scores of people and totals of items (for comparison)",
    small=tuple(Small(all_rows(m), scores_and_totals, of_persons_and_items(m), n=n) for m, n in ((2, 1), (3, 1), (2, 2))),
    release=lambda numbers: private_persons_and_items(numbers, m=ITEMS, epsilon=EPSILON),
    audit=Audit(Loss.pure(EPSILON), _draw),
    control=Audit(Loss.pure(EPSILON), _draw_control),
    runs=20_000,
)
