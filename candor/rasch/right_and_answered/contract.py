"""The promise of the release for omitted answers, the attack on it, and a wrong calibration that the same attack catches."""

from __future__ import annotations

import numpy as np

from candor.privacy.auditing import Audit, Scores
from candor.privacy.contracts import Contract, Small
from candor.privacy.losses import Loss
from candor.privacy.noise import discrete_gaussian
from candor.privacy.sensitivity import Whole
from candor.rasch.answers import Omitted
from candor.rasch.right_and_answered.release import of_right_and_answered, private_right_and_answered
from candor.rasch.small_quizzes import NO_ANSWER, all_rows, class_with, quiz

RHO = 2.0
ITEMS = 4


def right_and_answered(table: Whole) -> Whole:
    """Counts of right and of given answers, shape (2, m)."""
    answers = quiz(table, Omitted.NOT_GIVEN)
    return np.stack([answers.totals(), answers.answered()])


# One person who answered nothing, or solved everything.
PAIR = tuple(right_and_answered(class_with([answer] * ITEMS)) for answer in (NO_ANSWER, 1))


def _draw(world: int, runs: int) -> Scores:
    return _sum(private_right_and_answered(np.tile(PAIR[world], (runs, 1, 1)), rho=RHO).values)


def _draw_control(world: int, runs: int) -> Scores:
    """Noise for one item, as if a person answered no other."""
    return _sum(discrete_gaussian(np.tile(PAIR[world], (runs, 1, 1)), sensitivity=of_right_and_answered(1), rho=RHO).values)


def _sum(noisy: Whole) -> Scores:
    return np.asarray(noisy.sum(axis=(1, 2)), dtype=np.float64)


CONTRACT = Contract(
    name="difficulties from right and given answers",
    small=tuple(Small(rows=all_rows(m), statistic=right_and_answered, claimed=of_right_and_answered(m), n=1) for m in (2, 3, 5)),
    release=lambda numbers: private_right_and_answered(np.stack([numbers, numbers]), rho=RHO),
    audit=Audit(Loss.zcdp(RHO), _draw),
    control=Audit(Loss.zcdp(RHO), _draw_control),
)
