"""Randomisation inference: how often chance alone, drawing the arms of the clusters again, gives as large a difference."""

from __future__ import annotations

from itertools import combinations
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from candor.clusters.people import AssignedTogether, Whole
from candor.designs.design import FloatArray

MOST_ARRANGEMENTS = 10_000
"""All arrangements are gone through when there are no more; otherwise so many are drawn."""
ROUNDING = 1e-9
"""Sums of residuals, and shares of a statistic, that are nearer to each other than this are equal."""


def randomisation_p_values(people: AssignedTogether, *, rng: np.random.Generator) -> tuple[float | None, ...]:
    """P-value of every contrast for the hypothesis that no arm changes anybody's answer.

    Parameters
    ----------
    people : AssignedTogether
    rng : numpy.random.Generator
        Used where there are too many arrangements to go through.

    Returns
    -------
    tuple of float or None
        In the order of the contrasts; None where answers do not vary.

    Notes
    -----
    Under the hypothesis the answers, whose die stays as it was, are the same whatever the arms, so the arms of the clusters may be drawn
    again within every stratum. The statistic is the difference of the means of the residuals, after subsample and stratum, divided by
    its standard error between clusters, the largest one of several answers, so that in large samples the test is also right when some
    gain what others lose. Where all clusters of an arm are alike and the arms are not, it is infinite, and as large as another that is. The
    exact p-value counts all arrangements; with B drawn ones it is (1 + as large)/(1 + B). Assumes that all arrangements with the same
    numbers of clusters per arm and stratum were equally likely.

    References
    ----------
    Rosenbaum, P. R. (2002). Covariance adjustment in randomized experiments and observational studies. Statistical Science 17, 286–327.
    """
    residual: FloatArray = _residuals(people)
    groups = len(people.clusters)
    totals = np.zeros((groups, residual.shape[1]))
    np.add.at(totals, people.cluster, residual)
    sizes = np.bincount(people.cluster, minlength=groups).astype(float)
    arms = people.arm_of_cluster
    # Strata inside clusters cannot have been blocks of clusters.
    strata = people.stratum_of_cluster if people.strata_are_of_clusters() else np.zeros_like(arms)
    drawn, is_exact = _arrangements(arms, strata, rng=rng)
    observed = _statistics(arms[None, :], totals, sizes, people)[0]
    found: list[float | None] = []
    for contrast, again in enumerate(_statistics(drawn, totals, sizes, people).T):
        if np.isnan(observed[contrast]):
            found.append(None)
            continue
        as_large = int((again >= observed[contrast] * (1 - ROUNDING)).sum())
        found.append(as_large / len(drawn) if is_exact else (1 + as_large) / (1 + len(drawn)))
    return tuple(found)


def _residuals(people: AssignedTogether) -> FloatArray:
    """Answers minus what subsample and stratum predict, over all arms; shape (n, C). With no and yes only yes: both differ alike."""
    columns = [people.subsample[:, None] == np.arange(people.design.shape[1]), people.stratum[:, None] == np.arange(1, len(people.strata))]
    matrix = np.hstack(columns).astype(float)
    reported = people.gave[:, 1:] if people.design.is_yes_no else people.gave
    return _settled(reported - matrix @ np.linalg.lstsq(matrix, reported)[0])


def _statistics(arms: NDArray[np.intp], totals: FloatArray, sizes: FloatArray, people: AssignedTogether) -> FloatArray:
    """The largest studentised difference to control, over the answers, for arrangements (B, G) and totals (G, C); (B, contrasts).

    NaN where nothing varies. An answer that does not vary says nothing beside others that do.
    """
    found = []
    means, variances = {}, {}
    for arm in range(people.design.shape[0]):
        there = (arms == arm).astype(float)
        size, groups = there @ sizes, there.sum(axis=-1)
        mean = there @ totals / size[:, None]
        apart = [there * _settled(total - center[:, None] * sizes) for total, center in zip(totals.T, mean.T, strict=True)]
        spread = np.stack([(one**2).sum(axis=-1) for one in apart], axis=-1)
        means[arm], variances[arm] = mean, spread / (size**2 / groups * (groups - 1))[:, None]
    control = people.design.control_index
    with np.errstate(divide="ignore", invalid="ignore"):
        for arm in people.design.treatment_indexes:
            difference = np.abs(_settled(means[arm] - means[control]))
            found.append(np.fmax.reduce(difference / np.sqrt(variances[arm] + variances[control]), axis=-1))
    return np.stack(found, axis=-1)


def _settled(numbers: FloatArray) -> FloatArray:
    """The same numbers, with 0 where only rounding keeps them from it."""
    return np.where(np.abs(numbers) > ROUNDING, numbers, 0.0)


def _arrangements(arms: Whole, strata: Whole, *, rng: np.random.Generator) -> tuple[NDArray[np.intp], bool]:
    """Arms of the clusters, shape (B, G): all arrangements within strata, or `MOST_ARRANGEMENTS` drawn ones."""
    members = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    if prod(_several(arms[rows]) for rows in members) <= MOST_ARRANGEMENTS:
        parts = [_orders(np.sort(arms[rows])) for rows in members]
        found = np.empty((prod(map(len, parts)), len(arms)), dtype=np.intp)
        number, of_others = np.arange(len(found)), len(found)
        for rows, orders in zip(members, parts, strict=True):
            of_others //= len(orders)
            found[:, rows] = orders[number // of_others % len(orders)]
        return found, True
    found = np.empty((MOST_ARRANGEMENTS, len(arms)), dtype=np.intp)
    for rows in members:
        found[:, rows] = rng.permuted(np.tile(arms[rows], (MOST_ARRANGEMENTS, 1)), axis=1)
    return found, False


def _several(labels: Whole) -> int:
    """How many orders these labels have."""
    left, found = len(labels), 1
    for times in np.unique(labels, return_counts=True)[1]:
        found *= comb(left, int(times))
        left -= int(times)
    return found


def _orders(labels: Whole) -> NDArray[np.intp]:
    """Every different order of sorted labels, shape (B, G)."""
    if not len(labels):
        return np.empty((1, 0), dtype=np.intp)
    times = int(np.count_nonzero(labels == labels[0]))
    places, rest = np.array(list(combinations(range(len(labels)), times))), _orders(labels[times:])
    others = np.ones((len(places), len(labels)), dtype=bool)
    np.put_along_axis(others, places, False, axis=1)
    found = np.full((len(places), len(rest), len(labels)), labels[0], dtype=np.intp)
    found[np.broadcast_to(others[:, None], found.shape)] = np.tile(rest.ravel(), len(places))
    return found.reshape(-1, len(labels))
