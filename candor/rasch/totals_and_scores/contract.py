"""The promise of the default release, the attack on it, and a wrong calibration that the same attack catches."""

from __future__ import annotations

import numpy as np

from candor.privacy.auditing import Audit, Scores
from candor.privacy.contracts import Contract, Small
from candor.privacy.losses import Loss
from candor.privacy.noise import Noisy, discrete_gaussian
from candor.privacy.sensitivity import Sensitivity
from candor.rasch.small_quizzes import all_rows, class_with, quiz
from candor.rasch.totals_and_scores.release import OF_SCORES, SHARE_OF_TOTALS, of_totals, private_totals_and_scores

RHO = 2.0
ITEMS = 4
# One person with everything wrong, or everything right: all totals move, and the score moves from one end to the other.
CLASSES = tuple(quiz(class_with([right] * ITEMS)) for right in (0, 1))


def _draw(world: int, runs: int) -> Scores:
    answers = CLASSES[world]
    return _likelihood_ratio(
        *private_totals_and_scores(np.tile(answers.totals(), (runs, 1)), np.tile(answers.score_counts(), (runs, 1)), rho=RHO)
    )


def _draw_control(world: int, runs: int) -> Scores:
    """The totals calibrated to a change of 1 in all, as if a person answered one item."""
    answers = CLASSES[world]
    totals, scores = np.tile(answers.totals(), (runs, 1)), np.tile(answers.score_counts(), (runs, 1))
    return _likelihood_ratio(
        discrete_gaussian(totals, sensitivity=Sensitivity(l1=1, l2_squared=1, linf=1), rho=SHARE_OF_TOTALS * RHO),
        discrete_gaussian(scores, sensitivity=OF_SCORES, rho=(1 - SHARE_OF_TOTALS) * RHO),
    )


def _likelihood_ratio(totals: Noisy, scores: Noisy) -> Scores:
    """Logarithm, up to a constant: that of Gaussian noise is linear."""
    return np.asarray(
        totals.values.sum(axis=1) / totals.noise_sd**2 + (scores.values[:, ITEMS] - scores.values[:, 0]) / scores.noise_sd**2,
        dtype=np.float64,
    )


CONTRACT = Contract(
    name="difficulties from totals and scores",
    small=(
        *(Small(rows=all_rows(m), statistic=lambda table: quiz(table).totals(), claimed=of_totals(m), n=1) for m in (2, 3, 5)),
        *(Small(rows=all_rows(m), statistic=lambda table: quiz(table).score_counts(), claimed=OF_SCORES, n=1) for m in (2, 3, 5)),
    ),
    release=lambda numbers: private_totals_and_scores(numbers, numbers, rho=RHO)[0],
    audit=Audit(Loss.zcdp(RHO), _draw),
    control=Audit(Loss.zcdp(RHO), _draw_control),
)
