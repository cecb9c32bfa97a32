"""Chances of every score, and of every item at a given score: elementary symmetric functions by divide and conquer."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from candor.rasch.answers import BoolArray, FloatArray


class ScoreTree:
    """The polynomials Π(qᵢ + pᵢ·x) of B sets of items, multiplied pair by pair.

    Parameters
    ----------
    leaves : ndarray, shape (B, M, 2)
        qᵢ and pᵢ, none negative, M a power of two. An item without an answer is (1, 0).

    Attributes
    ----------
    scores : ndarray, shape (B, M + 1)
        The coefficient of xʳ. When qᵢ + pᵢ = 1, the chance of score r.

    Notes
    -----
    With qᵢ = σ(δᵢ) and pᵢ = σ(−δᵢ) the coefficient of xʳ is γ_r(e^{−δ})·Πqᵢ, the elementary symmetric function of order r [1]_ up to a
    constant. Everything is a sum of products of numbers that are not negative, so no digit is lost by cancellation, and chances
    cannot overflow: 200 items with difficulties between −6 and 6 keep all their digits. The usual recursion for the functions without
    item i divides instead, and loses them. M² products, once up and twice down.

    References
    ----------
    .. [1] Formann, A. K. (1986). A note on the computation of the second-order derivatives of the elementary symmetric functions in the
       Rasch model. Psychometrika 51, 335–339.
    """

    def __init__(self, leaves: FloatArray) -> None:
        self.levels = [leaves]
        while self.levels[-1].shape[1] > 1:
            self.levels.append(_product(self.levels[-1][:, 0::2], self.levels[-1][:, 1::2]))
        self.scores = self.levels[-1][:, 0]

    def slopes(self, weights: FloatArray) -> FloatArray:
        """Derivatives of Σ_r weights_r · scores_r by the leaves, shape (B, M, 2).

        Parameters
        ----------
        weights : ndarray, shape (B, M + 1)
        """
        above = weights[:, None, :]
        for level in reversed(self.levels[:-1]):
            below = np.empty_like(level)
            below[:, 0::2] = _correlation(above, level[:, 1::2])
            below[:, 1::2] = _correlation(above, level[:, 0::2])
            above = below
        return above


def _product(left: FloatArray, right: FloatArray) -> FloatArray:
    """Products of polynomials, their coefficients along the last axis, all of one length."""
    length = left.shape[-1]
    product = np.zeros((*left.shape[:-1], 2 * length - 1))
    for power in range(length):
        product[..., power : power + length] += left[..., power, None] * right
    return product


def _correlation(above: FloatArray, sibling: FloatArray) -> FloatArray:
    """The derivative of a product by one factor: each power of the other moves the weights."""
    length = sibling.shape[-1]
    total = np.zeros((*sibling.shape[:-1], length))
    for power in range(length):
        total += above[..., power : power + length] * sibling[..., power, None]
    return total


def item_leaves(difficulties: FloatArray, given: BoolArray, *, ability: float = 0.0) -> FloatArray:
    """Leaves of a `ScoreTree`, shape (B, M, 2): chances of a wrong and of a right answer at one ability.

    Parameters
    ----------
    difficulties : ndarray, shape (m,)
    given : ndarray of bool, shape (B, m)
        Which items each of B groups of people answered.
    """
    m = len(difficulties)
    leaves = np.zeros((len(given), 1 << max(m - 1, 1).bit_length(), 2))
    leaves[..., 0] = 1.0
    leaves[:, :m, 0] = np.where(given, expit(difficulties - ability), 1.0)
    leaves[:, :m, 1] = np.where(given, expit(ability - difficulties), 0.0)
    return leaves


def score_chances(difficulties: FloatArray, abilities: FloatArray) -> FloatArray:
    """The chance of each score from 0 to m at each ability, shape (abilities, m + 1): the Poisson-binomial distribution.

    Examples
    --------
    >>> score_chances(np.zeros(2), np.zeros(1)).tolist()
    [[0.25, 0.5, 0.25]]
    """
    m = len(difficulties)
    leaves = np.zeros((len(abilities), 1 << max(m - 1, 1).bit_length(), 2))
    leaves[..., 0] = 1.0
    logits = abilities[:, None] - difficulties
    leaves[:, :m, 0], leaves[:, :m, 1] = expit(-logits), expit(logits)
    return ScoreTree(leaves).scores[:, : m + 1]
