"""Chances of every score, and of items and pairs of items at a score: elementary symmetric functions by divide and conquer."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
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
    an item divides instead, and loses them.

    References
    ----------
    .. [1] Formann, A. K. (1986). A note on the computation of the second-order derivatives of the elementary symmetric functions in the
       Rasch model. Psychometrika 51, 335–339.
    """

    def __init__(self, leaves: FloatArray) -> None:
        self.levels = [leaves]
        while self.levels[-1].shape[1] > 1:
            left, right = self.levels[-1][:, 0::2], self.levels[-1][:, 1::2]
            self.levels.append((left[..., None, :] @ _moved(right, left.shape[-1]))[..., 0, :])
        self.scores = self.levels[-1][:, 0]

    @cached_property
    def _without_one(self) -> list[FloatArray]:
        """For each level, the product of each part of the items without each of its items, shape (B, parts, size, size)."""
        found = [np.ones((*self.levels[0].shape[:2], 1, 1))]
        for level in self.levels[:-1]:
            size = found[-1].shape[-1]
            left, right = (found[-1][:, side::2] @ _moved(level[:, 1 - side :: 2], size) for side in (0, 1))
            found.append(np.concatenate([left, right], axis=2))
        return found

    @property
    def without(self) -> FloatArray:
        """The product without each item, shape (B, M, M): coefficients of x⁰ to x^{M − 1}."""
        return self._without_one[-1][:, 0]

    def without_two(self, weights: FloatArray) -> FloatArray:
        """Σ_r weights_r times the coefficient of x^{r − 2} of the product without two items, shape (B, M, M), 0 on the diagonal.

        Parameters
        ----------
        weights : ndarray, shape (B, M + 1)

        Notes
        -----
        Two items part at one node of the tree. The product without them is that of the rest of the tree and of the node's halves, each
        without one item. So all pairs that part at a node are one product of matrices. M³/3 products in all.
        """
        b, m = self.levels[0].shape[:2]
        pairs = np.zeros((b, m, m))
        # Σ_r weights_r times the coefficient of x^{r − k} of the product of everything outside of a part.
        above = weights[:, None, :]
        for level, without in zip(reversed(self.levels[:-1]), reversed(self._without_one[:-1]), strict=True):
            size, parts = without.shape[-1], np.arange(above.shape[1])
            outside = sliding_window_view(above[..., 2:], size, axis=-1)
            blocks = without[:, 0::2] @ outside @ without[:, 1::2].swapaxes(-1, -2)
            halves = pairs.reshape(b, len(parts), 2, size, len(parts), 2, size)
            halves[:, parts, 0, :, parts, 1] = blocks.swapaxes(0, 1)
            halves[:, parts, 1, :, parts, 0] = blocks.swapaxes(0, 1).swapaxes(-1, -2)
            windows = sliding_window_view(above, size + 1, axis=-1)
            below = np.empty((b, 2 * len(parts), size + 1))
            for side in (0, 1):
                below[:, side::2] = (windows @ level[:, 1 - side :: 2, :, None])[..., 0]
            above = below
        return pairs


def _moved(polynomials: FloatArray, rows: int) -> FloatArray:
    """For each polynomial the matrix whose row k is the polynomial times xᵏ: to multiply by it is to multiply polynomials."""
    length = polynomials.shape[-1]
    padded = np.zeros((*polynomials.shape[:-1], length + 2 * (rows - 1)))
    padded[..., rows - 1 : rows - 1 + length] = polynomials
    return np.ascontiguousarray(sliding_window_view(padded, length + rows - 1, axis=-1)[..., ::-1, :])


def item_leaves(difficulties: FloatArray, given: BoolArray) -> FloatArray:
    """Leaves of a `ScoreTree`, shape (B, M, 2): chances of a wrong and of a right answer at ability 0.

    Parameters
    ----------
    difficulties : ndarray, shape (m,)
    given : ndarray of bool, shape (B, m)
        Which items each of B groups of people answered.
    """
    return _leaves(np.where(given, expit(difficulties), 1.0), np.where(given, expit(-difficulties), 0.0))


def score_chances(difficulties: FloatArray, abilities: FloatArray) -> FloatArray:
    """The chance of each score from 0 to m at each ability, shape (abilities, m + 1): the Poisson-binomial distribution.

    Examples
    --------
    >>> score_chances(np.zeros(2), np.zeros(1)).tolist()
    [[0.25, 0.5, 0.25]]
    """
    logits = abilities[:, None] - difficulties
    return ScoreTree(_leaves(expit(-logits), expit(logits))).scores[:, : len(difficulties) + 1]


def score_slopes(difficulties: FloatArray, abilities: FloatArray) -> FloatArray:
    """The derivative of each chance of `score_chances` by each difficulty, shape (abilities, m + 1, m).

    Notes
    -----
    The chance of score r is q_i·w_r + p_i·w_{r − 1}, where w_r is that without item i, and dq_i = −dp_i = p_i·q_i·dδ_i.

    Examples
    --------
    >>> score_slopes(np.zeros(2), np.zeros(1)).tolist()
    [[[0.125, 0.125], [0.0, 0.0], [-0.125, -0.125]]]
    """
    m, logits = len(difficulties), abilities[:, None] - difficulties
    wrong, right = expit(-logits), expit(logits)
    without = np.pad(ScoreTree(_leaves(wrong, right)).without[:, :m, :m], ((0, 0), (0, 0), (1, 1)))
    return np.asarray(((wrong * right)[..., None] * (without[..., 1:] - without[..., :-1])).swapaxes(1, 2))


def _leaves(wrong: FloatArray, right: FloatArray) -> FloatArray:
    """Both chances side by side, and items without an answer up to a power of two."""
    m = wrong.shape[1]
    leaves = np.zeros((len(wrong), 1 << (m - 1).bit_length(), 2))
    leaves[..., 0] = 1.0
    leaves[:, :m, 0], leaves[:, :m, 1] = wrong, right
    return leaves
