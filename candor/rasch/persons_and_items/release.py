"""Scores of people and totals of items with discrete Laplace noise, and the joint likelihood of them: a baseline, not for release."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import expit

from candor.errors import MethodError
from candor.privacy.noise import Noisy, discrete_laplace
from candor.privacy.sensitivity import Sensitivity, Whole
from candor.rasch.answers import FloatArray

RIDGE = 0.01
"""λ of the paper's experiments."""
CONVERGED = 1e-6
"""Largest slope at the minimum, in answers."""


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
    Minimises equation (6) of the paper [1]_ without b, which is convex. People with the same noisy score have the same ability, so that
    there are m + 1 of these at most.

    References
    ----------
    .. [1] Steiner, T. A., Nyrnberg, D. E. and Hansen, L. K. (2018). A differential privacy workflow for inference of parameters in the
       Rasch model.
    """
    n = len(noisy) - m
    score, people = np.unique(np.clip(noisy[:n], 0, m), return_counts=True)
    totals = np.clip(noisy[n:], 0, n)
    weights = np.concatenate([people, np.ones(m)])

    def logits(at: FloatArray) -> FloatArray:
        return np.asarray(at[: len(score), None] - at[len(score) :])

    def height(at: FloatArray) -> float:
        fit = people @ np.logaddexp(0.0, logits(at)).sum(axis=1) + totals @ at[len(score) :] - (people * score) @ at[: len(score)]
        return float(fit + RIDGE / 2 * weights @ at**2)

    def slope(at: FloatArray) -> FloatArray:
        right = people[:, None] * expit(logits(at))
        return np.concatenate([right.sum(axis=1) - people * score, totals - right.sum(axis=0)]) + RIDGE * weights * at

    def curvature(at: FloatArray) -> FloatArray:
        right = expit(logits(at))
        both = people[:, None] * right * (1 - right)
        return np.block([[np.diag(both.sum(axis=1)), -both], [-both.T, np.diag(both.sum(axis=0))]]) + RIDGE * np.diag(weights)

    found = minimize(height, np.zeros(len(weights)), jac=slope, hess=curvature, method="trust-exact", options={"gtol": CONVERGED})
    if np.abs(np.asarray(found.jac)).max() > 1000 * CONVERGED:
        raise MethodError(f"the joint likelihood did not converge: {found.message}")
    difficulties = found.x[len(score) :]
    return np.asarray(difficulties - difficulties.mean())
