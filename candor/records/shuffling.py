"""Orders that nobody can draw again, from the operating system's randomness."""

from __future__ import annotations

from collections.abc import Sequence
from secrets import randbits, token_bytes
from typing import TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T")


def secret_generator() -> np.random.Generator:
    """A generator for starts and ties; its seed is kept nowhere."""
    return np.random.default_rng(randbits(256))


def secret_orders(rows: int, columns: int) -> npt.NDArray[np.intp]:
    """A uniform order of `columns` things for each row.

    Returns
    -------
    ndarray, shape (rows, columns)
    """
    keys = np.frombuffer(token_bytes(8 * rows * columns), dtype=np.uint64).reshape(rows, columns)
    return keys.argsort(axis=1)


def shuffled(things: Sequence[T]) -> list[T]:
    """The things in a uniform order."""
    return [things[at] for at in secret_orders(1, len(things))[0].tolist()]
