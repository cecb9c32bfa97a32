"""The score test of one linear hypothesis about the cells of a design, with the variance that holds under the hypothesis."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from candor.designs.design import FloatArray
from candor.estimators.cell_means import HALF_A_PERSON
from candor.estimators.counts import NO, YES
from candor.fitting.identity_link import gram, most_likely


def score_statistic(
    tables: FloatArray, matrix: FloatArray, *, offset: float, hypothesis: FloatArray, inside: FloatArray
) -> NDArray[np.float64]:
    """How far the answers lie from a linear hypothesis, in standard errors under it; positive where they lie above.

    Parameters
    ----------
    tables : ndarray of float, shape (B, cells, 2)
        Answers no and yes in every cell; no cell may be empty.
    matrix : ndarray, shape (cells, P)
        E[Ỹ] − offset = matrix @ β.
    offset : float
    hypothesis : ndarray, shape (P,)
        c of the hypothesis c·β = c·β₀.
    inside : ndarray, shape (P,)
        A β₀ that obeys the hypothesis and whose means lie strictly between 0 and 1.

    Returns
    -------
    ndarray, shape (B,)
        z; standard normal under the hypothesis when answers are many.

    Notes
    -----
    β̃ maximises the binomial likelihood under c·β = c·β₀, W holds n/(μ̃(1 − μ̃)) with μ̃ at least ½/(n + 1) from 0 and 1, and β̂ is the
    least-squares fit with the weights W. Then z = c·(β̂ − β₀)/√(c·(MᵀWM)⁻¹c); where no μ̃ is that near to an end its square is the score
    statistic. With one cell per arm and M = 1 it is the test of Farrington and Manning [1]_.

    References
    ----------
    .. [1] Farrington, C. P. & Manning, G. (1990). Test statistics and sample size formulae for comparative binomial trials with null
       hypothesis of non-zero risk difference or non-unity relative risk. Statistics in Medicine 9, 1447–1454.

    Examples
    --------
    40 and 50 of 100 say yes; no difference would be 45 of each: .1 / √(2·.45·.55/100).

    >>> z = score_statistic(np.array([[[60.0, 40.0], [50.0, 50.0]]]), np.eye(2), offset=0.0,
    ...     hypothesis=np.array([-1.0, 1.0]), inside=np.array([0.5, 0.5]))
    >>> round(float(z[0]), 4), round(0.1 / (2 * 0.45 * 0.55 / 100) ** 0.5, 4)
    (1.4213, 1.4213)
    """
    base = matrix @ inside + offset
    free = null_space(hypothesis[None, :])
    likely = np.where(tables > 0, tables, HALF_A_PERSON)
    steps, _ = most_likely(likely[..., NO], likely[..., YES], matrix=matrix @ free, offset=base, inside=np.zeros(free.shape[1]))
    size = tables.sum(axis=-1)
    floor = HALF_A_PERSON / (size + 1)
    mean = np.clip(steps @ (matrix @ free).T + base, floor, 1 - floor)
    weights = size / (mean * (1 - mean))
    information = gram(weights, matrix)
    score = (weights * (tables[..., YES] / size - base)) @ matrix
    along = np.linalg.solve(information, np.broadcast_to(hypothesis, score.shape)[..., None])[..., 0]
    return np.asarray((along * score).sum(axis=-1) / np.sqrt(along @ hypothesis), dtype=np.float64)
