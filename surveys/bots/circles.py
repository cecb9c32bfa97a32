"""The network that is planted among bots: study groups whose members are friends more often than others."""

import numpy as np

OTHERS = (4, 4)
"""The people whom a bot knows: in its own study group, and outside."""
TIES = (0.6, 0.1)
"""The chance that two people are friends: of one study group, and otherwise. People outside are of one group with nobody here."""


def draw_circle(rng: np.random.Generator) -> tuple[int, int]:
    """One bot's friends, and the pairs of them who are friends with each other.

    On average Σ OTHERS·TIES = 2.8 friends, and 6·.6³ + 16·.6·.1² + 6·.1³ = 1.398 linked pairs.
    """
    inside, outside = (int(rng.binomial(people, tie)) for people, tie in zip(OTHERS, TIES, strict=True))
    friends = inside + outside
    close = inside * (inside - 1) // 2
    distant = friends * (friends - 1) // 2 - close
    return friends, int(rng.binomial(close, TIES[0]) + rng.binomial(distant, TIES[1]))
