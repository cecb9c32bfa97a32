"""The spectral estimate: difficulties as the long-run behaviour of a walk from item to item."""

from __future__ import annotations

import numpy as np

from candor.rasch.answers import FloatArray, QuizAnswers


def stationary_distribution(rates: FloatArray) -> FloatArray:
    """Long-run shares of the Markov chain with these rates from i to j, shape (…, m).

    Parameters
    ----------
    rates : ndarray, shape (…, m, m)
        None negative. Each item leads to each other. The diagonal is not read.

    Notes
    -----
    Grassmann, Taksar and Heyman's elimination [1]_: one item after the other is taken out and its traffic led around it. Nothing is
    subtracted, so that even the smallest share keeps its digits.

    References
    ----------
    .. [1] Grassmann, W. K., Taksar, M. I. and Heyman, D. P. (1985). Regenerative analysis and steady state distributions for Markov chains.
       Operations Research 33, 1107–1116.

    Examples
    --------
    Twice as fast from the first to the second as back:

    >>> stationary_distribution(np.array([[0.0, 2.0], [1.0, 0.0]])).round(12).tolist()
    [0.333333333333, 0.666666666667]
    """
    flow = rates.astype(np.float64)
    m = flow.shape[-1]
    for last in range(m - 1, 0, -1):
        flow[..., :last, last] /= flow[..., last, :last].sum(axis=-1, keepdims=True)
        flow[..., :last, :last] += flow[..., :last, last, None] * flow[..., last, None, :last]
    shares = np.ones(flow.shape[:-1])
    for item in range(1, m):
        shares[..., item] = (shares[..., :item] * flow[..., :item, item]).sum(axis=-1)
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


def spectral_difficulties(solved_first: FloatArray) -> FloatArray:
    """Difficulties with sum 0, shape (…, m), from counts of pairs.

    Parameters
    ----------
    solved_first : ndarray, shape (…, m, m)
        Y_ij, how many people solved item i and answered item j wrongly; a noisy count is held to 1 or more before.

    Notes
    -----
    P(i solved, j not)/P(j solved, i not) = e^{δ_j − δ_i} at every ability, so a walk with rates Y_ij rests at i for a share π_i that is
    proportional to e^{δᵢ} [1]_. The normalisation d of the paper cancels.

    References
    ----------
    .. [1] Nguyen, D. and Zhang, A. Y. (2022). A spectral approach to item response theory. NeurIPS 35. Algorithm 1.

    Examples
    --------
    Thirty people solved only the first of two items, ten only the second: the second is harder by ln 3.

    >>> (spectral_difficulties(np.array([[0.0, 30.0], [10.0, 0.0]])) * 2 / np.log(3)).round(12).tolist()
    [-1.0, 1.0]
    """
    logarithms = np.log(stationary_distribution(solved_first))
    return np.asarray(logarithms - logarithms.mean(axis=-1, keepdims=True))


def spectral_covariance(answers: QuizAnswers, difficulties: FloatArray) -> FloatArray:
    """The covariance of the spectral difficulties, shape (m, m).

    Notes
    -----
    The estimate solves Σ_n g_n = 0 with g_nj = Σᵢ πᵢ·[n solved i and not j] − π_j·Σᵢ[n solved j and not i]. The covariance is the sandwich
    J⁻ (Σ g gᵀ) J⁻ᵀ, with J the derivatives of Σ g by δ and inverses on the differences of items.
    """
    solved = answers.right.astype(np.float64)
    wrong = (answers.given & ~answers.right).astype(np.float64)
    shares = np.exp(difficulties)
    scores = (solved @ shares)[:, None] * wrong - shares * solved * wrong.sum(axis=1)[:, None]
    pairs = answers.solved_first_not_second()
    slopes = shares[:, None] * pairs
    jacobian = slopes.T - np.diag(slopes.sum(axis=1))
    inverse = np.linalg.pinv(jacobian, rcond=1e-12)
    m = len(difficulties)
    centred = np.eye(m) - 1 / m
    return np.asarray(centred @ inverse @ (scores.T @ scores) @ inverse.T @ centred)
