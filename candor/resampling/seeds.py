"""The seed of a bootstrap, from the answers themselves: the same answers give the same numbers, on every page and in every file."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

_BITS = 31


def seed_of(tables: Iterable[npt.ArrayLike], *, key: bytes = b"") -> int:
    """A seed that depends on counts of answers and on nothing else.

    Parameters
    ----------
    tables : iterable of array_like of int, shape (K, S, 2)
        People by arm, subsample and reported answer: one table for each question, in any order, whatever the questions are called.
    key : bytes
        At most 64. With a secret one, the seed tells nobody anything about the counts.

    Returns
    -------
    int
        From 0 to 2³¹ − 1.

    Raises
    ------
    ValueError
        When the key is longer than 64 bytes.

    Notes
    -----
    The first bits of a BLAKE2b over shapes and counts. Nobody chooses the seed, so nobody can choose the numbers by it; and two readers of
    the same answers see the same standard error.

    References
    ----------
    RFC 7693, The BLAKE2 Cryptographic Hash (2015).

    Examples
    --------
    >>> seed_of([[[[13, 7], [11, 9]], [[9, 11], [7, 13]]]]) == seed_of([np.array([[[13, 7], [11, 9]], [[9, 11], [7, 13]]], dtype=float)])
    True
    """
    texts = sorted(f"{table.shape}{table.astype(np.int64).tolist()}" for table in map(np.asarray, tables))
    return int.from_bytes(blake2b("\n".join(texts).encode(), digest_size=4, key=key).digest(), "big") >> (32 - _BITS)
