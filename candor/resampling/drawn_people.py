"""Draw people with replacement, many times at once, at a fraction of the cost of drawing and counting them one by one."""

from __future__ import annotations

from functools import lru_cache
from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, xlogy

from candor.designs.design import FloatArray

_PLACES = 2**16
_COUNTS = 25  # 0 to 24: a Poisson count with a mean of at most 1 is larger with a chance below 10⁻²⁵
_DEVIATIONS_BELOW = 2.0


def draw_people(drawn: FloatArray, rng: np.random.Generator) -> None:
    """Draw as many people as there are, with replacement, and write how often each was drawn.

    Parameters
    ----------
    drawn : ndarray of float, shape (replicates, people), contiguous
        Is overwritten, with whole numbers: the rows are independent and Multinomial(people, 1/people). One array for many calls saves the
        time that the operating system takes to hand out memory, which is half as long as drawing.
    rng : numpy.random.Generator

    Raises
    ------
    ValueError
        When there is nobody to draw from.

    Notes
    -----
    Independent Poisson counts with one mean are, *given their sum* T, Multinomial(T). A row begins with such counts, whose sum is expected
    two standard deviations below the number n of people; then n − T people are drawn one by one and added. A row with T > n (one in forty)
    is emptied first, so that all of its people are drawn one by one. A row is then exactly Multinomial(n), whatever T was.

    Two Poisson counts are read from a table at a random number of 16 bits. The parts of their probabilities that are smaller than 2⁻¹⁶ are
    left over, a chance of about 2⁻¹¹ together; then the counts are drawn from these parts.

    References
    ----------
    Devroye, L. (1986). Non-Uniform Random Variate Generation, chapters III.3 and XI.1. Springer.

    Examples
    --------
    >>> drawn = np.empty((3, 1000))
    >>> draw_people(drawn, np.random.default_rng(1))
    >>> drawn.sum(axis=1).tolist()
    [1000.0, 1000.0, 1000.0]
    """
    replicates, people = drawn.shape
    if people < 1:
        raise ValueError("there is nobody to draw from: expected an array with a column for each of at least one person")
    flat = drawn.reshape(-1)
    _draw_poisson(flat, max(0.0, 1 - _DEVIATIONS_BELOW / sqrt(people)), rng)
    missing = people - (drawn @ np.ones(people)).astype(np.intp)
    drawn[missing < 0] = 0.0
    missing[missing < 0] = people
    places = np.repeat(np.arange(replicates) * people, missing)
    np.add.at(flat, places + rng.integers(0, people, size=len(places)), 1.0)


def _draw_poisson(counts: FloatArray, mean: float, rng: np.random.Generator) -> None:
    """Fill an array of shape (size,) with independent Poisson counts, whose mean is at most 1."""
    pairs, whole, parts = _poisson_pairs(mean)
    index = rng.integers(0, 2**64, size=-(-len(counts) // 8), dtype=np.uint64).astype("<u8", copy=False).view("<u2")
    index = index[: -(-len(counts) // 2)]
    both = pairs.take(index)
    left_over = np.flatnonzero(index >= whole)
    first, second = np.divmod(np.searchsorted(parts, parts[-1] * rng.random(len(left_over)), side="right"), _COUNTS)
    both.view(np.uint8).reshape(-1, 2)[left_over] = np.stack([first, second], axis=-1)
    counts[:] = both.view(np.uint8)[: len(counts)]


@lru_cache(maxsize=64)
def _poisson_pairs(mean: float) -> tuple[npt.NDArray[np.uint16], int, FloatArray]:
    """Two counts, a byte each, in as many of 2¹⁶ places as their probability fills; how many places are filled; and the running sum of
    what is left over, by first and second count.
    """
    counts = np.arange(_COUNTS)
    one = np.exp(xlogy(counts, mean) - mean - gammaln(counts + 1))
    probabilities = _PLACES * np.outer(one, one).reshape(-1)
    places = np.floor(probabilities).astype(np.intp)
    pairs = np.zeros((_PLACES, 2), dtype=np.uint8)
    whole = int(places.sum())
    pairs[:whole] = np.stack(np.divmod(np.repeat(np.arange(len(places)), places), _COUNTS), axis=-1)
    return pairs.view(np.uint16).reshape(-1), whole, np.cumsum(probabilities - places)
