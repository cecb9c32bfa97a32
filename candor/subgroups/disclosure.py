"""The groups that may be shown, so that no two tables that anybody may compare differ by a few people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from candor.errors import MethodError

IntArray = npt.NDArray[np.intp]

NOBODY_IN_PARTICULAR = ""
"""The label of people who gave no answer: never a group, always among the others."""

MOST_GROUPS = 8


def groups_to_show(
    variables: Mapping[str, Sequence[str] | npt.NDArray[np.str_]], cell: IntArray, *, cells: int, least: int
) -> dict[str, tuple[str, ...]]:
    """The groups of each variable that may be shown, beside one table of all people together.

    Parameters
    ----------
    variables : mapping of str to sequence of str, length n
        By variable, the first of them has precedence: everybody's group, or `NOBODY_IN_PARTICULAR`.
    cell : ndarray of int, shape (n,)
        Everybody's arm and subsample, 0 to `cells` − 1.
    cells : int
    least : int
        The fewest people who may make a difference between two tables, in each cell.

    Returns
    -------
    dict of str to tuple of str
        Groups in alphabetical order; variables of which nothing may be shown are left out.

    Raises
    ------
    MethodError
        More than `MOST_GROUPS` groups, or arrays of different lengths.

    Notes
    -----
    A table of a group counts its people by arm, subsample and answer. Two tables that differ by one person tell that person's row, and
    somebody who knows who is in which group then knows what this person reported. So three rules hold in each cell of arm and subsample,
    where "few" is fewer than `least` but not nobody:

    1. A shown group has at least `least` people.
    2. So have all others of the variable together, unless there are no others: they are the table of all people less those of the groups.
       Where they are too few, the smallest group is not shown either, and is one of the others.
    3. Any union of groups of one variable, the others being a group too, differs from any union of groups of another variable by nobody
       or by at least `least` people. Otherwise the later variable is not shown at all.

    With more than two variables, tables of three of them might be added and subtracted; rule 3 looks at pairs.

    References
    ----------
    Hundepool, A. et al. (2012). Statistical Disclosure Control. Wiley, chapter 4 (secondary suppression).

    Examples
    --------
    Twelve people in one cell say "a", twelve "b" and three "c". The three would be what remains of the whole, so "b" stands with them;
    where "d" is there, too, two groups are large enough:

    >>> answers = ["a"] * 12 + ["b"] * 12 + ["c"] * 3
    >>> groups_to_show({"year": answers}, np.zeros(27, dtype=int), cells=1, least=10)
    {}
    >>> groups_to_show({"year": [*answers, *["d"] * 20]}, np.zeros(47, dtype=int), cells=1, least=10)
    {'year': ('a', 'd')}
    """
    shown: dict[str, tuple[str, ...]] = {}
    classes: dict[str, npt.NDArray[np.intp]] = {}
    for name, given in variables.items():
        labels = np.asarray(given, dtype=str)
        if labels.shape != cell.shape:
            raise MethodError(f"{name}: expected one group for each of {len(cell)} people, found {len(labels)}")
        groups = _large_groups(labels, cell, cells=cells, least=least)
        if len(groups) < 2:
            continue
        own = np.select([labels == group for group in groups], list(range(1, len(groups) + 1)), default=0)
        if all(_differ_enough(own, other, cell, cells=cells, least=least) for other in classes.values()):
            shown[name], classes[name] = groups, own
    return shown


def _large_groups(labels: npt.NDArray[np.str_], cell: IntArray, *, cells: int, least: int) -> tuple[str, ...]:
    """Rules 1 and 2."""
    found = [str(label) for label in np.unique(labels) if label != NOBODY_IN_PARTICULAR]
    if len(found) > MOST_GROUPS:
        raise MethodError(f"expected at most {MOST_GROUPS} groups, found {len(found)}")
    counts = {group: np.bincount(cell[labels == group], minlength=cells) for group in found}
    groups = sorted((group for group in found if counts[group].min() >= least), key=lambda group: (-counts[group].sum(), group))
    others = np.bincount(cell, minlength=cells) - sum((counts[group] for group in groups), np.zeros(cells, dtype=np.intp))
    while groups and others.any() and others.min() < least:
        others = others + counts[groups.pop()]
    return tuple(sorted(groups))


def _differ_enough(own: IntArray, other: IntArray, cell: IntArray, *, cells: int, least: int) -> bool:
    """Rule 3: both partitions as numbers from 0."""
    first, second = int(own.max()) + 1, int(other.max()) + 1
    crossed = np.bincount((cell * first + own) * second + other, minlength=cells * first * second).reshape(cells, first, second)
    some, others = _unions(first), _unions(second)
    apart = np.einsum("ug,cgh,wh->cuw", some, crossed, 1 - others) + np.einsum("ug,cgh,wh->cuw", 1 - some, crossed, others)
    return bool(np.all((apart == 0) | (apart >= least)))


def _unions(groups: int) -> IntArray:
    """Every union of groups as a row of zeros and ones, shape (2^groups, groups)."""
    return np.asarray((np.arange(2**groups)[:, None] >> np.arange(groups)) & 1, dtype=np.intp)
