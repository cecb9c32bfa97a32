"""The cell with the most people after noise."""

from __future__ import annotations

from numpy.typing import ArrayLike

from candor.privacy.noise import Noisy, noisy_maximum
from candor.queries.histogram.release import SENSITIVITY


def private_most_common(counts: ArrayLike, *, epsilon: float, entries: int = 1) -> Noisy:
    """The place of the largest of the counts after noise, counted from 0; nothing else is told.

    Parameters
    ----------
    counts : int array, shape (cells,)
        By `candor.queries.histogram.release.histogram`.
    epsilon : float
        Pure ε, above 0.
    entries : int
        How many entries of one person are counted.

    Raises
    ------
    DataError
        The counts are not whole numbers.

    Notes
    -----
    One row replaced moves each count by at most 1, one up and one down, so scores are not monotone: noise of scale 2/ε (Dwork and Roth
    2014, section 3.3, by OpenDP).
    """
    return noisy_maximum(counts, sensitivity=SENSITIVITY.times(entries), epsilon=epsilon)
