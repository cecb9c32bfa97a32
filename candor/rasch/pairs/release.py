"""Counts of pairs of items with discrete Gaussian noise, and the spectral estimate from them."""

from __future__ import annotations

import math
import secrets

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from candor.errors import DataError
from candor.privacy.noise import Noisy, discrete_gaussian
from candor.privacy.sensitivity import Sensitivity, Whole
from candor.rasch.answers import BoolArray, FloatArray
from candor.rasch.spectral import spectral_difficulties

LEAST_COUNT = 1
"""A noisy count below this is held to it: a rate of the walk must be above 0."""
EDGES_PER_ITEM = 1.1
"""A sparse graph draws each pair with chance 1.1·log₂(m)/m, which connects most of them at once."""

CLEAR, WALKS_AGAIN = 2.0, 2
"""Where the mean noisy count is at least twice the standard deviation of the noise, the walk is repeated twice with weights. With more
noise the weights would follow it."""


def of_pairs(graph: BoolArray) -> Sensitivity:
    """The sensitivity of the counts of the pairs of a graph, shape (m, m).

    Notes
    -----
    With a items right and b wrong a row counts in at most a·b ≤ ⌊m²/4⌋ ordered pairs, and of each edge in at most one direction. So two
    rows differ in at most ⌊m²/2⌋ counts, and in at most two of each edge.
    """
    counts = min(len(graph) ** 2 // 2, int(graph.sum()))
    return Sensitivity(l1=counts, l2_squared=counts, linf=1)


def all_pairs(m: int) -> BoolArray:
    """The graph of all pairs of m items, shape (m, m)."""
    return ~np.eye(m, dtype=bool)


def sparse_pairs(m: int) -> BoolArray:
    """Draw a connected graph of few pairs, from the operating system's randomness and before any answer is read; shape (m, m)."""
    chance = min(1.0, EDGES_PER_ITEM * math.log2(m) / m)
    draw = secrets.SystemRandom().random
    while True:
        upper = np.array([[first < second and draw() < chance for second in range(m)] for first in range(m)])
        graph: BoolArray = upper | upper.T
        if connected_components(graph, directed=False)[0] == 1:
            return graph


def private_pairs(solved_first: ArrayLike, *, graph: BoolArray, rho: float) -> Noisy:
    """Add noise to every count of the graph, the empty ones too.

    Parameters
    ----------
    solved_first : int array, shape (…, m, m)
        Y_ij, how many solved item i and answered item j wrongly.
    graph : ndarray of bool, shape (m, m)
        `all_pairs`, or `sparse_pairs` drawn before.
    rho : float

    Returns
    -------
    Noisy
        Its values, shape (…, edges): the counts of the graph in the order of its rows.

    Notes
    -----
    σ² = ⌊m²/2⌋/(2ρ) for all pairs. Lemma 4.1 of the paper [1]_ has √(m(m − 1)) instead of ⌊m²/2⌋.

    References
    ----------
    .. [1] Private spectral estimation of item response theory, 2024.
    """
    exact = np.asarray(solved_first)
    if exact.shape[-2:] != graph.shape or (graph != graph.T).any() or graph.diagonal().any():
        raise DataError(f"expected counts for a symmetric graph of {len(graph)} items, found the shape {exact.shape}")
    return discrete_gaussian(exact[..., graph], sensitivity=of_pairs(graph), rho=rho)


def difficulties_of_pairs(noisy: Whole, *, graph: BoolArray, variance: float) -> FloatArray:
    """The spectral difficulties, shape (m,), of what `private_pairs` released: from noisy numbers alone.

    Parameters
    ----------
    noisy : int array, shape (edges,)
    graph : ndarray of bool, shape (m, m)
    variance : float
        Of the noise on each count.

    Notes
    -----
    The walk of the paper counts all pairs alike. Where the counts stand out of the noise, it is walked again with both rates of a pair
    times one number, which does not move where the walk rests under the model: so that the weight of a pair is the precision of its log
    ratio ln(Y_ij/Y_ji), the inverse of σ²(1/Y_ij² + 1/Y_ji²) + 1/Y_ij + 1/Y_ji. Its counts are expected ones, from Y_ij + Y_ji and the
    difficulties of the walk before.
    """
    counts = np.zeros(graph.shape)
    counts[graph] = noisy
    rates = np.where(graph, np.maximum(counts, LEAST_COUNT), 0.0)
    difficulties = spectral_difficulties(rates)
    if counts[graph].mean() < CLEAR * math.sqrt(variance):
        return difficulties
    together = np.maximum(counts + counts.T, 2 * LEAST_COUNT)
    for _ in range(WALKS_AGAIN):
        expected = together * expit(difficulties - difficulties[:, None])
        precision = 1 / (variance * (1 / expected**2 + 1 / expected.T**2) + 1 / expected + 1 / expected.T)
        traffic = np.exp(difficulties)[:, None] * expected
        difficulties = spectral_difficulties(rates * precision / np.sqrt(traffic * traffic.T))
    return difficulties
