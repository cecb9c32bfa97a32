"""Difficulties that maximise a conditional likelihood with noise in it: pure ε, for comparison and not for release."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass

import numpy as np

from candor.errors import DataError
from candor.privacy.losses import Loss
from candor.rasch.answers import FloatArray, Omitted, QuizAnswers
from candor.rasch.conditional_likelihood import ScoreGroups, most_likely_difficulties

NOT_FOR_RELEASE = "comparison, not for release: its noise is continuous, and the last digits of such noise can tell what it hides"
SHARE_OF_CURVATURE = 0.3
"""This share of ε pays for the change of the curvature by one person; the rest is for the slope."""
DECIMALS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbedObjective:
    """Difficulties by objective perturbation, rounded to three decimals.

    ``kappa`` is the rate of the noise's length, ``ridge`` is λ. ``note`` says that this is not for release.
    """

    difficulties: tuple[float, ...]
    loss: Loss
    kappa: float
    ridge: float
    note: str = NOT_FOR_RELEASE


def calibration(m: int, epsilon: float) -> tuple[float, float]:
    """κ and λ with κ√(2m) + (m − 1)·ln(1 + m/(4λ(m − 1))) = ε.

    Examples
    --------
    >>> kappa, ridge = calibration(20, 1.0)
    >>> round(kappa * math.sqrt(40) + 19 * math.log1p(20 / (4 * ridge * 19)), 12)
    1.0
    """
    slope = (1 - SHARE_OF_CURVATURE) * epsilon / math.sqrt(2 * m)
    ridge = m / (4 * (m - 1) * math.expm1(SHARE_OF_CURVATURE * epsilon / (m - 1)))
    return slope, ridge


def perturbed_difficulties(answers: QuizAnswers, *, epsilon: float) -> PerturbedObjective:
    """Minimise −ln L(δ | scores) + λ/2·‖δ‖² + b·δ over δ with sum 0, with noise b of length Gamma(m − 1, 1/κ) in any direction.

    Raises
    ------
    DataError
        When omitted answers do not count: the bounds below are for complete rows.
    MethodError
        When the minimum is not reached; nothing is given then.

    Notes
    -----
    The minimum δ determines b = −slope of the rest, up to a multiple of (1, …, 1), to which b is orthogonal. Replacing a person moves that
    slope by at most √(2m), which costs κ√(2m), and changes the Jacobian of δ ↦ b: a person's curvature has rank m − 1 and trace m/4 or
    less, so the logarithm of its determinant moves by at most (m − 1)·ln(1 + m/(4λ(m − 1))). Theorem 1 of the paper [1]_ forgets that the
    abilities move with the data: both the shift, which is √(2m) and not √m, and the Jacobian.

    References
    ----------
    .. [1] Steiner, T. A., Nyrnberg, D. E. and Hansen, L. K. (2018). A differential privacy workflow for inference of parameters in the
       Rasch model.
    .. [2] Chaudhuri, K., Monteleoni, C. and Sarwate, A. D. (2011). Differentially private empirical risk minimization. JMLR 12.
    """
    if answers.omitted is not Omitted.WRONG:
        raise DataError("objective perturbation needs complete rows: expected the rule that omitted answers are wrong")
    kappa, ridge = calibration(answers.m, epsilon)
    noise = noise_of_length_gamma(answers.m, kappa)
    difficulties, _ = most_likely_difficulties(ScoreGroups.of(answers), ridge=ridge, slope=noise)
    return PerturbedObjective(
        difficulties=tuple(np.round(difficulties, DECIMALS).tolist()), loss=Loss.pure(epsilon), kappa=kappa, ridge=ridge
    )


def noise_of_length_gamma(m: int, kappa: float) -> FloatArray:
    """Noise with density ∝ exp(−κ‖b‖) on the vectors with sum 0, shape (m,), from the operating system's randomness."""
    system = secrets.SystemRandom()
    direction = np.array([system.normalvariate() for _ in range(m)])
    direction -= direction.mean()
    return np.asarray(direction / np.linalg.norm(direction) * system.gammavariate(m - 1, 1 / kappa))
