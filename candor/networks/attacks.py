"""The best attack on Laplace noise around two known statistics, and small circles to try all of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from candor.networks.circles import MOST_FRIENDS, NO_LIST
from candor.privacy.auditing import Scores
from candor.privacy.sensitivity import Whole

Release = Callable[[Whole], Whole]


def telling_apart(pair: Whole, release: Release) -> Callable[[int, int], Scores]:
    """An attacker who knows both worlds, of shape (2, numbers), and sees a release of one of them.

    The score is the log likelihood ratio of Laplace noise but for its scale: Σ |x − x₀| − |x − x₁|.
    """

    def draw(world: int, runs: int) -> Scores:
        seen = release(np.tile(pair[world], (runs, 1)))
        return np.asarray((np.abs(seen - pair[0]) - np.abs(seen - pair[1])).sum(axis=1), dtype=np.float64)

    return draw


def all_circles(most: int = MOST_FRIENDS) -> Whole:
    """Every circle of up to so many friends, and no list."""
    rows = [(friends, linked) for friends in range(most + 1) for linked in range(friends * (friends - 1) // 2 + 1)]
    return np.array([(NO_LIST, NO_LIST), *rows])
