"""Scores of people and totals of items with discrete Laplace noise, and the joint likelihood of them: a baseline, not for release."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from candor.errors import MethodError
from candor.privacy.noise import Noisy, discrete_laplace
from candor.privacy.sensitivity import Sensitivity, Whole
from candor.rasch.answers import FloatArray

RIDGE = 0.01
"""λ of the paper's experiments."""
STEPS, LONGEST_STEP, CONVERGED = 500, 1.0, 1e-6


def of_persons_and_items(m: int) -> Sensitivity:
    """One replaced row moves one person's score by m and m totals by 1."""
    return Sensitivity(l1=2 * m, l2_squared=m * m + m, linf=m)


def private_persons_and_items(scores_and_totals: ArrayLike, *, m: int, epsilon: float) -> Noisy:
    """Add Laplace noise of scale 2m/ε to scores of people and totals of m items, shape (…, n + m)."""
    return discrete_laplace(scores_and_totals, sensitivity=of_persons_and_items(m), epsilon=epsilon)


def difficulties_of_persons_and_items(noisy: Whole, *, m: int) -> FloatArray:
    """Difficulties with sum 0, shape (m,), by the joint likelihood with ridge .01 of noisy scores and totals.

    Notes
    -----
    Minimises equation (6) of the paper [1]_ without b, by Newton's steps for people and for items in turn. People with the same noisy score
    have the same ability, so that there are m + 1 of these at most.

    References
    ----------
    .. [1] Steiner, T. A., Nyrnberg, D. E. and Hansen, L. K. (2018). A differential privacy workflow for inference of parameters in the
       Rasch model.
    """
    n = len(noisy) - m
    score, people = np.unique(np.clip(noisy[:n], 0, m), return_counts=True)
    totals = np.clip(noisy[n:], 0, n)
    abilities, difficulties = np.zeros(len(score)), np.zeros(m)
    for _ in range(STEPS):
        right = expit(abilities[:, None] - difficulties)
        of_people = (score - right.sum(axis=1) - RIDGE * abilities) / ((right * (1 - right)).sum(axis=1) + RIDGE)
        abilities = abilities + np.clip(of_people, -LONGEST_STEP, LONGEST_STEP)
        right = expit(abilities[:, None] - difficulties)
        of_items = (people @ right - totals - RIDGE * difficulties) / (people @ (right * (1 - right)) + RIDGE)
        difficulties = difficulties + np.clip(of_items, -LONGEST_STEP, LONGEST_STEP)
        if max(np.abs(of_people).max(), np.abs(of_items).max()) < CONVERGED:
            return np.asarray(difficulties - difficulties.mean())
    raise MethodError(f"the joint likelihood did not converge within {STEPS} turns")
