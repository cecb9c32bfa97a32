"""The promise of the pure release, the attack on it, and a wrong calibration that the same attack catches."""

from __future__ import annotations

import numpy as np

from candor.privacy.auditing import Audit, Scores
from candor.privacy.contracts import Contract
from candor.privacy.losses import Loss
from candor.privacy.noise import Noisy, cube, discrete_laplace
from candor.privacy.sensitivity import Whole
from candor.rasch.pure_totals_and_scores.release import pure_totals_and_scores
from candor.rasch.small_quizzes import class_with, quiz
from candor.rasch.totals_and_scores import contract as gaussian
from candor.rasch.totals_and_scores.release import OF_SCORES, of_totals

EPSILON = 1.0
ITEMS = 3
CLASSES = tuple(quiz(class_with([right] * ITEMS)) for right in (0, 1))


def _draw(world: int, runs: int) -> Scores:
    answers = CLASSES[world]
    return np.array([_score(*pure_totals_and_scores(answers.totals(), answers.score_counts(), epsilon=EPSILON)) for _ in range(runs)])


def _draw_control(world: int, runs: int) -> Scores:
    """The whole budget for the totals, and again for the scores."""
    answers = CLASSES[world]
    return np.array(
        [
            _score(
                cube(answers.totals(), sensitivity=of_totals(ITEMS), epsilon=EPSILON),
                discrete_laplace(answers.score_counts(), sensitivity=OF_SCORES, epsilon=EPSILON),
            )
            for _ in range(runs)
        ]
    )


def _score(totals: Noisy, scores: Noisy) -> float:
    """The log likelihood ratio of noise that is cube-shaped and Laplace noise, each part weighted by its own loss."""
    before, after = (answers.totals() for answers in CLASSES)
    nearer = _farthest(totals.values - before) - _farthest(totals.values - after)
    lowest, highest = (answers.score_counts() for answers in CLASSES)
    moved = int(np.abs(scores.values - lowest).sum() - np.abs(scores.values - highest).sum())
    return float(totals.loss.rho**0.5 * nearer + scores.loss.rho**0.5 * moved / 2)


def _farthest(noise: Whole) -> int:
    return int(np.abs(noise).max())


CONTRACT = Contract(
    name="difficulties from totals and scores, pure ε",
    small=gaussian.CONTRACT.small,
    release=lambda numbers: pure_totals_and_scores(numbers, numbers, epsilon=EPSILON)[0],
    audit=Audit(Loss.pure(EPSILON), _draw),
    control=Audit(Loss.pure(EPSILON), _draw_control),
)
