"""Distances between the sensitive values of a class and those of all rows: equal, ordered, hierarchical."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from candor.records.hierarchies import Hierarchy, Intervals
from candor.records.schema import ParameterError

Floats = npt.NDArray[np.float64]
STEPS = 24
DISTANCES = ("equal", "ordered", "hierarchical")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The values of a sensitive column in order, and how far distributions over them are apart."""

    values: list[str]
    distance: Callable[[Floats, Floats], Floats]

    @classmethod
    def of(cls, name: str, column: Sequence[str], hierarchy: Hierarchy | None, distance: str) -> Scale:
        """The scale of a column.

        Raises
        ------
        ParameterError
            If there is no such distance, values have no order, or the hierarchy has leaves of several depths.
        DataError
            If a value is no leaf of the hierarchy.
        """
        values = sorted(set(column))
        if distance not in DISTANCES:
            raise ParameterError(f"distance: expected {', '.join(DISTANCES)}, found {distance!r}")
        if distance == "equal":
            return cls(values=values, distance=equal_distance)
        if distance == "ordered":
            return cls(values=_in_order(name, values, hierarchy), distance=ordered_distance)
        if hierarchy is None or isinstance(hierarchy, Intervals):
            raise ParameterError(f"{name!r}: expected its hierarchy of labels, for the hierarchical distance")
        if len(depths := {len(hierarchy.chain(hierarchy.leaf(value))) for value in values}) > 1:
            raise ParameterError(f"{name!r}: expected leaves of one depth, for the hierarchical distance; found {sorted(depths)} labels")
        return cls(values=values, distance=partial(hierarchical_distance, values=values, hierarchy=hierarchy))

    def codes(self, column: Sequence[str]) -> npt.NDArray[np.int64]:
        """The place of each value."""
        places = {value: place for place, value in enumerate(self.values)}
        return np.array([places[value] for value in column], dtype=np.int64)


def _in_order(name: str, values: Sequence[str], hierarchy: Hierarchy | None) -> list[str]:
    """Values in the order of the leaves of their hierarchy, or as numbers."""
    if hierarchy is not None and not isinstance(hierarchy, Intervals):
        places = {leaf: place for place, leaf in enumerate(hierarchy.leaves)}
        return sorted(values, key=lambda value: places[value] if value in places else hierarchy.leaf(value))
    try:
        return sorted(values, key=_begin)
    except ValueError:
        raise ParameterError(f"{name!r}: expected numbers, or a hierarchy with its values in order, for the ordered distance") from None


def _begin(value: str) -> float:
    """A number, or where an interval begins."""
    return float(value.removeprefix("[").partition(",")[0])


def equal_distance(counts: Floats, of: Floats) -> Floats:
    """Half the L1 distance: every two values are equally far apart.

    Parameters
    ----------
    counts : ndarray, shape (classes, values)
    of : ndarray, shape (values,)
        Shares of all rows.

    Returns
    -------
    ndarray, shape (classes,)
    """
    shares = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray(np.abs(shares - of).sum(axis=1) / 2)


def largest_close_part(counts: Floats, least: Floats, *, of: Floats, t: float) -> Floats:
    """Nearly the most rows of each class that are at most t from all rows, by the equal distance.

    Parameters
    ----------
    counts : ndarray, shape (classes, values)
    least : ndarray, shape (classes,)
        Fewer rows than this are none.
    of : ndarray, shape (values,)
    t : float

    Returns
    -------
    ndarray, shape (classes, values)
        How many rows of each value are kept.

    Notes
    -----
    The distance is what the other values lack: Σ_v max(0, q_v − n_v/N). It rises with the number N of rows that are kept, whichever of the
    values that are too frequent they have; so N is found by bisection. Values give up rows down to a common multiple of their share,
    rounded downwards; where that leaves t, none of the class is kept.

    Examples
    --------
    >>> largest_close_part(np.array([[8.0, 2.0], [8.0, 1.0]]), np.array([5.0, 5.0]), of=np.array([0.5, 0.5]), t=0.1)
    array([[3., 2.],
           [0., 0.]])
    """

    def close(sizes: Floats, own: Floats) -> npt.NDArray[np.bool_]:
        return np.asarray(np.maximum(0, of - own / sizes[:, None]).sum(axis=1) <= t)

    kept = np.zeros_like(counts)
    some = np.flatnonzero(close(np.floor(least), counts))
    if len(some):
        own = counts[some]
        sizes = np.floor(_largest(lambda size: close(np.maximum(size, 1e-9), own), own.sum(axis=1)) + 1e-6)
        share = _largest(lambda multiple: np.minimum(own, multiple[:, None] * of).sum(axis=1) <= sizes, (own / of).max(axis=1) + 1)
        found = np.floor(np.minimum(own, share[:, None] * of) + 1e-6)
        enough = found.sum(axis=1) >= np.floor(least[some])
        enough[enough] = equal_distance(found[enough], of) <= t
        kept[some[enough]] = found[enough]
    return kept


def _largest(holds: Callable[[Floats], npt.NDArray[np.bool_]], most: Floats) -> Floats:
    """The largest number up to `most` for which something holds, for each class; it holds for all smaller ones."""
    low, high = np.zeros_like(most), most
    for _ in range(STEPS):
        middle = (low + high) / 2
        good = holds(middle)
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    return low


def ordered_distance(counts: Floats, of: Floats) -> Floats:
    """The earth mover's distance when the values are in order, each as far from its neighbour.

    Parameters
    ----------
    counts : ndarray, shape (classes, values)
    of : ndarray, shape (values,)

    Returns
    -------
    ndarray, shape (classes,)

    Notes
    -----
    Σ_i |Σ_{j ≤ i} (p_j − q_j)| / (m − 1).

    References
    ----------
    Li, Li & Venkatasubramanian (2007), t-Closeness, ICDE, §4.1.

    Examples
    --------
    The example of the paper: salaries from 3 to 11 thousand, and a class with 3, 4 and 5.

    >>> lowest = np.array([[1.0, 1, 1, 0, 0, 0, 0, 0, 0]])
    >>> float(ordered_distance(lowest, np.full(9, 1 / 9))[0])
    0.375
    """
    shares = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray(np.abs(np.cumsum(shares - of, axis=1)).sum(axis=1) / max(1, len(of) - 1))


def hierarchical_distance(counts: Floats, of: Floats, values: Sequence[str], hierarchy: Hierarchy) -> Floats:
    """The earth mover's distance when two values are as far apart as their lowest common label is high.

    Parameters
    ----------
    counts : ndarray, shape (classes, values)
    of : ndarray, shape (values,)
    values : sequence of str
        Leaves of the hierarchy, all equally deep.
    hierarchy : Hierarchy

    Returns
    -------
    ndarray, shape (classes,)

    Notes
    -----
    Σ over inner labels of height/(height of the root) · min(surplus below its children, lack below its children).
    """
    chains = [hierarchy.chain(hierarchy.leaf(value)) for value in values]
    extra = counts / counts.sum(axis=1, keepdims=True) - of
    height = max(map(len, chains)) - 1
    found = np.zeros(len(counts))
    for level in range(1, height + 1):
        below = _sums(extra, [chain[min(level - 1, len(chain) - 1)] for chain in chains])
        parents: dict[int, list[Floats]] = {}
        for node, sums in below.items():
            parents.setdefault(hierarchy.parents[node], []).append(sums)
        for children in parents.values():
            together = np.array(children)
            found += level / height * np.minimum(np.maximum(together, 0).sum(axis=0), np.maximum(-together, 0).sum(axis=0))
    return found


def _sums(extra: Floats, nodes: Sequence[int]) -> dict[int, Floats]:
    return {node: extra[:, [at for at, one in enumerate(nodes) if one == node]].sum(axis=1) for node in dict.fromkeys(nodes)}
