"""Answers of which each is turned around with a known chance, and the difficulties that their totals tell."""

from __future__ import annotations

import math
import secrets

import numpy as np
from numpy.typing import ArrayLike

from candor.errors import DataError
from candor.privacy.losses import Loss
from candor.privacy.noise import Noisy
from candor.rasch.noise_aware import NoisyStatistics

BITS = 64


def private_answers(right: ArrayLike, *, epsilon: float) -> Noisy:
    """Turn each answer around with chance 1/(1 + e^(ε/m)).

    Parameters
    ----------
    right : int array, shape (…, m)
        1 where the item was solved, else 0. The last axis is one person's row.
    epsilon : float
        Of the whole row; a replaced row changes at most m answers, so each has ε/m.

    Returns
    -------
    Noisy
        The reported answers, in the shape of `right`. Nothing is counted on somebody who shuffles the rows.

    Raises
    ------
    DataError
        An answer is not 0 or 1.

    References
    ----------
    .. [1] Warner, S. L. (1965). Randomized response. JASA 60, 63–69.
    """
    exact = np.asarray(right)
    if exact.dtype.kind not in "iu" or exact.size == 0 or not np.isin(exact, (0, 1)).all():
        raise DataError(f"expected answers 0 and 1, at least one: got {exact.size} of type {exact.dtype}")
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise DataError(f"epsilon is a finite number above 0: got {epsilon!r}")
    turned = turning_chance(epsilon / exact.shape[-1])
    drawn = np.frombuffer(secrets.token_bytes(exact.size * BITS // 8), dtype=np.uint64).reshape(exact.shape)
    turns = drawn < np.uint64(math.ceil(turned * 2**BITS))
    return Noisy(
        np.where(turns, 1 - exact, exact).astype(np.int64), Loss.pure(epsilon), math.sqrt(turned * (1 - turned)), "randomised response"
    )


def turning_chance(epsilon: float) -> float:
    """The chance 1/(1 + e^ε) with which an answer is turned around."""
    return 1 / (1 + math.exp(epsilon))


def statistics_of(reported: Noisy, *, epsilon: float) -> NoisyStatistics:
    """The totals of the items with the turns taken out: T = (R − n·q)/(1 − 2q), with variance n·q(1 − q)/(1 − 2q)².

    Parameters
    ----------
    reported : Noisy
        From `private_answers` for a table of n people and m items.
    epsilon : float
        The same.
    """
    n, m = reported.values.shape
    q = turning_chance(epsilon / m)
    totals = (reported.values.sum(axis=0) - n * q) / (1 - 2 * q)
    variance = n * q * (1 - q) / (1 - 2 * q) ** 2
    return NoisyStatistics(n=n, totals=tuple(int(total) for total in np.rint(totals)), totals_variance=variance)
