"""Anatomy: quasi-identifiers and sensitive values in two tables, which only a group joins."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from candor.records.schema import ParameterError
from candor.records.shuffling import shuffled


def buckets(values: Sequence[Any], *, level: int) -> list[list[int]]:
    """Rows in groups, of which each has `level` or more different values, and none twice.

    Parameters
    ----------
    values : sequence, shape (rows,)
        The sensitive value of each row.
    level : int
        ℓ.

    Returns
    -------
    list of list of int
        Rows of each group.

    Raises
    ------
    ParameterError
        If a value is too frequent: n ≥ ℓ · (its count) must hold. It says the largest ℓ that is possible.

    Notes
    -----
    While ℓ values are left, a group takes a row of each of the ℓ commonest. Each value that is then left has one row; it goes to a
    group that lacks the value.

    References
    ----------
    Xiao & Tao (2006), Anatomy: Simple and Effective Privacy Preservation, VLDB, §5.

    Examples
    --------
    >>> sorted(len(group) for group in buckets(["A-", "A-", "B+", "C", "A", "B"], level=3))
    [3, 3]
    """
    counts = Counter(values)
    if level < 2:
        raise ParameterError(f"ℓ: expected at least 2, found {level}")
    if not counts or len(values) < level * max(counts.values()):
        most = max(counts.values(), default=0)
        raise ParameterError(f"ℓ: expected at most {len(values) // max(1, most)}, because one value stands in {most} of {len(values)} rows")
    rows: dict[Any, list[int]] = defaultdict(list)
    for row in shuffled(range(len(values))):
        rows[values[row]].append(row)
    groups: list[list[int]] = []
    while len(left := [value for value in rows if rows[value]]) >= level:
        commonest = sorted(shuffled(left), key=lambda value: -len(rows[value]))[:level]
        groups.append([rows[value].pop() for value in commonest])
    for value in left:
        for row in rows[value]:
            lacking = [group for group in groups if value not in {values[one] for one in group}]
            if not lacking:
                raise ParameterError(f"ℓ: {value!r} fits in no group; expected at most {level - 1}")
            min(shuffled(lacking), key=len).append(row)
    return shuffled(groups)
