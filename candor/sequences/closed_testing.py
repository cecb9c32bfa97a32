"""Which of several effects have a direction: e-values closed over all hypotheses that may be true together."""

from __future__ import annotations

import math
from collections.abc import Sequence

LARGEST = 600.0
"""Evidence beyond e^600 is this: sums of it stay finite."""


def directions(log_e_values: Sequence[tuple[float, float]], *, level: float = 0.95) -> tuple[int, ...]:
    """The direction of every effect in a family: 1 or −1 where it is certain enough, else 0.

    Parameters
    ----------
    log_e_values : sequence of (float, float)
        Per effect the logarithms of the e-values against "zero or less" and against "zero or more" (`log_one_sided_e_values`).
    level : float
        With this probability no direction of the whole family is ever wrong, however often somebody looks and whatever they depend on.

    Notes
    -----
    Closed testing with means of e-values, in place of Holm's p-values. A set of the 2m hypotheses may be the set of the true ones if it
    has at least one of each effect. A hypothesis is rejected when the mean e-value of *every* such set that holds it reaches 1/α: then
    the set of those that are true was rejected, too, and its mean is an e-value, which ever reaches 1/α with a chance of α. The set
    with the smallest mean has the hypothesis itself, the smaller e-value of each other effect, and every further one that lowers the
    mean. With one effect it is the two-sided e-value that must reach 1/α.

    References
    ----------
    Vovk, V. & Wang, R. (2021). E-values: calibration, combination and applications. Annals of Statistics 49, 1736–1754.

    Examples
    --------
    One effect with a two-sided e-value of (50 + 0)/2 = 25; beside a second one, of which nothing is known, (50 + 1 + 1 + 0)/4 is too
    little, and (100 + 1 + 1 + 0)/4 is enough:

    >>> from math import inf, log
    >>> directions([(log(50), -inf)])
    (1,)
    >>> directions([(log(50), -inf), (0.0, 0.0)]), directions([(log(100), -inf), (0.0, 0.0)])
    ((0, 0), (1, 0))
    """
    needed = 1 / (1 - level)
    values = [tuple(math.exp(min(one, LARGEST)) for one in pair) for pair in log_e_values]

    def certain(effect: int, side: int) -> bool:
        others = [pair for index, pair in enumerate(values) if index != effect]
        chosen = [values[effect][side], *(min(pair) for pair in others)]
        total, size = math.fsum(chosen), len(chosen)
        for one in sorted([values[effect][1 - side], *(max(pair) for pair in others)]):
            if one * size < total:
                total, size = total + one, size + 1
        return total >= needed * size

    return tuple(1 if certain(effect, 0) else -1 if certain(effect, 1) else 0 for effect in range(len(values)))
