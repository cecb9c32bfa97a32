"""The attack of one who knows that labels were coarsened only where they had to be, for the sake of ℓ."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlog1py, xlogy

from candor.records.hierarchies import Hierarchy
from candor.records.schema import Record

Labels = tuple[str, ...]
Floats = NDArray[np.float64]


def beliefs(sizes: Sequence[int], times: int, *, k: int, level: int) -> list[float]:
    """How sure an attacker is that a row of each part of a class has a value, knowing that some part alone was not diverse.

    Parameters
    ----------
    sizes : sequence of int, shape (parts,)
        Rows of each part: those with the same values before, which the attacker knows from elsewhere.
    times : int
        Rows of the class with the value.
    k, level : int
        As demanded of the release; ℓ by frequency.

    Returns
    -------
    list of float, shape (parts,)
        Expected share of the value in each part. Without the attack it is `times`/(rows of the class) in all. Zeros when no distribution of
        the values makes a part fail: then something else was the reason.

    Notes
    -----
    Every assignment of values to rows is equally likely beforehand. It remains when a part of at least k rows has the value more often than
    1/ℓ. Polynomials Σ_j C(n, j) xʲ count the assignments; those that remain may be very few of all.

    References
    ----------
    Wong, Fu, Wang & Pei (2007), Minimality Attack in Privacy Preserving Data Publishing, VLDB, §3.

    Examples
    --------
    Two rows alike and four others alike share a class, two of the six have the value, ℓ = 2. Only if the two have it did they fail.

    >>> beliefs([2, 4], 2, k=2, level=2)
    [1.0, 0.0]
    """
    ways = [_likelihoods(size, times / sum(sizes)) for size in sizes]
    fails = [(size >= k) & (np.arange(size + 1) * level > size) for size in sizes]
    remaining = _some_part_fails(ways, fails, times)
    if remaining == 0:
        return [0.0] * len(sizes)
    found: dict[int, float] = {}  # parts of one size are alike
    for at, size in enumerate(sizes):
        if size not in found:
            weighted = [own * np.arange(len(own)) if other == at else own for other, own in enumerate(ways)]
            found[size] = _some_part_fails(weighted, fails, times) / remaining / size
    return [found[size] for size in sizes]


def _likelihoods(size: int, share: float) -> Floats:
    """C(n, j) xʲ times what makes them add up to 1, for the x that a share means: no float holds C(n, j) of more than a thousand rows."""
    number = np.arange(size + 1)
    ways = gammaln(size + 1) - gammaln(number + 1) - gammaln(size - number + 1)
    return np.asarray(np.exp(ways + xlogy(number, share) + xlog1py(size - number, -share)))


def _some_part_fails(parts: Sequence[Floats], fails: Sequence[NDArray[np.bool_]], times: int) -> float:
    """The coefficient of x to the `times` in the product of polynomials, of the terms in which some part fails; nothing is subtracted."""
    fine, failing = np.ones(1), np.zeros(1)
    for own, bad in zip(parts, fails, strict=True):
        failing = (np.convolve(failing, own) + np.convolve(fine, own * bad))[: times + 1]
        fine = np.convolve(fine, own * ~bad)[: times + 1]
    return float(failing[times])


def rows_given_away(
    published: Sequence[Record],
    original: Sequence[Record],
    trees: Mapping[str, Hierarchy],
    *,
    name: str,
    k: int,
    level: int,
) -> int:
    """How many rows have some sensitive value with a probability above 1/ℓ, for an attacker who knows all labels and the algorithm.

    Parameters
    ----------
    published, original : sequence of dict
        Records without children: the rows of a table.
    trees : mapping of str to Hierarchy
        Of each quasi-identifier.
    name : str
        The sensitive attribute.
    k, level : int

    Returns
    -------
    int

    Notes
    -----
    Rows whose labels are covered by several classes are in one of them that the attacker does not know; they are not counted.
    """
    classes: dict[Labels, Counter[object]] = defaultdict(Counter)
    for row in published:
        classes[_labels(row)][row["sensitive"].get(name)] += 1
    parts: dict[Labels, Counter[Labels]] = defaultdict(Counter)
    seen: dict[Labels, list[Labels]] = {}
    names = sorted(trees)
    for row in original:
        own = _labels(row)
        if own not in seen:
            chains = [
                {str(trees[one].labels[node]) for node in trees[one].chain(trees[one].leaf(row["quasi_identifiers"][one]))} for one in names
            ]
            seen[own] = [labels for labels in classes if all(label in chain for label, chain in zip(labels, chains, strict=True))]
        if len(seen[own]) == 1:
            parts[seen[own][0]][own] += 1
    given = 0
    for labels, sizes in parts.items():
        values = classes[labels]
        if len(sizes) < 2 or sizes.total() != values.total() or max(values.values()) * level > values.total():
            continue
        worst = np.max([beliefs(list(sizes.values()), times, k=k, level=level) for times in values.values()], axis=0)
        given += sum(size for size, belief in zip(sizes.values(), worst, strict=True) if belief * level > 1 + 1e-9)
    return given


def _labels(row: Record) -> Labels:
    return tuple(str(label) for _, label in sorted(row["quasi_identifiers"].items()))
